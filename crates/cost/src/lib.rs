//! Cost model: estimates the time of a kernel.
//!
//! [`price`] models time. A kernel is a list of [`OpShape`]s, written by hand or read from a bundle (`crate::traffic`). [`refuse`] checks
//! whether it can run at all. [`describe`] computes the features that the formulas use, among them [`bytes()`]. [`Work`] is the minimum
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
pub use kernel::{Access, Batching, Inputs, KernelOp, Product, describe, describe_op};
pub use price::{Cost, Formula, Limit, Objective, Price, estimate_op_ns, price};
pub use rates::fastest;
pub use refuse::{Refusal, refuse};
pub use roofline::{Roofline, Work, least_compute_ns};
pub use rows::{Row, rows};
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape};
pub use tile_op::{TileOp, TileOperand};
