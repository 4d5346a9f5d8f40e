//! The pass of stage `sdsc`: the file of the stage that knows IR.

pub(crate) mod emit_bundle;
