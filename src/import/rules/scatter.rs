//! Scatters of slices to rows that runtime integers select.
//!
//! Write addresses on the device are static. So all row numbers are compared with the positions. A single slice is
//! selected row by row between the slice and the old elements. Several slices are moved to their rows by a matmul with
//! a matrix of ones and zeros, without rounding.

use super::{
    body::Combiner,
    digits::{self, MAX_VALUES},
    recognize,
    rule_helpers::NodeResult,
    scatter_combine::combine_scattered_slices,
};
use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor},
};
use program::affine::AffineExpression;

/// Maximum number of elements of the matrix, which has one for each row and slice of the whole batch: 64 MiB in 16
/// bits.
const MAX_COMPARED_PAIRS: i64 = 1 << 25;
/// Maximum number of slices: slice numbers must be exact in the 16-bit format, which has all integers up to this one.
const MAX_SLICES: i64 = 1024;

/// Effect of writing slices over an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum UpdateMode {
    /// The element of the slice replaces it; of several slices at one position, the last one wins.
    Replace,
    /// The old element and those of all slices are combined.
    Combine(Combiner),
}

/// Target of a scatter.
#[derive(Clone, Copy)]
pub(in crate::import) struct ScatterTarget<'a> {
    /// The tensor.
    pub(in crate::import) node: NodeId,
    /// Sizes of the target.
    pub(in crate::import) shape: &'a [i64],
    /// The batch dimensions, along which slices and positions differ, such as the rows of `x.scatter(1, i, v)`.
    pub(in crate::import) batch: &'a [usize],
    /// The dimensions that the positions index, outermost first, merged into one.
    pub(in crate::import) dims: &'a [usize],
}

impl ScatterTarget<'_> {
    fn dim_sizes(&self, dims: &[usize]) -> Vec<i64> {
        dims.iter().map(|&dim| self.shape[dim]).collect()
    }
}

/// Sizes of a scatter and of its target: one matrix of rows for each index along the batch.
struct ScatterSizes {
    /// Sizes of the batch.
    batch: Vec<i64>,
    rows: i64,
    num_slices: i64,
    columns: i64,
    element: NodeElementType,
}

impl ScatterSizes {
    /// Returns the shape `[batch..., rows, columns]`.
    fn batched_shape(&self, rows: i64, columns: i64) -> Vec<i64> {
        [self.batch.as_slice(), &[rows, columns]].concat()
    }

    /// Returns the shape `[1..., rows, columns]` of a tensor that is the same along the batch.
    fn shared_shape(&self, rows: i64, columns: i64) -> Vec<i64> {
        [vec![1; self.batch.len()], vec![rows, columns]].concat()
    }
}

