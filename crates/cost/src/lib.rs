//! How long a kernel takes, as far as anybody knows.
//!
//! [`price`] models time. A kernel is a list of [`OpShape`]s, written by hand or read from a bundle (`crate::traffic`); [`refuse`] says
//! whether it may run at all, [`describe`] turns it into the few numbers of each op that a price depends on, [`bytes()`] being some of
//! them. [`Work`] is what no plan of a program can do without, with the least time that the model could give it. The formula, the source of each constant and its accuracy are in docs/reference/cost-model.md.

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

pub use bytes::{History, OpBytes, bytes};
pub use kernel::{Access, Batching, Inputs, KernelOp, Product, describe, describe_op};
pub use price::{Cost, Formula, Limit, Objective, Price, estimate_op_ns, price};
pub use rates::fastest;
pub use refuse::{Refusal, refuse};
pub use roofline::{Roofline, Work, least_compute_ns};
pub use rows::{Row, rows};
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape};
pub use tile_op::{TileOp, TileOperand};
