//! Stage `kernel`: groups of ops that are tiled and tuned together.

mod cuts;
mod fixed;
mod groups;
mod knobs;
mod legal;
mod mode;
mod outcome;
mod scopes;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use cuts::Cuts;
pub use fixed::{FixedKind, Numbered, order, same_order};
pub use groups::{GroupOp, groups};
pub use knobs::KnobValue;
pub use legal::{Code, Cut, Does, Epilogue, Neighbour, Prologue, ReadOutput, Refusal, ShownInput};
pub use mode::{FusionMode, KernelMode};
pub use outcome::{Fused, KernelOutcome, Outcome, Side, Unfused};
pub use scopes::{Has, OpInLoop, ReadInLoop, shown_has};
