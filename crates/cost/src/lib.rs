//! Cost model: estimates the time of a kernel.
//!
//! [`price`] models time. A kernel is a list of [`OpShape`]s, written by hand or read from a bundle (`crate::traffic`). [`check_kernel_limits`] checks
//! whether it can run at all. [`extract_features`] computes the features that the formulas use, among them [`compute_kernel_bytes()`]. [`ProgramWork`] is the minimum
//! work of a program, with a lower bound of its modeled time. docs/reference/cost-model.md has the formula, the source of each constant
//! and the accuracy.

mod bytes;
mod kernel;
mod part;
mod price;
mod rates;
mod recommended;
mod refuse;
mod roofline;
mod rows;
mod shape;
mod tile_op;
mod torch_spyre;

pub use bytes::{AccessHistory, OpBytes, compute_kernel_bytes};
pub use kernel::{AccessPattern, BatchLayout, BroadcastLocation, MatmulFeatures, OpFeatures, extract_features, extract_op_features};
pub use price::{Bottleneck, CostFormula, ModeledCost, Objective, TimeEstimate, estimate_kernel_time, estimate_op_ns};
pub use rates::find_max_hbm_rate;
pub use refuse::{PlanRejection, check_kernel_limits};
pub use roofline::{ProgramWork, Roofline, min_compute_ns};
pub use rows::{KernelEntry, read_kernel_entries};
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape};
pub use tile_op::{TileOp, TileOperand};
