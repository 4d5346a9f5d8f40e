//! Buffers that are written in parts, and who uses them: nobody may see one that is half written.

use super::home::{is_insert, whole_of};
use crate::dialect::ods::spyre;
use crate::mlir::{Op, OpExt, Value, ValueExt};

/// A use of a buffer that is written in parts, by who would not see it whole.
pub struct Misuse<'c> {
    /// The op that makes the buffer, or writes a part of it.
    pub op: Op<'c>,
    /// What is wrong with it.
    pub message: &'static str,
    /// The ops that use the buffer beside it, each as often as it does.
    pub users: Vec<Op<'c>>,
}

const UNWRITTEN: &str = "is memory that nothing has written, so only a 'spyre.insert' can use it, as the tensor to write into";
const NO_BUFFER: &str = "writes into a tensor that no 'spyre.empty' and no 'spyre.insert' has made";
const HALF_WRITTEN: &str = "writes into a buffer that is also used elsewhere, by ops that would see it half written";

/// All misuses in an op. These are no rules of a single op, so its verifier does not look for them.
#[must_use]
pub fn misused_buffers(around: Op<'_>) -> Vec<Misuse<'_>> {
    around.nested().into_iter().filter_map(misuse_of).collect()
}

fn misuse_of(op: Op<'_>) -> Option<Misuse<'_>> {
    if op.is(spyre::EMPTY) {
        let users: Vec<Op<'_>> = op.output().users().into_iter().filter(|user| !writes_into(*user, op.output())).collect();
        return (!users.is_empty()).then_some(Misuse { op, message: UNWRITTEN, users });
    }
    if !is_insert(op) {
        return None;
    }
    let whole = whole_of(op);
    if !whole.def().is_some_and(|def| def.is(spyre::EMPTY) || is_insert(def)) {
        return Some(Misuse { op, message: NO_BUFFER, users: Vec::new() });
    }
    let mut users = whole.users();
    // One of the uses is to write into it.
    if let Some(own) = users.iter().position(|user| *user == op) {
        users.remove(own);
    }
    (!users.is_empty()).then_some(Misuse { op, message: HALF_WRITTEN, users })
}

/// Whether an op writes a part of a buffer and does nothing else with it.
fn writes_into<'c>(op: Op<'c>, buffer: Value<'c>) -> bool {
    is_insert(op) && whole_of(op) == buffer && op.inputs()[0] != buffer
}
