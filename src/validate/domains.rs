//! Domain of each argument in which the functions of a program are defined: a variance is not negative, a logarithm requires positive
//! numbers.
//!
//! Domains are propagated backwards, from the ops that require them to the arguments, through monotonic ops. Propagation ends at other
//! ops: whether a sum, for example, is positive then depends on the drawn numbers.

use crate::interpret::{Block, Function, Kind, Operation, ValueId};
use machine::{NARROW, WIDEN};

/// Closed interval.
pub type Domain = [f64; 2];

/// All numbers.
const ALL: Domain = [f64::NEG_INFINITY, f64::INFINITY];

/// Positive numbers, far enough from zero that reciprocals and logarithms remain small.
const POSITIVE: Domain = [1.0 / 64.0, f64::INFINITY];
const NOT_NEGATIVE: Domain = [0.0, f64::INFINITY];

/// Returns the domain of each argument; `None` if it is unrestricted.
#[must_use]
pub fn domains(function: &Function<'_>) -> Vec<Option<Domain>> {
    let mut needs = Needs { domains: vec![ALL; function.values.len()], known: vec![None; function.values.len()] };
    needs.note_known(&function.body);
    needs.note(&function.body);
    function.body.arguments.iter().map(|id| Some(needs.domains[*id]).filter(|domain| *domain != ALL)).collect()
}

struct Needs {
    /// Required domain of each value.
    domains: Vec<Domain>,
    /// Number of each splat value.
    known: Vec<Option<f64>>,
}

impl Needs {
    fn note_known(&mut self, block: &Block<'_>) {
        for op in &block.ops {
            let known = match (&op.kind, op.inputs.as_slice()) {
                (Kind::Fill(number), _) => Some(*number),
                (Kind::Constant(literal), _) if literal.is_splat => Some(literal.number(0, 1)),
                (Kind::Copy | Kind::View(_), [input]) => self.known[*input],
                (Kind::Scope(body), _) => {
                    self.note_known(body);
                    None
                }
                (Kind::Loop(around), _) => {
                    self.note_known(&around.body);
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

    fn note(&mut self, block: &Block<'_>) {
        for op in block.ops.iter().rev() {
            match &op.kind {
                Kind::Scope(body) => {
                    op.outputs.iter().zip(&body.yields).for_each(|(output, yielded)| self.narrow(*yielded, self.domains[*output]));
                    self.note(body);
                }
                Kind::Loop(around) => {
                    op.outputs.iter().zip(&around.body.yields).for_each(|(output, yielded)| self.narrow(*yielded, self.domains[*output]));
                    self.note(&around.body);
                    op.inputs.iter().zip(&around.body.arguments).for_each(|(input, inside)| self.narrow(*input, self.domains[*inside]));
                }
                Kind::Pointwise { function, .. } => self.note_pointwise(function, op),
                Kind::Gather { .. } => self.pass_on(op, &op.inputs[..1]),
                Kind::Reduce { function, .. } if ["max", "min", "mean"].contains(&function.as_str()) => self.pass_on(op, &op.inputs),
                Kind::Copy | Kind::View(_) | Kind::Pick(_) | Kind::Insert { .. } => self.pass_on(op, &op.inputs),
                Kind::Reduce { .. } | Kind::Matmul | Kind::Constant(_) | Kind::Fill(_) | Kind::Empty => {}
            }
        }
    }

    /// Propagates the domain of the output to the inputs.
    fn pass_on(&mut self, op: &Operation<'_>, inputs: &[ValueId]) {
        let Some(domain) = op.outputs.first().map(|output| self.domains[*output]) else { return };
        inputs.iter().for_each(|input| self.narrow(*input, domain));
    }

    fn note_pointwise(&mut self, function: &str, op: &Operation<'_>) {
        let Some([low, high]) = op.outputs.first().map(|output| self.domains[*output]) else { return };
        match (function, op.inputs.as_slice()) {
            ("sqrt", [input]) => self.narrow(*input, NOT_NEGATIVE),
            ("rsqrt" | "log", [input]) => self.narrow(*input, POSITIVE),
            ("neg", [input]) => self.narrow(*input, [-high, -low]),
            ("relufwd" | "clip" | WIDEN | NARROW, [input]) => self.narrow(*input, [low, high]),
            ("maximum" | "minimum", [one, other]) => [*one, *other].into_iter().for_each(|input| self.narrow(input, [low, high])),
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
                (None, Some(number)) => self.narrow(*one, over([low, high], number)),
                (Some(number), None) => self.narrow(*other, over([low, high], number)),
                _ => {}
            },
            ("realdiv", [one, other]) => {
                if let (None, Some(number)) = (self.known[*one], self.known[*other]) {
                    self.narrow(*one, over([low, high], 1.0 / number));
                }
            }
            _ => {}
        }
    }
}

/// Returns the numbers whose product with `number` is in a domain.
fn over([low, high]: Domain, number: f64) -> Domain {
    match () {
        () if number > 0.0 && number.is_finite() => [low / number, high / number],
        () if number < 0.0 && number.is_finite() => [high / number, low / number],
        () => ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::Tensor;
    use machine::ElementType;

    fn pointwise(function: &str, inputs: &[ValueId], output: ValueId) -> Operation<'static> {
        Operation {
            kind: Kind::Pointwise { function: function.to_owned(), constants: Vec::new() },
            inputs: inputs.to_vec(),
            outputs: vec![output],
        }
    }

    fn filled(number: f64, output: ValueId) -> Operation<'static> {
        Operation { kind: Kind::Fill(number), inputs: Vec::new(), outputs: vec![output] }
    }

    /// The ranges of the two arguments, values 0 and 1.
    fn found(ops: Vec<Operation<'static>>) -> Vec<Option<Domain>> {
        let n_values = 2 + ops.len();
        let values = vec![Tensor { shape: vec![4], element: ElementType::F16 }; n_values];
        let body = Block { arguments: vec![0, 1], ops, yields: vec![n_values - 1] };
        domains(&Function { name: "f".to_owned(), ranges: Vec::new(), values, body })
    }

    #[test]
    fn a_variance_is_not_negative() {
        // x / sqrt(variance + 1/2)
        let ops = vec![filled(0.5, 2), pointwise("add", &[1, 2], 3), pointwise("rsqrt", &[3], 4), pointwise("mul", &[0, 4], 5)];
        assert_eq!(found(ops), [None, Some([1.0 / 64.0 - 0.5, f64::INFINITY])]);
    }

    #[test]
    fn a_range_goes_through_what_keeps_the_order_and_ends_where_it_is_lost() {
        // log(2 - x) and log(x * y)
        let ops = vec![filled(2.0, 2), pointwise("sub", &[2, 0], 3), pointwise("log", &[3], 4)];
        assert_eq!(found(ops), [Some([f64::NEG_INFINITY, 2.0 - 1.0 / 64.0]), None]);
        assert_eq!(found(vec![pointwise("mul", &[0, 1], 2), pointwise("log", &[2], 3)]), [None, None]);
        // log(-4 x)
        let ops = vec![filled(-4.0, 2), pointwise("mul", &[0, 2], 3), pointwise("log", &[3], 4)];
        assert_eq!(found(ops), [Some([f64::NEG_INFINITY, -1.0 / 256.0]), None]);
    }

    #[test]
    fn ranges_that_exclude_each_other_leave_the_first() {
        let ops = vec![pointwise("neg", &[0], 2), pointwise("log", &[2], 3), pointwise("sqrt", &[0], 4)];
        assert_eq!(found(ops), [Some([0.0, f64::INFINITY]), None]);
    }
}
