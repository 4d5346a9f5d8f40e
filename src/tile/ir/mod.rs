//! The passes of stage `tile`, and what they share: the files of the stage that know IR.

mod build_loops;
pub(crate) mod coarse_tile;
mod combination;
pub(crate) mod items;
pub(crate) mod settle_loops;
