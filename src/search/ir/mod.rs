//! Pass `spyre-search-tiling` of stage `search`, and its IR helpers.

mod apply_plan;
mod certify;
mod cost_evaluator;
mod hints;
pub(crate) mod search_tiling;
mod searched_function;
mod segment;
