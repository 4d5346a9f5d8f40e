//! Treatment of kernels and their neighbors, with the names used on the command line and in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

/// Treatment of a program's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum KernelMode {
    /// Fuses neighbors into the program's kernels where that pays.
    Fuse,
    /// As `Fuse`, and hint scopes, matmuls and groups of reductions become kernels, too.
    Form,
    /// Moves nothing.
    Separate,
}

/// Execution of an op relative to the kernel with which it exchanges a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "UPPERCASE")]
pub enum FusionMode {
    /// Runs in all loops around the ops with which it exchanges the value. A loop that does not tile it recomputes it
    /// in every iteration.
    Inline,
    /// Runs once outside the loops that do not tile it, and its result stays resident for all iterations.
    Stage,
    /// Runs outside the kernel, on complete values.
    Separate,
}
