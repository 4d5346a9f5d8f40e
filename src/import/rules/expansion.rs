//! Device functions in terms of others whose results may live in LX (torch-spyre facts, F.1).
//!
//! | function | in its place | how far off |
//! |---|---|---|
//! | `abs` | `maximum(x, -x)` | not at all |
//! | `reciprocal` | `1 / x` | not at all |
//! | `relufwd` | `maximum(x, 0)` | not at all |
//! | `gelufwd` | `x / (1 + exp(-x (1.5996 + 0.06958 x^2)))` | 2.9e-4, and what the steps round |
//!
//! The gelu is x Phi(x). Phi is nearly a logistic function of a cubic polynomial (E. Page, 1977, with 1.5976 and 0.0706; the approximation with
//! tanh is one too, with 1.5958 and 0.0714). These two coefficients are numbers of the device's f16 format, and of those the ones that bring x
//! Phi(x) closest: at most 2.9e-4 away in exact arithmetic, where the format itself rounds by up to 9.8e-4 between 1 and 2. A term more in the
//! polynomial (9 steps) has 7e-5, which the steps' own rounding hides; the error function by Abramowitz and Stegun (7.1.26) has 1.5e-7 and takes 21
//! steps. A large x^2 may saturate: the exponential is then 0 or the largest number, and the quotient x or, at -65504, -8e-6.

/// Operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Argument of the function.
    Argument,
    /// A number.
    Number(f64),
    /// The result of an earlier step.
    Step(usize),
}

/// One device function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its name; a row of the table of device functions whose result may live in LX.
    pub function: &'static str,
    /// Operands, in order.
    pub sources: &'static [Source],
}

/// An elementwise function of one argument as a chain of others; the last step is the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expansion {
    /// The function whose result cannot live in LX.
    pub function: &'static str,
    /// Steps that compute the function, in order.
    pub steps: &'static [Step],
}

const X: Source = Source::Argument;

const fn step(function: &'static str, sources: &'static [Source]) -> Step {
    Step { function, sources }
}

/// Every function that has an expansion.
pub const EXPANSIONS: &[Expansion] = &[
    Expansion { function: "abs", steps: &[step("neg", &[X]), step("maximum", &[X, Source::Step(0)])] },
    Expansion {
        function: "gelufwd",
        steps: &[
            step("mul", &[X, X]),
            step("mul", &[Source::Step(0), Source::Number(-570.0 / 8192.0)]),
            step("add", &[Source::Step(1), Source::Number(-819.0 / 512.0)]),
            step("mul", &[X, Source::Step(2)]),
            step("exp", &[Source::Step(3)]),
            step("add", &[Source::Step(4), Source::Number(1.0)]),
            step("realdiv", &[X, Source::Step(5)]),
        ],
    },
    Expansion { function: "reciprocal", steps: &[step("realdiv", &[Source::Number(1.0), X])] },
    Expansion { function: "relufwd", steps: &[step("maximum", &[X, Source::Number(0.0)])] },
];

impl Expansion {
    /// The expansion of the function of that name.
    #[must_use]
    pub fn of(function: &str) -> Option<&'static Self> {
        EXPANSIONS.iter().find(|expansion| expansion.function == function)
    }

    /// How often the steps read the argument.
    #[must_use]
    pub fn n_reads(&self) -> usize {
        self.steps.iter().flat_map(|step| step.sources).filter(|&source| *source == Source::Argument).count()
    }

    /// Whether a core's part of the argument and of what is computed from it, `part_bytes` each, fit in `lx_bytes` of LX together. Otherwise
    /// every step would go through HBM where the function does it once; a single step cannot be worse.
    #[must_use]
    pub const fn fits(&self, part_bytes: i64, lx_bytes: i64) -> bool {
        self.steps.len() == 1 || part_bytes <= lx_bytes / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFunction;

    fn applied(function: &str, operands: &[f64]) -> f64 {
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

    /// The expansion in exact arithmetic.
    fn value(function: &str, x: f64) -> f64 {
        let mut results = Vec::new();
        for step in Expansion::of(function).unwrap().steps {
            let read = |source: &Source| match *source {
                Source::Argument => x,
                Source::Number(number) => number,
                Source::Step(step) => results[step],
            };
            let operands: Vec<f64> = step.sources.iter().map(read).collect();
            results.push(applied(step.function, &operands));
        }
        results[results.len() - 1]
    }

    #[test]
    fn every_step_may_live_in_lx_and_no_expanded_function_may() {
        for expansion in EXPANSIONS {
            let own = DeviceFunction::pointwise(expansion.function).unwrap();
            assert!(!own.lx, "{} may live in LX as it is", own.name);
            for step in expansion.steps {
                let row = DeviceFunction::pointwise(step.function).unwrap();
                assert!(row.lx && (row.fp32 || !own.fp32) && row.n_operands == step.sources.len(), "{}: {}", own.name, row.name);
            }
        }
    }

    #[test]
    fn a_step_reads_what_is_there_and_is_read() {
        for Expansion { function, steps } in EXPANSIONS {
            let reads = |step: &Step, other: usize| step.sources.contains(&Source::Step(other));
            for (position, step) in steps.iter().enumerate() {
                assert!((position..steps.len()).all(|later| !reads(step, later)), "{function}, step {position}");
                assert!(position + 1 == steps.len() || steps.iter().any(|step| reads(step, position)), "{function}, step {position}");
            }
        }
    }

    #[test]
    fn three_are_exact() {
        for x in [-65504.0, -2.5, -0.0, 0.0, 1e-7, 3.0] {
            assert_eq!(value("abs", x), f64::abs(x));
            assert_eq!(value("reciprocal", x), 1.0 / x);
            assert_eq!(value("relufwd", x), f64::max(x, 0.0));
        }
    }

    #[test]
    fn each_read_of_the_argument_counts() {
        let n_reads = |function| Expansion::of(function).map(Expansion::n_reads);
        assert_eq!((n_reads("gelufwd"), n_reads("relufwd")), (Some(4), Some(1)));
    }

    #[test]
    fn a_chain_needs_room_for_two() {
        let (gelu, relu) = (Expansion::of("gelufwd").unwrap(), Expansion::of("relufwd").unwrap());
        assert!(gelu.fits(1024, 2048) && !gelu.fits(1025, 2048));
        assert!(relu.fits(1 << 30, 0));
    }
}
