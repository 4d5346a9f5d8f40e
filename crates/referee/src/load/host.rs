//! Arrays of the caller, in host memory.

use crate::error::SimError;
use crate::number::{E4M3, E5M2, decode_run, dl16_to_f32, encode_host_run};
use machine::{DeviceFormat, ElementType, STICK_BYTES, UnknownElementType};
use sdsc_format::program::Tensor;

/// Elements of an array, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayElements {
    /// IEEE half precision, as bits.
    F16(Vec<u16>),
    /// bfloat16, as bits.
    Bf16(Vec<u16>),
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision, the element type of reference results. No device program has it.
    F64(Vec<f64>),
    /// 8-bit floats with four exponent and three mantissa bits, without infinities.
    F8E4M3Fn(Vec<u8>),
    /// 8-bit floats with five exponent and two mantissa bits.
    F8E5M2(Vec<u8>),
    /// 8-bit integers.
    I8(Vec<i8>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Booleans: 0 or 1.
    Bool(Vec<u8>),
}

/// Array in host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct HostArray {
    /// Sizes, outermost first.
    pub shape: Vec<i64>,
    /// Elements, in row-major order.
    pub elements: ArrayElements,
}

impl ArrayElements {
    /// Returns the type of the elements.
    #[must_use]
    pub const fn element_type(&self) -> ElementType {
        match self {
            Self::F16(_) => ElementType::F16,
            Self::Bf16(_) => ElementType::Bf16,
            Self::F32(_) => ElementType::F32,
            Self::F64(_) => ElementType::F64,
            Self::F8E4M3Fn(_) => ElementType::F8E4M3Fn,
            Self::F8E5M2(_) => ElementType::F8E5M2,
            Self::I8(_) => ElementType::I8,
            Self::I32(_) => ElementType::I32,
            Self::I64(_) => ElementType::I64,
            Self::Bool(_) => ElementType::Bool,
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::F16(elements) | Self::Bf16(elements) => elements.len(),
            Self::F32(elements) => elements.len(),
            Self::F64(elements) => elements.len(),
            Self::I8(elements) => elements.len(),
            Self::I32(elements) => elements.len(),
            Self::I64(elements) => elements.len(),
            Self::F8E4M3Fn(elements) | Self::F8E5M2(elements) | Self::Bool(elements) => elements.len(),
        }
    }

    /// Returns whether the array has no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `length` zeros of an element type.
    #[must_use]
    pub fn zeros(element_type: ElementType, length: usize) -> Self {
        match element_type {
            ElementType::F16 => Self::F16(vec![0; length]),
            ElementType::Bf16 => Self::Bf16(vec![0; length]),
            ElementType::F32 => Self::F32(vec![0.0; length]),
            ElementType::F64 => Self::F64(vec![0.0; length]),
            ElementType::F8E4M3Fn => Self::F8E4M3Fn(vec![0; length]),
            ElementType::F8E5M2 => Self::F8E5M2(vec![0; length]),
            ElementType::I8 => Self::I8(vec![0; length]),
            ElementType::I32 => Self::I32(vec![0; length]),
            ElementType::I64 | ElementType::Index => Self::I64(vec![0; length]),
            ElementType::Bool => Self::Bool(vec![0; length]),
        }
    }

    /// Returns `length` zeros of the tensor's type in `program.json`.
    ///
    /// # Errors
    /// If no array has elements of that type.
    pub fn zeros_for_tensor(tensor: &Tensor, length: usize) -> Result<Self, String> {
        let element_type = tensor.element_type.parse().map_err(|unknown: UnknownElementType| unknown.to_string())?;
        Ok(Self::zeros(element_type, length))
    }