/// Scatters `num_slices` slices to their positions in `target`. The leading dimensions of `parts` are the batch and the
/// number of the slice, followed by the other dimensions of the target. `places` are the positions: the numeric forms
/// of the integers, one tensor per indexed dimension.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(in crate::import) fn scatter_slices(
    graph: &mut ValueGraph,
    target: ScatterTarget<'_>,
    places: &[NodeId],
    parts: NodeId,
    num_parts: i64,
    written: UpdateMode,
) -> NodeResult {
    let ScatterTarget { node, shape, batch, dims } = target;
    let element = graph.node(node).element;
    if element == NodeElementType::Int {
        let number = |graph: &mut ValueGraph, id: NodeId| {
            graph.convert_to_formatted_numbers(id).map_err(|_| {
                codes::INTEGER_RUNTIME.format("writes integers that the device cannot compute; convert them to f32")
            })
        };
        let (node, parts) = (number(graph, node)?, number(graph, parts)?);
        if graph.node(node).element == NodeElementType::Int {
            return Err(
                codes::UNWRITTEN.format("writes into a tensor of integers that no op has written; fill it first")
            );
        }
        let new = scatter_slices(graph, ScatterTarget { node, ..target }, places, parts, num_parts, written)?;
        return Ok(graph.add_integers(new));
    }
    let rows: i64 = target.dim_sizes(dims).iter().product();
    let num_compared = target.dim_sizes(batch).into_iter().product::<i64>() * rows * num_parts;
    if rows > MAX_VALUES || num_parts > MAX_SLICES || num_compared > MAX_COMPARED_PAIRS {
        return Err(codes::SCATTER_FORM.format(format_args!(
            "expected at most {MAX_SLICES} slices at runtime indices, {MAX_VALUES} positions, and {MAX_COMPARED_PAIRS} pairs of a slice and a \
             position, found {num_parts} slices, {rows} positions and {num_compared} pairs; write fewer slices at a time"
        )));
    }
    if !element.is_float() {
        return Err(codes::SCATTER_FORM.format(format_args!(
            "writes {} at runtime indices, which is not supported; convert the elements to f16 or f32",
            element.name()
        )));
    }
    // The batch, the rows, then the other dimensions.
    let rest: Vec<usize> = (0..shape.len()).filter(|dim| !dims.contains(dim) && !batch.contains(dim)).collect();
    let columns: i64 = target.dim_sizes(&rest).iter().product();
    let writing = ScatterSizes { batch: target.dim_sizes(batch), rows, num_slices: num_parts, columns, element };
    let is_place = build_position_mask(graph, &writing, &target.dim_sizes(dims), places)?;
    if let (1, &[dim], []) = (num_parts, dims, batch) {
        return scatter_row(graph, target, dim, is_place, parts, written);
    }
    let order: Vec<usize> = batch.iter().chain(dims).chain(&rest).copied().collect();
    let turned = target.dim_sizes(&order);
    let whole = graph.splat_if_scalar(node, shape);
    let whole = graph.view(whole, invert_permutation(&order), &turned);
    let whole = graph.reshape(whole, &writing.batched_shape(rows, columns));
    let parts = graph.splat_if_scalar(parts, &writing.batched_shape(num_parts, columns));
    let parts = graph.reshape(parts, &writing.batched_shape(num_parts, columns));
    let new = if num_parts == 1 {
        scatter_slice(graph, whole, is_place, parts, written)?
    } else {
        scatter_several_slices(graph, &writing, whole, is_place, parts, written)?
    };
    let new = graph.reshape(new, &turned);
    Ok(graph.view(new, order.into_iter().map(AffineExpression::Dim).collect(), shape))
}

/// Scatters one slice along one dimension: no dimension of the target is transposed, so its layout is kept.
fn scatter_row(
    graph: &mut ValueGraph,
    target: ScatterTarget<'_>,
    dim: usize,
    is_place: NodeId,
    part: NodeId,
    written: UpdateMode,
) -> NodeResult {
    let ScatterTarget { node, shape, .. } = target;
    let of_part: Vec<i64> =
        [1].into_iter().chain((0..shape.len()).filter(|&other| other != dim).map(|other| shape[other])).collect();
    let with_size = |size: i64| (0..shape.len()).map(|other| if other == dim { size } else { 1 }).collect::<Vec<i64>>();
    let place =
        graph.view(is_place, vec![AffineExpression::Dim(dim), AffineExpression::Constant(0)], &with_size(shape[dim]));
    let part = graph.splat_if_scalar(part, &of_part);
    let map = (0..shape.len()).filter(|&other| other != dim).map(AffineExpression::Dim);
    let sizes: Vec<i64> = (0..shape.len()).map(|other| if other == dim { 1 } else { shape[other] }).collect();
    let part = graph.view(part, [AffineExpression::Constant(0)].into_iter().chain(map).collect(), &sizes);
    let whole = graph.splat_if_scalar(node, shape);
    scatter_slice(graph, whole, place, part, written)
}

