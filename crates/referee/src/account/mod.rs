//! What a run did, in numbers: bytes moved, modeled time, what was rounded, and the report of all.

pub mod report;
pub(crate) mod rounding;
pub mod time;
pub mod traffic;