    /// Returns the bytes of all elements, little endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::F16(elements) | Self::Bf16(elements) => {
                elements.iter().flat_map(|element| element.to_le_bytes()).collect()
            }
            Self::F32(elements) => elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
            Self::F64(elements) => elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
            Self::I8(elements) => elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
            Self::I32(elements) => elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
            Self::I64(elements) => elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
            Self::F8E4M3Fn(elements) | Self::F8E5M2(elements) | Self::Bool(elements) => elements.clone(),
        }
    }

    /// Sets the elements from little-endian bytes; stops at the end of the elements or of the bytes.
    pub fn set_bytes(&mut self, bytes: &[u8]) {
        match self {
            Self::F16(elements) | Self::Bf16(elements) => fill_from_bytes(elements, bytes, u16::from_le_bytes),
            Self::F32(elements) => fill_from_bytes(elements, bytes, f32::from_le_bytes),
            Self::F64(elements) => fill_from_bytes(elements, bytes, f64::from_le_bytes),
            Self::I8(elements) => fill_from_bytes(elements, bytes, i8::from_le_bytes),
            Self::I32(elements) => fill_from_bytes(elements, bytes, i32::from_le_bytes),
            Self::I64(elements) => fill_from_bytes(elements, bytes, i64::from_le_bytes),
            Self::F8E4M3Fn(elements) | Self::F8E5M2(elements) | Self::Bool(elements) => {
                fill_from_bytes(elements, bytes, |[byte]| byte)
            }
        }
    }

    /// Returns an element as a number; integers above 2^53 are rounded.
    #[must_use]
    pub fn get(&self, index: usize) -> f64 {
        match self {
            Self::F16(elements) => f64::from(f16_to_f32(elements[index])),
            Self::Bf16(elements) => f64::from(bf16_to_f32(elements[index])),
            Self::F32(elements) => f64::from(elements[index]),
            Self::F64(elements) => elements[index],
            Self::F8E4M3Fn(elements) => f64::from(E4M3.decode(elements[index])),
            Self::F8E5M2(elements) => f64::from(E5M2.decode(elements[index])),
            Self::I8(elements) => f64::from(elements[index]),
            Self::I32(elements) => f64::from(elements[index]),
            Self::I64(elements) => elements[index] as f64,
            Self::Bool(elements) => f64::from(elements[index]),
        }
    }

    /// Sets an element to the nearest value of its type.
    pub fn set(&mut self, index: usize, value: f64) {
        match self {
            Self::F16(elements) => elements[index] = f16_from_f32(value as f32),
            Self::Bf16(elements) => elements[index] = bf16_from_f32(value as f32),
            Self::F32(elements) => elements[index] = value as f32,
            Self::F64(elements) => elements[index] = value,
            Self::F8E4M3Fn(elements) => elements[index] = E4M3.encode(value as f32),
            Self::F8E5M2(elements) => elements[index] = E5M2.encode(value as f32),
            Self::I8(elements) => elements[index] = value as i8,
            Self::I32(elements) => elements[index] = value as i32,
            Self::I64(elements) => elements[index] = value as i64,
            Self::Bool(elements) => elements[index] = u8::from(value != 0.0),
        }
    }

    /// Appends the `count` elements `start`, `start + stride`, ... to `out`, encoded in a device format.
    pub(crate) fn encode(&self, format: DeviceFormat, start: usize, stride: usize, count: usize, out: &mut Vec<u8>) {
        let is_integer = matches!(format, DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32);
        let indices = (0..count).map(|step| start + step * stride);
        match self {
            Self::I32(elements) if is_integer => indices.for_each(|index| out.extend(elements[index].to_le_bytes())),
            // The device has no 64-bit integers; the runtime narrows them (assumption: it keeps the low bits).
            Self::I64(elements) if is_integer => {
                indices.for_each(|index| out.extend((elements[index] as i32).to_le_bytes()))
            }
            Self::F16(_)
            | Self::Bf16(_)
            | Self::F32(_)
            | Self::F64(_)
            | Self::F8E4M3Fn(_)
            | Self::F8E5M2(_)
            | Self::I8(_)
            | Self::I32(_)
            | Self::I64(_)
            | Self::Bool(_) => {
                let mut buffer = [0f32; MAX_STICK_ELEMENTS];
                let values = &mut buffer[..count];
                self.read_f32(start, stride, values);
                encode_host_run(format, values, out);
            }
        }
    }

    /// Sets the `count` elements `start`, `start + stride`, ... from bytes in a device format.
    pub(crate) fn decode(&mut self, format: DeviceFormat, bytes: &[u8], start: usize, stride: usize, count: usize) {
        let is_integer = matches!(format, DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32);
        let integers = bytes.as_chunks::<4>().0.iter().map(|raw| i32::from_le_bytes(*raw)).take(count).enumerate();
        match self {
            Self::I32(elements) if is_integer => {
                integers.for_each(|(step, value)| elements[start + step * stride] = value)
            }
            Self::I64(elements) if is_integer => {
                integers.for_each(|(step, value)| elements[start + step * stride] = i64::from(value))
            }
            Self::F16(_)
            | Self::Bf16(_)
            | Self::F32(_)
            | Self::F64(_)
            | Self::F8E4M3Fn(_)
            | Self::F8E5M2(_)
            | Self::I8(_)
            | Self::I32(_)
            | Self::I64(_)
            | Self::Bool(_) => {
                let mut buffer = [0f32; MAX_STICK_ELEMENTS];
                let values = &mut buffer[..count];
                decode_run(format, bytes, 0, 1, values);
                self.write_f32(start, stride, values);
            }
        }
    }

    /// Reads elements as `f32`, with one type check for all.
    fn read_f32(&self, start: usize, stride: usize, out: &mut [f32]) {
        match self {
            Self::F16(elements) => read_strided(elements, start, stride, out, f16_to_f32),
            Self::Bf16(elements) => read_strided(elements, start, stride, out, bf16_to_f32),
            Self::F32(elements) => read_strided(elements, start, stride, out, |value| value),
            Self::F64(elements) => read_strided(elements, start, stride, out, |value| value as f32),
            Self::F8E4M3Fn(elements) => read_strided(elements, start, stride, out, |byte| E4M3.decode(byte)),
            Self::F8E5M2(elements) => read_strided(elements, start, stride, out, |byte| E5M2.decode(byte)),
            Self::I8(elements) => read_strided(elements, start, stride, out, f32::from),
            Self::I32(elements) => read_strided(elements, start, stride, out, |value| value as f32),
            Self::I64(elements) => read_strided(elements, start, stride, out, |value| value as f32),
            Self::Bool(elements) => read_strided(elements, start, stride, out, f32::from),
        }
    }

    /// Sets elements to the nearest values of their type, with one type check for all.
    fn write_f32(&mut self, start: usize, stride: usize, values: &[f32]) {
        match self {
            Self::F16(elements) => write_strided(elements, start, stride, values, f16_from_f32),
            Self::Bf16(elements) => write_strided(elements, start, stride, values, bf16_from_f32),
            Self::F32(elements) => write_strided(elements, start, stride, values, |value| value),
            Self::F64(elements) => write_strided(elements, start, stride, values, f64::from),
            Self::F8E4M3Fn(elements) => write_strided(elements, start, stride, values, |value| E4M3.encode(value)),
            Self::F8E5M2(elements) => write_strided(elements, start, stride, values, |value| E5M2.encode(value)),
            Self::I8(elements) => write_strided(elements, start, stride, values, |value| value as i8),
            Self::I32(elements) => write_strided(elements, start, stride, values, |value| value as i32),
            Self::I64(elements) => write_strided(elements, start, stride, values, |value| value as i64),
            Self::Bool(elements) => write_strided(elements, start, stride, values, |value| u8::from(value != 0.0)),
        }
    }
}

