//! `spyre.proof`: the proven lower bound of all loop plans, for the certificate.

use super::ods::attr;
use crate::mlir::{Op, OpExt, string_attribute};
use tile_verify::TilingProof;

/// Returns the proof that the function's attribute records; `None` if no certificate is to be written.
#[must_use]
pub fn read_proof(function: Op<'_>) -> Option<TilingProof> {
    serde_json::from_str(function.text_attr(attr::SPYRE_PROOF)).ok()
}

/// Records the proof in the function's attribute.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_proof(function: Op<'_>, proof: &TilingProof) {
    let text = serde_json::to_string(proof).expect("names, numbers and lists can be written as JSON");
    function.set_attr(attr::SPYRE_PROOF, string_attribute(function.ctx(), &text));
}
