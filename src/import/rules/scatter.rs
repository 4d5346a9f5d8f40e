//! Scatters of slices to rows that runtime integers select.
//!
//! Write addresses on the device are static. So all row numbers are compared with the positions: a single slice is selected row by row
//! between the slice and the old elements; several slices are moved to their rows by a product with a matrix of ones and zeros, without
//! rounding.

use super::{
    body::Combiner,
    combined_parts::combined_parts,
    digits::{self, MOST_VALUES},
    plain::Built,
    recognize,
};
use crate::{
    codes,
    import::graph::{Element, Graph, Kind, NodeId, known::Known},
};
use program::affine::Expr;

/// Maximum number of elements of the matrix, which has one for each row and slice of the whole batch: 64 MiB in 16 bits.
const MOST_COMPARED: i64 = 1 << 25;
/// Maximum number of slices: slice numbers must be exact in the 16-bit format, which has all integers up to this one.
const MOST_PARTS: i64 = 1024;

/// Effect of writing slices over an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Written {
    /// The element of the slice replaces it; of several slices at one position, the last one wins.
    Replaced,
    /// The old element and those of all slices are combined.
    Combined(Combiner),
}

/// Target of a scatter.
#[derive(Clone, Copy)]
pub(in crate::import) struct Target<'a> {
    /// The tensor.
    pub(in crate::import) node: NodeId,
    /// Sizes of the target.
    pub(in crate::import) shape: &'a [i64],
    /// The batch dimensions, along which slices and positions differ, such as the rows of `x.scatter(1, i, v)`.
    pub(in crate::import) batch: &'a [usize],
    /// The dimensions that the positions index, outermost first, merged into one.
    pub(in crate::import) dims: &'a [usize],
}

impl Target<'_> {
    fn sizes(&self, dims: &[usize]) -> Vec<i64> {
        dims.iter().map(|&dim| self.shape[dim]).collect()
    }
}

/// Sizes of a scatter and of its target: one matrix of rows for each index along the batch.
struct Writing {
    /// Sizes of the batch.
    batch: Vec<i64>,
    rows: i64,
    n_parts: i64,
    columns: i64,
    element: Element,
}

impl Writing {
    /// Returns a shape after the batch dimensions.
    fn shape(&self, rows: i64, columns: i64) -> Vec<i64> {
        [self.batch.as_slice(), &[rows, columns]].concat()
    }

    /// Broadcasts a tensor along the batch.
    fn shared(&self, rows: i64, columns: i64) -> Vec<i64> {
        [vec![1; self.batch.len()], vec![rows, columns]].concat()
    }
}

/// Scatters the `n_parts` `parts`, which have the batch and their number as leading dimensions and then the other dimensions of the target,
/// to their positions in `target`: the numeric forms of the integers in `places`, one tensor per indexed dimension.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(in crate::import) fn scatter(
    graph: &mut Graph,
    target: Target<'_>,
    places: &[NodeId],
    parts: NodeId,
    n_parts: i64,
    written: Written,
) -> Built {
    let Target { node, shape, batch, dims } = target;
    let element = graph.node(node).element;
    if element == Element::Int {
        let number = |graph: &mut Graph, id: NodeId| {
            graph
                .numbers_with_format(id)
                .map_err(|_| codes::INTEGER_RUNTIME.says("writes integers that the device cannot compute; convert them to f32"))
        };
        let (node, parts) = (number(graph, node)?, number(graph, parts)?);
        if graph.node(node).element == Element::Int {
            return Err(codes::UNWRITTEN.says("writes into a tensor of integers that no op has written; fill it first"));
        }
        let new = scatter(graph, Target { node, ..target }, places, parts, n_parts, written)?;
        return Ok(graph.as_integers(new));
    }
    let rows: i64 = target.sizes(dims).iter().product();
    let n_compared = target.sizes(batch).into_iter().product::<i64>() * rows * n_parts;
    if rows > MOST_VALUES || n_parts > MOST_PARTS || n_compared > MOST_COMPARED {
        return Err(codes::SCATTER_FORM.says(format_args!(
            "expected at most {MOST_PARTS} slices at runtime indices, {MOST_VALUES} positions, and {MOST_COMPARED} pairs of a slice and a \
             position, found {n_parts} slices, {rows} positions and {n_compared} pairs; write fewer slices at a time"
        )));
    }
    if !element.is_float() {
        return Err(codes::SCATTER_FORM.says(format_args!(
            "writes {} at runtime indices, which is not supported; convert the elements to f16 or f32",
            element.name()
        )));
    }
    // The batch, rows, then the rest.
    let rest: Vec<usize> = (0..shape.len()).filter(|dim| !dims.contains(dim) && !batch.contains(dim)).collect();
    let columns: i64 = target.sizes(&rest).iter().product();
    let writing = Writing { batch: target.sizes(batch), rows, n_parts, columns, element };
    let is_place = is_place(graph, &writing, &target.sizes(dims), places)?;
    if let (1, &[dim], []) = (n_parts, dims, batch) {
        return one_row(graph, target, dim, is_place, parts, written);
    }
    let order: Vec<usize> = batch.iter().chain(dims).chain(&rest).copied().collect();
    let turned = target.sizes(&order);
    let whole = graph.filled_if_number(node, shape);
    let whole = graph.view(whole, places_in(&order), &turned);
    let whole = graph.reshape(whole, &writing.shape(rows, columns));
    let parts = graph.filled_if_number(parts, &writing.shape(n_parts, columns));
    let parts = graph.reshape(parts, &writing.shape(n_parts, columns));
    let new = if n_parts == 1 {
        one_part(graph, whole, is_place, parts, written)?
    } else {
        several_parts(graph, &writing, whole, is_place, parts, written)?
    };
    let new = graph.reshape(new, &turned);
    Ok(graph.view(new, order.into_iter().map(Expr::Dim).collect(), shape))
}