/// Converts bytes to elements; stops at the end of the elements or of the bytes.
fn fill_from_bytes<T, const W: usize>(elements: &mut [T], bytes: &[u8], convert: impl Fn([u8; W]) -> T) {
    elements.iter_mut().zip(bytes.as_chunks::<W>().0).for_each(|(element, raw)| *element = convert(*raw));
}

/// Maximum number of elements of a stick: two for each byte, for elements of four bits.
const MAX_STICK_ELEMENTS: usize = 2 * STICK_BYTES as usize;

/// Reads the elements `start`, `start + stride`, ... into `out`.
fn read_strided<T: Copy>(elements: &[T], start: usize, stride: usize, out: &mut [f32], convert: impl Fn(T) -> f32) {
    if stride == 1 {
        out.iter_mut().zip(&elements[start..]).for_each(|(value, element)| *value = convert(*element));
    } else {
        out.iter_mut().enumerate().for_each(|(step, value)| *value = convert(elements[start + step * stride]));
    }
}

/// Writes values to the elements `start`, `start + stride`, ....
fn write_strided<T>(elements: &mut [T], start: usize, stride: usize, values: &[f32], convert: impl Fn(f32) -> T) {
    if stride == 1 {
        elements[start..].iter_mut().zip(values).for_each(|(element, value)| *element = convert(*value));
    } else {
        values.iter().enumerate().for_each(|(step, value)| elements[start + step * stride] = convert(*value));
    }
}