/// Scatters one slice: each row is the slice, the old row, or both combined.
fn scatter_slice(
    graph: &mut ValueGraph,
    whole: NodeId,
    is_place: NodeId,
    part: NodeId,
    written: UpdateMode,
) -> NodeResult {
    let element = graph.node(whole).element;
    match written {
        UpdateMode::Replace => recognize::select(graph, &[is_place, part, whole], element),
        UpdateMode::Combine(Combiner::Sum) => {
            let zero = graph.add_scalar(0.0);
            let chosen = recognize::select(graph, &[is_place, part, zero], element)?;
            recognize::add(graph, &[whole, chosen], element)
        }
        UpdateMode::Combine(combiner) => {
            let both = graph.apply(combiner.operation(), &[whole, part], element)?;
            recognize::select(graph, &[is_place, both, whole], element)
        }
    }
}

fn scatter_several_slices(
    graph: &mut ValueGraph,
    writing: &ScatterSizes,
    whole: NodeId,
    is_place: NodeId,
    parts: NodeId,
    written: UpdateMode,
) -> NodeResult {
    let &ScatterSizes { rows, num_slices: num_parts, element, .. } = writing;
    match written {
        UpdateMode::Replace => {}
        UpdateMode::Combine(Combiner::Sum) => {
            let sums = move_slices(graph, writing, is_place, parts);
            return recognize::add(graph, &[whole, sums], element);
        }
        UpdateMode::Combine(combiner) => return combine_scattered_slices(graph, whole, is_place, parts, combiner),
    }
    // The number of the last slice that is written to each row, from 1 on; 0 if there is none.
    let numbers = graph.add_constant(ConstantTensor::iota(1, num_parts), writing.shared_shape(1, num_parts), element);
    let none = graph.add_scalar(0.0);
    let ones = graph.add(NodeKind::Reshape, &[is_place], writing.batched_shape(rows, num_parts), element);
    let of_parts = graph.add_pointwise("mul", &[ones, numbers], element);
    let last = graph.reduce("max", of_parts, writing.batch.len() + 1);
    let is_last = graph.add_pointwise("equal", &[numbers, last], NodeElementType::Bool);
    let is_written = graph.add_pointwise("greaterthan", &[last, none], NodeElementType::Bool);
    let moved = move_slices(graph, writing, is_last, parts);
    recognize::select(graph, &[is_written, moved, whole], element)
}

/// Returns for `[row, part]` whether the position of the slice is the row, as an index into dimensions of these sizes.
/// Compares one dimension at a time, so that no number is larger than a dimension.
fn build_position_mask(graph: &mut ValueGraph, writing: &ScatterSizes, sizes: &[i64], places: &[NodeId]) -> NodeResult {
    let rows = writing.rows;
    let (mut below, mut found) = (rows, None);
    for (&size, &place) in sizes.iter().zip(places) {
        below /= size;
        let place = graph.reshape(place, &writing.batched_shape(1, writing.num_slices));
        #[allow(clippy::cast_precision_loss, reason = "a dimension is far smaller than 2^53")]
        let positions: Vec<f64> = (0..rows).map(|row| (row / below % size) as f64).collect();
        let counted = graph.add_constant(
            ConstantTensor::from_numbers(&positions),
            writing.shared_shape(rows, 1),
            NodeElementType::Int,
        );
        // A table of the rows for each value of an index would be far larger than a comparison.
        let is_there = match graph.as_constant(place) {
            Some(_) => graph.apply("arith.cmpf oeq", &[counted, place], NodeElementType::Bool)?,
            None => digits::build_row_test(graph, counted, place, size)?,
        };
        found = Some(match found {
            None => is_there,
            Some(before) => graph.apply("arith.andi", &[before, is_there], NodeElementType::Bool)?,
        });
    }
    found.ok_or_else(|| "has no place".to_owned())
}

