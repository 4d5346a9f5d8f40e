//! Whether a compilation is validated.

use strum::{Display, EnumString, VariantNames};

/// Whether a compilation is validated before its files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum ValidationMode {
    /// It is, as far as that costs no more than a [`Budget`](super::Budget) allows.
    #[default]
    Auto,
    /// It is, or nothing is written.
    On,
    /// It is not.
    Off,
}
