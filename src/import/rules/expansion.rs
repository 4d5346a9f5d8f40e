//! Expansions of device functions into functions whose results may be in LX (torch-spyre facts, F.1).
//!
//! | function | expansion | error |
//! |---|---|---|
//! | `abs` | `maximum(x, -x)` | none |
//! | `reciprocal` | `1 / x` | none |
//! | `relufwd` | `maximum(x, 0)` | none |
//! | `gelufwd` | `x / (1 + exp(-x (1.5996 + 0.06958 x^2)))` | 2.9e-4, plus the rounding of the steps |

/// Operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpansionOperand {
    /// Argument of the function.
    Argument,
    /// A number.
    Number(f64),
    /// The result of an earlier step.
    Step(usize),
}

/// Step of an expansion: one device function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpansionStep {
    /// Device function, from the table of those whose result may be in LX.
    pub function: &'static str,
    /// Operands, in order.
    pub sources: &'static [ExpansionOperand],
}

/// Expansion of an elementwise function of one argument into a chain of others; the last step is the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expansion {
    /// Function whose result cannot be in LX.
    pub function: &'static str,
    /// Steps that compute the function, in order.
    pub steps: &'static [ExpansionStep],
}

const ARGUMENT: ExpansionOperand = ExpansionOperand::Argument;

const fn build_step(function: &'static str, sources: &'static [ExpansionOperand]) -> ExpansionStep {
    ExpansionStep { function, sources }
}

/// All functions that have an expansion.
///
/// The gelu is `x Phi(x)`. Phi is nearly a logistic function of a cubic polynomial (E. Page, 1977, with coefficients
/// 1.5976 and 0.0706; the approximation with tanh is another, with 1.5958 and 0.0714). The two coefficients here are
/// numbers of the device's f16 format, and the most accurate ones of these: `x Phi(x)` is at most 2.9e-4 off in exact
/// arithmetic. The format itself rounds by up to 9.8e-4 between 1 and 2.
///
/// One more term in the polynomial (9 steps) has an error of 7e-5, which the rounding of the steps hides. The error
/// function by Abramowitz and Stegun (7.1.26) has 1.5e-7 and takes 21 steps. A large x^2 may saturate: the exponential
/// is then 0 or the largest number, and the quotient is `x` or, at -65504, -8e-6.
pub const EXPANSIONS: &[Expansion] = &[
    Expansion {
        function: "abs",
        steps: &[build_step("neg", &[ARGUMENT]), build_step("maximum", &[ARGUMENT, ExpansionOperand::Step(0)])],
    },
    Expansion {
        function: "gelufwd",
        steps: &[
            build_step("mul", &[ARGUMENT, ARGUMENT]),
            build_step("mul", &[ExpansionOperand::Step(0), ExpansionOperand::Number(-570.0 / 8192.0)]),
            build_step("add", &[ExpansionOperand::Step(1), ExpansionOperand::Number(-819.0 / 512.0)]),
            build_step("mul", &[ARGUMENT, ExpansionOperand::Step(2)]),
            build_step("exp", &[ExpansionOperand::Step(3)]),
            build_step("add", &[ExpansionOperand::Step(4), ExpansionOperand::Number(1.0)]),
            build_step("realdiv", &[ARGUMENT, ExpansionOperand::Step(5)]),
        ],
    },
    Expansion { function: "reciprocal", steps: &[build_step("realdiv", &[ExpansionOperand::Number(1.0), ARGUMENT])] },
    Expansion { function: "relufwd", steps: &[build_step("maximum", &[ARGUMENT, ExpansionOperand::Number(0.0)])] },
];

