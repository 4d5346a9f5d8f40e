//! The `exact` planner.

mod anneal;
mod chains;
mod cut;
mod lists;
mod moment;
mod prices;
mod problem;
mod report;
mod selection;
mod settle;
mod solve;
mod sweep;

pub(crate) use chains::{Chain, Link, pack_chains};
pub use problem::Stays;
pub use solve::{Certificate, CertifiedCut, Exact, Plan, StayInLx};
