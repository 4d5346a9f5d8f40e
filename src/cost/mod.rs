//! What a program costs: bytes moved between memories.
//!
//! [`traffic`] counts what each op of a bundle reads and writes; `spyre-compile` reports it beside the lower bound that no plan can beat:
//! every argument that the program uses comes from HBM once, every result goes there once.

mod traffic;

pub use traffic::{OpTraffic, lx_peak_bytes, traffic};
