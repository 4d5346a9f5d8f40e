//! What becomes of kernels and their neighbours, as it is typed and told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

/// What becomes of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum KernelMode {
    /// The neighbours of the program's kernels move into them, where that pays.
    Fuse,
    /// The same, and hint scopes, products and groups of reductions are kernels, too.
    Form,
    /// Nothing moves.
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
