//! Comparisons whose result for a NaN differs from the device: it returns false, except for `notequal`, as IEEE 754 does.
//!
//! `x > y` or NaN is the negation of `x <= y`. Equal or NaN is the negation of `x > y` or `x < y`.

use crate::import::graph::{Element, Graph, Kind, NodeId};

/// Inverse predicate of each comparison.
const DENIED: [(&str, &str); 4] =
    [("greaterthan", "lesserequal"), ("greaterequal", "lesserthan"), ("lesserthan", "greaterequal"), ("lesserequal", "greaterthan")];

/// Compares as the device function `function` does for numbers, and returns the opposite for a NaN. The opposite
/// comparison is negated; `equal` and `notequal` are computed from the results of `greaterthan` and `lesserthan`.
pub(super) fn comparison(graph: &mut Graph, function: &'static str, inputs: &[NodeId]) -> NodeId {
    if are_numbers(graph, inputs) {
        return graph.pointwise(function, inputs, Element::Bool);
    }
    if let Some((_, opposite)) = DENIED.iter().find(|(asked, _)| *asked == function) {
        let (answer, yes) = (graph.pointwise(opposite, inputs, Element::Bool), graph.number(1.0));
        return graph.pointwise("notequal", &[answer, yes], Element::Bool);
    }
    let answers = ["greaterthan", "lesserthan"].map(|function| graph.pointwise(function, inputs, Element::Bool));
    graph.pointwise(function, &answers, Element::Bool)
}

/// Comparison of two operands, behind however many device functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// Device function that has the same answer for numbers.
    pub(super) function: &'static str,
    /// The operands.
    pub(super) operands: [NodeId; 2],
    /// Answer where an operand is NaN.
    pub(super) holds_for_nan: bool,
}

/// Returns the comparison that a truth value is: also where it denies the opposite.
pub(super) fn compared(graph: &Graph, truth: NodeId) -> Option<Comparison> {
    let Kind::Pointwise(function, _) = graph.node(truth).kind else { return None };
    let &[one, other] = graph.node(truth).inputs.as_slice() else { return None };
    if function == "notequal"
        && graph.number_of(other) == Some(1.0)
        && let Kind::Pointwise(denied, _) = graph.node(one).kind
        && let Some((asked, _)) = DENIED.iter().find(|(_, opposite)| *opposite == denied)
        && let &[one, other] = graph.node(one).inputs.as_slice()
    {
        return Some(Comparison { function: asked, operands: [one, other], holds_for_nan: true });
    }
    Some(Comparison { function, operands: [one, other], holds_for_nan: function == "notequal" })
}

/// Returns whether no operand can be NaN.
pub(super) fn are_numbers(graph: &Graph, inputs: &[NodeId]) -> bool {
    let is_known = |input: NodeId| graph.known_of(input).is_some_and(|known| known.numbers().all(|number| !number.is_nan()));
    inputs.iter().all(|&input| is_known(input) || graph.integers.has(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_seen_as_what_it_says() {
        let mut graph = Graph::default();
        let [x, y] = [0, 1].map(|number| graph.tensor(number, vec![4], Element::F16));
        for function in ["greaterthan", "lesserequal"] {
            let truth = comparison(&mut graph, function, &[x, y]);
            assert!(matches!(graph.node(truth).kind, Kind::Pointwise("notequal", _)));
            assert_eq!(compared(&graph, truth), Some(Comparison { function, operands: [x, y], holds_for_nan: true }));
            let ordered = graph.pointwise(function, &[x, y], Element::Bool);
            assert_eq!(compared(&graph, ordered), Some(Comparison { function, operands: [x, y], holds_for_nan: false }));
        }
        let plain = graph.pointwise("notequal", &[x, y], Element::Bool);
        assert_eq!(compared(&graph, plain).map(|found| (found.function, found.holds_for_nan)), Some(("notequal", true)));
    }

    #[test]
    fn numbers_are_compared_at_once() {
        let mut graph = Graph::default();
        let [x, y] = [0, 1].map(|number| graph.tensor(number, vec![4], Element::F16));
        let zero = graph.number(0.0);
        [x, y].into_iter().for_each(|id| graph.note_integers(id));
        let truth = comparison(&mut graph, "lesserthan", &[x, zero]);
        assert!(matches!(graph.node(truth).kind, Kind::Pointwise("lesserthan", _)));
        let truth = comparison(&mut graph, "equal", &[x, y]);
        assert!(matches!(graph.node(truth).kind, Kind::Pointwise("equal", _)));
    }
}