impl HostArray {
    /// Returns an array of `f32`.
    ///
    /// # Errors
    /// If the product of the sizes is not the number of elements.
    pub fn from_f32(shape: &[i64], elements: Vec<f32>) -> Result<Self, SimError> {
        Self { shape: shape.to_vec(), elements: ArrayElements::F32(elements) }.check_shape("array")
    }

    /// Rejects an array whose number of elements is not the product of its sizes. `name` identifies the array in the
    /// message.
    pub(crate) fn check_shape(self, name: &str) -> Result<Self, SimError> {
        let count = self.shape.iter().try_fold(1i64, |count, size| count.checked_mul(*size).filter(|_| *size >= 0));
        if count == i64::try_from(self.elements.len()).ok() {
            return Ok(self);
        }
        let message = format!("the shape {:?} is not that of {} elements", self.shape, self.elements.len());
        Err(SimError::Array { name: name.to_owned(), message })
    }
}

/// Converts IEEE half-precision bits.
#[must_use]
pub fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = bits & 0x7fff;
    // As for DL16, the shifted bits have an exponent that is too small by the difference of the biases, 127 - 15.
    let finite = f32::from_bits(u32::from(magnitude) << 13) * f32::from_bits((127 + 112) << 23);
    let special = if magnitude == 0x7c00 { f32::INFINITY } else { f32::NAN };
    let value = if magnitude < 0x7c00 { finite } else { special };
    f32::from_bits(value.to_bits() | (u32::from(bits & 0x8000) << 16))
}

/// Rounds to IEEE half precision, ties to even.
#[must_use]
pub fn f16_from_f32(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    // Numbers of f32 at 2^-1 have the spacing 2^-24 of the smallest half-precision numbers, so the addition rounds to
    // it.
    let rounded = if magnitude < f32::from_bits((127 - 14) << 23) {
        (magnitude + 0.5).to_bits().wrapping_sub(0.5f32.to_bits())
    } else {
        ((bits + 0xfff + ((bits >> 13) & 1)) >> 13).wrapping_sub(112 << 10).min(0x7c00)
    };
    sign | if value.is_nan() { 0x7e00 } else { rounded as u16 }
}

/// Converts bfloat16 bits.
#[must_use]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to bfloat16, ties to even.
#[must_use]
pub fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() { (bits >> 16) as u16 | 0x40 } else { ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) as u16 }
}

/// Converts DL16 bits to a number of the host; see [`to_program_number`](crate::number::to_program_number).
#[must_use]
pub fn dl16_to_f64(bits: u16) -> f64 {
    f64::from(dl16_to_f32(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_half_precision() {
        for bits in 0..=u16::MAX {
            let value = f16_to_f32(bits);
            assert!(value.is_nan() || f16_from_f32(value) == bits, "{bits:#x} is {value}");
            let value = bf16_to_f32(bits);
            assert!(value.is_nan() || bf16_from_f32(value) == bits, "{bits:#x} is {value}");
        }
        assert_eq!((f16_to_f32(0x3c00), f16_to_f32(0x7bff), f16_to_f32(1)), (1.0, 65504.0, 2f32.powi(-24)));
        assert_eq!((f16_from_f32(65520.0), f16_from_f32(65519.0)), (0x7c00, 0x7bff));
        assert_eq!(f16_from_f32(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(bf16_from_f32(1.0 + 1.0 / 256.0), 0x3f80);
    }

    #[test]
    fn preserves_bits_of_integers() {
        let elements = ArrayElements::I64(vec![-1, 1 << 30, 7]);
        let mut bytes = Vec::new();
        elements.encode(DeviceFormat::IeeeInt32, 0, 1, 3, &mut bytes);
        let mut read = ArrayElements::I64(vec![0; 3]);
        read.decode(DeviceFormat::IeeeInt32, &bytes, 0, 1, 3);
        assert_eq!(read, elements);
    }

    #[test]
    fn rejects_shape_that_does_not_fit_its_elements() {
        assert!(HostArray::from_f32(&[2, 3], vec![0.0; 6]).is_ok());
        assert!(HostArray::from_f32(&[2, 3], vec![0.0; 5]).is_err());
        assert!(HostArray::from_f32(&[i64::MAX, 3], vec![0.0; 5]).is_err());
    }
}
