//! Phases of a compilation. They name the values of `--compile-to`, the checks after each phase, and the mark on a
//! module.

use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// Phases of the compiler, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// Converts `linalg` to `spyre` ops, and hint scopes to attributes.
    Import,
    /// Assigns a device layout to every value.
    Layout,
    /// Assigns names to iteration dimensions, and adds the hints of the tile search.
    Hint,
    /// Builds the loops that hints request.
    Tile,
    /// Splits iteration spaces over the cores.
    Work,
    /// Assigns every value a place in LX or HBM.
    Lx,
    /// Converts ops to op specs in launches.
    Bundle,
    /// Writes the files.
    Emit,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 8] =
        [Self::Import, Self::Layout, Self::Hint, Self::Tile, Self::Work, Self::Lx, Self::Bundle, Self::Emit];

    /// Returns the name in `--compile-to`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
