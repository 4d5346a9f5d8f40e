//! Domain of each argument in which the functions of a program are defined: a variance is not negative, a logarithm
//! requires positive numbers.
//!
//! Domains are propagated backwards, from the ops that require them to the arguments, through monotonic ops.
//! Propagation ends at other ops: whether a sum, for example, is positive then depends on the drawn numbers.

use crate::interpret::{EvalBlock, EvalFunction, EvalOp, EvalOpKind, ValueId};
use machine::{NARROW_FUNCTION, WIDEN_FUNCTION};

/// Closed interval.
pub type Domain = [f64; 2];

/// All numbers.
const ALL_NUMBERS: Domain = [f64::NEG_INFINITY, f64::INFINITY];

/// Positive numbers, far enough from zero that reciprocals and logarithms remain small.
const POSITIVE: Domain = [1.0 / 64.0, f64::INFINITY];
const NON_NEGATIVE: Domain = [0.0, f64::INFINITY];

/// Returns the domain of each argument; `None` if it is unrestricted.
#[must_use]
pub fn compute_domains(function: &EvalFunction<'_>) -> Vec<Option<Domain>> {
    let mut needs =
        DomainAnalysis { domains: vec![ALL_NUMBERS; function.values.len()], known: vec![None; function.values.len()] };
    needs.record_constants(&function.body);
    needs.propagate_block(&function.body);
    function.body.arguments.iter().map(|id| Some(needs.domains[*id]).filter(|domain| *domain != ALL_NUMBERS)).collect()
}

struct DomainAnalysis {
    /// Required domain of each value.
    domains: Vec<Domain>,
    /// Number of each splat value.
    known: Vec<Option<f64>>,
}

impl DomainAnalysis {
    fn record_constants(&mut self, block: &EvalBlock<'_>) {
        for op in &block.ops {
            let known = match (&op.kind, op.inputs.as_slice()) {
                (EvalOpKind::Fill(number), _) => Some(*number),
                (EvalOpKind::Constant(literal), _) if literal.is_splat => Some(literal.read_f64(0, 1)),
                (EvalOpKind::Copy | EvalOpKind::View(_), [input]) => self.known[*input],
                (EvalOpKind::Scope(body), _) => {
                    self.record_constants(body);
                    None
                }
                (EvalOpKind::Loop(around), _) => {
                    self.record_constants(&around.body);
                    None
                }
                _ => None,
            };
            if let [output] = op.outputs.as_slice() {
                self.known[*output] = known;
            }
        }
    }

    /// Intersects the domain of a value with another one; disjoint domains leave it unchanged.
    fn narrow(&mut self, id: ValueId, domain: Domain) {
        let [low, high] = self.domains[id];
        let narrowed = [low.max(domain[0]), high.min(domain[1])];
        if narrowed[0] < narrowed[1] {
            self.domains[id] = narrowed;
        }
    }

    fn propagate_block(&mut self, block: &EvalBlock<'_>) {
        for op in block.ops.iter().rev() {
            match &op.kind {
                EvalOpKind::Scope(body) => {
                    op.outputs
                        .iter()
                        .zip(&body.yields)
                        .for_each(|(output, yielded)| self.narrow(*yielded, self.domains[*output]));
                    self.propagate_block(body);
                }
                EvalOpKind::Loop(around) => {
                    op.outputs
                        .iter()
                        .zip(&around.body.yields)
                        .for_each(|(output, yielded)| self.narrow(*yielded, self.domains[*output]));
                    self.propagate_block(&around.body);
                    op.inputs
                        .iter()
                        .zip(&around.body.arguments)
                        .for_each(|(input, inside)| self.narrow(*input, self.domains[*inside]));
                }
                EvalOpKind::Pointwise { function, .. } => self.propagate_pointwise(function, op),
                EvalOpKind::Gather { .. } => self.propagate_to_inputs(op, &op.inputs[..1]),
                EvalOpKind::Reduce { function, .. } if ["max", "min", "mean"].contains(&function.as_str()) => {
                    self.propagate_to_inputs(op, &op.inputs)
                }
                EvalOpKind::Copy | EvalOpKind::View(_) | EvalOpKind::Pick(_) | EvalOpKind::Insert { .. } => {
                    self.propagate_to_inputs(op, &op.inputs)
                }
                EvalOpKind::Reduce { .. }
                | EvalOpKind::Matmul
                | EvalOpKind::Constant(_)
                | EvalOpKind::Fill(_)
                | EvalOpKind::Empty => {}
            }
        }
    }

    /// Propagates the domain of the output to the inputs.
    fn propagate_to_inputs(&mut self, op: &EvalOp<'_>, inputs: &[ValueId]) {
        let Some(domain) = op.outputs.first().map(|output| self.domains[*output]) else { return };
        inputs.iter().for_each(|input| self.narrow(*input, domain));
    }

