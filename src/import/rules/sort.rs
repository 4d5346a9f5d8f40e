//! Sorted rows, or the first elements of sorted rows.
//!
//! The device cannot move elements by their values. So all pairwise comparisons count the rank of an element, the
//! number of elements before it. A result element is the sum over the row of the single element with its rank. If only
//! a few first elements of long rows are requested, they are found one by one, each as the extremum of the remaining
//! ones. The order is stable. A NaN counts as an infinity, the largest of all.

use crate::import::{
    graph::{NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor},
    rules::body::{BodyScalar, Combiner, GenericBody, comparisons},
};
use program::affine::AffineExpression;
use std::cmp::Ordering;

/// Maximum length of a row: positions up to this one are exact in the 16-bit format, and all pairwise comparisons are
/// stored.
const MAX_RANKED_LENGTH: i64 = 1024;
/// Maximum number of elements that are found one by one.
const MAX_ROUNDS: i64 = 64;
/// Maximum length of rows that are always ranked, for any number of requested elements: a round is several ops.
const MAX_SHORT_LENGTH: i64 = 64;
/// Cost of a round for one element, as the number of elements that could be compared with a row instead.
const ROUND_COST: i64 = 8;

/// Sort order: the element that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum SortOrder {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

impl SortOrder {
    /// Returns the comparison that holds where one element comes before another.
    const fn comparison_function(self) -> &'static str {
        if matches!(self, Self::Ascending) { "lesserthan" } else { "greaterthan" }
    }

    /// Returns the combiner that yields the first of two elements.
    pub(in crate::import) const fn combiner(self) -> Combiner {
        if matches!(self, Self::Ascending) { Combiner::Min } else { Combiner::Max }
    }
}

/// Returns the tensor whose elements a body compares, and the order: from comparisons of two elements, combined by
/// conjunction or disjunction. Producers define the position of a NaN; here it is the largest number, and a body with
/// another definition has no order.
pub(in crate::import) fn find_sort_order(body: &GenericBody) -> Option<(usize, SortOrder)> {
    let &[BodyScalar::Op(last)] = body.yields.as_slice() else { return None };
    let key = body.ops.iter().flat_map(|op| &op.operands).find_map(|operand| match operand {
        // The two elements of each tensor are adjacent arguments.
        BodyScalar::Accumulator(element) => Some(element / 2),
        _ => None,
    })?;
    let holds = |one: f64, other: f64| {
        comparisons::evaluate_condition(body, last, |scalar| match scalar {
            BodyScalar::Accumulator(element) if element / 2 == key => Some([one, other][element % 2]),
            _ => None,
        })
    };
    let order = match (holds(0.0, 1.0)?, holds(1.0, 0.0)?) {
        (true, false) => SortOrder::Ascending,
        (false, true) => SortOrder::Descending,
        _ => return None,
    };
    let is_nan_smallest = match (holds(f64::NAN, 0.0)?, holds(0.0, f64::NAN)?) {
        (true, false) => order == SortOrder::Ascending,
        (false, true) => order == SortOrder::Descending,
        _ => false,
    };
    (!is_nan_smallest).then_some((key, order))
}

/// Rows along a dimension, and the number of first elements that are requested.
#[derive(Clone, Copy)]
pub(in crate::import) struct SortRows<'a> {
    /// Shape of all tensors.
    pub(in crate::import) shape: &'a [i64],
    /// The dimension.
    pub(in crate::import) dim: usize,
    /// Number of requested elements of each row.
    pub(in crate::import) num_first: i64,
}

impl SortRows<'_> {
    fn length(&self) -> i64 {
        self.shape[self.dim]
    }

    /// Returns the shape with another size along the dimension.
    fn shape_with_length(&self, size: i64) -> Vec<i64> {
        let mut shape = self.shape.to_vec();
        shape[self.dim] = size;
        shape
    }

    /// Returns the shape of numbers along the dimension.
    fn row_shape(&self, size: i64) -> Vec<i64> {
        let mut shape = vec![1; self.shape.len()];
        shape[self.dim] = size;
        shape
    }
}

/// Tensor that is sorted: numbers, or integers in numeric form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) struct SortTensor {
    /// The numbers.
    pub(in crate::import) node: NodeId,
    /// Whether they are integers.
    pub(in crate::import) is_integer: bool,
}

