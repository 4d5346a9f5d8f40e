//! The phases of a compilation: what `--compile-to`, the check behind each phase and the mark on a module name.

use std::{fmt, str::FromStr};

/// The phases of the compiler, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    pub const ALL: [Self; 8] = [Self::Import, Self::Layout, Self::Hint, Self::Tile, Self::Work, Self::Lx, Self::Bundle, Self::Emit];

    /// The name in `--compile-to`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Layout => "layout",
            Self::Hint => "hint",
            Self::Tile => "tile",
            Self::Work => "work",
            Self::Lx => "lx",
            Self::Bundle => "bundle",
            Self::Emit => "emit",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|phase| phase.name() == name).ok_or_else(|| format!("unknown phase '{name}': expected one of {names}"))
    }
}
