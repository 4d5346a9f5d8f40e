//! Data movement: identity, restickify, gather, scatter and changes of the number format.
//!
//! Without a change of format the bits move as they are, so that integers and NaN survive.

use super::{CoreView, Values};
use crate::sim::access::row_of;
use crate::sim::number::{POISON, encode_run, width};
use crate::sim::plan::{Lane, Piece};

pub(super) fn copy(view: CoreView<'_>) -> Values {
    let plan = view.plan;
    let (input, output) = (plan.inputs[0], plan.output);
    let (from, to) = (plan.tensors[input].format, plan.tensors[output].format);
    let mut bits = Vec::with_capacity(plan.points as usize * width(to));
    let mut values = Vec::new();
    plan.points_walk().each(|piece| {
        let lane = Lane { offset: piece.lanes[input].offset + row_offset(view, input, &piece), ..piece.lanes[input] };
        if from == to {
            copy_bits(view.bytes(input), view.byte(input, lane.offset), lane, width(from), piece.length, &mut bits);
        } else {
            values.resize(piece.length, 0.0);
            view.read_masked(input, &piece, lane, &mut values);
            encode_run(to, &values, &mut bits);
        }
    });
    Values::Bits(bits)
}

/// The elements from a table's start to the row that its index tensor names at a piece.
pub(super) fn row_offset(view: CoreView<'_>, tensor: usize, piece: &Piece<'_>) -> i64 {
    let Some(indirect) = view.plan.tensors[tensor].indirect else { return 0 };
    let index = indirect.index;
    row_of(view.bytes(index), view.part(index).byte, piece.lanes[index]) * indirect.row
}

fn copy_bits(bytes: &[u8], start: usize, lane: Lane, width: usize, length: usize, out: &mut Vec<u8>) {
    if lane.stride == 1 {
        out.extend_from_slice(&bytes[start..start + lane.valid * width]);
    } else {
        let step = lane.stride as isize * width as isize;
        let at = |index: usize| start.wrapping_add_signed(step * index as isize);
        (0..lane.valid).for_each(|index| out.extend_from_slice(&bytes[at(index)..at(index) + width]));
    }
    // What lies beyond the end of the input is anything; NaN is the worst of it.
    out.resize(out.len() + (length - lane.valid) * width, POISON);
}
