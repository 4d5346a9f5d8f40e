//! PyTorch's safe softmax without its comparison, by ops whose results may be in LX.
//!
//! Scaled dot product attention returns 0 for a row that is completely masked: `select(all(x == -inf), 0, e / sum e)`
//! with `e = exp(x - max x)`. On the device that is an `equal`, a `min` and a `where3`, whose results cannot be in LX
//! (torch-spyre facts, F.1). Two bounds have the same effect:
//!
//! ```text
//! m' = maximum(max x, lowest)      lowest: the lowest finite number of the format
//! e' = exp(x - m')
//! s' = maximum(sum e', 1)
//! p  = e' / s'
//! ```
//!
//! * A row with a finite maximum: `max x >= lowest`, so `m'` is `max x` and `e'` is `e`. The element at the maximum adds exp(0) = 1, no
//!   other one is negative, and rounding is monotone: the sum is at least 1 in any order, and `s'` is the sum. All steps are the same.
//! * A row of -inf only: `x - m'` is -inf, `e'` is 0, `s'` is 1, and `p` is 0.
//! * A row with +inf or NaN: `max x` is +inf or NaN, `m'` is the same (a maximum keeps NaN), and so are all later
//!   steps: `sum e` is NaN, which the second maximum keeps too. `x == -inf` does not hold for all of the row, so the
//!   original divides too.
//!
//! The device's f16 format has no infinities: the host makes them 2^32 ("The referee", numbers). Its `lowest` is the number next to
//! -2^32, so that a row of -2^32 differs from it by 2^22, of which the exponential is 0; and a sum with -inf that fell below -2^32 still
//! counts as masked, which a comparison with -2^32 did not see.

use crate::import::graph::{Graph, Kind, NodeId, known::LOWEST_FINITE, reshape::reshape_map};
use program::affine::Expr;

/// `exp(x - max x) / sum exp(x - max x)` along one dimension.
struct Softmax {
    x: NodeId,
    dim: usize,
    /// The maximum, of size 1 along the dimension.
    max: NodeId,
}

/// A choice between 0 and a softmax by whether the whole row is -inf, without the comparison.
pub(in crate::import) fn as_safe_softmax(graph: &mut Graph, condition: NodeId, yes: NodeId, no: NodeId) -> Option<NodeId> {
    let choices = [(yes, no, Row::AllMasked), (no, yes, Row::AnySeen)];
    let softmax = choices.into_iter().find_map(|(zero, shares, expected)| {
        let softmax = (graph.number_of(zero) == Some(0.0)).then(|| Softmax::of(graph, shares))??;
        (softmax.asked_by(graph, condition) == Some(expected)).then_some(softmax)
    })?;
    Some(softmax.with_bounds(graph))
}

/// Predicate on a row that a condition computes.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    /// Whether all elements are -inf.
    AllMasked,
    /// Whether any is not.
    AnySeen,
}

impl Softmax {
    fn of(graph: &Graph, shares: NodeId) -> Option<Self> {
        let &[powers, total] = graph.as_pointwise(shares, "realdiv")? else { return None };
        let &[x, peak] = graph.as_pointwise(graph.as_pointwise(powers, "exp")?[0], "sub")? else { return None };
        let whole = &graph.node(x).shape;
        (0..whole.len()).find_map(|dim| {
            let sum = per_row(graph, total, whole, dim)?;
            let max = per_row(graph, peak, whole, dim)?;
            let is_softmax = is_reduction(graph, sum, "sum", powers, dim) && is_reduction(graph, max, "max", x, dim);
            is_softmax.then_some(Self { x, dim, max })
        })
    }

    /// Returns the predicate that `condition` computes for the rows of `x`; None if it computes neither.
    fn asked_by(&self, graph: &Graph, condition: NodeId) -> Option<Row> {
        let row = per_row(graph, condition, &graph.node(self.x).shape, self.dim)?;
        // The maximum of a row is -inf where all of it is.
        if let Some(comparison) = comparison_with_infinity(graph, row, self.max) {
            return Some(comparison);
        }
        let Kind::Reduce(function, dim, _) = graph.node(row).kind else { return None };
        let comparison = comparison_with_infinity(graph, graph.node(row).inputs[0], self.x)?;
        let is_whole = matches!((function, comparison), ("min", Row::AllMasked) | ("max", Row::AnySeen));
        (dim == self.dim && is_whole).then_some(comparison)
    }

