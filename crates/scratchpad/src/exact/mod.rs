//! The `exact` planner: the fewest HBM bytes, and a proof of it (`docs/reference/planner.md`).
//!
//! | file | content |
//! |---|---|
//! | `problem.rs` | values, their uses and their costs, in aligned units |
//! | `prices.rs` | a price of LX per operation, and the bound that follows |
//! | `schedule_step.rs`, `reuse_matching.rs`, `location_key.rs`, `history.rs`, `sweep.rs` | the sweep over the sets of values that may be in LX, by operation |
//! | `selection.rs` | selections: residency intervals and takeovers of addresses |
//! | `address_assignment.rs`, `chains.rs` | addresses for a selection, or small sets of intervals without addresses |
//! | `cut.rs` | these sets as constraints of the sweep |
//! | `dense.rs` | plans and bounds for dense problems |
//! | `refine.rs` | subgradient steps for better prices |
//! | `proof.rs` | proof of a bound |
//! | `multipliers.rs` | the bound from one multiplier per value and operation |
//! | `places/` | plans of many buffers: sweeps with addresses |
//! | `anneal.rs` | simulated annealing |
//! | `solve.rs` | the search, its budget, the plan |
//! | `report.rs` | the plan as a file |

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
