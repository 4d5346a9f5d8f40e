//! Passes of stage `bundle`, and conversion of `sdsc` ops from and to its model. No other code of the stage depends on
//! MLIR.

pub(crate) mod form_bundles;
mod indexed_rows;
pub(crate) mod lower_to_sdsc;
pub(crate) mod op_origins;
pub(crate) mod sdsc_ops;
