//! Pass of stage `peel`.

pub(crate) mod peel_remainders;
mod split_ops;
