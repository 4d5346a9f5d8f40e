//! `spyre.plan`: the plan chosen for a function, which the plan file records.

use super::ods::attr;
use crate::{
    mlir::{Op, OpExt, string_attribute},
    plan_file::PlanDecisions,
};

/// Returns the plan that the function's attribute records; `None` if no plan file is to be written.
#[must_use]
pub fn read_plan(function: Op<'_>) -> Option<PlanDecisions> {
    serde_json::from_str(function.text_attr(attr::SPYRE_PLAN)).ok()
}

/// Records the plan in the function's attribute.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_plan(function: Op<'_>, chosen: &PlanDecisions) {
    let text = serde_json::to_string(chosen).expect("names, numbers and lists can be written as JSON");
    function.set_attr(attr::SPYRE_PLAN, string_attribute(function.ctx(), &text));
}
