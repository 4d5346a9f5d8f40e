//! Data movement: identity, restickify, gather, scatter and conversions of the number format.
//!
//! Without a conversion the elements are copied as bits, so that integers and NaN are preserved.

use super::{CoreView, ElementMemory, SliceValues};
use crate::machine::Machine;
use crate::machine::access::read_row_index;
use crate::plan::{PointChunk, StridedRun};

pub(super) fn copy<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    let plan = view.plan;
    let (input, output) = (plan.inputs[0], plan.output);
    let (from, to) = (plan.tensors[input].format, plan.tensors[output].format);
    let mut cells = Vec::with_capacity(plan.points_per_core as usize * M::cells_per_element(to));
    let mut values = Vec::new();
    plan.point_loop_nest().for_each_chunk(|piece| {
        let lane = StridedRun {
            offset: piece.lanes[input].offset + find_row_offset(view, input, &piece),
            ..piece.lanes[input]
        };
        if from == to {
            view.memory.copy(view.strided_elements(input, lane), lane.valid, &mut cells);
            // Elements beyond the end of the input are undefined; NaN is the worst case.
            cells.resize(cells.len() + (piece.length - lane.valid) * M::cells_per_element(to), view.memory.poison());
        } else {
            view.read_masked(input, &piece, lane, &mut values);
            view.memory.encode(to, &values, &mut cells);
        }
    });
    SliceValues::Cells(cells)
}

/// Returns the offset in elements, from the start of a table, of the row that its index tensor selects for a chunk.
pub(super) fn find_row_offset<M: ElementMemory>(view: CoreView<'_, M>, tensor: usize, piece: &PointChunk<'_>) -> i64 {
    let Some(indirect) = view.plan.tensors[tensor].indirect else { return 0 };
    let (index, machine): (usize, &Machine) = (indirect.index_tensor, view.memory.machine());
    let part = view.tensor_slice(index);
    read_row_index(machine.bytes(part.region), part.byte, piece.lanes[index]) * indirect.row_stride
}
