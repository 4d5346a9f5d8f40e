//! Quotients and remainders of runtime integers by constants and by runtime integers, and shifts by constants.
//!
//! The quotient of two integers that a format represents is never rounded up to the next integer, so its floor is the integer quotient. One
//! correction step for both results covers an inexact division on the device. A runtime divisor keeps to a range from 1 on (`range.rs`), so
//! there is no division by 0.

use super::{
    plain::{Built, neg},
    recognize::{add, div, maximum, minimum, mul, sub},
    steps,
};
use crate::{
    codes,
    import::graph::{Element, Graph, Kind, NodeId, integers::Division, known::Known},
};

/// Divisor of integers.
#[derive(Clone, Copy)]
struct Divisor {
    /// Magnitude of the divisor.
    by: NodeId,
    is_negative: bool,
}

/// Builds a quotient or a remainder of integers as numbers. Returns None for other operations, and for functions of one integer, which are
/// looked up: a table covers more integers than a format.
pub(super) fn divided(graph: &mut Graph, name: &str, numbers: &[NodeId], element: Element) -> Option<Built> {
    let &[x, by] = numbers else { return None };
    let is_unsigned = matches!(name, "arith.divui" | "arith.remui" | "arith.ceildivui");
    let is_division = is_unsigned || matches!(name, "arith.divsi" | "arith.floordivsi" | "arith.ceildivsi" | "arith.remsi");
    let is_looked_up = || graph.follows_from_one(x) && graph.number_of(by).is_some() && !graph.has_negative_integers_behind(x);
    if !is_division || is_looked_up() {
        return None;
    }
    let divisor = match graph.number_of(by) {
        Some(number) if number == 0.0 || is_unsigned && number < 0.0 => {
            return Some(Err(codes::INTEGER_DIVISOR.says(format_args!("requires a positive integer divisor, found {number}"))));
        }
        Some(number) => Divisor { by: graph.number(number.abs()), is_negative: number < 0.0 },
        None => {
            graph.note_divisor(by);
            Divisor { by, is_negative: false }
        }
    };
    if is_unsigned && let Err(reason) = require_unsigned(graph, &[x]) {
        return Some(Err(reason));
    }
    Some(match name {
        "arith.remsi" => remainder(graph, x, divisor, element),
        "arith.remui" => floor(graph, x, divisor, element).and_then(|[_, rest]| {
            let (zero, one) = (graph.number(0.0), graph.number(1.0));
            let last = sub(graph, &[divisor.by, one], element)?;
            let rest = maximum(graph, &[rest, zero], element)?;
            minimum(graph, &[rest, last], element)
        }),
        "arith.divui" => floor(graph, x, divisor, element).and_then(|[quotient, _]| {
            let zero = graph.number(0.0);
            maximum(graph, &[quotient, zero], element)
        }),
        "arith.floordivsi" => floor(graph, x, divisor, element).map(|[quotient, _]| quotient),
        "arith.ceildivsi" | "arith.ceildivui" => neg(graph, &[x], element).and_then(|x| {
            let [quotient, _] = floor(graph, x, divisor, element)?;
            neg(graph, &[quotient], element)
        }),
        _ => toward_zero(graph, x, divisor, element),
    })
}

/// Builds a shift of integers of `width` bits by a constant; returns None for other operations.
pub(super) fn shifted(graph: &mut Graph, name: &str, numbers: &[NodeId], element: Element, width: u32) -> Option<Built> {
    let &[x, bits] = numbers else { return None };
    let bits = graph.number_of(bits).filter(|_| matches!(name, "arith.shli" | "arith.shrsi" | "arith.shrui"))?;
    if !(0.0..f64::from(width)).contains(&bits) {
        return Some(Err(format!("shifts integers of {width} bits by {bits}, which has no result; shift by 0 to {}", width - 1)));
    }
    let power = graph.number(bits.exp2());
    if name == "arith.shrui"
        && let Err(reason) = require_unsigned(graph, &[x])
    {
        return Some(Err(reason));
    }
    Some(match name {
        "arith.shli" => mul(graph, &[x, power], element).inspect(|&shifted| graph.note_width(shifted, width)),
        // Only the sign remains: -1 or 0.
        _ if bits >= 31.0 => {
            let (zero, less) = (graph.number(0.0), graph.number(-1.0));
            let is_negative = graph.pointwise("lesserthan", &[x, zero], Element::Bool);
            Ok(graph.pointwise("where3", &[is_negative, less, zero], element))
        }
        _ => floor(graph, x, Divisor { by: power, is_negative: false }, element).map(|[quotient, _]| quotient),
    })
}

