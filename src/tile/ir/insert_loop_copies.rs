//! `spyre-insert-loop-copies`: makes it legal for every loop to overwrite its carried values in place.
//!
//! Reads the loops of a function; writes `spyre.copy` ops. Loops have value semantics, but a carried value shares one
//! buffer with its start. Both agree unless an op that writes the buffer precedes a reader of the overwritten value. In
//! that case a copy introduces a second buffer. Loops that need no copy stay unchanged.

use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{
        ComputeOp, DeviceTensor, LoopCarriedValue, OperandAccess, YieldSlot, build_loop_copy,
        collect_users_through_views, loop_carried_values, strip_views, tile_type, tiled_dims, yield_slots,
    },
    mlir::{
        BlockLike, DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, Type, Value, ValueExt, ValueLike,
        derived_location, error_at, insert_before, integer,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-insert-loop-copies", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    insert_loop_copies(module);
    Ok(())
}

/// Inserts copies where a buffer would be overwritten before its last use. Passes that divide work run this first,
/// because copies are divided like all ops.
pub(crate) fn insert_loop_copies(module: Op<'_>) {
    module.body_ops().into_iter().filter(|op| op.is("func.func")).for_each(settle_block);
}

/// Rejects every loop that overwrites a value before its last use.
pub(crate) fn check_settled(module: Op<'_>) -> Result<(), ErrorReported> {
    let functions = module.body_ops().into_iter().filter(|op| op.is("func.func"));
    let reported =
        functions.flat_map(find_conflicts).map(|(at, message)| error_at(codes::LOOP_OVERWRITES, at, message).report());
    reported.last().map_or(Ok(()), Err)
}

/// Returns the loops that overwrite a value before its last use, with the overwritten value.
fn find_conflicts(around: Op<'_>) -> Vec<(Op<'_>, String)> {
    let loops: Vec<Op<'_>> = around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP)).collect();
    let starts = |&inner: &Op<'_>| {
        loop_carried_values(inner)
            .iter()
            .filter_map(|carried| find_start_conflict(around, inner, carried))
            .collect::<Vec<_>>()
    };
    let mut found: Vec<(Op<'_>, CarryConflict)> =
        loops.iter().flat_map(|inner| starts(inner).into_iter().map(|trouble| (*inner, trouble))).collect();
    // Yields are checked only if all starts are valid, so that a bad start is not reported twice.
    for yields in [find_aliased_yields, find_clobbered_yields] {
        if found.is_empty() {
            found = yields(around).into_iter().map(|trouble| (around, trouble)).collect();
        }
    }
    let text = |CarryConflict { site: place, position, why }: CarryConflict| {
        format!("overwrites {} {position} {why}; run spyre-insert-loop-copies first", place.name())
    };
    let here = found.into_iter().map(|(at, trouble)| (at, text(trouble)));
    here.chain(loops.iter().flat_map(|&inner| find_conflicts(inner))).collect()
}

/// Carried or yielded value of a loop that is not in its own buffer.
struct CarryConflict {
    site: ConflictSite,
    position: usize,
    why: &'static str,
}

#[derive(Clone, Copy)]
enum ConflictSite {
    Operand,
    CarriedValue,
}

impl ConflictSite {
    const fn name(self) -> &'static str {
        match self {
            Self::Operand => "operand",
            Self::CarriedValue => "carried value",
        }
    }
}

const NO_BUFFER_BEFORE_LOOP: &str = "which has no buffer of its own before the loop";
const START_READ_LATER: &str = "before its last use";
const NO_BUFFER_IN_BODY: &str = "which has no buffer of its own in the body";
const OVERWRITTEN_READ_LATER: &str = "before its last use";

/// Inserts the copies for the loops in the body of `around`, outer loops before inner ones.
pub(crate) fn settle_block(around: Op<'_>) {
    let loops: Vec<Op<'_>> = around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP)).collect();
    // A copy at the end can take the buffer of a loop in the body, which then needs its own start. No position gets
    // more than two copies.
    while copy_starts(around, &loops)
        | copy_yields(around, find_aliased_yields)
        | copy_yields(around, find_clobbered_yields)
    {}
    loops.into_iter().for_each(settle_block);
}

