//! Cost model: estimates the time of a kernel.
//!
//! [`estimate`] models time. A kernel is a list of [`OpShape`]s, written by hand or read from a bundle
//! (`crate::traffic`). [`check_kernel_limits`] checks whether it can run at all. [`extract_features`] computes the
//! features that the formulas use, among them [`compute_kernel_bytes()`]. [`ProgramWork`] is the minimum work of a
//! program, with a lower bound of its modeled time. docs/reference/cost-model.md has the formula, the source of each
//! constant and the accuracy.

mod bytes;
mod estimate;
mod kernel_file;
mod kernel_limits;
mod op_contribution;
mod op_features;
mod rates;
mod recommended_formula;
mod roofline;
mod shape;
mod tile_op;
mod torch_spyre;

pub use bytes::{AccessHistory, OpBytes, compute_kernel_bytes};
pub use estimate::{
    Bottleneck, CostFormula, ModeledCost, Objective, TimeEstimate, estimate_kernel_time, estimate_op_ns,
};
pub use kernel_file::{KernelEntry, read_kernel_entries};
pub use kernel_limits::{PlanRejection, check_kernel_limits};
pub use op_features::{
    AccessPattern, BatchLayout, BroadcastLocation, MatmulFeatures, OpFeatures, extract_features, extract_op_features,
};
pub use rates::find_max_hbm_rate;
pub use roofline::{ProgramWork, Roofline, min_compute_ns};
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape};
pub use tile_op::{TileOp, TileOperand};
