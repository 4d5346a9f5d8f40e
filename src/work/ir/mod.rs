//! Passes of stage `work`, and code that they share: the files of the stage that use IR.

pub(crate) mod describe_op;
pub(crate) mod divide_work;
pub(crate) mod reduce_span;
