//! Launches: the addresses that a bundle computes and the files that it executes.
//!
//! This stage maps the dimensions of each op to the labels of the file format ([`geometry`]). It decides where each
//! core's slice of each tensor starts and which symbol stands for that address ([`symbolic_trip_counts`]), and what
//! `bundle.mlir` computes and executes ([`Launch`]).
//!
//! For an add of two fp16 matrices `[128, 256]` with the rows split over 2 cores, each tensor of kernel argument `a`
//! has the symbols `%arg_a` and `%arg_a_core_8192` (64 rows of the first stick column are 8192 bytes), and the launch
//! is
//!
//! ```text
//! %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
//! %arg_0_core_offset_8192 = arith.constant 8192 : index
//! %arg_0_core_8192 = arith.addi %arg_0, %arg_0_core_offset_8192 : index
//! ...
//! sdscbundle.sdsc_execute (%arg_0, %arg_0_core_8192, ...) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, ...]}
//! ```
//!
//! | file | what |
//! |---|---|
//! | [`geometry`] | an op in the labelled dimensions of the file format |
//! | [`symbolic_trip_counts`] | start addresses of the cores' slices, and the symbols that stand for them |
//! | `statements` | a launch as plain values: [`Launch`] |
//! | `build_launch` | the launch of a bundle |
//! | [`name`], `text` | the names of its values, and its text |
//! | [`launch_spec`] | `launch_spec.json`, from the program and the arguments that ops write |
//! | `ir/lower_to_sdscbundle.rs` | the pass |
//!
//! Limits: at most 7 iteration dimensions an op; LX tensors do not move in loops; the pool is at most
//! a segment less 2 GiB.

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
