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

/// How an op stands to a kernel that its value is exchanged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "UPPERCASE")]
pub enum FusionMode {
    /// It runs in all loops around what it exchanges the value with, in those that do not cut it again in each turn.
    Inline,
    /// It runs once for all turns of loops that do not cut it, and what it makes is kept for them.
    Stage,
    /// It stays outside: what it makes is there as a whole.
    Separate,
}
