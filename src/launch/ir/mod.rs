//! Pass of stage `launch`, and conversion of a bundle's function from and to its model. No other code of the stage
//! depends on MLIR.

pub(crate) mod launch_ops;
pub(crate) mod lower_to_sdscbundle;
