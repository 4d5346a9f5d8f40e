#![doc = include_str!("../README.md")]

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
mod shuffle;
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
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape, ShuffleShape};
pub use tile_op::{TileOp, TileOperand};
