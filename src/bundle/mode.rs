//! User options for the form of a launch.

use strum::{Display, EnumString, VariantNames};

/// `--addresses`: when the addresses of kernel arguments are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum AddressMode {
    /// At launch: files hold symbols.
    Symbolic,
    /// At compile time: argument `i` is at segment `i`.
    Baked,
}

/// `--loops`: form of a counted loop in the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum LoopMode {
    /// As `scf.for`.
    Keep,
    /// As one execute per iteration.
    Unroll,
}
