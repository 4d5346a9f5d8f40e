#![doc = include_str!("../README.md")]

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