/// Copies the starts where necessary; returns whether any was copied.
fn copy_starts<'c>(around: Op<'c>, loops: &[Op<'c>]) -> bool {
    let mut is_any = false;
    for &inner in loops {
        for carried in loop_carried_values(inner) {
            if let Some(CarryConflict { position, why, .. }) = find_start_conflict(around, inner, &carried) {
                let own = build_loop_copy(
                    inner.ctx(),
                    derived_location(inner, DerivationKind::Clone, PASS.argument),
                    carried.before,
                    carried.before.r#type(),
                    why,
                );
                inner.set_input(position, insert_before(inner, own).output());
                is_any = true;
            }
        }
    }
    is_any
}

/// Copies the values that `troubles` finds; returns whether there were any. The copies are placed before the
/// terminator, in the order of the values.
fn copy_yields<'c>(around: Op<'c>, troubles: impl Fn(Op<'c>) -> Vec<CarryConflict>) -> bool {
    let found = troubles(around);
    let Some(terminator) = around.body_ops().pop() else { return false };
    for CarryConflict { position, why, .. } in &found {
        let value = terminator.inputs()[*position];
        let copied = build_loop_copy(
            around.ctx(),
            derived_location(terminator, DerivationKind::Clone, PASS.argument),
            value,
            yielded_type(around, terminator, *position),
            why,
        );
        terminator.set_input(*position, insert_before(terminator, copied).output());
    }
    !found.is_empty()
}

/// Returns the type of the value that a loop yields at a position: the window, for a result that it writes tile by
/// tile.
fn yielded_type<'c>(around: Op<'c>, terminator: Op<'c>, position: usize) -> Type<'c> {
    let left = terminator.inputs()[position].r#type();
    let result = around.outputs()[position].r#type();
    let Some(&dim) = tiled_dims(terminator).get(position) else { return left };
    let has_layout = DeviceTensor::from_type(result).is_some_and(|tensor| tensor.layout.is_some());
    let count = around.required_attr("count", integer);
    if has_layout { tile_type(result, dim, count).unwrap_or(left) } else { left }
}

//===----------------------------------------------------------------------===//
// Starts of carried values
//===----------------------------------------------------------------------===//

/// Returns why a loop in the body of `around` may not overwrite the start of a carried value; `None` if it may.
fn find_start_conflict<'c>(around: Op<'c>, inner: Op<'c>, carried: &LoopCarriedValue<'c>) -> Option<CarryConflict> {
    let (_, position) = carried.argument.as_block_arg()?;
    let trouble = |why| Some(CarryConflict { site: ConflictSite::Operand, position, why });
    if !is_owned_start(around, inner, carried) {
        return trouble(NO_BUFFER_BEFORE_LOOP);
    }
    let num_tiled = tiled_dims(inner).len();
    let uses: Vec<usize> =
        (0_usize..).zip(inner.inputs()).filter(|(_, input)| *input == carried.before).map(|(index, _)| index).collect();
    // If one loop has equal starts, all but the last are copied.
    let is_last = uses.iter().all(|&other| other == position || other >= num_tiled && other < position);
    let readers = collect_users_through_views(carried.before);
    let within = readers.iter().filter(|&&reader| reader == inner).count() - uses.len();
    let is_later = |reader: &&Op<'c>| {
        **reader != inner && find_ancestor_in(**reader, around).is_none_or(|at| !at.is_before(inner))
    };
    if is_last && within == 0 && !readers.iter().any(|reader| is_later(&reader)) {
        None
    } else {
        trouble(START_READ_LATER)
    }
}

/// Returns whether the start of a loop in the body of `around` is the result of an op there, or of a loop that carries
/// it; or the value that `around` carries in the position in which it yields the loop's result.
fn is_owned_start<'c>(around: Op<'c>, inner: Op<'c>, carried: &LoopCarriedValue<'c>) -> bool {
    match carried.before.def() {
        Some(def) => {
            let is_carried = || loop_carried_values(def).into_iter().any(|before| before.result == carried.before);
            def.parent() == inner.parent() && (writes_own_buffer(def) || def.is(spyre::LOOP) && is_carried())
        }
        None => yield_slots(around).iter().any(|slot| {
            let made = CarriedDefChain::trace(around, slot.left);
            slot.found.contains(&carried.before)
                && made.origin == BufferOrigin::Argument(carried.before)
                && made.loops.contains(&inner)
        }),
    }
}

