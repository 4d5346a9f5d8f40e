//! The pass of stage `search`, and what it tries on copies of a program: the files of the stage that know IR.

mod certify;
pub(crate) mod choose_tiles;
mod hints;
mod judge;
mod planned;
mod read;
mod segment;
