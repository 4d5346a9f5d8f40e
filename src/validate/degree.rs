//! Bounds the probability that a draw misses a difference.
//!
//! Between two functions that are random in the field, a program computes a quotient of two polynomials. Two different
//! quotients of degree d agree in a draw with probability at most d / 2^31 (Schwartz and Zippel); random functions of
//! different operands agree with 2^-31.

use crate::interpret::{EvalBlock, EvalFunction, EvalOp, EvalOpKind, EvalTensor};
use machine::{NARROW_FUNCTION, WIDEN_FUNCTION};

/// The number of elements of the field is at least two to this power.
const FIELD_BITS: f64 = 30.99;

/// Degrees of a quotient of polynomials.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct QuotientDegree {
    above: f64,
    below: f64,
}

impl QuotientDegree {
    /// Degrees of an independent element.
    const INDEPENDENT: Self = Self { above: 1.0, below: 0.0 };

    fn larger(self, other: Self) -> Self {
        Self { above: self.above.max(other.above), below: self.below.max(other.below) }
    }

    fn sum(self, other: Self) -> Self {
        Self { above: (self.above + other.below).max(other.above + self.below), below: self.below + other.below }
    }

    fn product(self, other: Self) -> Self {
        Self { above: self.above + other.above, below: self.below + other.below }
    }

    const fn inverse(self) -> Self {
        Self { above: self.below, below: self.above }
    }

    /// Returns the degrees of a sum of `count` terms.
    fn repeated_sum(self, count: f64) -> Self {
        Self { above: self.above + (count - 1.0).max(0.0) * self.below, below: self.below * count }
    }

    /// Returns the degrees of a product of `count` factors.
    fn power(self, count: f64) -> Self {
        Self { above: self.above * count, below: self.below * count }
    }
}

/// Returns the base-2 logarithm of a bound on the degree of the difference of two programs whose results have these
/// degrees.
#[must_use]
pub(super) fn log2_degree(function: &EvalFunction<'_>) -> f64 {
    let mut degrees = vec![QuotientDegree::default(); function.values.len()];
    function.body.arguments.iter().for_each(|id| degrees[*id] = QuotientDegree::INDEPENDENT);
    propagate_degrees(&function.body, &function.values, &mut degrees);
    let most = function.body.yields.iter().map(|id| degrees[*id].above + degrees[*id].below).fold(1.0, f64::max);
    // The denominator of the difference of two quotients is the product of both.
    (2.0 * most).log2()
}

/// Returns the base-2 logarithm of the maximum probability that `draws` draws miss a difference of that degree; `None`
/// if the degree yields no bound.
#[must_use]
pub(super) fn log2_chance(log2_degree: f64, draws: u64) -> Option<f64> {
    let of_one = log2_degree - FIELD_BITS;
    #[expect(clippy::cast_precision_loss, reason = "draws are few")]
    (of_one < 0.0).then_some(of_one * draws as f64)
}

