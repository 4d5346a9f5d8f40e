//! Pass of stage `joint`, and evaluation on copies of a program: the files of the stage that use IR.

pub(crate) mod divide_jointly;
pub(crate) mod try_splits;
