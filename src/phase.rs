//! The phases of a compilation: what `--compile-to`, the check behind each phase and the mark on a module name.

use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// The phases of the compiler, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// `linalg` becomes `spyre` ops, hint scopes become attributes.
    Import,
    /// Every value gets a device layout.
    Layout,
    /// Iteration dimensions get names.
    Hint,
    /// Hinted groups become loops.
    Tile,
    /// Iteration spaces are divided over the cores.
    Work,
    /// Values get a place in LX or HBM.
    Lx,
    /// Ops become op specs in launches.
    Bundle,
    /// Files are written.
    Emit,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 8] =
        [Self::Import, Self::Layout, Self::Hint, Self::Tile, Self::Work, Self::Lx, Self::Bundle, Self::Emit];

    /// The name in `--compile-to`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
