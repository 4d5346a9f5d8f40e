//! The two choices that a user has for what a launch looks like.

use strum::{Display, EnumString, VariantNames};

/// `--addresses`: who knows where kernel arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum AddressMode {
    /// The launch gets them; files hold symbols.
    Symbolic,
    /// The compiler: argument `i` is at segment `i`.
    Baked,
}

/// `--loops`: how a counted loop is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum LoopMode {
    /// As `scf.for`.
    Keep,
    /// As one execute per iteration.
    Unroll,
}
