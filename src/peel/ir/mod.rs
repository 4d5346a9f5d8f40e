//! Pass of stage `peel`.

pub(crate) mod peel_rests;
mod split_ops;
