//! PyTorch's safe softmax without its comparison, by ops whose results may be in LX.
//!
//! Scaled dot product attention returns 0 for a row that is completely masked: `select(all(x == -inf), 0, e / sum e)`
//! with `e = exp(x - max x)`. On the device, the condition is an `equal`, a `min` and a `where3`, whose results cannot
//! be in LX (torch-spyre facts, F.1). Two bounds have the same effect (`build_bounded_softmax`):
//!
//! ```text
//! m' = maximum(max x, lowest)      lowest: the lowest finite number of the format
//! e' = exp(x - m')
//! s' = maximum(sum e', 1)
//! p  = e' / s'
//! ```

use crate::import::graph::{
    NodeId, NodeKind, ValueGraph, constant_tensor::LOWEST_FINITE, reshape::compute_reshape_map,
};
use program::affine::AffineExpression;

/// Softmax `exp(x - max x) / sum exp(x - max x)` along one dimension.
struct SoftmaxPattern {
    x: NodeId,
    dim: usize,
    /// Maximum, of size 1 along the dimension.
    max: NodeId,
}

/// Recognizes a select between 0 and a softmax by whether the whole row is -inf, and builds it without the comparison.
pub(in crate::import) fn as_safe_softmax(
    graph: &mut ValueGraph,
    condition: NodeId,
    yes: NodeId,
    no: NodeId,
) -> Option<NodeId> {
    let choices = [(yes, no, RowPredicate::AllMasked), (no, yes, RowPredicate::AnyUnmasked)];
    let softmax = choices.into_iter().find_map(|(zero, shares, expected)| {
        let softmax = (graph.as_scalar(zero) == Some(0.0)).then(|| SoftmaxPattern::find(graph, shares))??;
        (softmax.find_row_predicate(graph, condition) == Some(expected)).then_some(softmax)
    })?;
    Some(softmax.build_bounded(graph))
}

/// Predicate on a row that a condition computes.
#[derive(Clone, Copy, PartialEq)]
enum RowPredicate {
    /// Whether all elements are -inf.
    AllMasked,
    /// Whether any element is not -inf.
    AnyUnmasked,
}

impl SoftmaxPattern {
    fn find(graph: &ValueGraph, shares: NodeId) -> Option<Self> {
        let &[powers, total] = graph.as_pointwise(shares, "realdiv")? else { return None };
        let &[x, peak] = graph.as_pointwise(graph.as_pointwise(powers, "exp")?[0], "sub")? else { return None };
        let whole = &graph.node(x).shape;
        (0..whole.len()).find_map(|dim| {
            let sum = find_row_value(graph, total, whole, dim)?;
            let max = find_row_value(graph, peak, whole, dim)?;
            let is_softmax = is_reduction(graph, sum, "sum", powers, dim) && is_reduction(graph, max, "max", x, dim);
            is_softmax.then_some(Self { x, dim, max })
        })
    }

    /// Returns the predicate that `condition` computes for the rows of `x`; None if it computes neither.
    fn find_row_predicate(&self, graph: &ValueGraph, condition: NodeId) -> Option<RowPredicate> {
        let row = find_row_value(graph, condition, &graph.node(self.x).shape, self.dim)?;
        // The maximum of a row is -inf if all of its elements are.
        if let Some(comparison) = find_infinity_comparison(graph, row, self.max) {
            return Some(comparison);
        }
        let NodeKind::Reduce(function, dim, _) = graph.node(row).kind else { return None };
        let comparison = find_infinity_comparison(graph, graph.node(row).inputs[0], self.x)?;
        let is_whole =
            matches!((function, comparison), ("min", RowPredicate::AllMasked) | ("max", RowPredicate::AnyUnmasked));
        (dim == self.dim && is_whole).then_some(comparison)
    }

    fn build_bounded(&self, graph: &mut ValueGraph) -> NodeId {
        let element = graph.node(self.x).element;
        let (lowest, one) = (graph.add_scalar(LOWEST_FINITE), graph.add_scalar(1.0));
        let max = graph.add_pointwise("maximum", &[self.max, lowest], element);
        let difference = graph.add_pointwise("sub", &[self.x, max], element);
        let powers = graph.add_pointwise("exp", &[difference], element);
        let sum = graph.reduce("sum", powers, self.dim);
        let sum = graph.add_pointwise("maximum", &[sum, one], element);
        graph.add_pointwise("realdiv", &[powers, sum], element)
    }
}