/// Returns the first elements of `tensors` along the rows, in the order of the tensor at `key`.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(in crate::import) fn sort_tensors(
    graph: &mut ValueGraph,
    tensors: &[SortTensor],
    key: usize,
    rows: SortRows<'_>,
    order: SortOrder,
) -> Result<Vec<NodeId>, String> {
    let (length, num_first) = (rows.length(), rows.num_first);
    if length == 1 {
        return Ok(tensors.iter().map(|tensor| tensor.node).collect());
    }
    let by_rounds = length > MAX_SHORT_LENGTH && num_first <= MAX_ROUNDS && num_first * ROUND_COST <= length;
    if length > MAX_RANKED_LENGTH && !by_rounds {
        return Err(format!(
            "expected rows of at most {MAX_RANKED_LENGTH} elements, or uses of at most the first {MAX_ROUNDS} elements of longer rows, found \
             rows of {length} elements, of which {num_first} are used; sort shorter rows, or use fewer elements"
        ));
    }
    // A scalar has no rows.
    let with_rows = |graph: &mut ValueGraph, SortTensor { node, is_integer }| SortTensor {
        node: graph.splat_if_scalar(node, rows.shape),
        is_integer,
    };
    let tensors = tensors.iter().map(|&tensor| simplify_constant(graph, tensor, rows)).collect::<Vec<_>>();
    let tensors: Vec<SortTensor> = tensors.into_iter().map(|tensor| with_rows(graph, tensor)).collect();
    let keys = graph.splat_if_scalar(tensors[key].node, rows.shape);
    let keys = if tensors[key].is_integer { keys } else { replace_nan(graph, keys) };
    Ok(if by_rounds {
        sort_in_rounds(graph, keys, &tensors, rows, order)
    } else {
        sort_by_rank(graph, keys, &tensors, rows, order)
    })
}

/// Reduces a constant with equal rows, such as positions, to one row. Broadcasts other constants to the shape of the
/// rows, and returns tensors that are not constants unchanged.
fn simplify_constant(graph: &mut ValueGraph, tensor: SortTensor, rows: SortRows<'_>) -> SortTensor {
    let Some(known) = graph.as_constant(tensor.node).cloned() else { return tensor };
    let (from, element) = (graph.node(tensor.node).shape.clone(), graph.node(tensor.node).element);
    let known = known.broadcast(&from, rows.shape);
    let at = |dim: usize| if dim == rows.dim { AffineExpression::Dim(dim) } else { AffineExpression::Constant(0) };
    let of_row = rows.row_shape(rows.length());
    let row = known.apply_view(rows.shape, &(0..rows.shape.len()).map(at).collect::<Vec<_>>(), &of_row);
    let is_same = row.broadcast(&of_row, rows.shape) == known;
    let node = if is_same {
        graph.add_constant(row, of_row, element)
    } else {
        graph.add_constant(known, rows.shape.to_vec(), element)
    };
    SortTensor { node, ..tensor }
}

/// Replaces NaN, which no comparison orders, by infinities.
fn replace_nan(graph: &mut ValueGraph, keys: NodeId) -> NodeId {
    let (is_number, infinity) =
        (graph.add_pointwise("equal", &[keys, keys], NodeElementType::Bool), graph.add_scalar(f64::INFINITY));
    let element = graph.node(keys).element;
    graph.add_pointwise("where3", &[is_number, keys, infinity], element)
}

/// Compares all pairs of elements: the rows lie along the last two dimensions of the comparisons, and the results along
/// the last but one.
fn sort_by_rank(
    graph: &mut ValueGraph,
    keys: NodeId,
    tensors: &[SortTensor],
    rows: SortRows<'_>,
    order: SortOrder,
) -> Vec<NodeId> {
    let rest = rows.shape.len() - 1;
    let rank = compute_ranks(graph, keys, rows, order);
    let element = graph.integers.element();
    let places = graph.add_constant(
        ConstantTensor::iota(0, rows.num_first),
        [vec![1; rest], vec![rows.num_first, 1]].concat(),
        element,
    );
    let is_there = graph.add_pointwise("equal", &[rank, places], NodeElementType::Bool);
    let results = tensors.iter().map(|&tensor| {
        let node = view_rows_along(graph, tensor.node, rows, rest + 1);
        let chosen = extract_selected(graph, is_there, SortTensor { node, ..tensor }, rest + 1);
        restore_row_dim(graph, chosen, rows)
    });
    results.collect()
}

