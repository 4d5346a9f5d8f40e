//! `spyre.proof`: what no plan of loops takes less than, for the certificate.

use super::ods::attr;
use crate::mlir::{Op, OpExt, string_attribute};
use tile_verify::Proof;

/// What was noted on a function; none if no certificate is to be written.
#[must_use]
pub fn proof_of(function: Op<'_>) -> Option<Proof> {
    serde_json::from_str(function.text_attr(attr::SPYRE_PROOF)).ok()
}

/// Notes it.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_proof(function: Op<'_>, proof: &Proof) {
    let text = serde_json::to_string(proof).expect("names, numbers and lists can be written as JSON");
    function.set_attr(attr::SPYRE_PROOF, string_attribute(function.ctx(), &text));
}
