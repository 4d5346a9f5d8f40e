//! Four-bit integers of the device, two to a byte.
//!
//! The element with the even position is in the low half of its byte (assumption: the order is not public).

/// Bits of an element.
pub(super) const BITS: usize = 4;

/// Half of a byte behind the last element: poison.
const PADDING: u8 = 0xf;

/// Decodes `out.len()` elements: the first at position `first`, and each next one `stride` positions after it.
pub(super) fn decode_run(bytes: &[u8], first: usize, stride: i64, out: &mut [f32]) {
    let mut position = first;
    for value in out {
        let shift = if position.is_multiple_of(2) { 0 } else { BITS };
        *value = f32::from(sign_extend(bytes[position / 2] >> shift));
        position = position.wrapping_add_signed(stride as isize);
    }
}

/// Appends the values, rounded to nearest, ties to even; saturates at -8 and 7.
pub(super) fn encode_values(values: &[f32], out: &mut Vec<u8>) {
    let encode = |value: f32| (value.round_ties_even().clamp(-8.0, 7.0) as i8 & 0xf) as u8;
    let bytes = values.chunks(2).map(|pair| {
        let high = pair.get(1).map_or(PADDING, |value| encode(*value));
        encode(pair[0]) | (high << BITS)
    });
    out.extend(bytes);
}

/// Returns the value of the low half of a byte.
const fn sign_extend(half: u8) -> i8 {
    ((half << BITS) as i8) >> BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_two_elements_to_a_byte() {
        let mut bytes = Vec::new();
        encode_values(&[1.0, -8.0, 7.4, 9.0, -2.5], &mut bytes);
        assert_eq!(bytes, [0x81, 0x77, 0xfe]);
        let mut read = [0.0; 5];
        decode_run(&bytes, 0, 1, &mut read);
        assert_eq!(read, [1.0, -8.0, 7.0, 7.0, -2.0]);
        let mut read = [0.0; 2];
        decode_run(&bytes, 3, -2, &mut read);
        assert_eq!(read, [7.0, -8.0]);
    }
}
