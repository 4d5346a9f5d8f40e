//! Quotients and remainders of runtime integers by constants and by runtime integers, and shifts by constants.
//!
//! The quotient of two integers that a format represents is never rounded up to the next integer, so its floor is the
//! integer quotient. One correction step for both results covers an inexact division on the device. A runtime divisor
//! has a range from 1 on (`range.rs`), so there is no division by 0.

use super::{
    recognize::{add, div, maximum, minimum, mul, sub},
    rounding,
    rule_helpers::{NodeResult, neg},
};
use crate::{
    codes,
    import::graph::{
        NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor, integers::IntegerDivision,
    },
};

/// Divisor of integers.
#[derive(Clone, Copy)]
struct IntegerDivisor {
    /// Magnitude of the divisor.
    by: NodeId,
    is_negative: bool,
}

/// Builds a quotient or a remainder of integers as numbers. Returns None for other operations, and for functions of one
/// integer, which are looked up: a table covers more integers than a format.
pub(super) fn build_division(
    graph: &mut ValueGraph,
    name: &str,
    numbers: &[NodeId],
    element: NodeElementType,
) -> Option<NodeResult> {
    let &[x, by] = numbers else { return None };
    let is_unsigned = matches!(name, "arith.divui" | "arith.remui" | "arith.ceildivui");
    let is_division =
        is_unsigned || matches!(name, "arith.divsi" | "arith.floordivsi" | "arith.ceildivsi" | "arith.remsi");
    let is_looked_up =
        || graph.depends_on_one_integer(x) && graph.as_scalar(by).is_some() && !graph.may_have_negative_sources(x);
    if !is_division || is_looked_up() {
        return None;
    }
    let divisor = match graph.as_scalar(by) {
        Some(number) if number == 0.0 || is_unsigned && number < 0.0 => {
            return Some(Err(
                codes::INTEGER_DIVISOR.format(format_args!("requires a positive integer divisor, found {number}"))
            ));
        }
        Some(number) => IntegerDivisor { by: graph.add_scalar(number.abs()), is_negative: number < 0.0 },
        None => {
            graph.record_divisor(by);
            IntegerDivisor { by, is_negative: false }
        }
    };
    if is_unsigned && let Err(reason) = require_unsigned(graph, &[x]) {
        return Some(Err(reason));
    }
    Some(match name {
        "arith.remsi" => build_clamped_remainder(graph, x, divisor, element),
        "arith.remui" => build_floor_division(graph, x, divisor, element).and_then(|[_, rest]| {
            let (zero, one) = (graph.add_scalar(0.0), graph.add_scalar(1.0));
            let last = sub(graph, &[divisor.by, one], element)?;
            let rest = maximum(graph, &[rest, zero], element)?;
            minimum(graph, &[rest, last], element)
        }),
        "arith.divui" => build_floor_division(graph, x, divisor, element).and_then(|[quotient, _]| {
            let zero = graph.add_scalar(0.0);
            maximum(graph, &[quotient, zero], element)
        }),
        "arith.floordivsi" => build_floor_division(graph, x, divisor, element).map(|[quotient, _]| quotient),
        "arith.ceildivsi" | "arith.ceildivui" => neg(graph, &[x], element).and_then(|x| {
            let [quotient, _] = build_floor_division(graph, x, divisor, element)?;
            neg(graph, &[quotient], element)
        }),
        _ => build_truncated_quotient(graph, x, divisor, element),
    })
}

/// Builds a shift of integers of `width` bits by a constant; returns None for other operations.
pub(super) fn build_shift(
    graph: &mut ValueGraph,
    name: &str,
    numbers: &[NodeId],
    element: NodeElementType,
    width: u32,
) -> Option<NodeResult> {
    let &[x, bits] = numbers else { return None };
    let bits = graph.as_scalar(bits).filter(|_| matches!(name, "arith.shli" | "arith.shrsi" | "arith.shrui"))?;
    if !(0.0..f64::from(width)).contains(&bits) {
        return Some(Err(format!(
            "shifts integers of {width} bits by {bits}, which has no result; shift by 0 to {}",
            width - 1
        )));
    }
    let power = graph.add_scalar(bits.exp2());
    if name == "arith.shrui"
        && let Err(reason) = require_unsigned(graph, &[x])
    {
        return Some(Err(reason));
    }
    Some(match name {
        "arith.shli" => mul(graph, &[x, power], element).inspect(|&shifted| graph.record_width(shifted, width)),
        // Only the sign remains: -1 or 0.
        _ if bits >= 31.0 => {
            let (zero, less) = (graph.add_scalar(0.0), graph.add_scalar(-1.0));
            let is_negative = graph.add_pointwise("lesserthan", &[x, zero], NodeElementType::Bool);
            Ok(graph.add_pointwise("where3", &[is_negative, less, zero], element))
        }
        _ => build_floor_division(graph, x, IntegerDivisor { by: power, is_negative: false }, element)
            .map(|[quotient, _]| quotient),
    })
}

