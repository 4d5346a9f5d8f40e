//! Eight-bit floats of the device.

/// Eight-bit float format: 1 sign bit, then exponent, then mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float8Format {
    mantissa_bits: u32,
    bias: i32,
    /// Bits of the largest finite value.
    max: u8,
    /// Whether the pattern after the largest finite value is infinity.
    has_infinity: bool,
}

/// `SEN143_FP8`: 1-4-3, bias 7, no infinity. PyTorch maps it to e4m3fn of the OCP 8-bit format.
pub const E4M3: Float8Format = Float8Format { mantissa_bits: 3, bias: 7, max: 0x7e, has_infinity: false };

/// `SEN152_FP8`: 1-5-2, bias 15, with infinity. PyTorch maps it to e5m2 of the OCP 8-bit format.
pub const E5M2: Float8Format = Float8Format { mantissa_bits: 2, bias: 15, max: 0x7b, has_infinity: true };

impl Float8Format {
    /// Converts bits to the number.
    #[must_use]
    pub fn decode(self, bits: u8) -> f32 {
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        let magnitude = bits & 0x7f;
        if magnitude > self.max {
            return if self.has_infinity && magnitude == self.max + 1 { sign * f32::INFINITY } else { f32::NAN };
        }
        let mantissa = f32::from(magnitude & ((1 << self.mantissa_bits) - 1));
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let one = (1 << self.mantissa_bits) as f32;
        let significand = if exponent == 0 { mantissa } else { mantissa + one };
        sign * significand / one * 2f32.powi(exponent.max(1) - self.bias)
    }

    /// Rounds to the format, ties to even; saturates at the largest finite value.
    #[must_use]
    pub fn encode(self, value: f32) -> u8 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return sign | 0x7f;
        }
        let magnitude = value.abs();
        // The smallest exponent keeps the subnormal spacing, so that one rounding is right for all values.
        let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(1 - self.bias);
        let step = 2f32.powi(exponent - self.mantissa_bits as i32);
        let units = (magnitude / step).round_ties_even();
        let bits = f64::from(units) + f64::from((exponent + self.bias - 1) << self.mantissa_bits);
        sign | bits.min(f64::from(self.max)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_every_finite_pattern() {
        for format in [E4M3, E5M2] {
            for bits in 0..=u8::MAX {
                let value = format.decode(bits);
                if value.is_finite() {
                    assert_eq!(format.encode(value), bits, "{bits:#x} is {value}");
                }
            }
        }
    }

    #[test]
    fn saturates_at_largest_values_of_standard() {
        assert_eq!((E4M3.decode(0x7e), E5M2.decode(0x7b)), (448.0, 57344.0));
        assert_eq!((E4M3.encode(1e9), E5M2.encode(f32::INFINITY)), (0x7e, 0x7b));
        assert!(E4M3.decode(0x7f).is_nan() && E5M2.decode(0x7d).is_nan());
        assert_eq!(E5M2.decode(0xfc), f32::NEG_INFINITY);
    }
}
