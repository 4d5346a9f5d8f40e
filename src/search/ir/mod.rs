//! Pass of stage `search`, and evaluation on copies of a program: the files of the stage that use IR.

mod apply_plan;
mod certify;
mod cost_evaluator;
mod hints;
pub(crate) mod search_tiling;
mod searched_function;
mod segment;
