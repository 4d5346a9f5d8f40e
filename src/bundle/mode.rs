//! The two choices that a user has for what a launch looks like.

use std::str::FromStr;

/// `--addresses`: who knows where kernel arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// The launch gets them; files hold symbols.
    Symbolic,
    /// The compiler: argument `i` is at segment `i`.
    Baked,
}

impl FromStr for Addresses {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "symbolic" => Ok(Self::Symbolic),
            "baked" => Ok(Self::Baked),
            _ => Err(format!("unknown addresses '{name}': expected 'symbolic' or 'baked'")),
        }
    }
}

/// `--loops`: how a counted loop is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// As `scf.for`.
    Keep,
    /// As one execute per iteration.
    Unroll,
}

impl FromStr for Loops {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "keep" => Ok(Self::Keep),
            "unroll" => Ok(Self::Unroll),
            _ => Err(format!("unknown loops '{name}': expected 'keep' or 'unroll'")),
        }
    }
}
