//! Pass of stage `search`, and the IR helpers that it uses.

mod apply_plan;
mod certify;
mod cost_evaluator;
mod hints;
pub(crate) mod search_tiling;
mod searched_function;
mod segment;