/// Builds a softmax along a dimension that is 0 for a row of -inf only. In the notation of the module:
///
/// * A row with a finite maximum: `max x >= lowest`, so `m'` is `max x` and `e'` is `e`. The element at the maximum
///   adds exp(0) = 1, no other element is negative, and rounding is monotone. The sum is therefore at least 1 in any
///   order, and `s'` is the sum.
/// * A row of -inf only: `x - m'` is -inf, `e'` is 0, `s'` is 1, and `p` is 0.
/// * A row with +inf or NaN: `max x` is +inf or NaN, and a maximum keeps NaN, so `m'` is the same. `sum e` is NaN,
///   which the second maximum keeps too. `x == -inf` does not hold for the whole row, so the original divides too.
///
/// The device's f16 format has no infinities: the host makes them 2^32 ("The referee", numbers). Its `lowest` is the
/// number next to -2^32, so a row of -2^32 differs from it by 2^22, whose negative has the exponential 0. A sum with
/// -inf that fell below -2^32 still counts as masked, which a comparison with -2^32 would miss.
pub(in crate::import) fn build_bounded_softmax(graph: &mut ValueGraph, x: NodeId, dim: usize) -> NodeId {
    let max = graph.reduce("max", x, dim);
    SoftmaxPattern { x, dim, max }.build_bounded(graph)
}

fn is_reduction(graph: &ValueGraph, id: NodeId, function: &str, input: NodeId, dim: usize) -> bool {
    let node = graph.node(id);
    matches!(node.kind, NodeKind::Reduce(name, along, _) if name == function && along == dim) && node.inputs == [input]
}

/// Recognizes a comparison of `x` with -inf.
fn find_infinity_comparison(graph: &ValueGraph, id: NodeId, x: NodeId) -> Option<RowPredicate> {
    let is_infinity = |id: NodeId| graph.as_scalar(id) == Some(f64::NEG_INFINITY);
    let compares = |function: &str| {
        let inputs = graph.as_pointwise(id, function);
        matches!(inputs, Some(&[a, b]) if (a == x && is_infinity(b)) || (b == x && is_infinity(a)))
    };
    if compares("equal") {
        Some(RowPredicate::AllMasked)
    } else {
        compares("notequal").then_some(RowPredicate::AnyUnmasked)
    }
}

