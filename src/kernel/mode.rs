//! What becomes of kernels, as it is typed.

use std::{fmt, str::FromStr};

/// What becomes of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelMode {
    /// The neighbours of the program's kernels move into them, where that pays.
    Fuse,
    /// The same, and hint scopes, products and groups of reductions are kernels, too.
    Form,
    /// Nothing moves.
    Separate,
}

impl KernelMode {
    const ALL: [(Self, &str); 3] = [(Self::Fuse, "fuse"), (Self::Form, "form"), (Self::Separate, "separate")];
}

impl FromStr for KernelMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(mode, _)| mode).ok_or_else(|| format!("option 'kernels': expected 'fuse', 'form' or 'separate', found '{text}'"))
    }
}

impl fmt::Display for KernelMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.into_iter().find(|(mode, _)| mode == self).map_or("", |(_, name)| name);
        formatter.write_str(name)
    }
}
