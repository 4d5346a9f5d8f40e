//! What was decided, for MLIR's remark engine.

use super::{Location, Op, OpExt, text::string_ref};
use mlir_sys::{MlirContext, MlirLocation, MlirOperation, MlirStringRef};
use std::cell::Cell;

unsafe extern "C" {
    fn spyreWantsRemarks(context: MlirContext) -> bool;
    fn spyreRemark(
        function: MlirOperation,
        location: MlirLocation,
        kind: i32,
        category: MlirStringRef,
        name: MlirStringRef,
        message: MlirStringRef,
    );
}

/// What came of a wish to make something faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It was done.
    Passed = 0,
    /// It was not, for a reason.
    Missed = 1,
    /// Neither: a number.
    Analysis = 2,
}

thread_local! {
    /// How many compilations of this thread are only tried.
    static TRIALS: Cell<usize> = const { Cell::new(0) };
}

/// Does something whose decisions are none of the program's.
pub(super) fn without_remarks<T>(try_it: impl FnOnce() -> T) -> T {
    TRIALS.set(TRIALS.get() + 1);
    let done = try_it();
    TRIALS.set(TRIALS.get() - 1);
    done
}

/// Whether anybody asked for remarks.
#[must_use]
pub fn wants_remarks(op: Op<'_>) -> bool {
    // SAFETY: the operation is alive, and so is its context.
    TRIALS.get() == 0 && unsafe { spyreWantsRemarks(op.ctx().to_raw()) }
}

/// Tells the engine what was decided in a function at a place. Categories are what a filter names.
pub fn remark(function: Op<'_>, location: Location<'_>, kind: Remark, [category, name]: [&str; 2], message: &str) {
    // SAFETY: operation and location are alive; C++ copies the texts before it returns.
    unsafe {
        spyreRemark(function.to_raw(), location.to_raw(), kind as i32, string_ref(category), string_ref(name), string_ref(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mlir::Module, pipeline::session};

    #[test]
    fn without_an_engine_nobody_wants_remarks() {
        let session = session();
        let module = Module::parse(&session, "module {}").unwrap();
        assert!(!wants_remarks(module.op()));
        // Nothing is told to nobody.
        remark(module.op(), module.op().loc(), Remark::Passed, ["spyre-lx", "place"], "nothing");
        assert_eq!(without_remarks(|| TRIALS.get()), 1);
        assert_eq!(TRIALS.get(), 0);
    }
}
