//! A small safe layer over melior: the only place with `unsafe`, beside the attribute accessors of `src/dialect`.
//!
//! # Why it is safe
//!
//! Handles ([`Op`], [`Value`], [`Block`]) are copies of pointers into the module that a pass was given. A pass owns that
//! module for as long as it runs and is not run twice at a time on the same module. What it erases ([`OpExt::erase`]) is freed when it
//! returns, and its handles cannot leave it: they live in a `for<'c>`. Handles of a [`Module`] or a [`Scratch`] copy borrow it:
//!
//! ```compile_fail,E0716
//! use spyre::mlir::{Module, OpExt};
//! let session = spyre::pipeline::session();
//! let op = Module::parse(&session, "").expect("an empty module").op();
//! op.nested();
//! ```
//!
//! and whoever runs a pipeline, whose upstream passes free what they erase at once, holds none:
//!
//! ```compile_fail,E0502
//! use spyre::mlir::{Module, OpExt};
//! let session = spyre::pipeline::session();
//! let mut module = Module::parse(&session, "").expect("an empty module");
//! let op = module.op();
//! assert!(module.run("canonicalize"));
//! op.nested();
//! ```
//!
//! A handle does not leave a pass:
//!
//! ```compile_fail
//! use spyre::mlir::{Op, Options, Pass, Reported};
//! static KEPT: std::sync::Mutex<Vec<Op<'static>>> = std::sync::Mutex::new(Vec::new());
//! const PASS: Pass = Pass { argument: "keep", run };
//! fn run(module: Op<'_>, _: &Options) -> Result<(), Reported> {
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
mod function;
mod jit;
mod location;
mod map;
mod module_path;
mod one_of;
mod op;
mod pass;
mod pass_options;
pub mod plugin;
mod program;
mod quarter;
mod remark;
mod reworded;
mod scalar;
mod session;
mod text;
mod types;

pub use ::program::affine::Expr;
pub use builder::{Attributes, build, build_module, dictionary, insert_after, insert_before, new_block, push};
pub use collect::{Collected, SourcePlace, collect, fused_with, intercept, places_of};
pub use context::{bugs_of, note_bug};
pub use dense::{RawElements, dense_elements, dense_integers, dense_numbers, dense_splat, raw_elements};
pub use diag::{Diagnostic, Reported, error_at, error_behind, quietly, remark_behind, verified, warning_at, warning_behind};
pub use drivers::lsp_server_main;
pub use function::{
    argument_attribute, generalize_named_ops, keep_part, result_attribute, set_argument_attribute, set_function_type, set_result_attribute,
    spell_plainly,
};
pub use jit::{Jit, JitArray, Widened, n_approximated, widen};
pub use location::{fused_location, is_unknown, location_name, location_text, named_block, named_location};
pub use map::{map_attribute, map_from_exprs, map_of, map_results};
pub use module_path::module_path;
pub use one_of::one_of;
pub use op::{BlockExt, OpExt, OpMap, Scratch, ValueExt, ValueMap};
pub use pass::{Event, Hooks, Observe, Pass, PassInstance, Stop, Upstream, opt_main, register};
pub use pass_options::{NestedReader, OptionValue, Options, escaped, unescaped};
pub use program::{
    box_empty, box_numbers, drop_empty, functions_of, is_public, lower_stablehlo, lower_tosa, make_entry, merge_dims, sizes_of, specialize,
};
pub use quarter::{of_e4m3fn, of_e5m2};
pub use remark::{Remark, RemarkFilters, remark, wants_remarks};
pub use reworded::{Rewording, reworded};
pub use scalar::ScalarType;
pub use session::{Module, Session, Source, parses, tool_found_bug, try_passes};
pub(crate) use text::{string_ref, text_in};
pub use types::{
    TensorType, array, boolean_unit, dense_attribute, dictionary_entries, elements, f64_array_attribute, float_value, floats, has_number,
    i32_attribute, i64_attribute, index_type, integer, integers, is_reduction, is_tensor, natural, reshaped_elements, shape_of,
    splat_value, string, string_array, string_attribute, strings, symbol, symbol_name, type_attribute, type_of, type_of_element,
    type_of_elements, unit_attribute,
};
pub(crate) use types::{f64_attribute, i64_array_attribute};

pub use melior::{
    Context,
    ir::{Attribute, AttributeLike, BlockLike, Location, RegionLike, Type, TypeLike, ValueLike, operation::OperationLike},
};

/// An operation of the module that a pass works on.
pub type Op<'c> = melior::ir::OperationRef<'c, 'c>;
/// A value of that module.
pub type Value<'c> = melior::ir::Value<'c, 'c>;
/// A block of that module.
pub type Block<'c> = melior::ir::BlockRef<'c, 'c>;
/// An affine map.
pub type AffineMap<'c> = melior::ir::AffineMap<'c>;
