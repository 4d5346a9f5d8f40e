//! Pass of stage `peel`.

mod part_ops;
pub(crate) mod peel_rests;
