//! `spyre.plan`: what was chosen for a function, for the plan file.

use super::ods::attr;
use crate::{
    mlir::{Op, OpExt, string_attribute},
    plan_file::Chosen,
};

/// What was noted on a function; none if no plan file is to be written.
#[must_use]
pub fn plan_of(function: Op<'_>) -> Option<Chosen> {
    serde_json::from_str(function.text_attr(attr::SPYRE_PLAN)).ok()
}

/// Notes it.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_plan(function: Op<'_>, chosen: &Chosen) {
    let text = serde_json::to_string(chosen).expect("names, numbers and lists can be written as JSON");
    function.set_attr(attr::SPYRE_PLAN, string_attribute(function.ctx(), &text));
}
