//! What happens to f32 values between f16 values.

use std::{fmt, str::FromStr};

/// `--precision`: whether f32 islands are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// They are computed in the device's f16 format.
    Device,
    /// They stay f32 where the device supports it.
    Strict,
}

impl Precision {
    /// Whether a change of number format vanishes: `is_folded` says that all floating-point values are computed in one half-width format,
    /// as in a program that has tensors of one. Otherwise only f64 becomes f32.
    ///
    /// # Errors
    /// What the cast converts and why that stays.
    pub fn fold_cast(self, is_folded: bool, from: &str, to: &str) -> Result<(), String> {
        let is_float = |name: &str| matches!(name, "f16" | "bf16" | "f32" | "f64");
        let is_wide = |name: &str| matches!(name, "f32" | "f64");
        // Every format has the numbers of 8 bits.
        let is_quarter = matches!(from, "f8E4M3FN" | "f8E5M2");
        let vanishes =
            if is_folded { (is_float(from) || is_quarter) && is_float(to) } else { (is_wide(from) || is_quarter) && is_wide(to) };
        match self {
            Self::Device if vanishes => Ok(()),
            Self::Strict if is_quarter && is_wide(to) => Ok(()),
            Self::Strict if is_float(from) && is_float(to) => {
                Err(format!("converts {from} to {to}: precision=strict keeps it, and the device's conversion is not supported yet"))
            }
            Self::Device | Self::Strict => Err(format!("converts {from} to {to}: not supported yet")),
        }
    }
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

impl fmt::Display for Precision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Device => "device",
            Self::Strict => "strict",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_island_is_as_wide_as_the_program_says() {
        for (from, to) in [("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("f64", "f32"), ("f32", "bf16"), ("f64", "f16")] {
            assert_eq!(Precision::Device.fold_cast(true, from, to), Ok(()), "{from} to {to}");
            assert!(Precision::Strict.fold_cast(false, from, to).is_err_and(|message| message.contains("strict")), "{from} to {to}");
        }
    }

    #[test]
    fn other_formats_stay() {
        let message = |from, to| Precision::Device.fold_cast(true, from, to).unwrap_err();
        assert_eq!(message("f16", "f8E4M3FN"), "converts f16 to f8E4M3FN: not supported yet");
        assert_eq!(message("f8E4M3FNUZ", "f16"), "converts f8E4M3FNUZ to f16: not supported yet");
        assert_eq!(Precision::Device.fold_cast(false, "f64", "f32"), Ok(()));
    }

    #[test]
    fn numbers_of_8_bits_are_those_of_every_format() {
        for from in ["f8E4M3FN", "f8E5M2"] {
            assert_eq!(Precision::Device.fold_cast(true, from, "bf16"), Ok(()));
            assert_eq!(Precision::Strict.fold_cast(false, from, "f32"), Ok(()));
            assert!(Precision::Device.fold_cast(true, from, "f8E5M2").is_err());
        }
    }
}
