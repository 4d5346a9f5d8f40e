//! The passes of stage `work`, and what they share: the files of the stage that know IR.

pub(crate) mod divide_work;
pub(crate) mod reduce_span;
