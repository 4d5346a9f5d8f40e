//! Passes of stage `hint`, and the IR helpers that they share.

pub(crate) mod flatten_hints;
mod name_known;
pub(crate) mod propagate_dims;
