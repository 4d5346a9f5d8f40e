//! The `exact` planner: a plan with the fewest HBM bytes, and a proof of its lower bound (`docs/reference/planner.md`).
//!
//! Lagrange prices of LX give a bound, and a sweep over the operations finds the best selection of values for LX. The
//! packing engine assigns addresses; intervals without addresses become cuts of the next sweep. Dense and large
//! problems get further searches within the budget.

mod address_assignment;
mod address_sweep;
mod anneal;
mod chains;
mod cut;
mod dense;
mod history;
mod location_key;
mod multipliers;
mod prices;
mod problem;
mod proof;
mod refine;
mod report;
mod reuse_matching;
mod schedule_step;
mod selection;
mod solve;
mod sweep;

pub use problem::ResidencyMode;
pub use report::{MinimumLxBytes, ReportHeader};
pub use solve::{BoundCertificate, CertifiedCut, ExactPlanner, LxInterval, ScratchpadPlan};
