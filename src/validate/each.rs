//! Validation after every pass: `spyre-opt --spyre-validate-each`.

use super::Snapshot;
use crate::mlir::{Op, error_at, note_bug, remark_at};
use std::sync::{Mutex, PoisonError};

/// What a pipeline is about to do, or has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'c> {
    /// A pipeline begins on a new module.
    Begin,
    /// A pass is about to run on an operation.
    Before(Op<'c>),
    /// A pass has run on it.
    After(Op<'c>),
}

/// What the functions compute as far as is known.
static KNOWN: Mutex<Option<Snapshot>> = Mutex::new(None);

/// Compares what functions compute before and after a pass. False if the pass has changed it, which has been reported. A pass whose input or
/// output is no tensor program of `spyre` ops cannot be judged; a remark says so.
pub fn observe(pass: &str, event: Event<'_>) -> bool {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        Event::Begin => *known = None,
        Event::Before(op) if known.is_none() => *known = Snapshot::of(op).ok(),
        Event::Before(_) => {}
        Event::After(op) => return judge(pass, op, &mut known),
    }
    true
}

fn judge(pass: &str, op: Op<'_>, known: &mut Option<Snapshot>) -> bool {
    let after = match Snapshot::of(op) {
        Ok(after) => after,
        Err(reason) => {
            remark_at(op, format_args!("is not validated after pass '{pass}': {reason}")).emit();
            *known = None;
            return true;
        }
    };
    let Some(before) = known else {
        remark_at(op, format_args!("is not validated by pass '{pass}': what it computed before is not known")).emit();
        *known = Some(after);
        return true;
    };
    let difference = before.difference(&after);
    // What comes behind is not to blame for this pass.
    before.take(after);
    let Some((function, difference)) = difference else { return true };
    note_bug();
    let _ = error_at(op, format_args!("computes something else after pass '{pass}', which is a bug of ours: '{function}': {difference}")).report();
    false
}
