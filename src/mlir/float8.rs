//! Decodes 8-bit floating-point numbers.

/// Decodes a byte of `f8E4M3FN`: 4 exponent bits and 3 fraction bits, without infinities.
#[must_use]
pub fn decode_e4m3fn(byte: u8) -> f64 {
    let (exponent, fraction) = (i32::from(byte >> 3 & 15), f64::from(byte & 7) / 8.0);
    let size = match (exponent, byte & 7) {
        (15, 7) => f64::NAN,
        (0, _) => fraction * (-6_f64).exp2(),
        _ => (1.0 + fraction) * f64::from(exponent - 7).exp2(),
    };
    if byte < 128 { size } else { -size }
}

/// Decodes a byte of `f8E5M2`, which is the upper half of a half-precision number.
#[must_use]
pub fn decode_e5m2(byte: u8) -> f64 {
    half::f16::from_le_bytes([0, byte]).to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_bytes_of_each_format() {
        assert_eq!(
            [0x00, 0x01, 0x08, 0x38, 0x7e, 0xb8].map(decode_e4m3fn),
            [0.0, 0.001_953_125, 0.015_625, 1.0, 448.0, -1.0]
        );
        assert!([0x7f, 0xff].map(decode_e4m3fn).iter().all(|number| number.is_nan()));
        assert_eq!(
            [0x01, 0x3c, 0x7b, 0xbc, 0x7c].map(decode_e5m2),
            [(-16_f64).exp2(), 1.0, 57_344.0, -1.0, f64::INFINITY]
        );
        assert!(decode_e5m2(0x7e).is_nan());
    }
}
