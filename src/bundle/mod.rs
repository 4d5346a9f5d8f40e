//! From ops with all their decisions to one launchable unit.
//!
//! A bundle is one kernel launch: ops and counted loops that run in order. This stage decides what each launch says beside the
//! ops' own files: which dimensions an op has in the file format's labels ([`geometry`]), where each core's part of each tensor
//! starts and which symbol stands for that address ([`symbols`]), and what `bundle.mlir` computes and executes ([`launch`]).
//!
//! For an add of two fp16 matrices `[128, 256]` with the rows split over 2 cores, each tensor of kernel argument `a` has the
//! symbols `%arg_a` and `%arg_a_core_8192` (64 rows of the first stick column are 8192 bytes), and the launch is
//!
//! ```text
//! %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
//! %arg_0_core_offset_8192 = arith.constant 8192 : index
//! %arg_0_core_8192 = arith.addi %arg_0, %arg_0_core_offset_8192 : index
//! ...
//! sdscbundle.sdsc_execute (%arg_0, %arg_0_core_8192, ...) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, ...]}
//! ```
//!
//! Limits: at most 7 iteration dimensions an op; LX tensors do not move in loops; the pool is at most
//! a segment less 2 GiB. The model, [`Bundle`], knows nothing of MLIR or of JSON.

mod build_launch;
mod error;
pub mod form;
pub mod geometry;
pub mod launch;
mod lives;
mod mode;
pub mod name;
mod op_spec;
mod share;
pub mod symbols;
mod text;
mod unit_dims;
mod unroll;

pub(crate) mod form_bundles;
pub(crate) mod lower_to_sdsc;
pub(crate) mod lower_to_sdscbundle;

pub use error::BundleError;
pub use launch::Launch;
pub use lives::{Life, Scratch, unrolled_lives};
pub use mode::{Addresses, Loops};
pub use op_spec::{
    Allocation, Arrangement, Bundle, Constant, Coordinate, Item, IterationDim, LoopSymbol, OpSpec, Operand, OwnedDim, Ownership,
    SymbolicDim, Term, Window, WindowAxis,
};
pub use share::{SharedBuffer, share};
pub use unroll::{MAX_UNROLLED_OPS, unroll};