/// Returns whether an op writes a buffer of its own.
fn writes_own_buffer(op: Op<'_>) -> bool {
    ComputeOp::from_op(op).is_some_and(|compute| !compute.is_insert())
}

/// Returns the op in the body of `around` that is `op` or contains it.
fn find_ancestor_in<'c>(op: Op<'c>, around: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(Some(op), |op| op.parent()).find(|op| op.parent() == Some(around))
}

//===----------------------------------------------------------------------===//
// Values that an iteration yields
//===----------------------------------------------------------------------===//

/// Definition of a value that a body yields: the origin of its buffer, and the loops that overwrite the buffer, last
/// to first.
struct CarriedDefChain<'c> {
    origin: BufferOrigin<'c>,
    loops: Vec<Op<'c>>,
}

/// Origin of a buffer in a loop body.
#[derive(Clone, Copy, PartialEq)]
enum BufferOrigin<'c> {
    /// Value that an op of the body writes, or that a loop in the body writes tile by tile.
    Written(Value<'c>),
    /// Argument of the body.
    Argument(Value<'c>),
    /// Value from elsewhere, or with other indices.
    Foreign,
}

impl<'c> CarriedDefChain<'c> {
    fn trace(around: Op<'c>, left: Value<'c>) -> Self {
        let (mut value, mut loops) = (left, Vec::new());
        loop {
            let begins_with = match value.def() {
                None if value.as_block_arg().is_some_and(|(block, _)| block.parent_operation() == Some(around)) => {
                    BufferOrigin::Argument(value)
                }
                Some(def) if def.parent() == Some(around) && def.is(spyre::LOOP) => {
                    match loop_carried_values(def).into_iter().find(|carried| carried.result == value) {
                        Some(carried) => {
                            loops.push(def);
                            value = carried.before;
                            continue;
                        }
                        None => BufferOrigin::Written(value),
                    }
                }
                Some(def) if def.parent() == Some(around) && writes_own_buffer(def) => BufferOrigin::Written(value),
                _ => BufferOrigin::Foreign,
            };
            return Self { origin: begins_with, loops };
        }
    }

    /// Returns the op of the body that first overwrites the previous value of the buffer; `None` if there is none.
    fn first_writer(&self) -> Option<Op<'c>> {
        match self.origin {
            BufferOrigin::Written(value) => value.def(),
            BufferOrigin::Argument(_) | BufferOrigin::Foreign => self.loops.last().copied(),
        }
    }
}

/// Finds yielded values that are not computed in the buffer in which they are yielded: their buffer is another one, or
/// they are yielded in two positions.
fn find_aliased_yields(around: Op<'_>) -> Vec<CarryConflict> {
    let slots = yield_slots(around);
    let Some(terminator) = around.body_ops().pop() else { return Vec::new() };
    let is_own = |slot: &YieldSlot<'_>| {
        let is_there = match CarriedDefChain::trace(around, slot.left).origin {
            // A buffer that a loop writes tile by tile is no carried buffer: only single ops write into that one.
            BufferOrigin::Written(value) => {
                !slot.is_carried || !is_written_by_loop(value) || overwrites_read_tiles(slot, value)
            }
            BufferOrigin::Argument(found) => slot.found.contains(&found),
            BufferOrigin::Foreign => false,
        };
        is_there && slot.left.r#type() == yielded_type(around, terminator, slot.position)
    };
    let own: Vec<bool> = slots.iter().map(is_own).collect();
    let is_shared = |(number, slot): (usize, &YieldSlot<'_>)| {
        let is_taken = (0..number).any(|other| own[other] && slots[other].left == slot.left);
        let trouble =
            CarryConflict { site: ConflictSite::CarriedValue, position: slot.position, why: NO_BUFFER_IN_BODY };
        (!own[number] || is_taken).then_some(trouble)
    };
    slots.iter().enumerate().filter_map(is_shared).collect()
}

