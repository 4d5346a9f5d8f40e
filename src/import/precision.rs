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

impl Precision {
    /// Whether a cast of values that are computed in `element` vanishes: in an island, between the half-width type of its values and the
    /// wider types that the program computes in.
    ///
    /// # Errors
    /// What the cast converts and why that stays.
    pub fn fold_cast(self, element: &str, from: &str, to: &str) -> Result<(), String> {
        let is_half = matches!(element, "f16" | "bf16");
        let is_wide = |name: &str| matches!(name, "f32" | "f64");
        let is_island = is_half && [from, to].into_iter().all(|name| name == element || is_wide(name));
        // A wide value of an island is a half-width one in truth.
        let converted = if is_half && is_wide(from) { element } else { from };
        match (is_island, self) {
            (true, Self::Device) => Ok(()),
            (true, Self::Strict) => {
                Err(format!("converts {from} to {to}: precision=strict keeps it, and the device's conversion is not supported yet"))
            }
            (false, _) => Err(format!("converts {converted} to {to}: not supported yet")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_island_is_as_wide_as_the_program_says() {
        for (from, to) in [("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("f64", "f32"), ("f32", "f16"), ("f64", "f16")] {
            assert_eq!(Precision::Device.fold_cast("f16", from, to), Ok(()), "{from} to {to}");
            assert!(Precision::Strict.fold_cast("f16", from, to).is_err_and(|message| message.contains("strict")), "{from} to {to}");
        }
    }

    #[test]
    fn an_island_ends_in_the_type_of_its_values() {
        let message = |element, from, to| Precision::Device.fold_cast(element, from, to).unwrap_err();
        assert_eq!(message("f16", "f16", "f8E4M3FN"), "converts f16 to f8E4M3FN: not supported yet");
        assert_eq!(message("f16", "f32", "bf16"), "converts f16 to bf16: not supported yet");
        assert_eq!(message("f32", "f32", "f16"), "converts f32 to f16: not supported yet");
        assert_eq!(message("f32", "f32", "f64"), "converts f32 to f64: not supported yet");
        assert_eq!(message("f8E4M3FN", "f8E4M3FN", "f16"), "converts f8E4M3FN to f16: not supported yet");
    }
}