/// Records that the bits of integers are read as unsigned numbers. The condition on a constant is checked here, since
/// other operations share the constant.
///
/// # Errors
/// Returns the reason to reject a constant with a negative element.
pub(super) fn require_unsigned(graph: &mut ValueGraph, numbers: &[NodeId]) -> Result<(), String> {
    for &number in numbers {
        match graph.as_constant(number).map(|known| known.numbers().find(|&element| element < 0.0)) {
            None => graph.record_unsigned(number),
            Some(None) => {}
            Some(Some(negative)) => {
                return Err(codes::INTEGER_SIGN.format(format_args!(
                    "requires nonnegative integers for unsigned arithmetic, found a constant with the element {negative}; use a signed op"
                )));
            }
        }
    }
    Ok(())
}

/// Applies a function to both alternatives of a select between constant integers, such as the sign as `(x >> 31) | 1`.
pub(super) fn fold_select_operands(
    graph: &mut ValueGraph,
    numbers: &[NodeId],
    fold: impl Fn(&[i64]) -> Option<i64>,
    element: NodeElementType,
) -> Option<NodeId> {
    let is_choice = |graph: &ValueGraph, id: NodeId| graph.node(id).kind == NodeKind::Pointwise("where3", Vec::new());
    let choice = numbers.iter().position(|&number| is_choice(graph, number))?;
    let &[condition, yes, no] = graph.node(numbers[choice]).inputs.as_slice() else { return None };
    let mut made = |chosen: NodeId| {
        let known = numbers
            .iter()
            .enumerate()
            .map(|(at, &number)| graph.as_integer_scalar(if at == choice { chosen } else { number }));
        let folded = known.collect::<Option<Vec<i64>>>().and_then(|known| fold(&known))?;
        Some(graph.add_constant(ConstantTensor::from_integer(folded), Vec::new(), element))
    };
    let (yes, no) = (made(yes)?, made(no)?);
    Some(graph.add_pointwise("where3", &[condition, yes, no], element))
}

/// Computes the remainder of a division, with the sign of the dividend, clamped to a range that depends on the divisor
/// alone.
fn build_clamped_remainder(
    graph: &mut ValueGraph,
    x: NodeId,
    IntegerDivisor { by, .. }: IntegerDivisor,
    element: NodeElementType,
) -> NodeResult {
    let one = graph.add_scalar(1.0);
    let rest = rounding::build_remainder(graph, &[x, by], element)?;
    let (first, last) = match graph.as_scalar(by) {
        Some(by) => (graph.add_scalar(1.0 - by), graph.add_scalar(by - 1.0)),
        None => (sub(graph, &[one, by], element)?, sub(graph, &[by, one], element)?),
    };
    let rest = maximum(graph, &[rest, first], element)?;
    minimum(graph, &[rest, last], element)
}

