//! Comparisons whose result for a NaN differs from that of the device. The device returns false for a NaN, except for
//! `notequal`, as IEEE 754 does.
//!
//! `x > y` or NaN is the negation of `x <= y`. Equal or NaN is the negation of `x > y` or `x < y`.

use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};

/// Inverse predicate of each comparison.
const INVERSE_PREDICATES: [(&str, &str); 4] = [
    ("greaterthan", "lesserequal"),
    ("greaterequal", "lesserthan"),
    ("lesserthan", "greaterequal"),
    ("lesserequal", "greaterthan"),
];

/// Compares as the device function `function` does for numbers, and returns the opposite for a NaN. The opposite
/// comparison is negated; `equal` and `notequal` are computed from the results of `greaterthan` and `lesserthan`.
pub(super) fn build_comparison(graph: &mut ValueGraph, function: &'static str, inputs: &[NodeId]) -> NodeId {
    if are_numbers(graph, inputs) {
        return graph.add_pointwise(function, inputs, NodeElementType::Bool);
    }
    if let Some((_, opposite)) = INVERSE_PREDICATES.iter().find(|(asked, _)| *asked == function) {
        let (answer, yes) = (graph.add_pointwise(opposite, inputs, NodeElementType::Bool), graph.add_scalar(1.0));
        return graph.add_pointwise("notequal", &[answer, yes], NodeElementType::Bool);
    }
    let answers =
        ["greaterthan", "lesserthan"].map(|function| graph.add_pointwise(function, inputs, NodeElementType::Bool));
    graph.add_pointwise(function, &answers, NodeElementType::Bool)
}

/// Comparison of two operands, however many device functions compute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NanAwareComparison {
    /// Device function with the same result for numbers.
    pub(super) function: &'static str,
    /// The operands.
    pub(super) operands: [NodeId; 2],
    /// Result if an operand is NaN.
    pub(super) holds_for_nan: bool,
}

/// Returns the comparison that a truth value computes, if any, including a negation of the inverse comparison.
pub(super) fn find_comparison(graph: &ValueGraph, truth: NodeId) -> Option<NanAwareComparison> {
    let NodeKind::Pointwise(function, _) = graph.node(truth).kind else { return None };
    let &[one, other] = graph.node(truth).inputs.as_slice() else { return None };
    if function == "notequal"
        && graph.as_scalar(other) == Some(1.0)
        && let NodeKind::Pointwise(denied, _) = graph.node(one).kind
        && let Some((asked, _)) = INVERSE_PREDICATES.iter().find(|(_, opposite)| *opposite == denied)
        && let &[one, other] = graph.node(one).inputs.as_slice()
    {
        return Some(NanAwareComparison { function: asked, operands: [one, other], holds_for_nan: true });
    }
    Some(NanAwareComparison { function, operands: [one, other], holds_for_nan: function == "notequal" })
}

/// Returns whether no operand can be NaN.
pub(super) fn are_numbers(graph: &ValueGraph, inputs: &[NodeId]) -> bool {
    let is_known =
        |input: NodeId| graph.as_constant(input).is_some_and(|known| known.numbers().all(|number| !number.is_nan()));
    inputs.iter().all(|&input| is_known(input) || graph.integers.contains(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_comparison_after_negation() {
        let mut graph = ValueGraph::default();
        let [x, y] = [0, 1].map(|number| graph.add_tensor(number, vec![4], NodeElementType::F16));
        for function in ["greaterthan", "lesserequal"] {
            let truth = build_comparison(&mut graph, function, &[x, y]);
            assert!(matches!(graph.node(truth).kind, NodeKind::Pointwise("notequal", _)));
            assert_eq!(
                find_comparison(&graph, truth),
                Some(NanAwareComparison { function, operands: [x, y], holds_for_nan: true })
            );
            let ordered = graph.add_pointwise(function, &[x, y], NodeElementType::Bool);
            assert_eq!(
                find_comparison(&graph, ordered),
                Some(NanAwareComparison { function, operands: [x, y], holds_for_nan: false })
            );
        }
        let plain = graph.add_pointwise("notequal", &[x, y], NodeElementType::Bool);
        assert_eq!(
            find_comparison(&graph, plain).map(|found| (found.function, found.holds_for_nan)),
            Some(("notequal", true))
        );
    }

    #[test]
    fn compares_numbers_directly() {
        let mut graph = ValueGraph::default();
        let [x, y] = [0, 1].map(|number| graph.add_tensor(number, vec![4], NodeElementType::F16));
        let zero = graph.add_scalar(0.0);
        [x, y].into_iter().for_each(|id| graph.record_integers(id));
        let truth = build_comparison(&mut graph, "lesserthan", &[x, zero]);
        assert!(matches!(graph.node(truth).kind, NodeKind::Pointwise("lesserthan", _)));
        let truth = build_comparison(&mut graph, "equal", &[x, y]);
        assert!(matches!(graph.node(truth).kind, NodeKind::Pointwise("equal", _)));
    }
}
