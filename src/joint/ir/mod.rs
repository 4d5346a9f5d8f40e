//! Pass of stage `joint`: the file of the stage that uses IR.

pub(crate) mod divide_jointly;
