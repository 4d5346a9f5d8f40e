//! sdsc
mod affine_text;
pub mod case_json;
