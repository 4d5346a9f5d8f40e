//! What a program costs: bytes moved between memories.
//!
//! [`traffic`] counts what each op of a bundle reads and writes; `spyre-compile` reports it beside the lower bound that no plan can beat:
//! every stick of an argument that the program reads comes from HBM once, every stick of a result goes there once ([`bytes_needed`]).

mod bound;
mod traffic;

pub use bound::{Touched, bytes_needed};
pub use traffic::{OpTraffic, lx_peak_bytes, traffic};
