//! The two choices that a user has for what a launch looks like.

use std::{fmt, str::FromStr};

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

impl fmt::Display for Addresses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Symbolic => "symbolic",
            Self::Baked => "baked",
        })
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

impl fmt::Display for Loops {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Keep => "keep",
            Self::Unroll => "unroll",
        })
    }
}
