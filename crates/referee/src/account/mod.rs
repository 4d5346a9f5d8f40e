//! Figures of a run: bytes moved, modeled time, rounding errors, and the report that contains them.

pub mod report;
pub(crate) mod rounding;
pub mod time;
pub mod traffic;
