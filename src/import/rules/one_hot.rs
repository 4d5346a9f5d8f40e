//! Selection of rows by a computed integer, or of rows that vary with another index: a matmul with a one-hot matrix.
//!
//! The device gathers rows only by integer arguments, each the same for a whole row. For other integers, a comparison
//! with all row numbers yields 1 at the row and 0 elsewhere, digit by digit if the row numbers are not exact. The
//! matmul of these rows with the table yields the selected rows without rounding: all other terms of the sum are 0.

use super::digits;
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor, digit_pair::DigitPair,
    views::compute_used_sizes,
};
use program::affine::AffineExpression;

/// Maximum number of rows of a table: the row numbers that two digits represent.
const MAX_ROWS: i64 = digits::MAX_VALUES;

/// Minimum number of columns for a matmul with a single row: with fewer, most of a stick would be padding.
const MIN_COLUMNS: i64 = 32;

/// Result of a one-hot matmul.
pub(in crate::import) struct OneHotProduct {
    /// Selected elements over the iteration space.
    pub(in crate::import) node: NodeId,
    /// Conditions that each integer is a row, unless they are known to hold.
    pub(in crate::import) bounds: Vec<NodeId>,
}

/// Integers that select rows.
#[derive(Clone, Copy)]
pub(in crate::import) enum RowSelector {
    /// In numeric form.
    Number(NodeId),
    /// As two digits.
    Digits(DigitPair),
}

/// Returns whether integers are rows for all arguments.
fn is_within_rows(digits: DigitPair, n_rows: i64) -> bool {
    digits.range[0] >= 0 && digits.range[1] <= n_rows
}

impl RowSelector {
    fn shape(self, graph: &ValueGraph) -> Vec<i64> {
        match self {
            Self::Number(number) => graph.node(number).shape.clone(),
            Self::Digits(digits) => graph.compute_broadcast_shape(&digits.parts),
        }
    }

    /// Returns whether tables of `n_rows` rows are supported.
    fn supports_rows(self, n_rows: i64) -> bool {
        match self {
            Self::Number(_) => n_rows <= MAX_ROWS,
            Self::Digits(digits) => {
                (digits.exact.is_some() || is_within_rows(digits, n_rows))
                    && n_rows <= digits::RESULT_BASE * digits::RESULT_BASE
            }
        }
    }

    /// Builds the comparison of these integers, viewed by `turned`, with the `n_rows` row numbers along a dimension of
    /// `shape`.
    fn build_row_mask(
        self,
        graph: &mut ValueGraph,
        turned: impl Fn(&mut ValueGraph, NodeId) -> NodeId,
        n_rows: i64,
        shape: Vec<i64>,
    ) -> Option<NodeId> {
        let counted = graph.add_constant(ConstantTensor::iota(0, n_rows), shape, NodeElementType::Int);
        match self {
            Self::Number(number) => {
                let number = turned(graph, number);
                digits::build_row_test(graph, counted, number, n_rows).ok()
            }
            Self::Digits(digits) => {
                let of_rows = digits::split_constant_digits(graph, counted)?;
                let mut equal = [None; 2];
                for ((equal, digit), of_row) in equal.iter_mut().zip(digits.parts).zip(of_rows) {
                    let digit = turned(graph, digit);
                    *equal = Some(graph.add_pointwise("equal", &[digit, of_row], NodeElementType::Bool));
                }
                let [Some(upper), Some(lower)] = equal else { return None };
                graph.apply("arith.andi", &[upper, lower], NodeElementType::Bool).ok()
            }
        }
    }

    /// Returns the conditions that each integer is a row, unless they are known to hold.
    fn build_bounds(self, graph: &mut ValueGraph, n_rows: i64) -> Vec<NodeId> {
        let number = match self {
            Self::Number(number) => number,
            Self::Digits(digits) if is_within_rows(digits, n_rows) => return Vec::new(),
            // Rows are selected by integers with a known range, or by numbers.
            Self::Digits(digits) => digits.exact.expect("integers that may choose"),
        };
        #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
        let (first, end) = (graph.add_scalar(0.0), graph.add_scalar(n_rows as f64));
        let bounds = [("greaterequal", first), ("lesserthan", end)];
        bounds.map(|(function, bound)| graph.add_pointwise(function, &[number, bound], NodeElementType::Bool)).to_vec()
    }
}

