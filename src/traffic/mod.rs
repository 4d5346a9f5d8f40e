//! What the ops of a bundle move between memories, and a bundle as the model of time sees it.
//!
//! [`traffic`] counts what each op reads and writes; `spyre-compile` reports it beside the lower bound that no plan can beat: every element of
//! an argument that the program reads comes from HBM once, every element of a result goes there once ([`least_touched`]), and beside what a
//! machine with so much LX must fetch for products ([`elements_needed`]). [`parts`] says which value moves how much more. [`kernel_of`] is
//! the way from a bundle to [`cost`].

mod bound;
mod bytes;
mod gap;
mod kernel;
mod moved;
mod pebbles;

pub use bound::{Indices, Touched, least_touched, stick_bytes_of};
pub use bytes::Bytes;
pub use gap::{Access, Buffer, Part, accesses, parts};
pub use kernel::kernel_of;
pub use moved::{OpTraffic, lx_bytes_of, lx_peak_bytes, traffic};
pub use pebbles::elements_needed;
