//! Constants of an op, and their bits ("SuperDSC schema, sections 4 and 6").

use crate::bundle::OpSpec;
use crate::{bundle::OpFamily, launch::geometry::Geometry};
use machine::DeviceFormat;
use sdsc_format::model::{BitsList, ConstantBits, ConstantInfo, Constants, FoldMap, Text};

/// Name of the constant that replaces masked padding.
const MASK_VALUE: &str = "samv-maskvalue";

/// Returns the constants of an op, and the number of the one that masks padding.
pub(super) fn build_constants(op: &OpSpec, geometry: &Geometry, format: DeviceFormat) -> (Constants, i64) {
    let mut values = collect_named_values(op, geometry);
    let mut mask = -1;
    if !geometry.masked.is_empty() {
        // Files number the constants in order, and the mask is last. The reference emitter of August 2026 always wrote
        // 0 here, which is wrong if an op has constants of its own (torch-spyre issue 4390).
        mask = i64::try_from(values.len()).expect("fewer than 2^63");
        values.push((MASK_VALUE.to_owned().into(), mask_value(&op.function)));
    }
    let infos = values
        .into_iter()
        .enumerate()
        .map(|(number, (name, value))| (number, constant_info(name, value, geometry.num_cores(), format)));
    (Constants(infos.collect()), mask)
}

fn collect_named_values(op: &OpSpec, geometry: &Geometry) -> Vec<(Text, f64)> {
    match geometry.family {
        // The scale of a pooling has different names in the device function and in the front end.
        OpFamily::Pool => {
            let scale = op.constants.iter().find(|constant| constant.name == "scaling_factor");
            vec![("nmap".into(), scale.map_or(1.0, |constant| constant.value))]
        }
        OpFamily::Matmul
        | OpFamily::Conv2d
        | OpFamily::Depthwise
        | OpFamily::TopK
        | OpFamily::Reduction
        | OpFamily::Elementwise => {
            op.constants.iter().map(|constant| (constant.name.clone().into(), constant.value)).collect()
        }
    }
}

/// Returns the padding value that is neutral for a device function: it does not change the result.
fn mask_value(function: &str) -> f64 {
    match function {
        "max" | "exp" => f64::NEG_INFINITY,
        "min" => f64::INFINITY,
        _ => 0.0,
    }
}

fn constant_info(name: Text, value: f64, cores: i64, format: DeviceFormat) -> ConstantInfo {
    let bits = ConstantBits::Known(constant_bits(value, format));
    let data = FoldMap::from_constant(cores, BitsList(vec![bits]));
    ConstantInfo { format: format.name().into(), name, data }
}

/// Returns the bits of a constant in an op that computes in `format`.
///
/// Ops in [`DeviceFormat::IeeeFp32`] use single precision, all other ops use DL16.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "constants are rounded to single precision first, as the reference does"
)]
pub fn constant_bits(value: f64, format: DeviceFormat) -> u32 {
    match format {
        DeviceFormat::IeeeFp32 => (value as f32).to_bits(),
        DeviceFormat::Sen169Fp16
        | DeviceFormat::IeeeInt32
        | DeviceFormat::SenUint32
        | DeviceFormat::SenInt8
        | DeviceFormat::SenInt4
        | DeviceFormat::Sen143Fp8
        | DeviceFormat::Sen152Fp8 => u32::from(dl16_bits(value as f32)),
    }
}

/// Returns the bits of a value in DL16: 1 sign, 6 exponent (bias 31) and 9 mantissa bits, rounded to nearest, ties to
/// even.
///
/// Established facts (later torch-spyre sources): the layout, and values that need no rounding. Exponent field 63 is an
/// ordinary exponent, and `0x7ffe` is the largest finite value. The host's converter saturates at 2^32, which is
/// `0x7e00`. It converts infinity to a NaN, which would poison a masked `max`.
///
/// Assumptions without a public source: exponent field 0 holds subnormals as in IEEE 754. Infinities become the
/// saturated value, 2^32 with their sign. That suffices for its use, masked padding in `max`, `min` and `exp`. A NaN
/// becomes the all-ones pattern.
#[must_use]
pub fn dl16_bits(value: f32) -> u16 {
    const LARGEST_EXPONENT: u32 = 0x3f;
    const DROPPED: u32 = 14;
    let single = value.to_bits();
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_nan() {
        return sign | 0x7fff;
    }
    // Exponent of the single-precision number, with DL16's bias.
    let exponent = i64::from((single >> 23) & 0xff) - 127 + 31;
    let significand = (single & 0x007f_ffff) | 0x0080_0000;
    let magnitude = match u32::try_from(exponent) {
        Ok(exponent @ 1..) if exponent < LARGEST_EXPONENT => {
            // A carry out of the mantissa raises the exponent, which is the correct result.
            round_to_even((exponent << 23) | (significand & 0x007f_ffff), DROPPED)
        }
        Ok(1..) => LARGEST_EXPONENT << 9,
        // A subnormal single-precision number is far below the smallest DL16 value.
        Ok(_) | Err(_) => {
            let shift = u32::try_from(1 - exponent).unwrap_or(u32::MAX).saturating_add(DROPPED);
            if shift > 31 { 0 } else { round_to_even(significand, shift) }
        }
    };
    sign | u16::try_from(magnitude.min(LARGEST_EXPONENT << 9)).expect("6 bits of exponent and 9 of mantissa")
}

/// Returns `value` without its last `dropped` bits, rounded to nearest, ties to even.
const fn round_to_even(value: u32, dropped: u32) -> u32 {
    let kept = value >> dropped;
    let rest = value & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    if rest > half || (rest == half && kept & 1 == 1) { kept + 1 } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_established_values() {
        let known = [(0.0, 0), (1.0 / 256.0, 11776), (1e-5, 7327), (1.0 / 2880.0, 9944), (1.0, 15872), (20.0, 18048)];
        for (value, expected) in known {
            assert_eq!(constant_bits(value, DeviceFormat::Sen169Fp16), expected, "{value}");
        }
        assert_eq!(constant_bits(1.0, DeviceFormat::IeeeFp32), 0x3f80_0000);
    }

    #[test]
    fn rounds_halves_to_even() {
        assert_eq!(dl16_bits(1.0 + 1.0 / 1024.0), 15872);
        assert_eq!(dl16_bits(1.0 + 3.0 / 1024.0), 15874);
        assert_eq!(dl16_bits(-1.0 - 3.0 / 1024.0), 0xbe02);
        assert_eq!(dl16_bits(2.0 - 1.0 / 4096.0), 16384);
    }

    #[test]
    fn saturates_large_values() {
        assert_eq!(dl16_bits(f32::INFINITY), 0x7e00);
        assert_eq!(dl16_bits(f32::NEG_INFINITY), 0xfe00);
        assert_eq!(dl16_bits(f32::MAX), 0x7e00);
        assert_eq!(dl16_bits(4_292_870_144.0), 0x7e00);
        assert_eq!(dl16_bits(4_290_772_992.0), 0x7dff);
    }

    #[test]
    fn encodes_tiny_values_as_subnormals() {
        assert_eq!(dl16_bits(2f32.powi(-30)), 0x0200);
        assert_eq!(dl16_bits(2f32.powi(-39)), 1);
        assert_eq!(dl16_bits(2f32.powi(-40)), 0);
        assert_eq!(dl16_bits(1.5 * 2f32.powi(-40)), 1);
        assert_eq!(dl16_bits(f32::MIN_POSITIVE), 0);
        assert_eq!(dl16_bits(-0.0), 0x8000);
    }
}
