//! Attribute `spyre.proof`: proof of a lower bound on the time of all loop plans, for the certificate.

use super::ods::attr;
use crate::mlir::{Op, OpExt, string_attribute};
use tile_verify::TilingProof;

/// Returns the proof in the attribute of the function; `None` if there is none, and then no certificate is written.
#[must_use]
pub fn read_proof(function: Op<'_>) -> Option<TilingProof> {
    serde_json::from_str(function.text_attr(attr::SPYRE_PROOF)).ok()
}

/// Writes the proof into the attribute of the function.
///
/// # Panics
/// Never: names, numbers and lists can be written as JSON.
pub fn set_proof(function: Op<'_>, proof: &TilingProof) {
    let text = serde_json::to_string(proof).expect("names, numbers and lists can be written as JSON");
    function.set_attr(attr::SPYRE_PROOF, string_attribute(function.ctx(), &text));
}