impl Expansion {
    /// Returns the expansion of the function of that name.
    #[must_use]
    pub fn find(function: &str) -> Option<&'static Self> {
        EXPANSIONS.iter().find(|expansion| expansion.function == function)
    }

    /// Returns the number of reads of the argument.
    #[must_use]
    pub fn num_argument_reads(&self) -> usize {
        self.steps.iter().flat_map(|step| step.sources).filter(|&source| *source == ExpansionOperand::Argument).count()
    }

    /// Returns whether a core's slices of the argument and of all intermediate results, `part_bytes` each, fit in
    /// `lx_bytes` of LX together. Otherwise every step would go through HBM, where the function does so once. A single
    /// step never costs more than the function.
    #[must_use]
    pub const fn fits_in_lx(&self, part_bytes: i64, lx_bytes: i64) -> bool {
        self.steps.len() == 1 || part_bytes <= lx_bytes / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFunction;

    fn apply_function(function: &str, operands: &[f64]) -> f64 {
        match (function, operands) {
            ("add", [a, b]) => a + b,
            ("exp", [a]) => a.exp(),
            ("maximum", [a, b]) => a.max(*b),
            ("mul", [a, b]) => a * b,
            ("neg", [a]) => -a,
            ("realdiv", [a, b]) => a / b,
            _ => panic!("'{function}' of {} operands", operands.len()),
        }
    }

    /// Evaluates the expansion in exact arithmetic.
    fn evaluate_expansion(function: &str, x: f64) -> f64 {
        let mut results = Vec::new();
        for step in Expansion::find(function).unwrap().steps {
            let read = |source: &ExpansionOperand| match *source {
                ExpansionOperand::Argument => x,
                ExpansionOperand::Number(number) => number,
                ExpansionOperand::Step(step) => results[step],
            };
            let operands: Vec<f64> = step.sources.iter().map(read).collect();
            results.push(apply_function(step.function, &operands));
        }
        results[results.len() - 1]
    }

    #[test]
    fn expands_only_functions_outside_lx_into_functions_in_lx() {
        for expansion in EXPANSIONS {
            let own = DeviceFunction::find_pointwise(expansion.function).unwrap();
            assert!(!own.lx, "{} may live in LX as it is", own.name);
            for step in expansion.steps {
                let row = DeviceFunction::find_pointwise(step.function).unwrap();
                assert!(
                    row.lx && (row.fp32 || !own.fp32) && row.num_operands == step.sources.len(),
                    "{}: {}",
                    own.name,
                    row.name
                );
            }
        }
    }

    #[test]
    fn uses_every_step_after_its_definition() {
        for Expansion { function, steps } in EXPANSIONS {
            let reads = |step: &ExpansionStep, other: usize| step.sources.contains(&ExpansionOperand::Step(other));
            for (position, step) in steps.iter().enumerate() {
                assert!((position..steps.len()).all(|later| !reads(step, later)), "{function}, step {position}");
                assert!(
                    position + 1 == steps.len() || steps.iter().any(|step| reads(step, position)),
                    "{function}, step {position}"
                );
            }
        }
    }

    #[test]
    fn expands_three_functions_exactly() {
        for x in [-65504.0, -2.5, -0.0, 0.0, 1e-7, 3.0] {
            assert_eq!(evaluate_expansion("abs", x), f64::abs(x));
            assert_eq!(evaluate_expansion("reciprocal", x), 1.0 / x);
            assert_eq!(evaluate_expansion("relufwd", x), f64::max(x, 0.0));
        }
    }

    #[test]
    fn counts_reads_of_argument() {
        let num_reads = |function| Expansion::find(function).map(Expansion::num_argument_reads);
        assert_eq!((num_reads("gelufwd"), num_reads("relufwd")), (Some(4), Some(1)));
    }

    #[test]
    fn requires_room_for_two_slices() {
        let (gelu, relu) = (Expansion::find("gelufwd").unwrap(), Expansion::find("relufwd").unwrap());
        assert!(gelu.fits_in_lx(1024, 2048) && !gelu.fits_in_lx(1025, 2048));
        assert!(relu.fits_in_lx(1 << 30, 0));
    }
}