/// Builds the floor of the quotient, and the remainder.
fn build_floor_division(
    graph: &mut ValueGraph,
    x: NodeId,
    divisor: IntegerDivisor,
    element: NodeElementType,
) -> Result<[NodeId; 2], String> {
    let x = if divisor.is_negative { neg(graph, &[x], element)? } else { x };
    let (zero, one, by) = (graph.add_scalar(0.0), graph.add_scalar(1.0), divisor.by);
    let quotient = div(graph, &[x, by], element)?;
    let whole = graph.add_pointwise("floor", &[quotient], element);
    let taken = mul(graph, &[whole, by], element)?;
    let rest = sub(graph, &[x, taken], element)?;
    let is_below = graph.add_pointwise("lesserthan", &[rest, zero], NodeElementType::Bool);
    let is_beyond = graph.add_pointwise("greaterequal", &[rest, by], NodeElementType::Bool);
    let mut corrected = |value: NodeId, step: NodeId, sign: [bool; 2]| -> NodeResult {
        let mut moved =
            |up: bool| if up { add(graph, &[value, step], element) } else { sub(graph, &[value, step], element) };
        let (below, beyond) = (moved(sign[0])?, moved(sign[1])?);
        let found = graph.add_pointwise("where3", &[is_beyond, beyond, value], element);
        Ok(graph.add_pointwise("where3", &[is_below, below, found], element))
    };
    let found = [corrected(whole, one, [false, true])?, corrected(rest, by, [true, false])?];
    for (node, is_rest) in found.into_iter().zip([false, true]) {
        graph.record_division(node, IntegerDivision { dividend: x, divisor: by, is_remainder: is_rest });
    }
    Ok(found)
}

/// Truncates the quotient.
fn build_truncated_quotient(
    graph: &mut ValueGraph,
    x: NodeId,
    divisor: IntegerDivisor,
    element: NodeElementType,
) -> NodeResult {
    let zero = graph.add_scalar(0.0);
    let magnitude = graph.add_pointwise("abs", &[x], element);
    let [quotient, _] =
        build_floor_division(graph, magnitude, IntegerDivisor { is_negative: false, ..divisor }, element)?;
    let negative = neg(graph, &[quotient], element)?;
    let [positive, negative] = if divisor.is_negative { [negative, quotient] } else { [quotient, negative] };
    let is_positive = graph.add_pointwise("greaterequal", &[x, zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_positive, positive, negative], element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeKind;

    fn divide_sum(name: &str, divisor: f64) -> Option<NodeResult> {
        let mut graph = ValueGraph::default();
        let numbers: Vec<NodeId> =
            (0..2).map(|number| graph.add_tensor(number, vec![8], NodeElementType::Int)).collect();
        let numbers: Vec<NodeId> =
            numbers.into_iter().map(|integer| graph.convert_to_numbers(integer).unwrap()).collect();
        let sum = graph.add_pointwise("add", &numbers, NodeElementType::F32);
        let by = graph.add_scalar(divisor);
        build_division(&mut graph, name, &[sum, by], NodeElementType::F32)
    }

    #[test]
    fn divides_sums_by_constants() {
        for name in ["arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi"] {
            assert!(divide_sum(name, 7.0).is_some_and(|built| built.is_ok()), "{name}");
            assert!(
                divide_sum(name, 0.0).is_some_and(|built| built.is_err_and(|message| message.contains("found 0"))),
                "{name}"
            );
        }
        assert!(divide_sum("arith.addi", 7.0).is_none());
    }

    #[test]
    fn folds_operations_on_constant_select() {
        let mut graph = ValueGraph::default();
        let sum = graph.add_tensor(0, vec![8], NodeElementType::F32);
        let (bits, one) = (graph.add_scalar(31.0), graph.add_scalar(1.0));
        let sign = build_shift(&mut graph, "arith.shrsi", &[sum, bits], NodeElementType::F32, 32).unwrap().unwrap();
        let odd = fold_select_operands(&mut graph, &[sign, one], |x| Some(x[0] | x[1]), NodeElementType::F32).unwrap();
        let chosen: Vec<Option<f64>> =
            graph.node(odd).inputs[1..].iter().map(|&input| graph.as_scalar(input)).collect();
        assert_eq!(chosen, [Some(-1.0), Some(1.0)]);
        assert_eq!(fold_select_operands(&mut graph, &[sum, one], |x| Some(x[0]), NodeElementType::F32), None);
        let beyond = build_shift(&mut graph, "arith.shli", &[sum, bits], NodeElementType::F32, 16).unwrap();
        assert!(beyond.is_err_and(|message| message.contains("shift by 0 to 15")));
    }

    #[test]
    fn leaves_unary_functions_to_lookup() {
        let mut graph = ValueGraph::default();
        let integer = graph.add_tensor(0, vec![8], NodeElementType::Int);
        let number = graph.convert_to_numbers(integer).unwrap();
        let by = graph.add_scalar(7.0);
        assert!(build_division(&mut graph, "arith.remsi", &[number, by], NodeElementType::F32).is_none());
        assert_eq!(graph.node(number).kind, NodeKind::Reshape);
    }
}