/// Counts the elements of its row that come before each element.
fn compute_ranks(graph: &mut ValueGraph, keys: NodeId, rows: SortRows<'_>, order: SortOrder) -> NodeId {
    let (length, rest) = (rows.length(), rows.shape.len() - 1);
    let (others, own) = (view_rows_along(graph, keys, rows, rest), view_rows_along(graph, keys, rows, rest + 1));
    let before = graph.add_pointwise(order.comparison_function(), &[others, own], NodeElementType::Bool);
    let equal = graph.add_pointwise("equal", &[others, own], NodeElementType::Bool);
    let count = ConstantTensor::iota(0, length);
    let is_earlier = |at: &[f64]| f64::from(u8::from(at[0] < at[1]));
    let earlier = ConstantTensor::map_elementwise(
        &[(&count, &[length, 1]), (&count, &[1, length])],
        &[length, length],
        is_earlier,
    );
    let earlier = graph.add_constant(earlier, [vec![1; rest], vec![length, length]].concat(), NodeElementType::Bool);
    let ties = graph.add_pointwise("mul", &[equal, earlier], NodeElementType::Bool);
    let before = graph.add_pointwise("maximum", &[before, ties], NodeElementType::Bool);
    let (shape, element) = (graph.node(before).shape.clone(), graph.integers.element());
    let before = graph.add(NodeKind::Reshape, &[before], shape, element);
    let rank = graph.reduce("sum", before, rest);
    graph.record_integers(rank);
    rank
}

/// Returns a tensor with its rows along one of two dimensions after all others.
fn view_rows_along(graph: &mut ValueGraph, tensor: NodeId, rows: SortRows<'_>, place: usize) -> NodeId {
    let sizes = graph.node(tensor).shape.clone();
    let at = |dim: usize| match dim.cmp(&rows.dim) {
        _ if sizes[dim] == 1 => AffineExpression::Constant(0),
        Ordering::Less => AffineExpression::Dim(dim),
        Ordering::Equal => AffineExpression::Dim(place),
        Ordering::Greater => AffineExpression::Dim(dim - 1),
    };
    let mut shape: Vec<i64> =
        (0..sizes.len()).filter(|&dim| dim != rows.dim).map(|dim| sizes[dim]).chain([1, 1]).collect();
    shape[place] = rows.length();
    graph.view(tensor, (0..sizes.len()).map(at).collect(), &shape)
}

/// Moves the second-to-last dimension of `chosen` to the position of the sorted dimension.
fn restore_row_dim(graph: &mut ValueGraph, chosen: NodeId, rows: SortRows<'_>) -> NodeId {
    let rest = rows.shape.len() - 1;
    let at = |place: usize| match place.cmp(&rest) {
        Ordering::Greater => AffineExpression::Constant(0),
        Ordering::Equal => AffineExpression::Dim(rows.dim),
        Ordering::Less if place < rows.dim => AffineExpression::Dim(place),
        Ordering::Less => AffineExpression::Dim(place + 1),
    };
    graph.view(chosen, (0..rest + 2).map(at).collect(), &rows.shape_with_length(rows.num_first))
}

/// Returns the single element along `dim` for which `holds` is true. A sum with zeros is exact; integers are the sum of
/// the maximum and the minimum with zeros, so that their range does not grow.
fn extract_selected(
    graph: &mut ValueGraph,
    holds: NodeId,
    SortTensor { node, is_integer }: SortTensor,
    dim: usize,
) -> NodeId {
    let (zero, element) = (graph.add_scalar(0.0), graph.node(node).element);
    let chosen = graph.add_pointwise("where3", &[holds, node, zero], element);
    if !is_integer {
        return graph.reduce("sum", chosen, dim);
    }
    graph.record_integers(chosen);
    let largest = graph.reduce("max", chosen, dim);
    if graph.as_constant(node).is_some_and(|known| known.numbers().all(|number| number >= 0.0)) {
        return largest;
    }
    let smallest = graph.reduce("min", chosen, dim);
    let found = graph.add_pointwise("add", &[largest, smallest], element);
    graph.record_superset(found, node);
    found
}

