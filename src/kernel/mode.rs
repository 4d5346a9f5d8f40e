//! What becomes of kernels, as it is typed.

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