/// Scatters one slice along one dimension: no dimension of the target is transposed, so its layout is kept.
fn one_row(graph: &mut Graph, target: Target<'_>, dim: usize, is_place: NodeId, part: NodeId, written: Written) -> Built {
    let Target { node, shape, .. } = target;
    let of_part: Vec<i64> = [1].into_iter().chain((0..shape.len()).filter(|&other| other != dim).map(|other| shape[other])).collect();
    let with_size = |size: i64| (0..shape.len()).map(|other| if other == dim { size } else { 1 }).collect::<Vec<i64>>();
    let place = graph.view(is_place, vec![Expr::Dim(dim), Expr::Constant(0)], &with_size(shape[dim]));
    let part = graph.filled_if_number(part, &of_part);
    let map = (0..shape.len()).filter(|&other| other != dim).map(Expr::Dim);
    let sizes: Vec<i64> = (0..shape.len()).map(|other| if other == dim { 1 } else { shape[other] }).collect();
    let part = graph.view(part, [Expr::Constant(0)].into_iter().chain(map).collect(), &sizes);
    let whole = graph.filled_if_number(node, shape);
    one_part(graph, whole, place, part, written)
}

/// Each row is the slice, or the old row, or both combined.
fn one_part(graph: &mut Graph, whole: NodeId, is_place: NodeId, part: NodeId, written: Written) -> Built {
    let element = graph.node(whole).element;
    match written {
        Written::Replaced => recognize::select(graph, &[is_place, part, whole], element),
        Written::Combined(Combiner::Sum) => {
            let zero = graph.number(0.0);
            let chosen = recognize::select(graph, &[is_place, part, zero], element)?;
            recognize::add(graph, &[whole, chosen], element)
        }
        Written::Combined(combiner) => {
            let both = graph.apply(combiner.operation(), &[whole, part], element)?;
            recognize::select(graph, &[is_place, both, whole], element)
        }
    }
}

fn several_parts(graph: &mut Graph, writing: &Writing, whole: NodeId, is_place: NodeId, parts: NodeId, written: Written) -> Built {
    let &Writing { rows, n_parts, element, .. } = writing;
    match written {
        Written::Replaced => {}
        Written::Combined(Combiner::Sum) => {
            let sums = product(graph, writing, is_place, parts);
            return recognize::add(graph, &[whole, sums], element);
        }
        Written::Combined(combiner) => return combined_parts(graph, whole, is_place, parts, combiner),
    }
    // The number of the last slice that is written to each row, from 1 on; 0 if there is none.
    let numbers = graph.known(Known::counting(1, n_parts), writing.shared(1, n_parts), element);
    let none = graph.number(0.0);
    let ones = graph.add(Kind::Reshape, &[is_place], writing.shape(rows, n_parts), element);
    let of_parts = graph.pointwise("mul", &[ones, numbers], element);
    let last = graph.reduce("max", of_parts, writing.batch.len() + 1);
    let is_last = graph.pointwise("equal", &[numbers, last], Element::Bool);
    let is_written = graph.pointwise("greaterthan", &[last, none], Element::Bool);
    let moved = product(graph, writing, is_last, parts);
    recognize::select(graph, &[is_written, moved, whole], element)
}

