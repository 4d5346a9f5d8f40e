//! Quotients and remainders of integers of run time by known ones.
//!
//! The quotient of two integers that a format holds is rounded to no whole number beyond it, so its floor is the whole quotient; should the device's
//! division be off, both are put right once.

use super::{
    plain::{Built, neg},
    recognize::{add, div, maximum, minimum, mul, sub},
    steps,
};
use crate::import::graph::{Element, Graph, NodeId};

/// A quotient or a remainder of integers as numbers; none for another operation, and for what follows from one integer, which is looked up: a table
/// has more integers than a format.
pub(super) fn divided(graph: &mut Graph, name: &str, numbers: &[NodeId], element: Element) -> Option<Built> {
    let &[x, by] = numbers else { return None };
    let is_division = matches!(name, "arith.divsi" | "arith.floordivsi" | "arith.ceildivsi" | "arith.remsi");
    if !is_division || graph.follows_from_one(x) {
        return None;
    }
    let Some(divisor) = graph.number_of(by).filter(|&divisor| divisor != 0.0) else {
        return Some(Err("divides by integers that are not one known number, and may be 0: not supported yet".to_owned()));
    };
    Some(match name {
        "arith.remsi" => remainder(graph, x, divisor, element),
        "arith.floordivsi" => floor(graph, x, divisor, element),
        "arith.ceildivsi" => neg(graph, &[x], element).and_then(|x| {
            let quotient = floor(graph, x, divisor, element)?;
            neg(graph, &[quotient], element)
        }),
        _ => toward_zero(graph, x, divisor, element),
    })
}

/// What is left of an integer, with its sign: within a range that follows from the divisor alone.
fn remainder(graph: &mut Graph, x: NodeId, divisor: f64, element: Element) -> Built {
    let by = graph.number(divisor);
    let rest = steps::remainder(graph, &[x, by], element)?;
    let (first, last) = (graph.number(1.0 - divisor.abs()), graph.number(divisor.abs() - 1.0));
    let rest = maximum(graph, &[rest, first], element)?;
    minimum(graph, &[rest, last], element)
}

/// The last whole number that is not above the quotient.
fn floor(graph: &mut Graph, x: NodeId, divisor: f64, element: Element) -> Built {
    let x = if divisor < 0.0 { neg(graph, &[x], element)? } else { x };
    let (zero, one, by) = (graph.number(0.0), graph.number(1.0), graph.number(divisor.abs()));
    let quotient = div(graph, &[x, by], element)?;
    let whole = graph.pointwise("floor", &[quotient], element);
    let taken = mul(graph, &[whole, by], element)?;
    let rest = sub(graph, &[x, taken], element)?;
    let (less, more) = (sub(graph, &[whole, one], element)?, add(graph, &[whole, one], element)?);
    let is_below = graph.pointwise("lesserthan", &[rest, zero], Element::Bool);
    let is_beyond = graph.pointwise("greaterequal", &[rest, by], Element::Bool);
    let found = graph.pointwise("where3", &[is_beyond, more, whole], element);
    Ok(graph.pointwise("where3", &[is_below, less, found], element))
}

/// The quotient without what is behind the point.
fn toward_zero(graph: &mut Graph, x: NodeId, divisor: f64, element: Element) -> Built {
    let zero = graph.number(0.0);
    let magnitude = graph.pointwise("abs", &[x], element);
    let quotient = floor(graph, magnitude, divisor.abs(), element)?;
    let negative = neg(graph, &[quotient], element)?;
    let [positive, negative] = if divisor > 0.0 { [quotient, negative] } else { [negative, quotient] };
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
            assert!(of_sum(name, 0.0).is_some_and(|built| built.is_err_and(|message| message.contains("may be 0"))), "{name}");
        }
        assert!(of_sum("arith.addi", 7.0).is_none());
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
