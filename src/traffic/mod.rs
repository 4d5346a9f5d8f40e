//! What the ops of a bundle move between memories, and a bundle as the model of time sees it.
//!
//! [`traffic`] counts what each op reads and writes; `spyre-compile` reports it beside the lower bound that no plan can beat: every stick of
//! an argument that the program reads comes from HBM once, every stick of a result goes there once ([`bytes_needed`]). [`kernel_of`] is the
//! way from a bundle to [`crate::cost`].

mod bound;
mod bytes;
mod kernel;
mod moved;

pub use bound::{Touched, bytes_needed};
pub use bytes::Bytes;
pub use kernel::kernel_of;
pub use moved::{OpTraffic, lx_bytes_of, lx_peak_bytes, traffic};
