//! The device's numbers as bit patterns, and their conversion to and from `f32`.
//!
//! Every function of the simulated machine computes in `f32` and rounds once, at the store, to the format of the
//! tensor. `docs/reference/simulator.md` lists each choice with its source, and marks choices without a public source
//! as assumptions.

mod dl16;
mod float8;
mod int4;

pub use dl16::{DL16_MAX, DL16_SATURATED, dl16_from_f32, dl16_from_host, dl16_to_f32};
pub use float8::{E4M3, E5M2, Float8Format};

use machine::DeviceFormat;

/// Byte that poisoned memory holds: every float format reads it as NaN, the integer formats as -1 or their maximum.
pub const POISON_BYTE: u8 = 0xff;

/// Returns the bytes of one element, as a length. A packed element shares its byte with others.
#[must_use]
pub const fn element_width(format: DeviceFormat) -> usize {
    match format {
        DeviceFormat::Sen169Fp16 => 2,
        DeviceFormat::IeeeFp32 | DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32 => 4,
        DeviceFormat::SenInt8 | DeviceFormat::SenInt4 | DeviceFormat::Sen143Fp8 | DeviceFormat::Sen152Fp8 => 1,
    }
}

/// Decodes `out.len()` elements: the first at bit `first_bit`, and each next one `stride` elements after it.
///
/// # Panics
/// An element is outside of `bytes`. The checks before an operation prevent this.
pub fn decode_run(format: DeviceFormat, bytes: &[u8], first_bit: usize, stride: i64, out: &mut [f32]) {
    let start = first_bit / 8;
    match format {
        DeviceFormat::SenInt4 => int4::decode_run(bytes, first_bit / int4::BITS, stride, out),
        DeviceFormat::Sen169Fp16 => {
            decode_strided::<2>(bytes, start, stride, out, |raw| dl16_to_f32(u16::from_le_bytes(raw)))
        }
        DeviceFormat::IeeeFp32 => decode_strided::<4>(bytes, start, stride, out, f32::from_le_bytes),
        DeviceFormat::IeeeInt32 => decode_strided::<4>(bytes, start, stride, out, |raw| i32::from_le_bytes(raw) as f32),
        DeviceFormat::SenUint32 => decode_strided::<4>(bytes, start, stride, out, |raw| u32::from_le_bytes(raw) as f32),
        DeviceFormat::SenInt8 => decode_strided::<1>(bytes, start, stride, out, |[raw]| f32::from(raw as i8)),
        DeviceFormat::Sen143Fp8 => decode_strided::<1>(bytes, start, stride, out, |[raw]| E4M3.decode(raw)),
        DeviceFormat::Sen152Fp8 => decode_strided::<1>(bytes, start, stride, out, |[raw]| E5M2.decode(raw)),
    }
}

fn decode_strided<const W: usize>(
    bytes: &[u8],
    start: usize,
    stride: i64,
    out: &mut [f32],
    decode: impl Fn([u8; W]) -> f32,
) {
    let at = |position: usize| {
        let mut raw = [0; W];
        raw.copy_from_slice(&bytes[position..position + W]);
        raw
    };
    match stride {
        1 => {
            let elements = bytes[start..start + W * out.len()].as_chunks::<W>().0;
            out.iter_mut().zip(elements).for_each(|(value, raw)| *value = decode(*raw));
        }
        0 => out.fill(decode(at(start))),
        _ => {
            let step = stride as isize * W as isize;
            let mut position = start;
            for value in out {
                *value = decode(at(position));
                position = position.wrapping_add_signed(step);
            }
        }
    }
}

/// Rounds values to a format, as a store does: to nearest, ties to even, saturating at the largest finite value.
pub fn encode_run(format: DeviceFormat, values: &[f32], out: &mut Vec<u8>) {
    match format {
        DeviceFormat::Sen169Fp16 => encode_values(values, out, |value| dl16_from_f32(value).to_le_bytes()),
        DeviceFormat::IeeeFp32 => encode_values(values, out, f32::to_le_bytes),
        // `as` saturates and turns NaN into 0. The behavior of the device is unknown for both.
        DeviceFormat::IeeeInt32 => encode_values(values, out, |value| (value.round_ties_even() as i32).to_le_bytes()),
        DeviceFormat::SenUint32 => encode_values(values, out, |value| (value.round_ties_even() as u32).to_le_bytes()),
        DeviceFormat::SenInt8 => encode_values(values, out, |value| (value.round_ties_even() as i8).to_le_bytes()),
        DeviceFormat::SenInt4 => int4::encode_values(values, out),
        DeviceFormat::Sen143Fp8 => encode_values(values, out, |value| [E4M3.encode(value)]),
        DeviceFormat::Sen152Fp8 => encode_values(values, out, |value| [E5M2.encode(value)]),
    }
}

