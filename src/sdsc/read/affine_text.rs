//! Parses affine expressions: `c0 floordiv 64 + 1`, `indirect(t)`, `(core_id mod 8) floordiv 2`.
//!
//! A device coordinate must reduce to one term and an integer ([`parse_coordinate`]). The slice that a core owns may be
//! any expression of the core ([`parse_slice`]).

use crate::bundle::{Coordinate, CoordinateSource};
use program::layout::CoordinateTerm;
use sdsc_format::bundle_text::{AffineEvaluator, AffineOperator, TextError, parse_affine};

/// Reason why an expression is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}', character {at}: {message}")]
pub(super) struct AffineError {
    text: String,
    /// Column, from 1.
    at: usize,
    message: String,
}

fn parse_with<A: AffineEvaluator>(text: &str, of: &A) -> Result<A::Value, AffineError> {
    let placed = |TextError { at, message }| AffineError { text: text.to_owned(), at: at.column, message };
    parse_affine(text, of).map_err(placed)
}

/// Parses a device coordinate; `position` finds an iteration dimension by name.
pub(super) fn parse_coordinate(
    text: &str,
    position: &impl Fn(&str) -> Option<usize>,
) -> Result<Coordinate, AffineError> {
    parse_with(text, &PointExprEvaluator { position })
}

/// Returns the number of the slice that a core owns.
pub(super) fn parse_slice(text: &str, core: i64) -> Result<i64, AffineError> {
    parse_with(text, &CoreExprEvaluator { core })
}

/// Evaluator of expressions of the iteration point.
struct PointExprEvaluator<'a, F> {
    position: &'a F,
}

impl<F: Fn(&str) -> Option<usize>> AffineEvaluator for PointExprEvaluator<'_, F> {
    type Value = Coordinate;

    fn evaluate_number(&self, value: i64) -> Coordinate {
        Coordinate::constant(value)
    }

    fn evaluate_name(&self, name: &str) -> Result<Coordinate, String> {
        (self.position)(name).map(Coordinate::dim).ok_or_else(|| format!("'{name}' is no iteration dimension"))
    }

    fn evaluate_indirect(&self, name: &str) -> Result<Coordinate, String> {
        Ok(Coordinate::indirect(name))
    }

    fn evaluate_operator(
        &self,
        operator: AffineOperator,
        left: Coordinate,
        right: Coordinate,
    ) -> Result<Coordinate, String> {
        let result = match (operator, as_integer(&left), as_integer(&right)) {
            (AffineOperator::Add, _, Some(value)) => shift_coordinate(left, value),
            (AffineOperator::Add, Some(value), None) => shift_coordinate(right, value),
            (AffineOperator::Subtract, _, Some(value)) => {
                value.checked_neg().and_then(|value| shift_coordinate(left, value))
            }
            (AffineOperator::Multiply, Some(left), Some(right)) => left.checked_mul(right).map(Coordinate::constant),
            (AffineOperator::Multiply, None, Some(1)) => Some(left),
            (AffineOperator::Multiply, Some(1), None) => Some(right),
            (AffineOperator::FloorDiv | AffineOperator::Mod, _, Some(divisor)) if divisor < 1 => {
                return Err(invalid_divisor_message(divisor));
            }
            (AffineOperator::FloorDiv, _, Some(divisor)) => floordiv_coordinate(&left, divisor),
            (AffineOperator::Mod, _, Some(modulo)) => mod_coordinate(&left, modulo),
            (
                AffineOperator::Add
                | AffineOperator::Subtract
                | AffineOperator::Multiply
                | AffineOperator::FloorDiv
                | AffineOperator::Mod,
                _,
                _,
            ) => None,
        };
        result.ok_or_else(|| {
            "a coordinate is of the form ((dim mod m) floordiv d) + k, indirect(tensor) + k or k".to_owned()
        })
    }
}

fn invalid_divisor_message(divisor: i64) -> String {
    format!("divides by {divisor}; divisors are at least 1")
}

/// Evaluator of expressions of the core, for one core.
struct CoreExprEvaluator {
    core: i64,
}

impl AffineEvaluator for CoreExprEvaluator {
    type Value = i64;

    fn evaluate_number(&self, value: i64) -> i64 {
        value
    }

    fn evaluate_name(&self, name: &str) -> Result<i64, String> {
        if name == "core_id" {
            Ok(self.core)
        } else {
            Err(format!("'{name}' is not 'core_id', which the slices of cores depend on"))
        }
    }

    fn evaluate_operator(&self, operator: AffineOperator, left: i64, right: i64) -> Result<i64, String> {
        let value = match operator {
            AffineOperator::Add => left.checked_add(right),
            AffineOperator::Subtract => left.checked_sub(right),
            AffineOperator::Multiply => left.checked_mul(right),
            AffineOperator::FloorDiv | AffineOperator::Mod if right < 1 => return Err(invalid_divisor_message(right)),
            AffineOperator::FloorDiv => Some(left.div_euclid(right)),
            AffineOperator::Mod => Some(left.rem_euclid(right)),
        };
        value.ok_or_else(|| "has more than 64 bits".to_owned())
    }
}

fn as_integer(coordinate: &Coordinate) -> Option<i64> {
    coordinate.term.is_none().then_some(coordinate.offset)
}

