//! The pass of stage `sdsc`. No other code of the stage depends on MLIR.

pub(crate) mod debug_handle;
pub(crate) mod emit_bundle;
