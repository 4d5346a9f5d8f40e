//! Our dialects seen from Rust: attributes as the stages' plain values, views for reading and functions for building ops.
//!
//! | file | what |
//! |---|---|
//! | `attrs.rs` | `#spyre` and `#sdsc` attributes from and to plain values; the C accessors |
//! | `compute.rs` | [`ComputeOp`]: any compute op through its iteration space and access maps |
//! | `operation.rs` | a compute op as work division and LX planning see it |
//! | `ops.rs` | building `spyre` ops |
//! | `target.rs` | the machine that a module is compiled for |

mod attrs;
mod compute;
mod operation;
mod ops;
mod target;

pub use attrs::{Memory, Place, Tensor, TileHint, format_of, tile_type};
pub use compute::{Access, ComputeOp, root_of};
pub use operation::{operation_of, split_of};
pub use ops::{YIELD, copy, hints_attribute, loop_nest, matmul, place_attribute, pointwise, reduce, view, work_attribute, yield_tiles};
pub use target::{set_target, target_of};
