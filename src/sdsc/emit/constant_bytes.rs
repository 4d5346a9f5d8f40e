//! Bytes of a constant: conversion from the elements of the program to device memory, and back.
//!
//! Bytes that hold no host element are zero: lanes after the last element of a row, added rows, and the other lanes of
//! a sparse stick. So a matmul may read past K, and the file does not depend on how it was made.

use super::constant_error::ConstantError;
use super::constants::dl16_bits;
use super::element_map::ElementMap;
use half::{bf16, f16};
use machine::{DeviceFormat, ElementType};
use program::layout::DeviceLayout;
use std::borrow::Cow;

/// Elements of a constant as the program stores them.
#[derive(Clone, Copy, Debug)]
pub struct HostElements<'a> {
    /// The type of an element.
    pub element: ElementType,
    /// The sizes of the tensor.
    pub shape: &'a [i64],
    /// Elements one after another, row-major and little endian, each in whole bytes; booleans in bytes, or eight in a
    /// byte.
    pub bytes: &'a [u8],
    /// Whether there is one element, which stands for all.
    pub is_splat: bool,
}

/// Returns the device-memory image of a constant: [`DeviceLayout::bytes`] bytes.
///
/// Floats become DL16 as [`dl16_bits`] rounds, or single precision; booleans are 0 and 1; integers keep 32 bits. The
/// conversion takes one pass over the memory.
///
/// # Errors
/// See [`ConstantError`].
pub fn encode_device_bytes(host: &HostElements<'_>, layout: &DeviceLayout) -> Result<Vec<u8>, ConstantError> {
    let places = ElementMap::new(host.shape, layout)?;
    let format = layout.format();
    let unknown = || ConstantError::Format { element: host.element.to_string(), format };
    let bytes = check_bytes(host, places.num_elements())?;
    let store =
        ElementEncoder { places: &places, bytes: &bytes, is_splat: host.is_splat, device_bytes: layout.bytes() };
    match (host.element, format) {
        (ElementType::F16, DeviceFormat::Sen169Fp16) => {
            let table = build_dl16_table(|bits| f16::from_bits(bits).to_f32(), bytes.len());
            Ok(store.encode_all(|raw| table.convert(u16::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::Bf16, DeviceFormat::Sen169Fp16) => {
            let table = build_dl16_table(|bits| bf16::from_bits(bits).to_f32(), bytes.len());
            Ok(store.encode_all(|raw| table.convert(u16::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::F32, DeviceFormat::Sen169Fp16) => {
            Ok(store.encode_all(|raw| dl16_bits(f32::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::F64, DeviceFormat::Sen169Fp16) => {
            Ok(store.encode_all(|raw| dl16_bits(to_single(raw)).to_le_bytes()))
        }
        (ElementType::Bool, DeviceFormat::Sen169Fp16) => {
            Ok(store.encode_all(|[raw]: [u8; 1]| dl16_bits(bool_value(raw)).to_le_bytes()))
        }
        (ElementType::F16, DeviceFormat::IeeeFp32) => {
            Ok(store.encode_all(|raw| f16::from_le_bytes(raw).to_f32().to_le_bytes()))
        }
        (ElementType::Bf16, DeviceFormat::IeeeFp32) => {
            Ok(store.encode_all(|raw| bf16::from_le_bytes(raw).to_f32().to_le_bytes()))
        }
        (ElementType::F64, DeviceFormat::IeeeFp32) => Ok(store.encode_all(|raw| to_single(raw).to_le_bytes())),
        (ElementType::F32, DeviceFormat::IeeeFp32)
        | (ElementType::I32, DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32) => {
            Ok(store.encode_all(|raw: [u8; 4]| raw))
        }
        (ElementType::I8, DeviceFormat::Sen169Fp16) => {
            Ok(store.encode_all(|[raw]: [u8; 1]| dl16_bits(raw.cast_signed().into()).to_le_bytes()))
        }
        (ElementType::I8, DeviceFormat::IeeeFp32) => {
            Ok(store.encode_all(|[raw]: [u8; 1]| f32::from(raw.cast_signed()).to_le_bytes()))
        }
        (ElementType::Bool, DeviceFormat::IeeeFp32) => {
            Ok(store.encode_all(|[raw]: [u8; 1]| bool_value(raw).to_le_bytes()))
        }
        (ElementType::I64, DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32) => {
            check_range(&bytes, format)?;
            Ok(store.encode_all(|[a, b, c, d, ..]: [u8; 8]| [a, b, c, d]))
        }
        _ => Err(unknown()),
    }
}

/// Returns a number as the device receives it: rounded to single precision first.
#[expect(clippy::cast_possible_truncation, reason = "the device has no wider numbers")]
const fn to_single(raw: [u8; 8]) -> f32 {
    f64::from_le_bytes(raw) as f32
}

/// Returns an 8-bit integer that the device holds as a number.
#[expect(clippy::cast_possible_truncation, reason = "the number is an integer of 8 bits")]
const fn to_byte(number: f32) -> i8 {
    number as i8
}

/// Returns whether the original elements cannot be recovered from the device's numbers: floats that DL16 cannot
/// represent, and the number that encodes infinity.
#[must_use]
pub fn is_rounded(host: &HostElements<'_>, format: DeviceFormat) -> bool {
    let changes = |value: f32| is_rounded_number(value.into(), format);
    match host.element {
        ElementType::F16 => host.bytes.as_chunks().0.iter().any(|raw| changes(f16::from_le_bytes(*raw).to_f32())),
        ElementType::Bf16 => host.bytes.as_chunks().0.iter().any(|raw| changes(bf16::from_le_bytes(*raw).to_f32())),
        ElementType::F32 => host.bytes.as_chunks().0.iter().any(|raw| changes(f32::from_le_bytes(*raw))),
        ElementType::F64 => {
            host.bytes.as_chunks().0.iter().any(|raw| is_rounded_number(f64::from_le_bytes(*raw), format))
        }
        _ => false,
    }
}

/// Returns whether a number is read back as another value.
#[must_use]
pub fn is_rounded_number(value: f64, format: DeviceFormat) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "numbers are rounded to single precision first")]
    let single = value as f32;
    let device = match format {
        DeviceFormat::Sen169Fp16 => decode_dl16(dl16_bits(single).to_le_bytes()),
        _ => single,
    };
    // Infinities become a number of DL16, which is read as an infinity again.
    let is_limit = format == DeviceFormat::Sen169Fp16 && device.abs() == DL16_INFINITY;
    if is_limit { value.is_finite() } else { !value.is_nan() && f64::from(device) != value }
}

/// Value that an infinity becomes in DL16: 2^32.
const DL16_INFINITY: f32 = 4_294_967_296.0;

/// Converts the elements of a tensor from device memory to [`HostElements`] order; booleans in bytes. It is the inverse
/// of [`encode_device_bytes`], except for rounding.
///
/// # Errors
/// See [`ConstantError`].
pub fn decode_host_bytes(
    device: &[u8],
    layout: &DeviceLayout,
    element: ElementType,
    shape: &[i64],
) -> Result<Vec<u8>, ConstantError> {
    let places = ElementMap::new(shape, layout)?;
    let format = layout.format();
    let expected = layout.bytes();
    if i64::try_from(device.len()) != Ok(expected) {
        return Err(ConstantError::Length {
            found: device.len(),
            elements: layout.elements(),
            element: format.to_string(),
            expected,
        });
    }
    let load = ElementDecoder { places: &places, device };
    match (element, format) {
        (ElementType::F16, DeviceFormat::Sen169Fp16) => {
            Ok(load.decode_all(|raw| f16::from_f32(decode_dl16(raw)).to_le_bytes()))
        }
        (ElementType::Bf16, DeviceFormat::Sen169Fp16) => {
            Ok(load.decode_all(|raw| bf16::from_f32(decode_dl16(raw)).to_le_bytes()))
        }
        (ElementType::F32, DeviceFormat::Sen169Fp16) => Ok(load.decode_all(|raw| decode_dl16(raw).to_le_bytes())),
        (ElementType::F64, DeviceFormat::Sen169Fp16) => {
            Ok(load.decode_all(|raw| f64::from(decode_dl16(raw)).to_le_bytes()))
        }
        (ElementType::F64, DeviceFormat::IeeeFp32) => {
            Ok(load.decode_all(|raw| f64::from(f32::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::Bool, DeviceFormat::Sen169Fp16) => Ok(load.decode_all(|raw| [u8::from(decode_dl16(raw) != 0.0)])),
        (ElementType::F16, DeviceFormat::IeeeFp32) => {
            Ok(load.decode_all(|raw| f16::from_f32(f32::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::Bf16, DeviceFormat::IeeeFp32) => {
            Ok(load.decode_all(|raw| bf16::from_f32(f32::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::F32, DeviceFormat::IeeeFp32)
        | (ElementType::I32, DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32) => {
            Ok(load.decode_all(|raw: [u8; 4]| raw))
        }
        (ElementType::I8, DeviceFormat::Sen169Fp16) => {
            Ok(load.decode_all(|raw| [to_byte(decode_dl16(raw)).cast_unsigned()]))
        }
        (ElementType::I8, DeviceFormat::IeeeFp32) => {
            Ok(load.decode_all(|raw| [to_byte(f32::from_le_bytes(raw)).cast_unsigned()]))
        }
        (ElementType::Bool, DeviceFormat::IeeeFp32) => {
            Ok(load.decode_all(|raw| [u8::from(f32::from_le_bytes(raw) != 0.0)]))
        }
        (ElementType::I64, DeviceFormat::IeeeInt32) => {
            Ok(load.decode_all(|raw| i64::from(i32::from_le_bytes(raw)).to_le_bytes()))
        }
        (ElementType::I64, DeviceFormat::SenUint32) => {
            Ok(load.decode_all(|raw| i64::from(u32::from_le_bytes(raw)).to_le_bytes()))
        }
        _ => Err(ConstantError::Format { element: element.to_string(), format }),
    }
}

/// Returns the bytes of the elements if their number is as expected.
fn check_bytes<'a>(host: &HostElements<'a>, num_elements: i64) -> Result<Cow<'a, [u8]>, ConstantError> {
    let bytes_each = i64::try_from(host.element.bytes()).expect("a few bytes");
    let elements = if host.is_splat { 1 } else { num_elements };
    let found = i64::try_from(host.bytes.len()).expect("fewer than 2^63");
    if elements.checked_mul(bytes_each) == Some(found) {
        return Ok(Cow::Borrowed(host.bytes));
    }
    if host.element == ElementType::Bool && found == (elements + 7) / 8 {
        let bit = |index: usize| (host.bytes[index / 8] >> (index % 8)) & 1;
        return Ok(Cow::Owned((0..usize::try_from(elements).expect("as many as there are bits")).map(bit).collect()));
    }
    let expected = elements.saturating_mul(bytes_each);
    Err(ConstantError::Length { found: host.bytes.len(), elements, element: host.element.to_string(), expected })
}

fn check_range(bytes: &[u8], format: DeviceFormat) -> Result<(), ConstantError> {
    let (least, most) =
        if format == DeviceFormat::SenUint32 { (0, i64::from(u32::MAX)) } else { (i32::MIN.into(), i32::MAX.into()) };
    let mut values = bytes.as_chunks().0.iter().map(|raw| i64::from_le_bytes(*raw)).enumerate();
    match values.find(|(_, value)| !(least..=most).contains(value)) {
        Some((index, value)) => Err(ConstantError::Range { index, value, format }),
        None => Ok(()),
    }
}

/// Returns 0 or 1. MLIR's splat of `true` has all bits set.
fn bool_value(raw: u8) -> f32 {
    f32::from(u8::from(raw != 0))
}

/// Conversion of 16 bits to DL16, precomputed for all bit patterns if there are many elements.
struct Dl16Table<V> {
    value: V,
    known: Vec<u16>,
}

fn build_dl16_table<V: Fn(u16) -> f32>(value: V, num_bytes: usize) -> Dl16Table<V> {
    let is_worth_it = num_bytes > 2 * usize::from(u16::MAX);
    let known = if is_worth_it { (0..=u16::MAX).map(|bits| dl16_bits(value(bits))).collect() } else { Vec::new() };
    Dl16Table { value, known }
}

impl<V: Fn(u16) -> f32> Dl16Table<V> {
    fn convert(&self, bits: u16) -> u16 {
        self.known.get(usize::from(bits)).copied().unwrap_or_else(|| dl16_bits((self.value)(bits)))
    }
}

/// Returns the value of DL16 bits; see [`dl16_bits`].
fn decode_dl16(raw: [u8; 2]) -> f32 {
    let bits = u16::from_le_bytes(raw);
    let magnitude = bits & 0x7fff;
    // The exponent bias is 31, and 127 in single precision: scaling the shifted bits by the difference yields the
    // value, for subnormals as well.
    let value = f32::from_bits(u32::from(magnitude) << 14) * f32::from_bits((127 + 127 - 31) << 23);
    let value = if magnitude == 0x7fff { f32::NAN } else { value };
    if bits & 0x8000 == 0 { value } else { -value }
}

/// Conversion of elements to device memory.
struct ElementEncoder<'a> {
    places: &'a ElementMap,
    bytes: &'a [u8],
    is_splat: bool,
    device_bytes: i64,
}

impl ElementEncoder<'_> {
    fn encode_all<const HOST: usize, const DEVICE: usize>(
        &self,
        convert: impl Fn([u8; HOST]) -> [u8; DEVICE],
    ) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.device_bytes).expect("a size is not negative")];
        let device = bytes.as_chunks_mut::<DEVICE>().0;
        let host = self.bytes.as_chunks::<HOST>().0;
        self.places.visit_runs(|run| {
            let to = &mut device[run.device..][..run.count];
            match run.host_stride {
                _ if self.is_splat => to.fill(convert(host[0])),
                1 => to.iter_mut().zip(&host[run.host..]).for_each(|(to, from)| *to = convert(*from)),
                stride => {
                    to.iter_mut().enumerate().for_each(|(step, to)| *to = convert(host[run.host + step * stride]))
                }
            }
        });
        bytes
    }
}

/// Conversion of elements from device memory.
struct ElementDecoder<'a> {
    places: &'a ElementMap,
    device: &'a [u8],
}

impl ElementDecoder<'_> {
    fn decode_all<const HOST: usize, const DEVICE: usize>(
        &self,
        convert: impl Fn([u8; DEVICE]) -> [u8; HOST],
    ) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.places.num_elements()).expect("a size is not negative") * HOST];
        let host = bytes.as_chunks_mut::<HOST>().0;
        let device = self.device.as_chunks::<DEVICE>().0;
        self.places.visit_runs(|run| {
            for (step, from) in device[run.device..][..run.count].iter().enumerate() {
                host[run.host + step * run.host_stride] = convert(*from);
            }
        });
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat::{IeeeFp32, IeeeInt32, Sen169Fp16, SenUint32};
    use program::layout::{DimOrder, HostTensor};

    fn row_major(shape: &[i64], format: DeviceFormat) -> DeviceLayout {
        DeviceLayout::row_major(shape, format).unwrap()
    }

    fn halves(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
    }

    fn words(bytes: &[u8]) -> Vec<u16> {
        bytes.as_chunks().0.iter().map(|raw| u16::from_le_bytes(*raw)).collect()
    }

    #[test]
    fn stores_scalar_in_stick_of_zeros() {
        let bytes = halves(&[1e-5]);
        let host = HostElements { element: ElementType::F16, shape: &[1, 1], bytes: &bytes, is_splat: true };
        let stored = words(&encode_device_bytes(&host, &row_major(&[1, 1], Sen169Fp16)).unwrap());
        assert_eq!((stored.len(), stored[0]), (64, dl16_bits(f16::from_f32(1e-5).to_f32())));
        assert!(stored[1..].iter().all(|word| *word == 0));
    }

    #[test]
    fn zeroes_padding_and_keeps_element_bits() {
        let values: Vec<f32> = (0..300_u16).map(|value| f32::from(value) - 150.0).collect();
        let bytes = halves(&values);
        let host = HostElements { element: ElementType::F16, shape: &[3, 100], bytes: &bytes, is_splat: false };
        let stored = words(&encode_device_bytes(&host, &row_major(&[3, 100], Sen169Fp16)).unwrap());
        assert_eq!(stored[(3 + 2) * 64 + 35], dl16_bits(149.0), "element (2, 99)");
        assert_eq!(stored[64], dl16_bits(-50.0), "element (1, 0)");
        assert_eq!(stored[(3 + 2) * 64 + 36], 0, "behind the row");
        assert_eq!(stored.iter().filter(|word| **word == 0).count(), 6 * 64 - 300 + 1, "one element is 0");
    }

    #[test]
    fn fills_only_elements_of_splat() {
        let stored = |shape: &[i64], element, format, bytes: &[u8]| {
            encode_device_bytes(&HostElements { element, shape, bytes, is_splat: true }, &row_major(shape, format))
                .unwrap()
        };
        let ones = words(&stored(&[2, 70], ElementType::Bf16, Sen169Fp16, &bf16::ONE.to_le_bytes()));
        assert_eq!(ones.iter().filter(|word| **word == dl16_bits(1.0)).count(), 140);
        assert_eq!(words(&stored(&[70], ElementType::Bool, Sen169Fp16, &[0xff]))[69..71], [dl16_bits(1.0), 0]);
        assert_eq!(
            stored(&[33], ElementType::F32, IeeeFp32, &2.5_f32.to_le_bytes())[32 * 4..33 * 4],
            2.5_f32.to_le_bytes()
        );
    }

    #[test]
    fn stores_column_in_transposed_stick() {
        let values: Vec<f32> = (0..384_u16).map(f32::from).collect();
        let bytes = halves(&values);
        let layout =
            DeviceLayout::new(&HostTensor::row_major(&[128, 3]).unwrap(), Sen169Fp16, &DimOrder::dense(&[1, 0]))
                .unwrap();
        let host = HostElements { element: ElementType::F16, shape: &[128, 3], bytes: &bytes, is_splat: false };
        let stored = words(&encode_device_bytes(&host, &layout).unwrap());
        assert_eq!((layout.device_size(), stored[1]), (&[2, 3, 64][..], dl16_bits(3.0)));
        assert_eq!(stored[(3 + 2) * 64], dl16_bits(64.0 * 3.0 + 2.0), "row 64 of column 2");
    }

    #[test]
    fn reads_booleans_from_bits_or_bytes() {
        let stored = |bytes: &[u8]| {
            let host = HostElements { element: ElementType::Bool, shape: &[10], bytes, is_splat: false };
            words(&encode_device_bytes(&host, &row_major(&[10], Sen169Fp16)).unwrap())
        };
        let one = dl16_bits(1.0);
        assert_eq!(stored(&[0b0000_0101, 0b10])[..10], [one, 0, one, 0, 0, 0, 0, 0, 0, one]);
        assert_eq!(stored(&[1, 0, 1, 0, 0, 0, 0, 0, 0, 1]), stored(&[0b0000_0101, 0b10]));
    }

    #[test]
    fn keeps_bits_of_integers_in_range() {
        let stored = |values: &[i64], format| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let host = HostElements { element: ElementType::I64, shape: &[2], bytes: &bytes, is_splat: false };
            encode_device_bytes(&host, &row_major(&[2], format))
        };
        assert_eq!(stored(&[-1, 7], IeeeInt32).unwrap()[..8], [0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0]);
        let rejected = ConstantError::Range { index: 1, value: 1 << 31, format: IeeeInt32 };
        assert_eq!(stored(&[0, 1 << 31], IeeeInt32), Err(rejected));
        assert!(stored(&[0, 1 << 31], SenUint32).is_ok() && stored(&[0, -1], SenUint32).is_err());
    }

    #[test]
    fn rejects_elements_that_do_not_fit() {
        let reject = |element, bytes: &[u8], is_splat| {
            encode_device_bytes(&HostElements { element, shape: &[4], bytes, is_splat }, &row_major(&[4], Sen169Fp16))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(reject(ElementType::F16, &[0; 6], false), "found 6 bytes, where 4 elements of 'f16' have 8");
        assert_eq!(reject(ElementType::F16, &[], true), "found 0 bytes, where 1 elements of 'f16' have 2");
        assert_eq!(
            reject(ElementType::I32, &[0; 16], false),
            "elements of 'i32' cannot be stored in the device format SEN169_FP16"
        );
    }

    /// Converts many elements, which go through a table, and few, which do not.
    #[test]
    fn converts_halves_like_single_precision() {
        let table = build_dl16_table(|bits| f16::from_bits(bits).to_f32(), 1 << 20);
        let bits = 0..=u16::MAX;
        assert!(bits.clone().all(|bits| table.convert(bits) == dl16_bits(f16::from_bits(bits).to_f32())));
        let small = build_dl16_table(|bits| f16::from_bits(bits).to_f32(), 2);
        assert!(small.known.is_empty() && bits.clone().all(|bits| small.convert(bits) == table.convert(bits)));
    }

    #[test]
    fn round_trips_dl16_bits() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7fff <= 0x7e00 || bits & 0x7fff == 0x7fff) {
            assert_eq!(dl16_bits(decode_dl16(bits.to_le_bytes())), bits, "{bits:#x}");
        }
    }

    #[test]
    fn round_trips_device_bytes() {
        let cases: [(ElementType, DeviceFormat, usize); 12] = [
            (ElementType::F16, Sen169Fp16, 2),
            (ElementType::Bf16, Sen169Fp16, 2),
            (ElementType::F32, Sen169Fp16, 4),
            (ElementType::F64, Sen169Fp16, 8),
            (ElementType::Bool, Sen169Fp16, 1),
            (ElementType::I8, Sen169Fp16, 1),
            (ElementType::I8, IeeeFp32, 1),
            (ElementType::F64, IeeeFp32, 8),
            (ElementType::F16, IeeeFp32, 2),
            (ElementType::F32, IeeeFp32, 4),
            (ElementType::I32, IeeeInt32, 4),
            (ElementType::I64, IeeeInt32, 8),
        ];
        let shape = [5, 70];
        for (element, format, width) in cases {
            // Small numbers of either sign in every type: the high bytes are those of 1.0 or of 0.
            let element_bytes = |index: usize| -> Vec<u8> {
                let mut raw = vec![0; width];
                raw[0] = u8::try_from(index % 251).unwrap();
                match element {
                    ElementType::Bool => raw[0] = u8::from(index.is_multiple_of(3)),
                    ElementType::F16 | ElementType::Bf16 | ElementType::F32 => {
                        raw[width - 1] = if index.is_multiple_of(2) { 0x3c } else { 0xbc }
                    }
                    ElementType::F64 => raw[width - 1] = if index.is_multiple_of(2) { 0x3f } else { 0xbf },
                    _ => {}
                }
                raw
            };
            let bytes: Vec<u8> = (0..350).flat_map(element_bytes).collect();
            let layout =
                DeviceLayout::new(&HostTensor::row_major(&shape).unwrap(), format, &DimOrder::with_stick(&shape, 0))
                    .unwrap();
            let store = |bytes: &[u8]| {
                encode_device_bytes(&HostElements { element, shape: &shape, bytes, is_splat: false }, &layout).unwrap()
            };
            let stored = store(&bytes);
            assert_eq!(
                store(&decode_host_bytes(&stored, &layout, element, &shape).unwrap()),
                stored,
                "{element} as {format}"
            );
        }
    }
}
