//! The pass of stage `launch`: the file of the stage that knows IR.

pub(crate) mod launch_ops;
pub(crate) mod lower_to_sdscbundle;
