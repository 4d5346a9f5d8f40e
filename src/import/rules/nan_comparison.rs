//! Comparisons whose result for NaN operands differs from that of the device function. Device functions return false if
//! an operand is NaN, except for `notequal`, as IEEE 754 does.
//!
//! For example, the unordered comparison `ugt` (LLVM's name) is the negation of `x <= y`, and `ueq` is the negation of
//! `x > y || x < y`.

use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};

/// Inverse of each predicate, for operands that are not NaN.
const INVERSE_PREDICATES: [(&str, &str); 4] = [
    ("greaterthan", "lesserequal"),
    ("greaterequal", "lesserthan"),
    ("lesserthan", "greaterequal"),
    ("lesserequal", "greaterthan"),
];

/// Builds a comparison that equals the device function `function` for numbers, and its negation if an operand is NaN.
/// Negates the inverse comparison; computes `equal` and `notequal` from the results of `greaterthan` and `lesserthan`.
pub(super) fn build_comparison(graph: &mut ValueGraph, function: &'static str, inputs: &[NodeId]) -> NodeId {
    if are_numbers(graph, inputs) {
        return graph.add_pointwise(function, inputs, NodeElementType::Bool);
    }
    if let Some((_, opposite)) = INVERSE_PREDICATES.iter().find(|(predicate, _)| *predicate == function) {
        let (inverted, one) = (graph.add_pointwise(opposite, inputs, NodeElementType::Bool), graph.add_scalar(1.0));
        return graph.add_pointwise("notequal", &[inverted, one], NodeElementType::Bool);
    }
    let orderings =
        ["greaterthan", "lesserthan"].map(|function| graph.add_pointwise(function, inputs, NodeElementType::Bool));
    graph.add_pointwise(function, &orderings, NodeElementType::Bool)
}

/// Comparison of two operands, which one device function or several compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NanAwareComparison {
    /// Device function with the same result for operands that are not NaN.
    pub(super) function: &'static str,
    /// Compared operands.
    pub(super) operands: [NodeId; 2],
    /// Result if an operand is NaN.
    pub(super) holds_for_nan: bool,
}

/// Returns the comparison that a boolean node computes, if any. Recognizes a negation of the inverse comparison.
pub(super) fn find_comparison(graph: &ValueGraph, boolean: NodeId) -> Option<NanAwareComparison> {
    let NodeKind::Pointwise(function, _) = graph.node(boolean).kind else { return None };
    let &[lhs, rhs] = graph.node(boolean).inputs.as_slice() else { return None };
    if function == "notequal"
        && graph.as_scalar(rhs) == Some(1.0)
        && let NodeKind::Pointwise(inverse, _) = graph.node(lhs).kind
        && let Some((predicate, _)) = INVERSE_PREDICATES.iter().find(|(_, opposite)| *opposite == inverse)
        && let &[negated_lhs, negated_rhs] = graph.node(lhs).inputs.as_slice()
    {
        return Some(NanAwareComparison {
            function: predicate,
            operands: [negated_lhs, negated_rhs],
            holds_for_nan: true,
        });
    }
    Some(NanAwareComparison { function, operands: [lhs, rhs], holds_for_nan: function == "notequal" })
}

/// Returns whether it is known that no operand is NaN: each is a constant without NaN, or a node of integers.
pub(super) fn are_numbers(graph: &ValueGraph, inputs: &[NodeId]) -> bool {
    let is_number =
        |input: NodeId| graph.as_constant(input).is_some_and(|known| known.numbers().all(|number| !number.is_nan()));
    inputs.iter().all(|&input| is_number(input) || graph.integers.contains(input))
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
