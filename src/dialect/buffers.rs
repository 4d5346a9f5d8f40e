//! Buffers that are written slice by slice, and the rule that no op may read a partially written buffer.

use super::base_buffer::{base_buffer_of, insert_destination, is_in_place, is_insert, tiled_outputs};
use crate::dialect::{
    ComputeOp,
    ods::{attr, spyre},
};
use crate::mlir::{Op, OpExt, OperationLike, Value, ValueExt, integers, shape_of};
use machine::Family;

/// Illegal use of a buffer that is written slice by slice: the user op would read a partially written buffer.
pub struct PartialBufferViolation<'c> {
    /// Op that defines the buffer or writes a slice of it.
    pub op: Op<'c>,
    /// Text of the diagnostic, without the name of the op.
    pub message: &'static str,
    /// Other users of the buffer, one entry per use.
    pub users: Vec<Op<'c>>,
}

const READS_UNINITIALIZED: &str =
    "is uninitialized memory, which only a 'spyre.insert' may use, as the tensor to write into";
const WRITES_NO_BUFFER: &str = "writes into a tensor that is not the result of 'spyre.empty' or 'spyre.insert'";
const NOT_COMPUTED_IN_PLACE: &str = "requires for 'in_place' a part that only this insert uses and that one op (not a gather) computes, directly \
                              or tile by tile in loops of constant trip count; remove 'in_place'";
const OVERLAPS_IN_PLACE: &str = "writes a part in place that overlaps another part of the buffer; remove 'in_place'";
const TOO_MANY_SLICES: &str = "writes a part in place into a buffer of more than 256 parts; remove 'in_place'";
const READS_PARTIALLY_WRITTEN: &str =
    "writes into a buffer that is also used elsewhere, by ops that would read it partially written";

/// Maximum number of slices of a buffer whose slices are computed in place: each slice is compared with all others.
pub const MAX_IN_PLACE_SLICES: usize = 256;

/// Slice of a buffer that one insert writes.
pub struct BufferSlice<'c> {
    /// Insert that writes the slice.
    pub insert: Op<'c>,
    /// Start of the slice in the buffer.
    pub offsets: Vec<i64>,
    /// Sizes of the slice.
    pub sizes: Vec<i64>,
}

impl<'c> BufferSlice<'c> {
    fn from_insert(insert: Op<'c>) -> Self {
        let offsets = insert.attr(attr::OFFSETS).and_then(integers).unwrap_or_default();
        Self { insert, offsets, sizes: shape_of(insert.inputs()[0]) }
    }

    /// Returns whether two slices of one buffer overlap.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let ends = |part: &Self, dim: usize| part.offsets[dim] + part.sizes[dim];
        (0..self.offsets.len()).all(|dim| self.offsets[dim] < ends(other, dim) && other.offsets[dim] < ends(self, dim))
    }
}

/// Returns the slices that are written into a buffer, in order.
#[must_use]
pub fn buffer_slices(buffer: Value<'_>) -> Vec<BufferSlice<'_>> {
    let mut parts = Vec::new();
    let mut last = next_insert(buffer);
    while let Some(insert) = last {
        parts.push(BufferSlice::from_insert(insert));
        last = next_insert(insert.output());
    }
    parts
}

/// Chain of inserts that assembles a value from slices. No op computes between the inserts, so all of them can be moved
/// to the last one.
pub struct InsertChain<'c> {
    /// Buffer of the value.
    pub buffer: Op<'c>,
    /// Inserts that write the slices, in order.
    pub inserts: Vec<Op<'c>>,
}

impl<'c> InsertChain<'c> {
    /// Returns the chain that ends with the insert `last`. Returns `None` if a later insert writes more slices, if
    /// other ops are between the inserts, or if a slice is computed in place.
    #[must_use]
    pub fn from_last_insert(last: Op<'c>) -> Option<Self> {
        if !last.is(spyre::INSERT) || next_insert(last.output()).is_some() {
            return None;
        }
        let mut inserts = vec![last];
        let mut first = last;
        let buffer = loop {
            if is_in_place(first) || first.attr(attr::SPYRE_SYMBOLIC).is_some() || inserts.len() > MAX_IN_PLACE_SLICES {
                return None;
            }
            let before = insert_destination(first).def().filter(|before| before.parent() == last.parent())?;
            if before.is(spyre::EMPTY) {
                break before;
            }
            if !before.is(spyre::INSERT) || !is_directly_followed_by(before, first) {
                return None;
            }
            inserts.push(before);
            first = before;
        };
        inserts.reverse();
        Some(Self { buffer, inserts })
    }

    /// Returns the insert that writes the last slice.
    ///
    /// # Panics
    /// Never: a chain has at least one insert.
    #[must_use]
    pub fn last_insert(&self) -> Op<'c> {
        *self.inserts.last().expect("an assembly has an insert")
    }

    /// Returns the buffer and all inserts but the last one, in order. They precede the last insert and move with it.
    #[must_use]
    pub fn preceding_ops(&self) -> Vec<Op<'c>> {
        let inserts = self.inserts.split_last().map_or(&[][..], |(_, others)| others);
        std::iter::once(self.buffer).chain(inserts.iter().copied()).collect()
    }

    /// Returns, for each dimension of the buffer, whether every slice spans it. Along the other dimensions the slices
    /// are adjacent.
    #[must_use]
    pub fn spanned_dims(&self) -> Vec<bool> {
        let sizes = shape_of(self.buffer.output());
        let parts: Vec<BufferSlice<'_>> = self.inserts.iter().map(|insert| BufferSlice::from_insert(*insert)).collect();
        (0..sizes.len()).map(|dim| parts.iter().all(|part| part.sizes[dim] == sizes[dim])).collect()
    }
}

