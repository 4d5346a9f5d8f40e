//! Pass of stage `search`, and evaluation on copies of a program: the files of the stage that use IR.

mod certify;
pub(crate) mod choose_tiles;
mod hints;
mod judge;
mod planned;
mod read;
mod segment;