/// Finds elements one by one: the extremum of the remaining ones, its first position, and the elements at that
/// position.
fn sort_in_rounds(
    graph: &mut ValueGraph,
    keys: NodeId,
    tensors: &[SortTensor],
    rows: SortRows<'_>,
    order: SortOrder,
) -> Vec<NodeId> {
    let key_element = graph.node(keys).element;
    let places = RowPositions::new(graph, key_element, rows);
    let last = graph.add_scalar(order.combiner().neutral_element());
    let memory = |graph: &mut ValueGraph, tensor: &SortTensor| {
        let element = graph.node(tensor.node).element;
        graph.add_undefined(rows.shape_with_length(rows.num_first), element)
    };
    let mut found: Vec<NodeId> = tensors.iter().map(|tensor| memory(graph, tensor)).collect();
    let mut is_left: Option<NodeId> = None;
    for round in 0..rows.num_first {
        let left = is_left.map_or(keys, |is_left| graph.add_pointwise("where3", &[is_left, keys, last], key_element));
        let limit = graph.reduce(order.combiner().function(), left, rows.dim);
        let is_limit = graph.add_pointwise("equal", &[left, limit], NodeElementType::Bool);
        // Removed elements count as the last in the order, and remaining ones may be equal to them.
        let is_limit =
            is_left.map_or(is_limit, |is_left| graph.add_pointwise("mul", &[is_limit, is_left], NodeElementType::Bool));
        let [is_there, is_elsewhere] = places.find_first(graph, is_limit);
        let mut offsets = vec![0; rows.shape.len()];
        offsets[rows.dim] = round;
        for (found, &tensor) in found.iter_mut().zip(tensors) {
            let one = extract_selected(graph, is_there, tensor, rows.dim);
            *found = graph.insert(one, *found, offsets.clone());
        }
        is_left = Some(is_left.map_or(is_elsewhere, |is_left| {
            graph.add_pointwise("mul", &[is_left, is_elsewhere], NodeElementType::Bool)
        }));
    }
    found
}

/// Positions of the elements of a row: as numbers, or as two digits if the format is not exact for all of them.
struct RowPositions {
    high: Option<NodeId>,
    low: NodeId,
    /// Number greater than all digits.
    beyond: NodeId,
    dim: usize,
}

impl RowPositions {
    fn new(graph: &mut ValueGraph, keys: NodeElementType, rows: SortRows<'_>) -> Self {
        let (length, element) = (rows.length(), graph.integers.element());
        let is_whole = length <= MAX_RANKED_LENGTH || keys == NodeElementType::F32 && graph.has_single_precision();
        #[allow(clippy::cast_precision_loss, reason = "a row is far shorter than 2^53")]
        let (base, shape) = (if is_whole { length } else { MAX_RANKED_LENGTH } as f64, rows.row_shape(length));
        let count = ConstantTensor::iota(0, length);
        let mut digit = |of: &dyn Fn(f64) -> f64| {
            let known = ConstantTensor::map_elementwise(&[(&count, &shape)], &shape, |number| of(number[0]));
            graph.add_constant(known, shape.clone(), element)
        };
        let low = digit(&|number| number % base);
        let high = (!is_whole).then(|| digit(&|number| (number / base).floor()));
        Self { high, low, beyond: graph.add_scalar(base), dim: rows.dim }
    }

    /// Returns, for the positions where a condition holds, whether each is the first one, and whether it is another
    /// one.
    fn find_first(&self, graph: &mut ValueGraph, holds: NodeId) -> [NodeId; 2] {
        let Some(high) = self.high else { return self.find_first_by_digit(graph, self.low, holds) };
        let [is_high, is_before_or_after] = self.find_first_by_digit(graph, high, holds);
        let holds = graph.add_pointwise("mul", &[holds, is_high], NodeElementType::Bool);
        let [is_low, is_beside] = self.find_first_by_digit(graph, self.low, holds);
        let is_elsewhere = graph.add_pointwise("maximum", &[is_before_or_after, is_beside], NodeElementType::Bool);
        [graph.add_pointwise("mul", &[is_high, is_low], NodeElementType::Bool), is_elsewhere]
    }