/// Returns whether an insert is in the same loop as the definition of its buffer. In an inner loop, the slice would
/// have to move with that loop.
#[must_use]
pub fn is_in_loop_of_buffer(insert: Op<'_>) -> bool {
    match base_buffer_of(insert.output()).def() {
        Some(buffer) => buffer.parent() == insert.parent(),
        None => insert.parent().is_some_and(|around| around.is("func.func")),
    }
}

/// Returns whether only views and constants are between two ops of a block.
fn is_directly_followed_by<'c>(first: Op<'c>, second: Op<'c>) -> bool {
    let is_idle = |op: &Op<'c>| op.is(spyre::VIEW) || op.is(spyre::CONSTANT) || op.is(spyre::EMPTY);
    std::iter::successors(first.next_in_block(), |op| op.next_in_block()).find(|op| !is_idle(op)) == Some(second)
}

/// Returns the next insert that writes a slice of a buffer.
fn next_insert<'c>(buffer: Value<'c>) -> Option<Op<'c>> {
    buffer.find_user(|user| (is_insert(user) && insert_destination(user) == buffer).then_some(user))
}

/// Returns all violations in an op. The rules span several ops, so no op verifier checks them.
#[must_use]
pub fn find_partial_buffer_violations(around: Op<'_>) -> Vec<PartialBufferViolation<'_>> {
    around.nested().into_iter().filter_map(find_violation).collect()
}

fn find_violation(op: Op<'_>) -> Option<PartialBufferViolation<'_>> {
    if op.is(spyre::EMPTY) {
        let users: Vec<Op<'_>> =
            op.output().users().into_iter().filter(|user| !writes_into(*user, op.output())).collect();
        return if users.is_empty() {
            find_illegal_in_place_slice(op)
        } else {
            Some(PartialBufferViolation { op, message: READS_UNINITIALIZED, users })
        };
    }
    if !is_insert(op) {
        return None;
    }
    let whole = insert_destination(op);
    if !whole.def().is_some_and(|def| def.is(spyre::EMPTY) || is_insert(def)) {
        return Some(PartialBufferViolation { op, message: WRITES_NO_BUFFER, users: Vec::new() });
    }
    let mut users = whole.users();
    // One of the uses is the write into the buffer.
    if let Some(own) = users.iter().position(|user| *user == op) {
        users.remove(own);
    }
    (!users.is_empty()).then_some(PartialBufferViolation { op, message: READS_PARTIALLY_WRITTEN, users })
}

/// Returns whether an op writes a slice of a buffer and does not use it otherwise.
fn writes_into<'c>(op: Op<'c>, buffer: Value<'c>) -> bool {
    is_insert(op) && insert_destination(op) == buffer && op.inputs()[0] != buffer
}

/// Returns the first illegal in-place slice of the buffer, with the rule that it breaks; `None` if there is none.
fn find_illegal_in_place_slice(buffer: Op<'_>) -> Option<PartialBufferViolation<'_>> {
    let parts = buffer_slices(buffer.output());
    let wrong = |number: usize, part: &BufferSlice<'_>| {
        if parts.len() > MAX_IN_PLACE_SLICES {
            return Some(TOO_MANY_SLICES);
        }
        if trace_single_use_producer(part.insert.inputs()[0]).is_none() {
            return Some(NOT_COMPUTED_IN_PLACE);
        }
        if is_disjoint_slice(&parts, number) { None } else { Some(OVERLAPS_IN_PLACE) }
    };
    let placed = parts.iter().enumerate().filter(|(_, part)| is_in_place(part.insert));
    let mut found = placed.filter_map(|(number, part)| {
        Some(PartialBufferViolation { op: part.insert, message: wrong(number, part)?, users: Vec::new() })
    });
    found.next()
}

/// Returns whether a slice overlaps no other one.
#[must_use]
pub fn is_disjoint_slice(parts: &[BufferSlice<'_>], number: usize) -> bool {
    parts.iter().enumerate().all(|(other, of)| other == number || !of.overlaps(&parts[number]))
}

/// Returns the single-use values from a slice back to the result of the op that computes it: the results of loops, each
/// with its tiled dimension, and finally the op's result. Returns `None` for a gather, which writes its own buffer.
/// Also returns `None` for a loop with a symbolic trip count, since no op writes the remainder of its result.
#[must_use]
pub fn trace_single_use_producer(part: Value<'_>) -> Option<Vec<(Value<'_>, Option<usize>)>> {
    let (mut value, mut made) = (part, Vec::new());
    loop {
        let def = value.def().filter(|_| value.users().len() == 1)?;
        if !def.is(spyre::LOOP) {
            made.push((value, None));
            let writes_there = |compute: &ComputeOp<'_>| !compute.is_insert() && compute.family() != Family::Gather;
            return ComputeOp::from_op(def).filter(writes_there).map(|_| made);
        }
        if def.attr(attr::SYMBOL).is_some() {
            return None;
        }
        let given = tiled_outputs(def).into_iter().find(|given| given.whole == value)?;
        made.push((value, Some(given.dim)));
        value = given.tile;
    }
}