/// Rounds values as the host's converter does: like [`encode_run`], but DL16 saturates earlier.
pub fn encode_host_run(format: DeviceFormat, values: &[f32], out: &mut Vec<u8>) {
    if format == DeviceFormat::Sen169Fp16 {
        encode_values(values, out, |value| dl16_from_host(value).to_le_bytes());
    } else {
        encode_run(format, values, out);
    }
}

fn encode_values<const W: usize>(values: &[f32], out: &mut Vec<u8>, encode: impl Fn(f32) -> [u8; W]) {
    let start = out.len();
    out.resize(start + W * values.len(), 0);
    let slots = out[start..].as_chunks_mut::<W>().0;
    slots.iter_mut().zip(values).for_each(|(slot, &value)| *slot = encode(value));
}

/// Decodes the bits of a constant in a file.
///
/// Constants are stored in the format of the op, if it is IEEE single precision, and otherwise in DL16 ("SuperDSC
/// schema, section 6, bits").
#[must_use]
pub fn decode_constant(format: DeviceFormat, bits: u32) -> f32 {
    match format {
        DeviceFormat::IeeeFp32 => f32::from_bits(bits),
        DeviceFormat::Sen169Fp16
        | DeviceFormat::IeeeInt32
        | DeviceFormat::SenUint32
        | DeviceFormat::SenInt8
        | DeviceFormat::SenInt4
        | DeviceFormat::Sen143Fp8
        | DeviceFormat::Sen152Fp8 => dl16_to_f32(bits as u16),
    }
}

/// Returns the program's number for a device number, as far as it can be recovered: DL16 has no infinities, and the
/// host's converter saturates them.
#[must_use]
pub fn to_program_number(format: DeviceFormat, value: f32) -> f64 {
    let is_infinity = format != DeviceFormat::IeeeFp32 && value.abs() == dl16_to_f32(DL16_SATURATED);
    if is_infinity { f64::INFINITY.copysign(value.into()) } else { value.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_stored_values() {
        for format in DeviceFormat::ALL {
            let values = [0.0, 1.0, 2.0, 3.0, 16.0];
            let mut bytes = Vec::new();
            encode_run(format, &values, &mut bytes);
            assert_eq!(bytes.len(), element_width(format) * values.len());
            let mut read = [f32::NAN; 5];
            decode_run(format, &bytes, 0, 1, &mut read);
            assert_eq!(read, values, "{format}");
        }
    }

    #[test]
    fn decodes_strided_run() {
        let mut bytes = Vec::new();
        encode_run(DeviceFormat::Sen169Fp16, &[0.0, 1.0, 2.0, 3.0, 4.0], &mut bytes);
        let mut read = [0.0; 3];
        decode_run(DeviceFormat::Sen169Fp16, &bytes, 0, 2, &mut read);
        assert_eq!(read, [0.0, 2.0, 4.0]);
        decode_run(DeviceFormat::Sen169Fp16, &bytes, 6 * 8, 0, &mut read);
        assert_eq!(read, [3.0; 3]);
        decode_run(DeviceFormat::Sen169Fp16, &bytes, 8 * 8, -1, &mut read);
        assert_eq!(read, [4.0, 3.0, 2.0]);
    }

    #[test]
    fn decodes_poison_as_nan() {
        for format in
            [DeviceFormat::Sen169Fp16, DeviceFormat::IeeeFp32, DeviceFormat::Sen143Fp8, DeviceFormat::Sen152Fp8]
        {
            let mut value = [0.0];
            decode_run(format, &[POISON_BYTE; 4], 0, 1, &mut value);
            assert!(value[0].is_nan(), "{format}");
        }
    }
}
