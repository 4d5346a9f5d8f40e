//! Scatters at runtime positions that combine by product, maximum or minimum: each row is compared with all slices.

use super::{body::Combiner, recognize, rule_helpers::NodeResult};
use crate::{
    codes,
    import::graph::{NodeId, ValueGraph},
};
use program::affine::AffineExpression;

/// Maximum number of elements of all slices for each row: 32 MiB in 16 bits.
const MAX_COMBINED_ELEMENTS: i64 = 1 << 24;

/// Combines `whole` with the slices of `parts` that are scattered to each row. `whole` has the shape `batch` x rows x
/// columns, `parts` has `batch` x parts x columns, and `is_place` has `batch` x rows x parts.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(super) fn combine_scattered_slices(
    graph: &mut ValueGraph,
    whole: NodeId,
    is_place: NodeId,
    parts: NodeId,
    combiner: Combiner,
) -> NodeResult {
    let (of_whole, of_parts) = (graph.node(whole).shape.clone(), graph.node(parts).shape.clone());
    let (rows_at, element) = (of_whole.len() - 2, graph.node(whole).element);
    let (batch, [rows, columns]) = (&of_whole[..rows_at], [of_whole[rows_at], of_whole[rows_at + 1]]);
    let num_parts = of_parts[rows_at];
    let beside = [batch, &[rows, num_parts, columns]].concat();
    if beside.iter().product::<i64>() > MAX_COMBINED_ELEMENTS {
        return Err(codes::TOO_MANY_PARTS.format(format_args!(
            "combines {num_parts} updates with {rows} rows of {columns} elements at runtime indices by {}, which requires more than \
             {MAX_COMBINED_ELEMENTS} elements; use fewer updates",
            combiner.operation()
        )));
    }
    // The batch indices, followed by the dimensions among rows, parts and columns that a tensor has.
    let own = |dims: &[usize]| {
        (0..rows_at)
            .map(AffineExpression::Dim)
            .chain(dims.iter().map(|&dim| AffineExpression::Dim(rows_at + dim)))
            .collect::<Vec<_>>()
    };
    let is_place = graph.view(is_place, own(&[0, 1]), &[batch, &[rows, num_parts, 1]].concat());
    let parts = graph.view(parts, own(&[1, 2]), &[batch, &[1, num_parts, columns]].concat());
    let before = graph.view(whole, own(&[0, 2]), &[batch, &[rows, 1, columns]].concat());
    // Including the old element does not change a maximum or minimum that it is part of.
    let nothing = if combiner == Combiner::Prod { graph.add_scalar(combiner.neutral_element()) } else { before };
    let chosen = recognize::select(graph, &[is_place, parts, nothing], element)?;
    let found = graph.reduce(combiner.function(), chosen, rows_at + 1);
    let new = graph.apply(combiner.operation(), &[before, found], element)?;
    Ok(graph.reshape(new, &of_whole))
}