    fn with_bounds(&self, graph: &mut Graph) -> NodeId {
        let element = graph.node(self.x).element;
        let (lowest, one) = (graph.number(LOWEST_FINITE), graph.number(1.0));
        let max = graph.pointwise("maximum", &[self.max, lowest], element);
        let difference = graph.pointwise("sub", &[self.x, max], element);
        let powers = graph.pointwise("exp", &[difference], element);
        let sum = graph.reduce("sum", powers, self.dim);
        let sum = graph.pointwise("maximum", &[sum, one], element);
        graph.pointwise("realdiv", &[powers, sum], element)
    }
}

/// A softmax along a dimension that is 0 for a row of -inf only.
pub(in crate::import) fn bounded_softmax(graph: &mut Graph, x: NodeId, dim: usize) -> NodeId {
    let max = graph.reduce("max", x, dim);
    Softmax { x, dim, max }.with_bounds(graph)
}

fn is_reduction(graph: &Graph, id: NodeId, function: &str, input: NodeId, dim: usize) -> bool {
    let node = graph.node(id);
    matches!(node.kind, Kind::Reduce(name, along, _) if name == function && along == dim) && node.inputs == [input]
}

/// A comparison of `x` with -inf.
fn comparison_with_infinity(graph: &Graph, id: NodeId, x: NodeId) -> Option<Row> {
    let is_infinity = |id: NodeId| graph.number_of(id) == Some(f64::NEG_INFINITY);
    let compares = |function: &str| {
        let inputs = graph.as_pointwise(id, function);
        matches!(inputs, Some(&[a, b]) if (a == x && is_infinity(b)) || (b == x && is_infinity(a)))
    };
    if compares("equal") { Some(Row::AllMasked) } else { compares("notequal").then_some(Row::AnySeen) }
}

