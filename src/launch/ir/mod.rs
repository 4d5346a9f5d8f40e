//! Pass of stage `launch`, and the function of a bundle from and to its model: the files of the stage that use IR.

pub(crate) mod launch_ops;
pub(crate) mod lower_to_sdscbundle;