    fn find_first_by_digit(&self, graph: &mut ValueGraph, digit: NodeId, holds: NodeId) -> [NodeId; 2] {
        let element = graph.integers.element();
        let at = graph.add_pointwise("where3", &[holds, digit, self.beyond], element);
        let first = graph.reduce("min", at, self.dim);
        graph.record_integers(first);
        ["equal", "notequal"].map(|name| graph.add_pointwise(name, &[digit, first], NodeElementType::Bool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ScalarOp;

    fn sort_rows(length: i64, num_first: i64, element: NodeElementType) -> Result<(usize, Vec<i64>), String> {
        let mut graph = ValueGraph::default();
        let shape = [3, length];
        let node = graph.add_tensor(0, shape.to_vec(), element);
        let places = graph.add_constant(ConstantTensor::iota(0, length), vec![1, length], NodeElementType::F32);
        let tensors = [SortTensor { node, is_integer: false }, SortTensor { node: places, is_integer: true }];
        let results = sort_tensors(
            &mut graph,
            &tensors,
            0,
            SortRows { shape: &shape, dim: 1, num_first },
            SortOrder::Descending,
        )?;
        let needed = graph.collect_required(&results, |_| false);
        let num_reductions = needed.iter().filter(|&&id| matches!(graph.node(id).kind, NodeKind::Reduce(..))).count();
        Ok((num_reductions, graph.node(results[1]).shape.clone()))
    }

    #[test]
    fn ranks_short_rows_and_extracts_first_of_long_rows() {
        assert_eq!(sort_rows(64, 2, NodeElementType::F16), Ok((3, vec![3, 2])));
        assert_eq!(sort_rows(1000, 900, NodeElementType::F16), Ok((3, vec![3, 900])));
        assert_eq!(sort_rows(1000, 2, NodeElementType::F16), Ok((8, vec![3, 2])));
        assert_eq!(sort_rows(100_000, 2, NodeElementType::F32), Ok((8, vec![3, 2])));
        assert_eq!(sort_rows(1, 1, NodeElementType::F16).map(|found| found.0), Ok(0));
    }

    #[test]
    fn rejects_too_long_rows() {
        assert!(
            sort_rows(1025, 200, NodeElementType::F16).is_err_and(|message| message.contains("rows of 1025 elements"))
        );
        assert!(
            sort_rows(1025, 1025, NodeElementType::F32)
                .is_err_and(|message| message.contains("of which 1025 are used"))
        );
    }

    #[test]
    fn finds_inexact_positions_digit_by_digit() {
        // The extremum, one reduction per digit, the value, and two for the position.
        assert_eq!(sort_rows(1025, 1, NodeElementType::F16), Ok((5, vec![3, 1])));
        assert_eq!(sort_rows(1024, 1, NodeElementType::F16), Ok((4, vec![3, 1])));
    }

    fn build_body(ops: &[(&str, [BodyScalar; 2])]) -> GenericBody {
        let op = |(name, operands): &(&str, [BodyScalar; 2])| ScalarOp {
            name: (*name).to_owned(),
            operands: operands.to_vec(),
        };
        GenericBody { ops: ops.iter().map(op).collect(), yields: vec![BodyScalar::Op(ops.len() - 1)] }
    }

    #[test]
    fn finds_order_of_comparison() {
        let [one, other] = [BodyScalar::Accumulator(2), BodyScalar::Accumulator(3)];
        let order = |name, operands| find_sort_order(&build_body(&[(name, operands)]));
        assert_eq!(order("arith.cmpf ole", [one, other]), Some((1, SortOrder::Ascending)));
        assert_eq!(order("arith.cmpf ole", [other, one]), Some((1, SortOrder::Descending)));
        assert_eq!(order("arith.cmpf ugt", [one, other]), Some((1, SortOrder::Descending)));
        assert_eq!(order("arith.cmpi sgt", [one, other]), Some((1, SortOrder::Descending)));
        for name in ["arith.cmpf oeq", "arith.cmpf ord", "arith.cmpi ult", "arith.addf"] {
            assert_eq!(order(name, [one, other]), None, "{name}");
        }
        assert_eq!(order("arith.cmpf ole", [one, BodyScalar::Accumulator(1)]), None);
        assert_eq!(order("arith.cmpf ole", [one, BodyScalar::Unknown]), None);
    }

    #[test]
    fn accepts_only_orders_with_nan_largest() {
        let [one, other] = [BodyScalar::Accumulator(0), BodyScalar::Accumulator(1)];
        let order = |nan: BodyScalar, name, join| {
            let ops =
                [("arith.cmpf une", [nan, nan]), (name, [one, other]), (join, [BodyScalar::Op(0), BodyScalar::Op(1)])];
            find_sort_order(&build_body(&ops))
        };
        assert_eq!(order(other, "arith.cmpf ole", "arith.ori"), Some((0, SortOrder::Ascending)));
        assert_eq!(order(one, "arith.cmpf oge", "arith.ori"), Some((0, SortOrder::Descending)));
        assert_eq!(order(one, "arith.cmpf ole", "arith.ori"), None, "a NaN first");
        assert_eq!(order(other, "arith.cmpf oge", "arith.ori"), None, "a NaN last");
        assert_eq!(order(one, "arith.cmpf ole", "arith.xori"), None);
        let only_other = [
            ("arith.cmpf une", [other, other]),
            ("arith.cmpf oeq", [one, one]),
            ("arith.andi", [BodyScalar::Op(0), BodyScalar::Op(1)]),
            ("arith.cmpf olt", [one, other]),
            ("arith.ori", [BodyScalar::Op(2), BodyScalar::Op(3)]),
        ];
        assert_eq!(find_sort_order(&build_body(&only_other)), Some((0, SortOrder::Ascending)));
    }
}
