//! Small safe layer over melior. Only this module and the attribute accessors of `src/dialect` use `unsafe`.
//!
//! Handles ([`Op`], [`Value`], [`Block`]) are pointers into the module that a pass receives. The pass owns that module
//! while it runs, and never runs twice at a time on it. Erased ops ([`OpExt::erase`]) are freed when it returns.
//! Handles into a [`Module`] or a [`DetachedClone`] borrow it:
//!
//! ```compile_fail,E0716
//! use spyre_compiler::mlir::{Module, OpExt};
//! let session = spyre_compiler::pipeline::create_session();
//! let op = Module::parse(&session, "").expect("an empty module").op();
//! op.nested();
//! ```
//!
//! Upstream passes free erased ops at once, so a pipeline runs only while no handle exists:
//!
//! ```compile_fail,E0502
//! use spyre_compiler::mlir::{Module, OpExt};
//! let session = spyre_compiler::pipeline::create_session();
//! let mut module = Module::parse(&session, "").expect("an empty module");
//! let op = module.op();
//! assert!(module.run_pipeline("canonicalize"));
//! op.nested();
//! ```
//!
//! A handle does not leave a pass, which must accept every lifetime `'c`:
//!
//! ```compile_fail
//! use spyre_compiler::mlir::{ErrorReported, Op, Pass, PassOptions};
//! static KEPT: std::sync::Mutex<Vec<Op<'static>>> = std::sync::Mutex::new(Vec::new());
//! const PASS: Pass = Pass { argument: "keep", run };
//! fn run(module: Op<'_>, _: &PassOptions) -> Result<(), ErrorReported> {
//!     KEPT.lock().unwrap().push(module);
//!     Ok(())
//! }
//! ```

mod builder;
mod collect;
mod context;
mod dense;
mod diag;
mod drivers;
mod float8;
mod function;
mod jit;
mod location;
mod location_form;
mod map;
mod module_path;
mod op;
mod parse_enum;
mod pass;
mod pass_options;
pub mod plugin;
mod positions;
mod program;
mod provenance;
mod remark;
mod reword;
mod scalar;
mod session;
mod text;
mod types;

pub use ::program::affine::AffineExpression;
pub use builder::{
    AttributeList, append_op, build_dictionary, build_module, build_op, insert_after, insert_before, new_block,
};
pub use collect::{CollectedDiagnostic, collect_diagnostics, intercept_diagnostics};
pub use context::{num_bugs, record_bug};
pub use dense::{
    RawElements, build_dense_elements, build_dense_splat, raw_elements, read_dense_integers, read_dense_numbers,
};
pub use diag::{
    Diagnostic, ErrorReported, error_at, error_at_location, remark_at_location, suppress_diagnostics, verify_op,
    warning_at, warning_at_location,
};
pub use drivers::run_lsp_server;
pub use float8::{decode_e4m3fn, decode_e5m2};
pub use function::{
    argument_attribute, canonicalize_structured_ops, generalize_named_ops, result_attribute, retain_ops,
    set_argument_attribute, set_function_type, set_result_attribute,
};
pub use jit::{JitArray, JitFunction, WidenMode, num_approximated_functions, widen};
pub use location::{
    format_location, fused_location, is_unknown_location, location_name, named_location, new_block_with_locations,
};
pub use location_form::{FileRange, LocationForm};
pub use map::{map_attribute, map_from_exprs, map_of, map_results};
pub use module_path::module_path;
pub use op::{BlockExt, DetachedClone, OpExt, OpMap, ValueExt, ValueMap};
pub use parse_enum::parse_enum;
pub use pass::{
    Pass, PassEvent, PassFailure, PassInstance, PassObserverFn, PipelineHooks, UpstreamPass, register_pipeline_passes,
    run_opt_driver,
};
pub use pass_options::{NestedReader, PassOptionValue, PassOptions, escape, unescape};
pub use positions::{SourcePosition, other_fused_locations, source_positions};
pub use program::{
    find_defined_functions, is_public, lower_stablehlo, lower_tosa, make_entry, merge_outer_dims, partial_shape,
    remove_empty_tensors, replace_empty_tensors, specialize_dims, wrap_scalars_in_tensors,
};
pub use provenance::{Derivation, DerivationKind, derive_location, derived_location};
pub use remark::{RemarkFilters, RemarkKind, are_remarks_enabled, emit_remark};
pub use reword::{RewordedMessage, reword_diagnostics};
pub use scalar::ScalarType;
pub use session::{Module, Session, SourceFile, can_parse, run_trial_passes, tool_found_bug};
pub(crate) use text::{read_context_text, string_ref};
pub use types::{
    TensorType, array_attribute, dense_attribute, dictionary_entries, elements, f64_array_attribute, float_value,
    floats, i32_attribute, i64_attribute, index_type, integer, integers, is_exactly_representable, is_reduction,
    is_tensor, natural_number, reshaped_elements, shape_of, splat_value, string, string_array, string_attribute,
    strings, symbol_attribute, symbol_name, type_attribute, type_of, type_of_element, type_of_elements, unit_attribute,
};
pub(crate) use types::{f64_attribute, i64_array_attribute};

pub use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, BlockLike, Location, RegionLike, Type, TypeLike, ValueLike, operation::OperationLike,
    },
};

/// An operation of the module that a pass works on.
pub type Op<'c> = melior::ir::OperationRef<'c, 'c>;
/// A value of that module.
pub type Value<'c> = melior::ir::Value<'c, 'c>;
/// A block of that module.
pub type Block<'c> = melior::ir::BlockRef<'c, 'c>;
/// An affine map.
pub type AffineMap<'c> = melior::ir::AffineMap<'c>;
