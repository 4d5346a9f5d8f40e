//! Passes of stage `work`, and the IR helpers that they share.

pub(crate) mod describe_op;
pub(crate) mod divide_work;
pub(crate) mod reduce_span;
