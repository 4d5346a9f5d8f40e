//! Passes of stage `work`, and code that they share: the files of the stage that use IR.

pub(crate) mod divide_work;
pub(crate) mod operation;
pub(crate) mod reduce_span;