fn propagate_degrees(block: &EvalBlock<'_>, values: &[EvalTensor], degrees: &mut Vec<QuotientDegree>) {
    for op in &block.ops {
        match &op.kind {
            EvalOpKind::Scope(body) => {
                propagate_degrees(body, values, degrees);
                op.outputs.iter().zip(&body.yields).for_each(|(output, yielded)| degrees[*output] = degrees[*yielded]);
            }
            EvalOpKind::Loop(around) => {
                op.inputs
                    .iter()
                    .zip(&around.body.arguments)
                    .for_each(|(input, argument)| degrees[*argument] = degrees[*input]);
                for _ in 0..around.count {
                    propagate_degrees(&around.body, values, degrees);
                    let carried = |dims: &[Option<usize>]| {
                        dims.iter().enumerate().filter(|(_, dim)| dim.is_none()).map(|(at, _)| at).collect()
                    };
                    let (from, to): (Vec<usize>, Vec<usize>) = (carried(&around.given), carried(&around.read));
                    to.into_iter().zip(from).for_each(|(to, from)| {
                        degrees[around.body.arguments[to]] = degrees[around.body.yields[from]];
                    });
                }
                op.outputs
                    .iter()
                    .zip(&around.body.yields)
                    .for_each(|(output, yielded)| degrees[*output] = degrees[*yielded]);
            }
            _ => {
                let degree = compute_degree(op, values, degrees);
                op.outputs.iter().for_each(|output| degrees[*output] = degree);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of tensors are below 2^53")]
fn compute_degree(op: &EvalOp<'_>, values: &[EvalTensor], degrees: &[QuotientDegree]) -> QuotientDegree {
    let inputs: Vec<QuotientDegree> = op.inputs.iter().map(|id| degrees[*id]).collect();
    let largest = inputs.iter().copied().fold(QuotientDegree::default(), QuotientDegree::larger);
    match (&op.kind, inputs.as_slice()) {
        (EvalOpKind::Constant(_) | EvalOpKind::Fill(_) | EvalOpKind::Empty, _) => QuotientDegree::default(),
        (EvalOpKind::Pointwise { function, .. }, _) => compute_pointwise_degree(function, &inputs),
        (EvalOpKind::Reduce { function, dims, .. }, [of]) => {
            let count: usize = dims.iter().map(|dim| values[op.inputs[0]].shape[*dim]).product();
            match function.as_str() {
                "sum" | "mean" => of.repeated_sum(count as f64),
                "prod" => of.power(count as f64),
                _ => *of,
            }
        }
        (EvalOpKind::Matmul, [left, right]) => {
            let count = values[op.inputs[0]].shape.last().copied().unwrap_or(1);
            left.product(*right).repeated_sum(count as f64)
        }
        (EvalOpKind::Gather { .. }, [table, ..]) => *table,
        _ => largest,
    }
}

fn compute_pointwise_degree(function: &str, inputs: &[QuotientDegree]) -> QuotientDegree {
    let exponential = QuotientDegree::INDEPENDENT;
    match (function, inputs) {
        ("add" | "sub", [a, b]) => a.sum(*b),
        ("mul", [a, b]) => a.product(*b),
        ("realdiv", [a, b]) => a.product(b.inverse()),
        ("reciprocal", [a]) => a.inverse(),
        ("rsqrt" | "sigmoid", [_]) => exponential.sum(QuotientDegree::default()).inverse(),
        ("silu" | "gelufwd", [a]) => a.product(exponential.inverse()),
        ("neg" | "abs" | "relufwd" | "clip" | WIDEN_FUNCTION | NARROW_FUNCTION, [a]) => *a,
        ("maximum" | "minimum", [a, b]) => a.larger(*b),
        ("where3", [_, a, b]) => a.larger(*b),
        ("equal" | "notequal" | "greaterthan" | "greaterequal" | "lesserthan" | "lesserequal", _) => {
            QuotientDegree::default()
        }
        _ => QuotientDegree::INDEPENDENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::ElementType;

    fn function(
        shapes: &[&[usize]],
        num_arguments: usize,
        ops: Vec<(EvalOpKind<'static>, Vec<usize>)>,
    ) -> EvalFunction<'static> {
        let tensor = |shape: &&[usize]| EvalTensor { shape: shape.to_vec(), element: ElementType::F16 };
        let ops = ops.into_iter().enumerate().map(|(at, (kind, inputs))| EvalOp {
            kind,
            inputs,
            outputs: vec![num_arguments + at],
        });
        let body =
            EvalBlock { arguments: (0..num_arguments).collect(), ops: ops.collect(), yields: vec![shapes.len() - 1] };
        EvalFunction { name: "f".to_owned(), ranges: Vec::new(), values: shapes.iter().map(tensor).collect(), body }
    }

    fn named(function: &str) -> EvalOpKind<'static> {
        EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() }
    }

    #[test]
    fn computes_degree_two_for_matmul() {
        let product = function(&[&[4, 8], &[8, 2], &[4, 2]], 2, vec![(EvalOpKind::Matmul, vec![0, 1])]);
        assert_eq!(log2_degree(&product), 2.0);
        assert!(log2_chance(2.0, 2).is_some_and(|chance| (-58.0..-57.9).contains(&chance)));
    }

    #[test]
    fn adds_degrees_of_quotients_and_resets_at_random_functions() {
        let ops = vec![(named("realdiv"), vec![0, 1]), (named("add"), vec![2, 0])];
        assert_eq!(log2_degree(&function(&[&[1], &[1], &[1], &[1]], 2, ops)), 6_f64.log2(), "(x + x y) / y");
        let ops = vec![(named("mul"), vec![0, 0]), (named("tanh"), vec![1])];
        assert_eq!(log2_degree(&function(&[&[1], &[1], &[1]], 1, ops)), 1.0);
    }

    #[test]
    fn returns_no_bound_for_degrees_beyond_the_field() {
        assert_eq!(log2_chance(31.0, 2), None);
    }
}