/// Returns for `[row, part]` whether the position of the slice is the row, as an index into dimensions of these sizes: one dimension at a
/// time, so that no number is larger than a dimension.
fn is_place(graph: &mut Graph, writing: &Writing, sizes: &[i64], places: &[NodeId]) -> Built {
    let rows = writing.rows;
    let (mut below, mut found) = (rows, None);
    for (&size, &place) in sizes.iter().zip(places) {
        below /= size;
        let place = graph.reshape(place, &writing.shape(1, writing.n_parts));
        #[allow(clippy::cast_precision_loss, reason = "a dimension is far smaller than 2^53")]
        let positions: Vec<f64> = (0..rows).map(|row| (row / below % size) as f64).collect();
        let counted = graph.known(Known::table(&positions), writing.shared(rows, 1), Element::Int);
        // A table of the rows for each value of an index would be far larger than a comparison.
        let is_there = match graph.known_of(place) {
            Some(_) => graph.apply("arith.cmpf oeq", &[counted, place], Element::Bool)?,
            None => digits::is_row(graph, counted, place, size)?,
        };
        found = Some(match found {
            None => is_there,
            Some(before) => graph.apply("arith.andi", &[before, is_there], Element::Bool)?,
        });
    }
    found.ok_or_else(|| "has no place".to_owned())
}

/// Moves the slices to their rows: `is_place` times `parts`, 0 in rows without a slice.
fn product(graph: &mut Graph, writing: &Writing, is_place: NodeId, parts: NodeId) -> NodeId {
    let &Writing { rows, n_parts, columns, element, .. } = writing;
    if columns > 1 {
        let ones = graph.add(Kind::Reshape, &[is_place], writing.shape(rows, n_parts), element);
        return graph.product(ones, parts, writing.shape(rows, columns), element);
    }
    // One column is a row beside the matrix.
    let parts = graph.reshape(parts, &writing.shape(1, n_parts));
    // A select, not a product: an infinity for another row has no effect.
    let is_place = graph.reshape(is_place, &writing.shape(rows, n_parts));
    let zero = graph.number(0.0);
    let terms = graph.pointwise("where3", &[is_place, parts, zero], element);
    graph.reduce("sum", terms, writing.batch.len() + 1)
}

/// Returns the inverse of a permutation.
fn places_in(order: &[usize]) -> Vec<Expr> {
    let place = |dim| order.iter().position(|&other| other == dim).expect("an order has all dimensions");
    (0..order.len()).map(|dim| Expr::Dim(place(dim))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: &[i64], dims: &[usize], n_parts: i64, written: Written) -> (Graph, Built) {
        let mut graph = Graph::default();
        let node = graph.tensor(0, shape.to_vec(), Element::F16);
        let columns = shape.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, size)| size);
        let parts = graph.tensor(1, [n_parts].iter().chain(columns).copied().collect(), Element::F16);
        let places = graph.tensor(2, vec![n_parts], Element::F32);
        let found = scatter(&mut graph, Target { node, shape, batch: &[], dims }, &vec![places; dims.len()], parts, n_parts, written);
        (graph, found)
    }

    fn kinds(graph: &Graph, node: NodeId) -> Vec<Kind> {
        graph.needed_for(&[node], |_| false).into_iter().map(|id| graph.node(id).kind.clone()).collect()
    }

    #[test]
    fn one_part_is_chosen_without_a_product() {
        let (graph, found) = written(&[2, 32, 64], &[1], 1, Written::Replaced);
        let found = found.unwrap();
        assert_eq!(graph.node(found).shape, [2, 32, 64]);
        assert!(!kinds(&graph, found).contains(&Kind::Matmul));
    }

    #[test]
    fn several_parts_come_to_their_rows_by_a_product() {
        let (graph, found) = written(&[32, 64], &[0], 3, Written::Replaced);
        assert!(kinds(&graph, found.unwrap()).contains(&Kind::Matmul));
        let (graph, found) = written(&[4, 8], &[0, 1], 3, Written::Combined(Combiner::Sum));
        let found = found.unwrap();
        assert_eq!(graph.node(found).shape, [4, 8]);
        assert!(!kinds(&graph, found).contains(&Kind::Matmul), "single elements are summed");
    }

    #[test]
    fn too_many_places_or_parts_are_refused() {
        let refused = |shape: &[i64], n_parts, combined, found: &str| {
            written(shape, &[0], n_parts, combined).1.is_err_and(|message| message.contains(found))
        };
        let sum = Written::Combined(Combiner::Sum);
        assert!(refused(&[40_000, 64], 1, Written::Replaced, "found 1 slices, 40000 positions"));
        assert!(refused(&[32_000, 64], 1024 + 25, sum, "found 1049 slices"));
        assert!(refused(&[64, 64], 2000, sum, "found 2000 slices"));
    }
}