    fn propagate_pointwise(&mut self, function: &str, op: &EvalOp<'_>) {
        let Some([low, high]) = op.outputs.first().map(|output| self.domains[*output]) else { return };
        match (function, op.inputs.as_slice()) {
            ("sqrt", [input]) => self.narrow(*input, NON_NEGATIVE),
            ("rsqrt" | "log", [input]) => self.narrow(*input, POSITIVE),
            ("neg", [input]) => self.narrow(*input, [-high, -low]),
            ("relufwd" | "clip" | WIDEN_FUNCTION | NARROW_FUNCTION, [input]) => self.narrow(*input, [low, high]),
            ("maximum" | "minimum", [one, other]) => {
                [*one, *other].into_iter().for_each(|input| self.narrow(input, [low, high]))
            }
            ("where3", [_, one, other]) => [*one, *other].into_iter().for_each(|input| self.narrow(input, [low, high])),
            ("add", [one, other]) => match (self.known[*one], self.known[*other]) {
                (None, Some(number)) => self.narrow(*one, [low - number, high - number]),
                (Some(number), None) => self.narrow(*other, [low - number, high - number]),
                _ => {}
            },
            ("sub", [one, other]) => match (self.known[*one], self.known[*other]) {
                (None, Some(number)) => self.narrow(*one, [low + number, high + number]),
                (Some(number), None) => self.narrow(*other, [number - high, number - low]),
                _ => {}
            },
            ("mul", [one, other]) => match (self.known[*one], self.known[*other]) {
                (None, Some(number)) => self.narrow(*one, divide_domain([low, high], number)),
                (Some(number), None) => self.narrow(*other, divide_domain([low, high], number)),
                _ => {}
            },
            ("realdiv", [one, other]) => {
                if let (None, Some(number)) = (self.known[*one], self.known[*other]) {
                    self.narrow(*one, divide_domain([low, high], 1.0 / number));
                }
            }
            _ => {}
        }
    }
}

/// Returns the numbers whose product with `number` is in a domain.
fn divide_domain([low, high]: Domain, number: f64) -> Domain {
    match () {
        () if number > 0.0 && number.is_finite() => [low / number, high / number],
        () if number < 0.0 && number.is_finite() => [high / number, low / number],
        () => ALL_NUMBERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::EvalTensor;
    use machine::ElementType;

    fn pointwise(function: &str, inputs: &[ValueId], output: ValueId) -> EvalOp<'static> {
        EvalOp {
            kind: EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() },
            inputs: inputs.to_vec(),
            outputs: vec![output],
        }
    }

    fn fill(number: f64, output: ValueId) -> EvalOp<'static> {
        EvalOp { kind: EvalOpKind::Fill(number), inputs: Vec::new(), outputs: vec![output] }
    }

    /// Returns the domains of the two arguments, values 0 and 1, of a function with these ops.
    fn argument_domains(ops: Vec<EvalOp<'static>>) -> Vec<Option<Domain>> {
        let num_values = 2 + ops.len();
        let values = vec![EvalTensor { shape: vec![4], element: ElementType::F16 }; num_values];
        let body = EvalBlock { arguments: vec![0, 1], ops, yields: vec![num_values - 1] };
        compute_domains(&EvalFunction { name: "f".to_owned(), ranges: Vec::new(), values, body })
    }

    #[test]
    fn infers_nonnegative_variance() {
        // x / sqrt(variance + 1/2)
        let ops =
            vec![fill(0.5, 2), pointwise("add", &[1, 2], 3), pointwise("rsqrt", &[3], 4), pointwise("mul", &[0, 4], 5)];
        assert_eq!(argument_domains(ops), [None, Some([1.0 / 64.0 - 0.5, f64::INFINITY])]);
    }

    #[test]
    fn propagates_domains_through_monotonic_ops_only() {
        // log(2 - x) and log(x * y)
        let ops = vec![fill(2.0, 2), pointwise("sub", &[2, 0], 3), pointwise("log", &[3], 4)];
        assert_eq!(argument_domains(ops), [Some([f64::NEG_INFINITY, 2.0 - 1.0 / 64.0]), None]);
        assert_eq!(argument_domains(vec![pointwise("mul", &[0, 1], 2), pointwise("log", &[2], 3)]), [None, None]);
        // log(-4 x)
        let ops = vec![fill(-4.0, 2), pointwise("mul", &[0, 2], 3), pointwise("log", &[3], 4)];
        assert_eq!(argument_domains(ops), [Some([f64::NEG_INFINITY, -1.0 / 256.0]), None]);
    }

    #[test]
    fn keeps_first_of_disjoint_domains() {
        let ops = vec![pointwise("neg", &[0], 2), pointwise("log", &[2], 3), pointwise("sqrt", &[0], 4)];
        assert_eq!(argument_domains(ops), [Some([0.0, f64::INFINITY]), None]);
    }
}
