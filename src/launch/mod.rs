//! Stage `launch`: the addresses that a bundle computes and the files that it executes.
//!
//! The stage maps the dimensions of each op to the labels of the file format ([`geometry`]). It computes the start
//! address of each core's slice of each tensor and the symbols of these addresses ([`symbols`]). From them it builds
//! `bundle.mlir` ([`Launch`]) and `launch_spec.json` ([`launch_spec`]).
//!
//! For an add of two fp16 matrices `[128, 256]` with the rows split over 2 cores, each tensor of kernel argument `a`
//! has the symbols `%arg_a` and `%arg_a_core_8192` (64 rows of the first stick column are 8192 bytes):
//!
//! ```text
//! %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
//! %arg_0_core_offset_8192 = arith.constant 8192 : index
//! %arg_0_core_8192 = arith.addi %arg_0, %arg_0_core_offset_8192 : index
//! ...
//! sdscbundle.sdsc_execute (%arg_0, %arg_0_core_8192, ...) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, ...]}
//! ```

mod build_launch;
mod error;
pub mod geometry;
mod label;
pub mod launch_spec;
pub mod name;
mod statements;
pub mod symbols;
mod text;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use error::LaunchError;
pub use statements::{AddressMap, Execute, Launch, Param, SizeBounds, Stmt};
