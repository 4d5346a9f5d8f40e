//! Modes of validation.

use strum::{Display, EnumString, VariantNames};

/// Whether a compilation is validated before its files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum ValidationMode {
    /// Validated, if the cost is within the [`ValidationBudget`](super::ValidationBudget).
    #[default]
    Auto,
    /// Validated; if that is impossible, nothing is written.
    On,
    /// Not validated.
    Off,
}
