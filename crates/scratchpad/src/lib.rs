//! Scratchpad planner: decides which buffers are in the cores' scratchpads and at which addresses, given their sizes
//! and live ranges.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice
//!   of the value.
//! * *Time* is the index of an operation. A buffer is *live* from its first use to its last, both included.
//! * A buffer is *placed* when it has an LX address for its whole live range; else it stays in HBM, and every use moves
//!   its bytes.
//! * A *parent* of a buffer is an input of the op that writes it, and dies there: the buffer may take over its address.
//!   For that one operation both are live, and the parent keeps its whole extent; it hands its address over once.
//! * A *barred* buffer may not be placed, whatever room there is ([`Barred`] says why).
//!
//! A planner chooses addresses ([`Planner`]); [`check`] verifies any placement independently.
//!
//! Worked example. LX of 30 bytes; `a` of 10 bytes is used by operations 0, 1, 2; `b` of 10 bytes by 1, 2, 3, 4; `c` of
//! 20 bytes by 3, 4. Greedy works in program order: `a` at 0, `b` at 10, and when `c` is born there are 10 free bytes
//! below `b` and 10 above it, so `c` stays in HBM and moves 40 bytes. First-fit begins with the shortest life per use:
//! `c` at 0, then `a` at 0 (it is dead when `c` is born), then `b` above both at 20. Nothing is left in HBM.
//!
//! The planners do not depend on programs, IR or MLIR. `scratchpad-verify` checks their results and shares no code with
//! them.
//!
//! | file | content |
//! |---|---|
//! | `buffer.rs` | buffers, uses, capacity, legality of in-place reuse |
//! | `instance.rs` | planner instances in files |
//! | `live_index.rs` | index of placed buffers by live range |
//! | `placement.rs` | addresses, reasons, HBM bytes left, the independent legality check |
//! | `planner.rs` | the planners by name |
//! | `greedy.rs` | places each buffer at its birth |
//! | `first_fit.rs`, `best_fit.rs`, `gap_fit.rs` | place the most urgent buffer first, in the lowest or the tightest gap |
//! | `exact/` | the fewest HBM bytes, with a certificate (`docs/reference/planner.md`) |
//! | `pack/` | addresses for buffers that must all be placed, or the proof that there are none |
//! | `plan_instance.rs` | planning of an instance with step limits and progress reports |
//! | `drawing.rs` | SVG drawing of the scratchpad |

mod best_fit;
mod buffer;
mod drawing;
mod exact;
mod first_fit;
mod gap_fit;
mod greedy;
mod instance;
mod live_index;
mod placement;
mod plan_instance;
mod planner;
mod progress;

pub mod pack;

pub use best_fit::BestFitPlanner;
pub use buffer::{Buffer, Capacity, PlacementExclusion, Use, UseKind, can_reuse_in_place};
pub use drawing::{DrawnInterval, LoopBracket, LxDrawing, draw};
pub use exact::{
    BoundCertificate, CertifiedCut, ExactPlanner, LxInterval, MinimumLxBytes, ReportHeader, ResidencyMode,
    ScratchpadPlan,
};
pub use first_fit::FirstFitPlanner;
pub use greedy::GreedyPlanner;
pub use instance::{Instance, InstanceError};
pub use placement::{Placement, Planner, UnplacedReason, Violation, check};
pub use plan_instance::{MinimumLxPlan, PlanningLimits, build_drawing, find_smallest_lx, plan_instance};
pub use planner::{UnknownPlanner, find_planner};
pub use progress::PlanningProgress;
