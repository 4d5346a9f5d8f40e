//! The `exact` planner: the fewest HBM bytes, and a proof of it (`docs/reference/planner.md`).
//!
//! | file | what |
//! |---|---|
//! | `problem.rs` | values, their uses and what they cost, in aligned units |
//! | `prices.rs` | a price of LX for each operation, and the bound that follows |
//! | `moment.rs`, `mergers.rs`, `key.rs`, `history.rs`, `sweep.rs` | operation by operation, the sets of values that may be in LX |
//! | `selection.rs` | what is chosen: stays, and who takes over whose address |
//! | `settle.rs`, `chains.rs` | addresses for a selection, or small sets of stays that have none |
//! | `cut.rs` | such sets, as the sweep watches them |
//! | `dense.rs` | plans and bounds for dense problems |
//! | `refine.rs` | better prices |
//! | `proof.rs` | what proves a bound |
//! | `rents.rs` | the bound of a price for each value in each operation |
//! | `places/` | plans of many buffers: sweeps with addresses |
//! | `anneal.rs` | plans by many small changes |
//! | `solve.rs` | the search, its budget, the plan |
//! | `report.rs` | the plan as a file |

mod anneal;
mod chains;
mod cut;
mod dense;
mod history;
mod key;
mod mergers;
mod moment;
mod places;
mod prices;
mod problem;
mod proof;
mod refine;
mod rents;
mod report;
mod selection;
mod settle;
mod solve;
mod sweep;

pub use problem::Stays;
pub use report::{Heading, PlannedBytes};
pub use solve::{Certificate, CertifiedCut, Exact, Plan, StayInLx};