/// Returns the elements of `table` at row `row` of dimension `dim`, its other dimensions read at `exprs`, over an
/// iteration space of `sizes`. Returns None if the other indices are not distinct dimensions of the iteration space or
/// constants.
pub(in crate::import) fn build_one_hot_product(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    row: RowSelector,
    dim: usize,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Option<OneHotProduct> {
    let n_rows = rows[dim];
    let of_number = row.shape(graph);
    let along = |space: usize| of_number.get(space).is_some_and(|&size| size > 1);
    let mut columns = Vec::new();
    let mut batch = Vec::new();
    for (_, expr) in exprs.iter().enumerate().filter(|(other, _)| *other != dim) {
        match expr {
            Some(AffineExpression::Dim(space)) if sizes[*space] == 1 => {}
            Some(AffineExpression::Dim(space)) if batch.contains(space) || columns.contains(space) => return None,
            Some(AffineExpression::Dim(space)) if along(*space) => batch.push(*space),
            Some(AffineExpression::Dim(space)) => columns.push(*space),
            Some(AffineExpression::Constant(_)) => {}
            _ => return None,
        }
    }
    let element = graph.node(table).element;
    if !row.supports_rows(n_rows) || !element.is_float() {
        return None;
    }
    let mut chosen: Vec<usize> =
        (0..of_number.len()).filter(|&space| along(space) && !batch.contains(&space)).collect();
    // All but the last dimension of the integers are batch dimensions of the matmul, so that no dimension is split
    // inside the sticks. All batches share the table.
    let rest = chosen.split_off(chosen.len().saturating_sub(1));
    let num_repeated = chosen.len();
    let batch = [chosen, batch].concat();
    let chosen = rest;
    let size_of = |spaces: &[usize]| spaces.iter().map(|&space| sizes[space]).product::<i64>();
    let of_batch: Vec<i64> = batch.iter().map(|&space| sizes[space]).collect();
    let (m, n) = (size_of(&chosen), size_of(&columns));

    // Each integer against the row numbers, which lie along a dimension of their own; then [batch, M, rows].
    let order: Vec<usize> = batch.iter().chain(&chosen).copied().collect();
    let moved: Vec<i64> = order.iter().map(|&space| sizes[space]).collect();
    let at = |space: usize| {
        order.iter().position(|&own| own == space).map_or(AffineExpression::Constant(0), AffineExpression::Dim)
    };
    let turned_map: Vec<AffineExpression> = (0..of_number.len()).map(at).collect();
    let turned_sizes = [moved, vec![1]].concat();
    let turned = |graph: &mut ValueGraph, number: NodeId| graph.view(number, turned_map.clone(), &turned_sizes);
    let of_rows = [vec![1; order.len()], vec![n_rows]].concat();
    let hot = row.build_row_mask(graph, turned, n_rows, of_rows)?;

    // [batch, rows, N] of the table; [batch, N, rows] where it is read element by element.
    let is_product = n > 1 && (m > 1 || n >= MIN_COLUMNS || batch.is_empty());
    let rows_at = batch.len() + if is_product { 0 } else { columns.len() };
    let table_space: Vec<usize> = batch.iter().chain(&columns).copied().collect();
    let mut sizes_of_table: Vec<i64> = table_space.iter().map(|&space| sizes[space]).collect();
    sizes_of_table.insert(rows_at, n_rows);
    let position =
        |space: usize| table_space.iter().skip(num_repeated).position(|&own| own == space).map(|at| at + num_repeated);
    let position = |space: usize| position(space).map(|at| if at < rows_at { at } else { at + 1 });
    let index = |other: usize| match &exprs[other] {
        _ if other == dim => Some(AffineExpression::Dim(rows_at)),
        Some(AffineExpression::Dim(space)) => {
            Some(position(*space).map_or(AffineExpression::Constant(0), AffineExpression::Dim))
        }
        Some(AffineExpression::Constant(number)) => Some(AffineExpression::Constant(*number)),
        _ => None,
    };
    let map = (0..rows.len()).map(index).collect::<Option<Vec<_>>>()?;
    let table = graph.view(table, map, &sizes_of_table);
    let product = if is_product {
        let table = graph.reshape(table, &[of_batch.clone(), vec![n_rows, n]].concat());
        let shape = graph.node(hot).shape.clone();
        let hot = graph.add(NodeKind::Reshape, &[hot], shape, element);
        let hot = graph.reshape(hot, &[of_batch.clone(), vec![m, n_rows]].concat());
        graph.build_matmul(hot, table, [of_batch.clone(), vec![m, n]].concat(), element)
    } else {
        // One column becomes a row next to the matrix, and a few columns become rows next to one row.
        let table = graph.reshape(table, &[of_batch.clone(), vec![n, n_rows]].concat());
        let hot = graph.reshape(hot, &[of_batch.clone(), vec![m, n_rows]].concat());
        // A select, not a multiplication: an infinity in another row has no effect.
        let zero = graph.add_scalar(0.0);
        let terms = graph.add_pointwise("where3", &[hot, table, zero], element);
        graph.reduce("sum", terms, of_batch.len() + 1)
    };
    let spread: Vec<usize> = batch.iter().chain(&chosen).chain(&columns).copied().collect();
    let product = graph.reshape(product, &spread.iter().map(|&space| sizes[space]).collect::<Vec<_>>());
    let map: Vec<AffineExpression> = spread.into_iter().map(AffineExpression::Dim).collect();
    let shape = compute_used_sizes(&map, sizes);
    let node = graph.view(product, map, &shape);
    let bounds = row.build_bounds(graph, n_rows);
    Some(OneHotProduct { node, bounds })
}