/// The tensor with one element for each row of `whole` along `dim` that the node repeats, behind whatever views.
fn per_row(graph: &Graph, id: NodeId, whole: &[i64], dim: usize) -> Option<NodeId> {
    let own = &graph.node(id).shape;
    if own.len() != whole.len() {
        return None;
    }
    let here = |(position, size): (usize, &i64)| if *size == whole[position] { Expr::Dim(position) } else { Expr::Constant(0) };
    let mut at: Vec<Expr> = own.iter().enumerate().map(here).collect();
    let mut base = graph.node(id);
    let mut found = id;
    while let Kind::View(_) | Kind::Reshape = base.kind {
        found = base.inputs[0];
        let map = match &base.kind {
            Kind::View(map) => map.clone(),
            _ => reshape_map(&graph.node(found).shape, &base.shape),
        };
        at = map.iter().map(|expr| expr.with_dims(&|dim| at[dim].clone())).collect();
        base = graph.node(found);
    }
    let is_size = |(position, &size): (usize, &i64)| size == if position == dim { 1 } else { whole[position] };
    let is_own_row = |(position, expr): (usize, &Expr)| base.shape[position] == 1 || *expr == Expr::Dim(position);
    let is_row = base.shape.len() == whole.len() && base.shape.iter().enumerate().all(is_size) && at.iter().enumerate().all(is_own_row);
    is_row.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Element;

    const F16: Element = Element::F16;
    const WHOLE: [i64; 3] = [4, 8, 64];

    /// A safe softmax along the last dimension, with something else in places.
    struct Case {
        graph: Graph,
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

    impl Case {
        fn new() -> Self {
            let mut graph = Graph::default();
            let x = graph.tensor(0, WHOLE.to_vec(), F16);
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

        fn row(&mut self, function: &'static str, of: NodeId, dim: usize) -> NodeId {
            let row = self.graph.reduce(function, of, dim);
            if !self.is_squeezed {
                return row;
            }
            let mut shape = WHOLE.to_vec();
            shape.remove(dim);
            let squeezed = self.graph.reshape(row, &shape);
            let index = |position: usize| Expr::Dim(if position < dim { position } else { position + 1 });
            self.graph.view(squeezed, (0..2).map(index).collect(), &WHOLE)
        }

        fn shares(&mut self) -> NodeId {
            let max = self.row("max", self.x, 2);
            let difference = self.graph.pointwise("sub", &[self.x, max], F16);
            let powers = self.graph.pointwise("exp", &[difference], F16);
            let sum = self.row("sum", powers, 2);
            self.graph.pointwise("realdiv", &[powers, sum], F16)
        }

        fn condition(&mut self) -> NodeId {
            let masked = self.graph.number(self.masked);
            let compared = self.graph.pointwise(self.function, &[self.compared, masked], Element::Bool);
            self.row(self.reduced_by, compared, self.reduced)
        }

        fn built(mut self) -> (Graph, NodeId) {
            let (shares, condition) = (self.shares(), self.condition());
            self.chosen(condition, shares)
        }

        fn chosen(mut self, condition: NodeId, shares: NodeId) -> (Graph, NodeId) {
            let zero = self.graph.number(self.otherwise);
            let choices = if self.is_choice_swapped { [condition, shares, zero] } else { [condition, zero, shares] };
            let chosen = self.graph.apply("arith.select", &choices, F16).unwrap();
            (self.graph, chosen)
        }
    }

    /// The names of the functions that a node needs, inputs before users.
    fn functions((graph, chosen): (Graph, NodeId)) -> Vec<&'static str> {
        let name = |id| match graph.node(id).kind {
            Kind::Pointwise(function, _) | Kind::Reduce(function, ..) => Some(function),
            _ => None,
        };
        graph.needed_for(&[chosen], |_| false).into_iter().filter_map(name).collect()
    }

    const BOUNDED: [&str; 7] = ["max", "maximum", "sub", "exp", "sum", "maximum", "realdiv"];

    #[test]
    fn every_spelling_becomes_two_bounds() {
        assert_eq!(functions(Case::new().built()), BOUNDED);
        assert_eq!(functions(Case { is_squeezed: true, ..Case::new() }.built()), BOUNDED);
        let any = Case { function: "notequal", reduced_by: "max", is_choice_swapped: true, ..Case::new() };
        assert_eq!(functions(any.built()), BOUNDED);
        let mut of_maximum = Case::new();
        let (shares, max, masked) =
            (of_maximum.shares(), of_maximum.graph.reduce("max", of_maximum.x, 2), of_maximum.graph.number(f64::NEG_INFINITY));
        let condition = of_maximum.graph.pointwise("equal", &[masked, max], Element::Bool);
        assert_eq!(functions(of_maximum.chosen(condition, shares)), BOUNDED);
    }

    #[test]
    fn the_bounds_are_the_lowest_number_and_one() {
        let (graph, chosen) = Case::new().built();
        let bounds = graph.needed_for(&[chosen], |_| false).into_iter().filter_map(|id| graph.number_of(id));
        let mut bounds: Vec<f64> = bounds.collect();
        bounds.sort_by(f64::total_cmp);
        assert_eq!(bounds, [f64::MIN, 1.0]);
        assert_eq!(graph.node(chosen).shape, WHOLE);
    }

    #[test]
    fn what_asks_something_else_stays_a_choice() {
        let mut other = Case::new();
        let y = other.graph.tensor(1, WHOLE.to_vec(), F16);
        let cases = [
            ("another tensor", Case { compared: y, ..other }),
            ("another dimension", Case { reduced: 1, ..Case::new() }),
            ("another number", Case { masked: -65504.0, ..Case::new() }),
            ("+inf", Case { masked: f64::INFINITY, ..Case::new() }),
            ("another result", Case { otherwise: 1.0, ..Case::new() }),
            ("any instead of all", Case { reduced_by: "max", ..Case::new() }),
            ("an inequality", Case { function: "lesserequal", ..Case::new() }),
            ("all that are not", Case { function: "notequal", ..Case::new() }),
            ("the other choice", Case { is_choice_swapped: true, ..Case::new() }),
        ];
        for (name, case) in cases {
            assert!(functions(case.built()).contains(&"where3"), "{name}");
        }
    }

    #[test]
    fn another_quotient_stays_a_choice() {
        // The sum of another dimension, the maximum of another tensor.
        for (sum_dim, is_own_max) in [(1, true), (2, false)] {
            let mut case = Case::new();
            let y = case.graph.tensor(1, WHOLE.to_vec(), F16);
            let max = case.row("max", if is_own_max { case.x } else { y }, 2);
            let difference = case.graph.pointwise("sub", &[case.x, max], F16);
            let powers = case.graph.pointwise("exp", &[difference], F16);
            let sum = case.row("sum", powers, sum_dim);
            let shares = case.graph.pointwise("realdiv", &[powers, sum], F16);
            let condition = case.condition();
            assert!(functions(case.chosen(condition, shares)).contains(&"where3"));
        }
    }

    #[test]
    fn rows_in_another_order_are_other_rows() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![8, 8, 64], F16);
        let row = graph.reduce("max", x, 2);
        let swapped = graph.view(row, vec![Expr::Dim(1), Expr::Dim(0), Expr::Constant(0)], &[8, 8, 64]);
        let own = graph.view(row, vec![Expr::Dim(0), Expr::Dim(1), Expr::Constant(0)], &[8, 8, 64]);
        assert_eq!(per_row(&graph, swapped, &[8, 8, 64], 2), None);
        assert_eq!(per_row(&graph, own, &[8, 8, 64], 2), Some(row));
    }
}