/// Moves the slices to their rows: `build_position_mask` times `parts`, 0 in rows without a slice.
fn move_slices(graph: &mut ValueGraph, writing: &ScatterSizes, is_place: NodeId, parts: NodeId) -> NodeId {
    let &ScatterSizes { rows, num_slices: num_parts, columns, element, .. } = writing;
    if columns > 1 {
        let ones = graph.add(NodeKind::Reshape, &[is_place], writing.batched_shape(rows, num_parts), element);
        return graph.build_matmul(ones, parts, writing.batched_shape(rows, columns), element);
    }
    // One column becomes a row next to the matrix.
    let parts = graph.reshape(parts, &writing.batched_shape(1, num_parts));
    // A select, not a multiplication: an infinity for another row has no effect.
    let is_place = graph.reshape(is_place, &writing.batched_shape(rows, num_parts));
    let zero = graph.add_scalar(0.0);
    let terms = graph.add_pointwise("where3", &[is_place, parts, zero], element);
    graph.reduce("sum", terms, writing.batch.len() + 1)
}

/// Returns the inverse of a permutation.
fn invert_permutation(order: &[usize]) -> Vec<AffineExpression> {
    let place = |dim| order.iter().position(|&other| other == dim).expect("an order has all dimensions");
    (0..order.len()).map(|dim| AffineExpression::Dim(place(dim))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter_into_tensor(
        shape: &[i64],
        dims: &[usize],
        num_parts: i64,
        written: UpdateMode,
    ) -> (ValueGraph, NodeResult) {
        let mut graph = ValueGraph::default();
        let node = graph.add_tensor(0, shape.to_vec(), NodeElementType::F16);
        let columns = shape.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, size)| size);
        let parts = graph.add_tensor(1, [num_parts].iter().chain(columns).copied().collect(), NodeElementType::F16);
        let places = graph.add_tensor(2, vec![num_parts], NodeElementType::F32);
        let found = scatter_slices(
            &mut graph,
            ScatterTarget { node, shape, batch: &[], dims },
            &vec![places; dims.len()],
            parts,
            num_parts,
            written,
        );
        (graph, found)
    }

    fn collect_kinds(graph: &ValueGraph, node: NodeId) -> Vec<NodeKind> {
        graph.collect_required(&[node], |_| false).into_iter().map(|id| graph.node(id).kind.clone()).collect()
    }

    #[test]
    fn selects_one_slice_without_matmul() {
        let (graph, found) = scatter_into_tensor(&[2, 32, 64], &[1], 1, UpdateMode::Replace);
        let found = found.unwrap();
        assert_eq!(graph.node(found).shape, [2, 32, 64]);
        assert!(!collect_kinds(&graph, found).contains(&NodeKind::Matmul));
    }

    #[test]
    fn moves_several_slices_by_matmul() {
        let (graph, found) = scatter_into_tensor(&[32, 64], &[0], 3, UpdateMode::Replace);
        assert!(collect_kinds(&graph, found.unwrap()).contains(&NodeKind::Matmul));
        let (graph, found) = scatter_into_tensor(&[4, 8], &[0, 1], 3, UpdateMode::Combine(Combiner::Sum));
        let found = found.unwrap();
        assert_eq!(graph.node(found).shape, [4, 8]);
        assert!(!collect_kinds(&graph, found).contains(&NodeKind::Matmul), "single elements are summed");
    }

    #[test]
    fn rejects_too_many_positions_or_slices() {
        let rejected = |shape: &[i64], num_parts, combined, found: &str| {
            scatter_into_tensor(shape, &[0], num_parts, combined).1.is_err_and(|message| message.contains(found))
        };
        let sum = UpdateMode::Combine(Combiner::Sum);
        assert!(rejected(&[40_000, 64], 1, UpdateMode::Replace, "found 1 slices, 40000 positions"));
        assert!(rejected(&[32_000, 64], 1024 + 25, sum, "found 1049 slices"));
        assert!(rejected(&[64, 64], 2000, sum, "found 2000 slices"));
    }
}
