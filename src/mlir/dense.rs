//! Elements of constant tensors.

use super::{
    Attribute, AttributeLike, ScalarType, TensorType, Type, TypeLike, decode_e4m3fn, decode_e5m2, float_value, integer,
    splat_value, type_of_elements,
};
use mlir_sys::{
    MlirAttribute, mlirAttributeIsADenseElements, mlirDenseElementsAttrGetBoolValue,
    mlirDenseElementsAttrGetDoubleValue, mlirDenseElementsAttrGetInt8Value, mlirDenseElementsAttrGetInt32Value,
    mlirDenseElementsAttrGetInt64Value, mlirDenseElementsAttrGetRawData, mlirDenseElementsAttrRawBufferGet,
    mlirDenseElementsAttrSplatGet, mlirElementsAttrGetNumElements, mlirTypeIsARankedTensor,
};
use std::{ffi::c_char, ptr, slice};

unsafe extern "C" {
    fn spyreElementsGetRawData(
        attribute: MlirAttribute,
        data: *mut *const c_char,
        bytes: *mut isize,
        is_splat: *mut bool,
    ) -> bool;
}

/// Bytes of a constant's elements as MLIR stores them, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawElements<'c> {
    /// Contiguous elements, row-major, each in full bytes; booleans may be packed, eight per byte.
    pub bytes: &'c [u8],
    /// Whether a single element stands for all (splat).
    pub is_splat: bool,
}

/// Returns the elements of `dense<...>` or `dense_resource<...>`; `None` for other attributes, and for a resource
/// without content.
#[must_use]
pub fn raw_elements(attribute: Attribute<'_>) -> Option<RawElements<'_>> {
    let (mut data, mut length, mut is_splat) = (ptr::null(), 0, false);
    // SAFETY: the query accepts any attribute. Its result is owned by the context, which outlives the attribute and
    // does not change it.
    let bytes: &[u8] = unsafe {
        if !spyreElementsGetRawData(attribute.to_raw(), &raw mut data, &raw mut length, &raw mut is_splat) {
            return None;
        }
        if length == 0 { &[] } else { slice::from_raw_parts(data.cast(), length.cast_unsigned()) }
    };
    Some(RawElements { bytes, is_splat })
}

/// Builds `dense<...>` of a type from the bytes of its elements, as in [`RawElements`] (booleans packed); `None` if the
/// type is no tensor or has another byte size.
#[must_use]
pub fn build_dense_elements<'c>(of: Type<'c>, bytes: &[u8]) -> Option<Attribute<'c>> {
    // SAFETY: MLIR checks the number of bytes against the type and copies them; a null attribute means a mismatch.
    unsafe {
        if !mlirTypeIsARankedTensor(of.to_raw()) {
            return None;
        }
        Attribute::from_option_raw(mlirDenseElementsAttrRawBufferGet(of.to_raw(), bytes.len(), bytes.as_ptr().cast()))
    }
}

/// Returns the integers of a constant with at most 64 bits per element, sign-extended: one for a splat, else one per
/// element. Returns `None` if there are more than `most`, or for another attribute or element type.
#[must_use]
pub fn read_dense_integers(attribute: Attribute<'_>, most: i64) -> Option<Vec<i64>> {
    if let Some(splat) = splat_value(attribute) {
        return integer(splat).map(|integer| vec![integer]);
    }
    let tensor = TensorType::from_type(type_of_elements(attribute)?)?;
    let bits = match ScalarType::from_type(tensor.element) {
        ScalarType::Integer(bits @ 2..=64) => bits,
        ScalarType::Index => u64::BITS,
        _ => return None,
    };
    let num_elements = tensor.shape.iter().product::<i64>();
    let raw = raw_elements(attribute).filter(|_| num_elements <= most)?;
    let bytes = usize::try_from(bits.div_ceil(8)).ok()?;
    let unused = u64::BITS - bits;
    // Little endian, in full bytes; bits above the width of the type are undefined.
    let decode = |raw: &[u8]| {
        let bits = raw.iter().rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
        (bits << unused).cast_signed() >> unused
    };
    let integers: Vec<i64> = raw.bytes.chunks_exact(bytes).map(decode).collect();
    (i64::try_from(integers.len()) == Ok(if raw.is_splat { 1 } else { num_elements })).then_some(integers)
}

/// Builds a splat `dense<...>` of a type.
#[must_use]
pub fn build_dense_splat<'c>(of: Type<'c>, number: Attribute<'c>) -> Attribute<'c> {
    // SAFETY: callers pass a tensor type and a number of its element type.
    unsafe { Attribute::from_raw(mlirDenseElementsAttrSplatGet(of.to_raw(), number.to_raw())) }
}