fn shift_coordinate(coordinate: Coordinate, by: i64) -> Option<Coordinate> {
    Some(Coordinate { offset: coordinate.offset.checked_add(by)?, term: coordinate.term })
}

fn floordiv_coordinate(coordinate: &Coordinate, by: i64) -> Option<Coordinate> {
    match *coordinate {
        Coordinate { term: None, offset } => Some(Coordinate::constant(offset.div_euclid(by))),
        Coordinate { term: Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv })), offset: 0 } => {
            let divisor = floordiv.unwrap_or(1).checked_mul(by)?;
            let digits = CoordinateTerm { dim, modulo, floordiv: (divisor > 1).then_some(divisor) };
            Some(Coordinate { term: Some(CoordinateSource::Digits(digits)), offset: 0 })
        }
        Coordinate { term: Some(_), .. } => None,
    }
}

/// Returns the coordinate modulo `by`: `(v floordiv d) mod m` is `(v mod (d * m)) floordiv d`.
fn mod_coordinate(coordinate: &Coordinate, by: i64) -> Option<Coordinate> {
    match *coordinate {
        Coordinate { term: None, offset } => Some(Coordinate::constant(offset.rem_euclid(by))),
        Coordinate { term: Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv })), offset: 0 } => {
            let range = by.checked_mul(floordiv.unwrap_or(1))?;
            let modulo = match modulo {
                None => range,
                Some(modulo) if modulo % range == 0 => range,
                Some(modulo) if range % modulo == 0 => modulo,
                Some(_) => return None,
            };
            Some(Coordinate {
                term: Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo: Some(modulo), floordiv })),
                offset: 0,
            })
        }
        Coordinate { term: Some(_), .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_point(text: &str) -> Result<Coordinate, AffineError> {
        parse_coordinate(text, &|name| ["c0", "c1"].iter().position(|known| *known == name))
    }

    #[test]
    fn parses_expressions_that_occur() {
        assert_eq!(parse_point("0"), Ok(Coordinate::constant(0)));
        assert_eq!(parse_point("c1"), Ok(Coordinate::dim(1)));
        assert_eq!(parse_point("c1 mod 64"), Ok(Coordinate::modulo(1, 64)));
        assert_eq!(parse_point("c1 floordiv 64 + 1"), Ok(Coordinate::floordiv(1, 64).shifted_by(1)));
        assert_eq!(parse_point("32 + c0"), Ok(Coordinate::dim(0).shifted_by(32)));
        assert_eq!(parse_point("indirect(arg0_1)"), Ok(Coordinate::indirect("arg0_1")));
    }

    #[test]
    fn rewrites_remainder_of_quotient() {
        let expected = Coordinate {
            term: Some(CoordinateSource::Digits(CoordinateTerm { dim: 0, modulo: Some(256), floordiv: Some(64) })),
            offset: 0,
        };
        assert_eq!(parse_point("(c0 floordiv 64) mod 4"), Ok(expected.clone()));
        assert_eq!(parse_point("(c0 mod 256) floordiv 64"), Ok(expected));
    }

    #[test]
    fn rejects_two_dimensions() {
        let form = "a coordinate is of the form ((dim mod m) floordiv d) + k, indirect(tensor) + k or k";
        assert_eq!(parse_point("c0 + c1").unwrap_err().to_string(), format!("'c0 + c1', character 4: {form}"));
        assert_eq!(parse_point("2 * c0").unwrap_err().to_string(), format!("'2 * c0', character 3: {form}"));
    }

    #[test]
    fn reports_position_of_invalid_text() {
        let rejected = |text: &str| parse_point(text).unwrap_err().to_string();
        assert_eq!(
            rejected("c0 floordiv"),
            "'c0 floordiv', character 12: expected a number, a name or '(', found the end of the text"
        );
        assert_eq!(rejected("c0 mod 0"), "'c0 mod 0', character 4: divides by 0; divisors are at least 1");
        assert_eq!(rejected("d0"), "'d0', character 1: 'd0' is no iteration dimension");
        assert_eq!(rejected("c0 c1"), "'c0 c1', character 4: expected an operator or the end, found 'c1'");
        assert_eq!(rejected("indirect(7)"), "'indirect(7)', character 1: 'indirect(' needs the name of a tensor");
        assert!(rejected(&"(".repeat(1000)).ends_with("an expression is nested too deeply"));
    }

    #[test]
    fn parses_long_text_without_deep_recursion() {
        let text = format!("c0{}", " + 1".repeat(1_000_000));
        assert_eq!(parse_point(&text), Ok(Coordinate::dim(0).shifted_by(1_000_000)));
    }

    #[test]
    fn evaluates_core_expression_for_each_core() {
        let slots: Vec<_> =
            (0..8).map(|core| parse_slice("(((core_id floordiv 4) mod 2) floordiv 1) mod 2", core).unwrap()).collect();
        assert_eq!(slots, [0, 0, 0, 0, 1, 1, 1, 1]);
        let rejected = |text: &str| parse_slice(text, 1).unwrap_err().message;
        assert_eq!(rejected("other"), "'other' is not 'core_id', which the slices of cores depend on");
        assert_eq!(rejected("9223372036854775807 + core_id"), "has more than 64 bits");
        assert_eq!(rejected("indirect(t)"), "'indirect(t)' is a value of a tensor, which has no place here");
    }
}
