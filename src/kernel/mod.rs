//! Stage `kernel`: groups of ops that are tiled and tuned together.

mod fixed;
mod fusion_rules;
mod groups;
mod knob_tiling;
mod knobs;
mod mode;
mod outcome;
mod scopes;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use fixed::{FixedNumberKind, UniqueNames, compute_loop_order, find_equivalent_order};
pub use fusion_rules::{
    DimTiling, Epilogue, FusionRejection, FusionRule, KernelNeighbor, NeighborKind, OutputUse, Prologue, ViewedInput,
};
pub use groups::{GroupOp, find_groups};
pub use knob_tiling::KnobTiling;
pub use knobs::KnobValue;
pub use mode::{FusionMode, KernelMode};
pub use outcome::{FusedOp, FusionOutcome, KernelOutcome, NeighborSide, UnfusedOp};
pub use scopes::{IterationExtent, LoopBodyOp, LoopBodyOperand, compute_view_extent};
