//! `SEN169_FP16`, also called DL16: 1 sign, 6 exponent bits with bias 31, 9 mantissa bits.
//!
//! * The largest finite value is 0x7ffe; exponent 63 is an ordinary exponent, and 0x7fff is not a number (later
//!   torch-spyre sources).
//! * The host converter saturates at 2^32, which is 0x7e00 (the same sources); infinities become that value.
//! * Assumptions: values below 2^-30 are spaced evenly as in IEEE 754, and a device store saturates at 0x7ffe.

/// Bits of the largest finite value, 2^32 * (1 + 510/512).
pub const DL16_MAX: u16 = 0x7ffe;

/// Bits of 2^32, where the host converter saturates.
pub const DL16_SATURATED: u16 = 0x7e00;

const NAN_BITS: u16 = 0x7fff;
const SIGN_BIT: u16 = 0x8000;

/// 2^96, for the difference of the exponent biases, 127 - 31.
const REBIAS: f32 = f32::from_bits((127 + 96) << 23);

/// 2^-16: an `f32` of this magnitude has the spacing 2^-39 of the smallest DL16 values.
const SUBNORMAL_ALIGNER: f32 = f32::from_bits((127 - 16) << 23);

/// Converts DL16 bits.
#[must_use]
pub fn dl16_to_f32(bits: u16) -> f32 {
    // Exponent and mantissa moved to their positions in f32 are off by the difference of the biases, for subnormal
    // values, too.
    let magnitude = f32::from_bits(u32::from(bits & NAN_BITS) << 14) * REBIAS;
    let magnitude = if bits & NAN_BITS == NAN_BITS { f32::NAN } else { magnitude };
    f32::from_bits(magnitude.to_bits() | (u32::from(bits & SIGN_BIT) << 16))
}

/// Rounds to DL16, ties to even; saturates at the largest finite value.
#[must_use]
pub fn dl16_from_f32(value: f32) -> u16 {
    round_to_dl16(value, DL16_MAX)
}

/// Rounds to DL16, ties to even, as the host's converter does: magnitudes above 2^32 saturate at 2^32.
#[must_use]
pub fn dl16_from_host(value: f32) -> u16 {
    round_to_dl16(value, DL16_SATURATED)
}

fn round_to_dl16(value: f32, limit: u16) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & SIGN_BIT;
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    let subnormal = (magnitude + SUBNORMAL_ALIGNER).to_bits().wrapping_sub(SUBNORMAL_ALIGNER.to_bits());
    let normal = ((bits + 0x1fff + ((bits >> 14) & 1)) >> 14).wrapping_sub(96 << 9);
    let rounded = if magnitude < f32::from_bits((127 - 30) << 23) { subnormal } else { normal };
    let finite = rounded.min(u32::from(limit)) as u16;
    sign | if value.is_nan() { NAN_BITS } else { finite }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_known_constants() {
        // "SuperDSC schema, section 6": 0 -> 0, 1/256 -> 11776, 1e-5 -> 7327, 1/2880 -> 9944; golden: 1.0 -> 15872,
        // 20.0 -> 18048.
        for (value, bits) in
            [(0.0, 0), (1.0 / 256.0, 11776), (1e-5, 7327), (1.0 / 2880.0, 9944), (1.0, 15872), (20.0, 18048)]
        {
            assert_eq!(dl16_from_f32(value), bits, "{value}");
        }
    }

    #[test]
    fn round_trips_every_pattern() {
        for bits in 0..=u16::MAX {
            let value = dl16_to_f32(bits);
            if bits & NAN_BITS == NAN_BITS {
                assert!(value.is_nan());
            } else {
                assert_eq!(dl16_from_f32(value), bits, "{bits:#x} is {value}");
            }
        }
    }

    #[test]
    fn orders_patterns_of_one_sign() {
        for bits in 0..DL16_MAX {
            assert!(dl16_to_f32(bits) < dl16_to_f32(bits + 1), "{bits:#x}");
        }
    }

    #[test]
    fn rounds_ties_to_even() {
        let step = 1.0 / 512.0;
        assert_eq!(dl16_from_f32(1.0 + step / 2.0), 15872);
        assert_eq!(dl16_from_f32(1.0 + step * 1.5), 15874);
        assert_eq!(dl16_from_f32(1.0 + step * 0.5001), 15873);
        let smallest = dl16_to_f32(1);
        assert_eq!(dl16_from_f32(smallest / 2.0), 0);
        assert_eq!(dl16_from_f32(smallest * 1.5), 2);
    }

    #[test]
    fn saturates_large_values() {
        assert_eq!(dl16_to_f32(DL16_SATURATED), 4_294_967_296.0);
        assert_eq!(dl16_from_f32(f32::INFINITY), DL16_MAX);
        assert_eq!(dl16_from_f32(-f32::MAX), DL16_MAX | SIGN_BIT);
        assert_eq!(dl16_from_host(f32::NEG_INFINITY), DL16_SATURATED | SIGN_BIT);
        assert_eq!(dl16_from_host(65504.0), dl16_from_f32(65504.0));
    }

    #[test]
    fn rounds_to_nearest_neighbour() {
        for bits in (0..DL16_MAX).step_by(7) {
            let (low, high) = (f64::from(dl16_to_f32(bits)), f64::from(dl16_to_f32(bits + 1)));
            let quarter = (low + (high - low) * 0.25) as f32;
            let three_quarters = (low + (high - low) * 0.75) as f32;
            assert_eq!((dl16_from_f32(quarter), dl16_from_f32(three_quarters)), (bits, bits + 1), "{bits:#x}");
        }
    }
}
