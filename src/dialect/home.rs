//! Which buffer a value is, or is a window of, and how the window moves with the loops around it.

use super::attrs::Tensor;
use crate::mlir::{BlockLike, Op, OpExt, Value, ValueExt, ValueLike, integers};

/// One loop that a window moves with.
#[derive(Clone, Copy)]
pub struct Move<'c> {
    /// The loop.
    pub around: Op<'c>,
    /// The dimension of the buffer along which it moves.
    pub dim: usize,
    /// Elements per iteration.
    pub elements: i64,
}

/// The buffer behind a value.
#[derive(Clone)]
pub struct Home<'c> {
    /// The value that names the buffer: an argument of the function, the result of an op or a loop that nobody yields, or the
    /// `spyre.empty` of a buffer that is written in parts.
    pub buffer: Value<'c>,
    /// How the value, as a window of the buffer, moves.
    pub moves: Vec<Move<'c>>,
}

/// The buffer behind `value`: through views, inserts, tiles that loops read, and results that loops write tile by tile.
#[must_use]
pub fn home_of(value: Value<'_>) -> Home<'_> {
    let mut home = Home { buffer: value, moves: Vec::new() };
    while let Some((next, moved)) = step(home.buffer) {
        home.buffer = next;
        home.moves.extend(moved);
    }
    home
}

/// The value that this one shows, adds a part to, or is a tile of.
fn step(value: Value<'_>) -> Option<(Value<'_>, Option<Move<'_>>)> {
    if let Some(def) = value.def() {
        if def.is("spyre.view") {
            return Some((def.inputs()[0], None));
        }
        if is_insert(def) {
            return Some((whole_of(def), None));
        }
        let terminator = value.users().into_iter().find(|user| user.is("spyre.yield") && user.parent() == def.parent())?;
        let around = terminator.parent().filter(|around| around.is("spyre.loop"))?;
        let index = terminator.inputs().iter().position(|yielded| *yielded == value)?;
        return Some((around.outputs()[index], Some(moved(around, terminator, index, value)?)));
    }
    let (block, index) = value.arg_of()?;
    let around = block.parent_operation().filter(|around| around.is("spyre.loop"))?;
    Some((around.inputs()[index], Some(moved(around, around, index, value)?)))
}

/// How the tile `value` moves with `around`; `tiled` is the op that says along which dimension.
fn moved<'c>(around: Op<'c>, tiled: Op<'c>, index: usize, value: Value<'c>) -> Option<Move<'c>> {
    let dims = tiled.attr("tiled_dims").and_then(integers)?;
    let dim = usize::try_from(*dims.get(index)?).ok()?;
    let elements = *Tensor::of(value.r#type())?.host.shape.get(dim)?;
    Some(Move { around, dim, elements })
}

/// Whether an op writes a part of a buffer.
pub(super) fn is_insert(op: Op<'_>) -> bool {
    op.is("spyre.insert")
}

/// The buffer that an insert writes a part of.
fn whole_of(insert: Op<'_>) -> Value<'_> {
    insert.inputs()[1]
}

/// The ops that use a value, a view of it, or the same buffer once more parts of it are written.
#[must_use]
pub fn users_behind_views(value: Value<'_>) -> Vec<Op<'_>> {
    let mut found = Vec::new();
    // A buffer may have very many parts, so this is no recursion.
    let mut shown = vec![value];
    while let Some(value) = shown.pop() {
        for user in value.users() {
            if user.is("spyre.view") || is_insert(user) && whole_of(user) == value {
                shown.push(user.output());
            } else {
                found.push(user);
            }
        }
    }
    found
}

/// The op whose `place` says where a buffer lives: the op that writes it, or the `spyre.empty` of one that several ops write; none for an
/// argument of the function.
#[must_use]
pub fn owner_of(buffer: Value<'_>) -> Option<Op<'_>> {
    let mut value = buffer;
    loop {
        let def = value.def()?;
        if !def.is("spyre.loop") {
            return Some(def);
        }
        let index = def.outputs().iter().position(|result| *result == value)?;
        value = *def.body_ops().last()?.inputs().get(index)?;
    }
}
