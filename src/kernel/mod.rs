//! Stage `kernel`: groups of ops that are tiled and tuned together.

mod cuts;
mod fixed;
mod groups;
mod knobs;
mod legal;
mod mode;
mod outcome;
mod scopes;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use cuts::KnobTiling;
pub use fixed::{FixedNumberKind, UniqueNames, compute_loop_order, find_equivalent_order};
pub use groups::{GroupOp, find_groups};
pub use knobs::KnobValue;
pub use legal::{DimTiling, Epilogue, FusionRejection, FusionRule, KernelNeighbor, NeighborKind, OutputUse, Prologue, ViewedInput};
pub use mode::{FusionMode, KernelMode};
pub use outcome::{FusedOp, FusionOutcome, KernelOutcome, NeighborSide, UnfusedOp};
pub use scopes::{IterationExtent, LoopBodyOp, LoopBodyOperand, compute_view_extent};
