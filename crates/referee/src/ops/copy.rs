//! Data movement: identity, restickify, gather, scatter and changes of the number format.
//!
//! Without a change of format the elements move as they are, so that integers and NaN survive.

use super::{CoreView, Memory, Values};
use crate::machine::Machine;
use crate::machine::access::row_of;
use crate::plan::{Lane, Piece};

pub(super) fn copy<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    let plan = view.plan;
    let (input, output) = (plan.inputs[0], plan.output);
    let (from, to) = (plan.tensors[input].format, plan.tensors[output].format);
    let mut cells = Vec::with_capacity(plan.points as usize * M::cells(to));
    let mut values = Vec::new();
    plan.points_walk().each(|piece| {
        let lane = Lane { offset: piece.lanes[input].offset + row_offset(view, input, &piece), ..piece.lanes[input] };
        if from == to {
            view.memory.copy(view.elements(input, lane), lane.valid, &mut cells);
            // Elements beyond the end of the input are undefined; NaN is the worst case.
            cells.resize(cells.len() + (piece.length - lane.valid) * M::cells(to), view.memory.poison());
        } else {
            view.read_masked(input, &piece, lane, &mut values);
            view.memory.encode(to, &values, &mut cells);
        }
    });
    Values::Cells(cells)
}

/// Returns the element offset, from a table's start, of the row that its index tensor selects at a piece.
pub(super) fn row_offset<M: Memory>(view: CoreView<'_, M>, tensor: usize, piece: &Piece<'_>) -> i64 {
    let Some(indirect) = view.plan.tensors[tensor].indirect else { return 0 };
    let (index, machine): (usize, &Machine) = (indirect.index, view.memory.machine());
    let part = view.part(index);
    row_of(machine.bytes(part.region), part.byte, piece.lanes[index]) * indirect.row
}