/// Records that the bits of integers are read as unsigned numbers. The condition on a constant is checked here, since other operations
/// share the constant.
///
/// # Errors
/// Returns the reason to reject a constant with a negative element.
pub(super) fn require_unsigned(graph: &mut Graph, numbers: &[NodeId]) -> Result<(), String> {
    for &number in numbers {
        match graph.known_of(number).map(|known| known.numbers().find(|&element| element < 0.0)) {
            None => graph.note_unsigned(number),
            Some(None) => {}
            Some(Some(negative)) => {
                return Err(codes::INTEGER_SIGN.says(format_args!(
                    "requires nonnegative integers for unsigned arithmetic, found a constant with the element {negative}; use a signed op"
                )));
            }
        }
    }
    Ok(())
}

/// Applies a function to both alternatives of a select between constant integers, such as the sign as `(x >> 31) | 1`.
pub(super) fn of_choice(graph: &mut Graph, numbers: &[NodeId], fold: impl Fn(&[i64]) -> Option<i64>, element: Element) -> Option<NodeId> {
    let is_choice = |graph: &Graph, id: NodeId| graph.node(id).kind == Kind::Pointwise("where3", Vec::new());
    let choice = numbers.iter().position(|&number| is_choice(graph, number))?;
    let &[condition, yes, no] = graph.node(numbers[choice]).inputs.as_slice() else { return None };
    let mut made = |chosen: NodeId| {
        let known = numbers.iter().enumerate().map(|(at, &number)| graph.integer_of(if at == choice { chosen } else { number }));
        let folded = known.collect::<Option<Vec<i64>>>().and_then(|known| fold(&known))?;
        Some(graph.known(Known::integer(folded), Vec::new(), element))
    };
    let (yes, no) = (made(yes)?, made(no)?);
    Some(graph.pointwise("where3", &[condition, yes, no], element))
}

/// Computes the remainder of a division, with the sign of the dividend, clamped to a range that depends on the divisor
/// alone.
fn remainder(graph: &mut Graph, x: NodeId, Divisor { by, .. }: Divisor, element: Element) -> Built {
    let one = graph.number(1.0);
    let rest = steps::remainder(graph, &[x, by], element)?;
    let (first, last) = match graph.number_of(by) {
        Some(by) => (graph.number(1.0 - by), graph.number(by - 1.0)),
        None => (sub(graph, &[one, by], element)?, sub(graph, &[by, one], element)?),
    };
    let rest = maximum(graph, &[rest, first], element)?;
    minimum(graph, &[rest, last], element)
}

