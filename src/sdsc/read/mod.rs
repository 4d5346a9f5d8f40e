//! Reconstructs op specs from SDSC files ([`to_op_spec()`]), and reads op specs from JSON ([`case_json`]).

mod affine_text;
#[cfg(feature = "mlir")]
pub(crate) mod arrangements;
pub mod case_json;
mod to_op_spec;

pub use to_op_spec::{
    FileContext, OpSpecReadError, ProgramFacts, SymbolBase, SymbolValue, is_baked, parse_launch, to_bundle, to_op_spec,
};
