//! Passes of stage `hint`, and the IR helpers that they share.

pub(crate) mod flatten_hints;
mod name_constants;
pub(crate) mod propagate_dims;