/// Returns the numbers of a dense constant: one for a splat, else one per element. Returns `None` if there are more
/// than `most`, or for another attribute or element type.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "integers of a program are below 2^53")]
pub fn read_dense_numbers(attribute: Attribute<'_>, most: i64) -> Option<Vec<f64>> {
    let raw = attribute.to_raw();
    if let Some(splat) = splat_value(attribute) {
        return float_value(splat).or_else(|| integer(splat).map(|number| number as f64)).map(|number| vec![number]);
    }
    // SAFETY: elements are read only if the attribute is a dense one of that element type, and only below their number.
    unsafe {
        if !mlirAttributeIsADenseElements(raw) {
            return read_resource_numbers(attribute, most);
        }
        let (num_elements, tensor) =
            (mlirElementsAttrGetNumElements(raw), TensorType::from_type(type_of_elements(attribute)?)?);
        if num_elements > most {
            return None;
        }
        let indices = 0..num_elements.cast_unsigned() as isize;
        let bytes = mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        let float = |width: usize, decode: fn(&[u8]) -> f64| {
            let data = std::slice::from_raw_parts(bytes, num_elements.cast_unsigned() as usize * width);
            data.chunks_exact(width).map(decode).collect::<Vec<f64>>()
        };
        Some(match ScalarType::from_type(tensor.element) {
            ScalarType::F16 => float(2, |raw| half::f16::from_le_bytes([raw[0], raw[1]]).to_f64()),
            ScalarType::Bf16 => float(2, |raw| half::bf16::from_le_bytes([raw[0], raw[1]]).to_f64()),
            ScalarType::F8E4M3Fn => float(1, |raw| decode_e4m3fn(raw[0])),
            ScalarType::F8E5M2 => float(1, |raw| decode_e5m2(raw[0])),
            ScalarType::F32 => float(4, |raw| f64::from(f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]))),
            ScalarType::F64 => indices.map(|index| mlirDenseElementsAttrGetDoubleValue(raw, index)).collect(),
            ScalarType::Integer(1) => {
                indices.map(|index| f64::from(u8::from(mlirDenseElementsAttrGetBoolValue(raw, index)))).collect()
            }
            ScalarType::Integer(8) => {
                indices.map(|index| f64::from(mlirDenseElementsAttrGetInt8Value(raw, index))).collect()
            }
            ScalarType::Integer(32) => {
                indices.map(|index| f64::from(mlirDenseElementsAttrGetInt32Value(raw, index))).collect()
            }
            ScalarType::Integer(64) => {
                indices.map(|index| mlirDenseElementsAttrGetInt64Value(raw, index) as f64).collect()
            }
            _ => return None,
        })
    }
}

/// Returns the numbers of a resource with content, one per element. Returns `None` for a splat, if there are more than
/// `most`, or for another attribute or element type.
fn read_resource_numbers(attribute: Attribute<'_>, most: i64) -> Option<Vec<f64>> {
    let tensor = TensorType::from_type(type_of_elements(attribute)?)?;
    let num_elements = tensor.shape.iter().product::<i64>();
    let raw = raw_elements(attribute).filter(|raw| num_elements <= most && !raw.is_splat)?;
    let num_elements = usize::try_from(num_elements).ok()?;
    let decoded: Vec<f64> = match ScalarType::from_type(tensor.element) {
        ScalarType::F16 => {
            raw.bytes.as_chunks::<2>().0.iter().map(|raw| half::f16::from_le_bytes(*raw).to_f64()).collect()
        }
        ScalarType::Bf16 => {
            raw.bytes.as_chunks::<2>().0.iter().map(|raw| half::bf16::from_le_bytes(*raw).to_f64()).collect()
        }
        ScalarType::F8E4M3Fn => raw.bytes.iter().copied().map(decode_e4m3fn).collect(),
        ScalarType::F8E5M2 => raw.bytes.iter().copied().map(decode_e5m2).collect(),
        ScalarType::F32 => raw.bytes.as_chunks::<4>().0.iter().map(|raw| f64::from(f32::from_le_bytes(*raw))).collect(),
        ScalarType::F64 => raw.bytes.as_chunks::<8>().0.iter().map(|raw| f64::from_le_bytes(*raw)).collect(),
        ScalarType::Integer(32) => {
            raw.bytes.as_chunks::<4>().0.iter().map(|raw| f64::from(i32::from_le_bytes(*raw))).collect()
        }
        ScalarType::Integer(64) => {
            raw.bytes.as_chunks::<8>().0.iter().map(|raw| i64::from_le_bytes(*raw) as f64).collect()
        }
        _ => return None,
    };
    (decoded.len() == num_elements).then_some(decoded)
}
