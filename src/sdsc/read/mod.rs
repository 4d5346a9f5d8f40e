//! From files back to op specs.
//!
//! | file | what |
//! |---|---|
//! | `to_op_spec` | the op spec of an SDSC file, the launch of a `bundle.mlir`, the bundle of both |
//! | [`case_json`], `affine_text` | bundles of op specs in JSON, and the expressions in them |

mod affine_text;
pub mod case_json;
mod to_op_spec;

pub use to_op_spec::{
    FileContext, OpSpecReadError, SymbolBase, SymbolValue, is_baked, parse_launch, to_bundle, to_op_spec,
};
