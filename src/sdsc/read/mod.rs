//! Reconstructs op specs from SDSC files ([`to_op_spec()`]), and reads op specs from JSON ([`case_json`]).

mod affine_text;
#[cfg(feature = "mlir")]
pub(crate) mod arrangements;
pub mod case_json;
mod to_op_spec;

pub use to_op_spec::{
    FileComparison, FileContext, LegalBundle, OpSpecReadError, ProgramFacts, SymbolBase, SymbolValue,
    find_executed_files, parse_launch, read_legal_bundle, to_bundle, to_op_spec,
};