/// Builds the floor of the quotient, and the remainder.
fn floor(graph: &mut Graph, x: NodeId, divisor: Divisor, element: Element) -> Result<[NodeId; 2], String> {
    let x = if divisor.is_negative { neg(graph, &[x], element)? } else { x };
    let (zero, one, by) = (graph.number(0.0), graph.number(1.0), divisor.by);
    let quotient = div(graph, &[x, by], element)?;
    let whole = graph.pointwise("floor", &[quotient], element);
    let taken = mul(graph, &[whole, by], element)?;
    let rest = sub(graph, &[x, taken], element)?;
    let is_below = graph.pointwise("lesserthan", &[rest, zero], Element::Bool);
    let is_beyond = graph.pointwise("greaterequal", &[rest, by], Element::Bool);
    let mut corrected = |value: NodeId, step: NodeId, sign: [bool; 2]| -> Built {
        let mut moved = |up: bool| if up { add(graph, &[value, step], element) } else { sub(graph, &[value, step], element) };
        let (below, beyond) = (moved(sign[0])?, moved(sign[1])?);
        let found = graph.pointwise("where3", &[is_beyond, beyond, value], element);
        Ok(graph.pointwise("where3", &[is_below, below, found], element))
    };
    let found = [corrected(whole, one, [false, true])?, corrected(rest, by, [true, false])?];
    for (node, is_rest) in found.into_iter().zip([false, true]) {
        graph.note_division(node, Division { dividend: x, divisor: by, is_rest });
    }
    Ok(found)
}

/// Truncates the quotient.
fn toward_zero(graph: &mut Graph, x: NodeId, divisor: Divisor, element: Element) -> Built {
    let zero = graph.number(0.0);
    let magnitude = graph.pointwise("abs", &[x], element);
    let [quotient, _] = floor(graph, magnitude, Divisor { is_negative: false, ..divisor }, element)?;
    let negative = neg(graph, &[quotient], element)?;
    let [positive, negative] = if divisor.is_negative { [negative, quotient] } else { [quotient, negative] };
    let is_positive = graph.pointwise("greaterequal", &[x, zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_positive, positive, negative], element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::Kind;

    fn of_sum(name: &str, divisor: f64) -> Option<Built> {
        let mut graph = Graph::default();
        let numbers: Vec<NodeId> = (0..2).map(|number| graph.tensor(number, vec![8], Element::Int)).collect();
        let numbers: Vec<NodeId> = numbers.into_iter().map(|integer| graph.numbers_of(integer).unwrap()).collect();
        let sum = graph.pointwise("add", &numbers, Element::F32);
        let by = graph.number(divisor);
        divided(&mut graph, name, &[sum, by], Element::F32)
    }

    #[test]
    fn sums_are_divided_by_known_numbers() {
        for name in ["arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi"] {
            assert!(of_sum(name, 7.0).is_some_and(|built| built.is_ok()), "{name}");
            assert!(of_sum(name, 0.0).is_some_and(|built| built.is_err_and(|message| message.contains("found 0"))), "{name}");
        }
        assert!(of_sum("arith.addi", 7.0).is_none());
    }

    #[test]
    fn what_becomes_of_a_known_choice_is_a_choice() {
        let mut graph = Graph::default();
        let sum = graph.tensor(0, vec![8], Element::F32);
        let (bits, one) = (graph.number(31.0), graph.number(1.0));
        let sign = shifted(&mut graph, "arith.shrsi", &[sum, bits], Element::F32, 32).unwrap().unwrap();
        let odd = of_choice(&mut graph, &[sign, one], |x| Some(x[0] | x[1]), Element::F32).unwrap();
        let chosen: Vec<Option<f64>> = graph.node(odd).inputs[1..].iter().map(|&input| graph.number_of(input)).collect();
        assert_eq!(chosen, [Some(-1.0), Some(1.0)]);
        assert_eq!(of_choice(&mut graph, &[sum, one], |x| Some(x[0]), Element::F32), None);
        let beyond = shifted(&mut graph, "arith.shli", &[sum, bits], Element::F32, 16).unwrap();
        assert!(beyond.is_err_and(|message| message.contains("shift by 0 to 15")));
    }

    #[test]
    fn what_follows_from_one_integer_is_looked_up() {
        let mut graph = Graph::default();
        let integer = graph.tensor(0, vec![8], Element::Int);
        let number = graph.numbers_of(integer).unwrap();
        let by = graph.number(7.0);
        assert!(divided(&mut graph, "arith.remsi", &[number, by], Element::F32).is_none());
        assert_eq!(graph.node(number).kind, Kind::Reshape);
    }
}
