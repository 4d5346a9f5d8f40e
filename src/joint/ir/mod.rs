//! The pass of stage `joint`, and what it tries on a copy of the program: the files of the stage that know IR.

pub(crate) mod divide_jointly;
pub(crate) mod try_splits;
