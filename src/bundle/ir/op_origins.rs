//! Origins of the ops of a bundle: their locations, and the debug handles that were read from files.

use crate::dialect::ods::{attr, sdsc};
use crate::mlir::{Op, OpExt};

/// Returns the `sdsc.op`s below an op, in depth-first order.
pub(crate) fn collect_ops<'c>(around: Op<'c>) -> Vec<Op<'c>> {
    around.nested().into_iter().filter(|op| op.is(sdsc::OP)).collect()
}

/// Copies the origin of `from` to `to`: its location, and its debug handle if it has one.
pub(crate) fn copy_origin<'c>(from: Op<'c>, to: Op<'c>) {
    to.set_loc(from.loc());
    if let Some(handle) = from.attr(attr::SDSC_DEBUG_HANDLE) {
        to.set_attr(attr::SDSC_DEBUG_HANDLE, handle);
    }
}
