//! State of the compiler that is attached to an MLIR context and freed with it.
//!
//! No state of a compilation is global to the process: the context owns it, as it owns its dialects.

use super::{Context, Op};
use mlir_sys::{MlirContext, mlirOperationGetContext};
use std::sync::atomic::{AtomicU64, Ordering};

/// State of the compiler, `SpyreContextState` in C++.
#[repr(C)]
struct ContextState {
    context: MlirContext,
    num_bugs: AtomicU64,
    num_trials: AtomicU64,
}

unsafe extern "C" {
    fn spyreContextGetState(context: MlirContext) -> *const ContextState;
}

/// # Safety
/// The context is alive for as long as the result is used.
unsafe fn read_state<'c>(raw: MlirContext) -> &'c ContextState {
    // SAFETY: C++ keeps the state as long as the context lives, and its mutable fields are atomic.
    unsafe { &*spyreContextGetState(raw) }
}

fn context_state(op: Op<'_>) -> &ContextState {
    // SAFETY: the context of an operation outlives it.
    unsafe { read_state(mlirOperationGetContext(op.to_raw())) }
}

/// Returns the context by reference, as melior's builders need it. melior's `ContextRef::to_ref` would borrow a
/// temporary (melior 0.27.4), so the reference is read from the cell in which the context stores its own address.
pub(super) fn context_of<'c>(op: Op<'c>) -> &'c Context {
    let cell: *const MlirContext = &raw const context_state(op).context;
    // SAFETY: the cell lives as long as the context, which outlives every operation in it, and a melior context is this
    // pointer.
    unsafe { &*cell.cast::<Context>() }
}

const _: () = assert!(size_of::<Context>() == size_of::<MlirContext>());

/// Records that the error just reported for an operation is a compiler bug and not a user error: the tools exit with 2.
pub fn record_bug(op: Op<'_>) {
    context_state(op).num_bugs.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of bugs, panics included, that passes have found in modules of the operation's context.
#[must_use]
pub fn num_bugs(op: Op<'_>) -> u64 {
    context_state(op).num_bugs.load(Ordering::Relaxed)
}

/// Returns the number of bugs that passes have found in modules of a context.
pub(super) fn num_bugs_in_context(context: &Context) -> u64 {
    // SAFETY: the context is alive as long as it is borrowed.
    unsafe { read_state(context.to_raw()) }.num_bugs.load(Ordering::Relaxed)
}

/// Runs a closure as a trial compilation in the operation's context: its decisions do not affect the program.
pub(super) fn run_as_trial<T>(op: Op<'_>, try_it: impl FnOnce() -> T) -> T {
    /// Guard that ends a trial, also during a panic.
    struct TrialGuard<'c>(&'c AtomicU64);

    impl Drop for TrialGuard<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    let num_trials = &context_state(op).num_trials;
    num_trials.fetch_add(1, Ordering::Relaxed);
    let _end = TrialGuard(num_trials);
    try_it()
}

/// Returns whether the operation's context runs a trial compilation.
pub(super) fn is_trial(op: Op<'_>) -> bool {
    context_state(op).num_trials.load(Ordering::Relaxed) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mlir::Module, pipeline::create_session};

    #[test]
    fn keeps_state_per_context() {
        let (session, other) = (create_session(), create_session());
        let (module, of_other) =
            (Module::parse(&session, "module {}").unwrap(), Module::parse(&other, "module {}").unwrap());
        record_bug(module.op());
        assert_eq!([num_bugs(module.op()), num_bugs(of_other.op()), num_bugs_in_context(session.context())], [1, 0, 1]);
        assert_eq!(context_of(module.op()).to_raw().ptr, session.context().to_raw().ptr);
        assert!(run_as_trial(module.op(), || is_trial(module.op()) && !is_trial(of_other.op())));
        assert!(!is_trial(module.op()));
    }
}
