//! `spyre-write-in-place`: makes ops write their results directly into the buffer of an insert.
//!
//! Reads inserts and the producers of their slices; writes `in_place` on an insert, and window types on the producers.
//! An op whose slice has no other uses writes it directly into the buffer, without a copy: on its own, or in loops that
//! compute the slice tile by tile.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{
        BufferSlice, DeviceTensor, MAX_IN_PLACE_SLICES, buffer_slices, is_disjoint_slice, is_in_loop_of_buffer,
        tile_type, trace_single_use_producer,
    },
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, Type, Value, ValueExt, ValueLike, integer, unit_attribute},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-write-in-place", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    module.body_ops().into_iter().filter(|op| op.is("func.func")).for_each(write_in_place);
    Ok(())
}

/// Marks the inserts of a function whose slices can be computed in place.
pub(crate) fn write_in_place(function: Op<'_>) {
    let inserts = function.nested().into_iter().filter(|op| op.is(spyre::INSERT));
    // If only a segment of a program is compiled, the buffer may come from elsewhere.
    let is_unwritten = |buffer: &Value<'_>| buffer.def().is_none_or(|def| !def.is(spyre::INSERT));
    for buffer in inserts.map(|insert| insert.inputs()[1]).filter(is_unwritten) {
        let parts = buffer_slices(buffer);
        // Each slice is compared with all others.
        if parts.len() > MAX_IN_PLACE_SLICES {
            continue;
        }
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| is_in_loop_of_buffer(part.insert)) {
            let made = compute_window_type(part)
                .filter(|_| is_disjoint_slice(&parts, number))
                .and_then(|window| trace_window_types(part.insert.inputs()[0], window));
            let Some(made) = made else { continue };
            made.into_iter().for_each(|(value, window)| value.retype(window));
            part.insert.set_attr(attr::IN_PLACE, unit_attribute(function.ctx()));
        }
    }
}

/// Returns the type of a slice as a window of its buffer, if it has the layout of the buffer, and begins and ends with
/// complete sticks.
fn compute_window_type<'c>(part: &BufferSlice<'c>) -> Option<Type<'c>> {
    let (own, whole) = (
        DeviceTensor::from_type(part.insert.inputs()[0].r#type())?,
        DeviceTensor::from_type(part.insert.output().r#type())?,
    );
    let (layout, host) = (whole.layout.as_ref().filter(|_| whole.buffer_shape.is_none())?, whole.buffer_tensor().ok()?);
    let is_alike = own.buffer_shape.is_none() && own.layout == layout.to_tile_layout(&host, &own.host.shape).ok();
    let begins_with_stick =
        part.offsets.iter().enumerate().all(|(dim, &offset)| layout.compute_window_offset(&host, dim, offset).is_ok());
    // Sizes that are known only at launch are supported for complete buffers only.
    let is_sized = part.insert.attr(attr::SPYRE_SYMBOLIC).is_none();
    let is_window = is_alike && begins_with_stick && is_sized && own.host.shape != whole.host.shape;
    is_window.then(|| own.with_layout(part.insert.ctx(), layout, Some(&whole.host.shape)))
}

/// Returns the chain of values from the inserted slice to the result of the op that computes it, each with its type as
/// a window. `None` if the slice cannot be computed in place: it has other uses, or a loop carries it.
fn trace_window_types<'c>(part: Value<'c>, mut window: Type<'c>) -> Option<Vec<(Value<'c>, Type<'c>)>> {
    let mut typed = Vec::new();
    for (value, dim) in trace_single_use_producer(part)? {
        typed.push((value, window));
        if let Some(dim) = dim {
            window = tile_type(window, dim, value.def()?.required_attr("count", integer))?;
        }
    }
    Some(typed)
}