/// Finds yielded values that overwrite a value before its last use.
fn find_clobbered_yields(around: Op<'_>) -> Vec<CarryConflict> {
    let slots = yield_slots(around);
    let is_late = |slot: &&YieldSlot<'_>| {
        let made = CarriedDefChain::trace(around, slot.left);
        let Some(writer) = made.first_writer() else { return false };
        let is_read_late = |found: Value<'_>| {
            let mut readers = collect_users_through_views(found)
                .into_iter()
                .filter_map(|reader| Some((reader, find_ancestor_in(reader, around)?)));
            readers.any(|(_, at)| !(at.is_before(writer) || at == writer))
                || !reads_in_place(around, writer, found, &made)
        };
        // A loop that starts from the found value was checked together with its start.
        slot.found.iter().any(|&found| made.origin != BufferOrigin::Argument(found) && is_read_late(found))
    };
    slots
        .iter()
        .filter(is_late)
        .map(|slot| CarryConflict {
            site: ConflictSite::CarriedValue,
            position: slot.position,
            why: OVERWRITTEN_READ_LATER,
        })
        .collect()
}

/// Returns whether the first op that overwrites `found` reads each of its elements only to compute the element in its
/// place, if it reads them at all.
fn reads_in_place<'c>(around: Op<'c>, writer: Op<'c>, found: Value<'c>, made: &CarriedDefChain<'c>) -> bool {
    if !collect_users_through_views(found).into_iter().any(|reader| find_ancestor_in(reader, around) == Some(writer)) {
        return true;
    }
    let BufferOrigin::Written(value) = made.origin else { return false };
    if writer.is(spyre::LOOP) {
        return reads_tiles_in_place(writer, found, value);
    }
    let (Some(compute), spyre::POINTWISE | spyre::COPY) = (ComputeOp::from_op(writer), writer.full_name()) else {
        return false;
    };
    let Ok(accesses) = compute.accesses() else { return false };
    let Some((result, reads)) = accesses.split_last() else { return false };
    let is_alike = |read: &OperandAccess<'c>| {
        (&read.dims, &read.offsets, &read.tensor.layout, &read.tensor.buffer_shape)
            == (&result.dims, &result.offsets, &result.tensor.layout, &result.tensor.buffer_shape)
    };
    reads.iter().filter(|read| strip_views(read.operand) == found).all(|read| read.value == found && is_alike(read))
}

fn is_written_by_loop(written: Value<'_>) -> bool {
    written.def().is_some_and(|def| def.is(spyre::LOOP))
}

/// Returns whether the loop that computes a value tile by tile reads the tiles of the value that it replaces in the
/// buffer.
fn overwrites_read_tiles(slot: &YieldSlot<'_>, written: Value<'_>) -> bool {
    let Some(writer) = written.def() else { return false };
    slot.found.iter().any(|found| writer.inputs().contains(found) && reads_tiles_in_place(writer, *found, written))
}

/// Returns whether a loop that writes `given` tile by tile reads `found` only as the tiles at the same positions. The
/// uses of a tile inside an iteration are checked separately.
fn reads_tiles_in_place<'c>(writer: Op<'c>, found: Value<'c>, given: Value<'c>) -> bool {
    let (Some(terminator), Some(position)) =
        (writer.body_ops().pop(), writer.outputs().iter().position(|output| *output == given))
    else {
        return false;
    };
    let (given_dims, read_dims) = (tiled_dims(terminator), tiled_dims(writer));
    let is_in_place =
        |(at, input): &(usize, Value<'c>)| *input == found && read_dims.get(*at) == given_dims.get(position);
    let in_place = writer.inputs().into_iter().enumerate().filter(is_in_place).count();
    let is_within = |reader: &Op<'c>| std::iter::successors(Some(*reader), |op| op.parent()).any(|op| op == writer);
    collect_users_through_views(found).iter().filter(|reader| is_within(reader)).count() == in_place
}
