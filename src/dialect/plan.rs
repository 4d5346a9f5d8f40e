//! `spyre.plan`: what was chosen for a function, for the plan file.

use crate::{
    mlir::{Op, OpExt, string_attribute},
    plan_file::Chosen,
};

const PLAN: &str = "spyre.plan";

/// What was noted on a function; none if no plan file is to be written.
#[must_use]
pub fn plan_of(function: Op<'_>) -> Option<Chosen> {
    serde_json::from_str(function.text_attr(PLAN)).ok()
}

/// Notes it.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_plan(function: Op<'_>, chosen: &Chosen) {
    let text = serde_json::to_string(chosen).expect("names, numbers and lists can be written as JSON");
    function.set_attr(PLAN, string_attribute(function.ctx(), &text));
}
