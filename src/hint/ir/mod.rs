//! The passes of stage `hint`, and what they share: the files of the stage that know IR.

pub(crate) mod flatten_hints;
mod name_known;
pub(crate) mod propagate_dims;
