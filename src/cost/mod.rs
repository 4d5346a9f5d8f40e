//! What a program costs: bytes moved between memories, and time as far as anybody knows.
//!
//! [`traffic`] counts what each op of a bundle reads and writes; `spyre-compile` reports it beside the lower bound that no plan can beat:
//! every stick of an argument that the program reads comes from HBM once, every stick of a result goes there once ([`bytes_needed`]).
//!
//! [`price`] models time. A kernel is a list of [`OpShape`]s, written by hand or read from a bundle ([`kernel_of`]); [`refuse`] says
//! whether it may run at all, [`describe`] turns it into the few numbers of each op that a price depends on, [`bytes()`] being some of
//! them. The formula, the source of each constant and its accuracy are in docs/cost-model.md.

mod bound;
mod bytes;
mod from_bundle;
mod kernel;
mod price;
mod rates;
mod recommended;
mod refuse;
mod shape;
mod tile_op;
mod torch_spyre;
mod traffic;

pub use bound::{Touched, bytes_needed};
pub use bytes::{History, OpBytes, bytes};
pub use from_bundle::kernel_of;
pub use kernel::{Access, Batching, Inputs, KernelOp, Product, describe, describe_op};
pub use price::{Formula, Limit, Price, estimate_op_ns, price};
pub use refuse::{Refusal, refuse};
pub use shape::{Dim, Loop, OpKind, OpShape, OperandShape};
pub use tile_op::{TileOp, TileOperand};
pub use traffic::{OpTraffic, lx_bytes_of, lx_peak_bytes, traffic};
