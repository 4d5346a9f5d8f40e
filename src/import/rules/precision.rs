//! Options for the treatment of f32 values between f16 values.

use machine::ElementType;
use strum::{Display, EnumString, VariantNames};

/// `--precision`: format in which f32 regions are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Precision {
    /// f32 regions are computed in the device's f16 format.
    Device,
    /// f32 regions are computed in the device's f16 format, except for angles, which no 16-bit format represents
    /// accurately.
    Mixed,
    /// f32 regions stay f32 where the device supports it.
    Strict,
}

/// `--rounding`: treatment of a value that is rounded to a narrower format and widened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Rounding {
    /// The value is rounded as in the program.
    Exact,
    /// The value may stay in the wider format.
    Relaxed,
}

impl Precision {
    /// Returns whether f32 values of a program with f16 values are computed in the device's f16 format.
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        matches!(self, Self::Device | Self::Mixed)
    }

    /// Checks that a change of number format is a no-op. `is_folded` states that all floating-point values are computed
    /// in one half-width format, as in a program with tensors of that format. Otherwise only f64 becomes f32.
    ///
    /// # Errors
    /// Returns the reason why the cast remains.
    pub fn fold_cast(
        self,
        is_folded: bool,
        from: Option<ElementType>,
        to: Option<ElementType>,
    ) -> Result<(), &'static str> {
        let is_wide = |element: ElementType| matches!(element, ElementType::F32 | ElementType::F64);
        let is_float =
            |element: ElementType| is_wide(element) || matches!(element, ElementType::F16 | ElementType::Bf16);
        let (Some(from), Some(to)) = (from, to) else { return Err(UNSUPPORTED_CAST) };
        // Every format represents all 8-bit numbers.
        let is_quarter = from.is_f8();
        let vanishes = if is_folded {
            (is_float(from) || is_quarter) && is_float(to)
        } else {
            (is_wide(from) || is_quarter) && is_wide(to)
        };
        match self {
            Self::Device | Self::Mixed if vanishes => Ok(()),
            Self::Strict if is_quarter && is_wide(to) => Ok(()),
            Self::Strict if is_float(from) && is_float(to) => {
                Err("--precision strict does not support; give --precision mixed")
            }
            Self::Device | Self::Mixed | Self::Strict => Err(UNSUPPORTED_CAST),
        }
    }
}

const UNSUPPORTED_CAST: &str = "is not supported; convert the values before the export";

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{Bf16, F8E4M3Fn, F8E5M2, F16, F32, F64};

    #[test]
    fn folds_float_casts_unless_strict() {
        for (from, to) in [(F16, F32), (F16, F64), (F32, F64), (F64, F32), (F32, Bf16), (F64, F16)] {
            let folded =
                [Precision::Device, Precision::Mixed].map(|precision| precision.fold_cast(true, Some(from), Some(to)));
            assert_eq!(folded, [Ok(()); 2], "{from} to {to}");
            let strict = Precision::Strict.fold_cast(false, Some(from), Some(to));
            assert!(strict.is_err_and(|reason| reason.contains("strict")), "{from} to {to}");
        }
    }

    #[test]
    fn keeps_casts_of_other_formats() {
        let intervals = |from, to| Precision::Device.fold_cast(true, from, to);
        assert_eq!(intervals(Some(F16), Some(F8E4M3Fn)), Err(UNSUPPORTED_CAST));
        assert_eq!(intervals(None, Some(F16)), Err(UNSUPPORTED_CAST));
        assert_eq!(intervals(Some(F16), None), Err(UNSUPPORTED_CAST));
        assert_eq!(Precision::Device.fold_cast(false, Some(F64), Some(F32)), Ok(()));
    }

    #[test]
    fn folds_widening_of_8_bit_numbers() {
        for from in [F8E4M3Fn, F8E5M2] {
            assert_eq!(Precision::Device.fold_cast(true, Some(from), Some(Bf16)), Ok(()));
            assert_eq!(Precision::Strict.fold_cast(false, Some(from), Some(F32)), Ok(()));
            assert!(Precision::Device.fold_cast(true, Some(from), Some(F8E5M2)).is_err());
        }
    }
}
