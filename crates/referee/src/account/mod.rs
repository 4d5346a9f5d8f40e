//! Figures of a run: bytes moved, modeled time, rounding, and the report of them.

pub mod report;
pub(crate) mod rounding;
pub mod time;
pub mod traffic;