/// Returns the tensor with one element per row of `whole` along `dim` that the node broadcasts, looking through views.
fn find_row_value(graph: &ValueGraph, id: NodeId, whole: &[i64], dim: usize) -> Option<NodeId> {
    let own = &graph.node(id).shape;
    if own.len() != whole.len() {
        return None;
    }
    let here = |(position, size): (usize, &i64)| {
        if *size == whole[position] { AffineExpression::Dim(position) } else { AffineExpression::Constant(0) }
    };
    let mut at: Vec<AffineExpression> = own.iter().enumerate().map(here).collect();
    let mut base = graph.node(id);
    let mut found = id;
    while let NodeKind::View(_) | NodeKind::Reshape = base.kind {
        found = base.inputs[0];
        let map = match &base.kind {
            NodeKind::View(map) => map.clone(),
            _ => compute_reshape_map(&graph.node(found).shape, &base.shape),
        };
        at = map.iter().map(|expr| expr.with_dims(&|dim| at[dim].clone())).collect();
        base = graph.node(found);
    }
    let is_size = |(position, &size): (usize, &i64)| size == if position == dim { 1 } else { whole[position] };
    let is_own_row = |(position, expr): (usize, &AffineExpression)| {
        base.shape[position] == 1 || *expr == AffineExpression::Dim(position)
    };
    let is_row = base.shape.len() == whole.len()
        && base.shape.iter().enumerate().all(is_size)
        && at.iter().enumerate().all(is_own_row);
    is_row.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::NodeElementType;

    const F16: NodeElementType = NodeElementType::F16;
    const TENSOR_SHAPE: [i64; 3] = [4, 8, 64];

    /// Safe softmax along the last dimension, with variations.
    struct SafeSoftmaxCase {
        graph: ValueGraph,
        x: NodeId,
        /// Tensor that is compared.
        compared: NodeId,
        masked: f64,
        otherwise: f64,
        function: &'static str,
        reduced_by: &'static str,
        reduced: usize,
        /// Whether results of reductions lose the dimension and get it back, as JAX writes it.
        is_squeezed: bool,
        is_choice_swapped: bool,
    }

    impl SafeSoftmaxCase {
        fn new() -> Self {
            let mut graph = ValueGraph::default();
            let x = graph.add_tensor(0, TENSOR_SHAPE.to_vec(), F16);
            Self {
                graph,
                x,
                compared: x,
                masked: f64::NEG_INFINITY,
                otherwise: 0.0,
                function: "equal",
                reduced_by: "min",
                reduced: 2,
                is_squeezed: false,
                is_choice_swapped: false,
            }
        }

        fn reduce_row(&mut self, function: &'static str, of: NodeId, dim: usize) -> NodeId {
            let row = self.graph.reduce(function, of, dim);
            if !self.is_squeezed {
                return row;
            }
            let mut shape = TENSOR_SHAPE.to_vec();
            shape.remove(dim);
            let squeezed = self.graph.reshape(row, &shape);
            let index = |position: usize| AffineExpression::Dim(if position < dim { position } else { position + 1 });
            self.graph.view(squeezed, (0..2).map(index).collect(), &TENSOR_SHAPE)
        }

        fn build_quotient(&mut self) -> NodeId {
            let max = self.reduce_row("max", self.x, 2);
            let difference = self.graph.add_pointwise("sub", &[self.x, max], F16);
            let powers = self.graph.add_pointwise("exp", &[difference], F16);
            let sum = self.reduce_row("sum", powers, 2);
            self.graph.add_pointwise("realdiv", &[powers, sum], F16)
        }

        fn build_condition(&mut self) -> NodeId {
            let masked = self.graph.add_scalar(self.masked);
            let compared = self.graph.add_pointwise(self.function, &[self.compared, masked], NodeElementType::Bool);
            self.reduce_row(self.reduced_by, compared, self.reduced)
        }

        fn build(mut self) -> (ValueGraph, NodeId) {
            let (shares, condition) = (self.build_quotient(), self.build_condition());
            self.build_select(condition, shares)
        }

        fn build_select(mut self, condition: NodeId, shares: NodeId) -> (ValueGraph, NodeId) {
            let zero = self.graph.add_scalar(self.otherwise);
            let choices = if self.is_choice_swapped { [condition, shares, zero] } else { [condition, zero, shares] };
            let chosen = self.graph.apply("arith.select", &choices, F16).unwrap();
            (self.graph, chosen)
        }
    }

    /// Returns the names of the functions that a node needs, inputs before users.
    fn collect_functions((graph, chosen): (ValueGraph, NodeId)) -> Vec<&'static str> {
        let name = |id| match graph.node(id).kind {
            NodeKind::Pointwise(function, _) | NodeKind::Reduce(function, ..) => Some(function),
            _ => None,
        };
        graph.collect_required(&[chosen], |_| false).into_iter().filter_map(name).collect()
    }

    const BOUNDED_FUNCTIONS: [&str; 7] = ["max", "maximum", "sub", "exp", "sum", "maximum", "realdiv"];

    #[test]
    fn replaces_every_form_by_two_bounds() {
        assert_eq!(collect_functions(SafeSoftmaxCase::new().build()), BOUNDED_FUNCTIONS);
        assert_eq!(
            collect_functions(SafeSoftmaxCase { is_squeezed: true, ..SafeSoftmaxCase::new() }.build()),
            BOUNDED_FUNCTIONS
        );
        let any = SafeSoftmaxCase {
            function: "notequal",
            reduced_by: "max",
            is_choice_swapped: true,
            ..SafeSoftmaxCase::new()
        };
        assert_eq!(collect_functions(any.build()), BOUNDED_FUNCTIONS);
        let mut of_maximum = SafeSoftmaxCase::new();
        let (shares, max, masked) = (
            of_maximum.build_quotient(),
            of_maximum.graph.reduce("max", of_maximum.x, 2),
            of_maximum.graph.add_scalar(f64::NEG_INFINITY),
        );
        let condition = of_maximum.graph.add_pointwise("equal", &[masked, max], NodeElementType::Bool);
        assert_eq!(collect_functions(of_maximum.build_select(condition, shares)), BOUNDED_FUNCTIONS);
    }

    #[test]
    fn uses_lowest_number_and_one_as_bounds() {
        let (graph, chosen) = SafeSoftmaxCase::new().build();
        let bounds = graph.collect_required(&[chosen], |_| false).into_iter().filter_map(|id| graph.as_scalar(id));
        let mut bounds: Vec<f64> = bounds.collect();
        bounds.sort_by(f64::total_cmp);
        assert_eq!(bounds, [f64::MIN, 1.0]);
        assert_eq!(graph.node(chosen).shape, TENSOR_SHAPE);
    }

    #[test]
    fn keeps_select_on_other_conditions() {
        let mut other = SafeSoftmaxCase::new();
        let y = other.graph.add_tensor(1, TENSOR_SHAPE.to_vec(), F16);
        let cases = [
            ("another tensor", SafeSoftmaxCase { compared: y, ..other }),
            ("another dimension", SafeSoftmaxCase { reduced: 1, ..SafeSoftmaxCase::new() }),
            ("another number", SafeSoftmaxCase { masked: -65504.0, ..SafeSoftmaxCase::new() }),
            ("+inf", SafeSoftmaxCase { masked: f64::INFINITY, ..SafeSoftmaxCase::new() }),
            ("another result", SafeSoftmaxCase { otherwise: 1.0, ..SafeSoftmaxCase::new() }),
            ("any instead of all", SafeSoftmaxCase { reduced_by: "max", ..SafeSoftmaxCase::new() }),
            ("an inequality", SafeSoftmaxCase { function: "lesserequal", ..SafeSoftmaxCase::new() }),
            ("all that are not", SafeSoftmaxCase { function: "notequal", ..SafeSoftmaxCase::new() }),
            ("the other choice", SafeSoftmaxCase { is_choice_swapped: true, ..SafeSoftmaxCase::new() }),
        ];
        for (name, case) in cases {
            assert!(collect_functions(case.build()).contains(&"where3"), "{name}");
        }
    }

    #[test]
    fn keeps_select_of_other_quotients() {
        // The sum over another dimension, the maximum of another tensor.
        for (sum_dim, is_own_max) in [(1, true), (2, false)] {
            let mut case = SafeSoftmaxCase::new();
            let y = case.graph.add_tensor(1, TENSOR_SHAPE.to_vec(), F16);
            let max = case.reduce_row("max", if is_own_max { case.x } else { y }, 2);
            let difference = case.graph.add_pointwise("sub", &[case.x, max], F16);
            let powers = case.graph.add_pointwise("exp", &[difference], F16);
            let sum = case.reduce_row("sum", powers, sum_dim);
            let shares = case.graph.add_pointwise("realdiv", &[powers, sum], F16);
            let condition = case.build_condition();
            assert!(collect_functions(case.build_select(condition, shares)).contains(&"where3"));
        }
    }

    #[test]
    fn distinguishes_transposed_rows() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![8, 8, 64], F16);
        let row = graph.reduce("max", x, 2);
        let swapped = graph.view(
            row,
            vec![AffineExpression::Dim(1), AffineExpression::Dim(0), AffineExpression::Constant(0)],
            &[8, 8, 64],
        );
        let own = graph.view(
            row,
            vec![AffineExpression::Dim(0), AffineExpression::Dim(1), AffineExpression::Constant(0)],
            &[8, 8, 64],
        );
        assert_eq!(find_row_value(&graph, swapped, &[8, 8, 64], 2), None);
        assert_eq!(find_row_value(&graph, own, &[8, 8, 64], 2), Some(row));
    }
}
