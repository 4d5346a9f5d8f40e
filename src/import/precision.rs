//! What happens to f32 values between f16 values.

use std::str::FromStr;

/// `--precision`: whether f32 islands are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// They are computed in the device's f16 format.
    Device,
    /// They stay f32 where the device supports it.
    Strict,
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "device" => Ok(Self::Device),
            "strict" => Ok(Self::Strict),
            _ => Err(format!("unknown precision '{name}': expected 'device' or 'strict'")),
        }
    }
}
