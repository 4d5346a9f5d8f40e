//! Memory traffic of the ops of a bundle, and conversion of a bundle to the input of the time model.
//!
//! [`count_traffic`] counts the bytes that each op reads and writes. `spyre-compile` reports them next to two lower
//! bounds. First ([`min_distinct_elements`]), each argument element that the program reads is loaded from HBM at least
//! once, and each result element is stored at least once. Second ([`min_moved_elements`]), matmuls must move a minimum
//! number of elements between HBM and an LX of limited size (red-blue pebble game). [`group_by_value`] attributes the
//! traffic above the bounds to values; [`read_kernel`] converts a bundle for the crate [`cost`].

mod bound;
mod bytes;
mod gap;
mod kernel;
mod op_traffic;
mod pebble_bound;

pub use bound::{AccessFootprint, IndexAssumption, min_distinct_elements, stick_bytes};
pub use bytes::Bytes;
pub use gap::{BufferAccess, TrafficBuffer, ValueTraffic, collect_accesses, group_by_value};
pub use kernel::read_kernel;
pub use op_traffic::{OpTraffic, count_traffic, lx_bytes_per_core, lx_peak_bytes};
pub use pebble_bound::min_moved_elements;
