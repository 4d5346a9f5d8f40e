//! Pass of stage `search`, and evaluation on copies of a program: the files of the stage that use IR.

mod apply_plan;
mod certify;
pub(crate) mod choose_tiles;
mod cost_evaluator;
mod hints;
mod searched_function;
mod segment;
