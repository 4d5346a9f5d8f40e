//! Types of scalars and of tensor elements.

use super::{Type, TypeLike};
use machine::ElementType;
use mlir_sys::{
    mlirIntegerTypeGetWidth, mlirIntegerTypeIsSignless, mlirTypeIsABF16, mlirTypeIsAF16, mlirTypeIsAF32,
    mlirTypeIsAF64, mlirTypeIsAFloat8E4M3FN, mlirTypeIsAFloat8E5M2, mlirTypeIsAIndex, mlirTypeIsAInteger,
};

/// Type of a tensor element or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// 8 bits, with 3 bits of mantissa; without infinities.
    F8E4M3Fn,
    /// 8 bits, with 2 bits of mantissa: the upper half of half precision.
    F8E5M2,
    /// Signless integer of that width; a truth value if the width is 1.
    Integer(u32),
    /// Signed or unsigned integer.
    SignedInteger,
    /// Index type.
    Index,
    /// Type that our ops do not support.
    Other,
}

impl ScalarType {
    /// Classifies an MLIR type.
    #[must_use]
    pub fn from_type(r#type: Type<'_>) -> Self {
        let raw = r#type.to_raw();
        // SAFETY: the type is valid; width and sign are read from integers only.
        unsafe {
            match () {
                () if mlirTypeIsAF16(raw) => Self::F16,
                () if mlirTypeIsABF16(raw) => Self::Bf16,
                () if mlirTypeIsAF32(raw) => Self::F32,
                () if mlirTypeIsAF64(raw) => Self::F64,
                () if mlirTypeIsAFloat8E4M3FN(raw) => Self::F8E4M3Fn,
                () if mlirTypeIsAFloat8E5M2(raw) => Self::F8E5M2,
                () if mlirTypeIsAIndex(raw) => Self::Index,
                () if mlirTypeIsAInteger(raw) && mlirIntegerTypeIsSignless(raw) => {
                    Self::Integer(mlirIntegerTypeGetWidth(raw))
                }
                () if mlirTypeIsAInteger(raw) => Self::SignedInteger,
                () => Self::Other,
            }
        }
    }

    /// Returns the width of a signless integer or of an index; `None` for another type.
    #[must_use]
    pub const fn width(self) -> Option<u32> {
        match self {
            Self::Integer(width) => Some(width),
            Self::Index => Some(u64::BITS),
            _ => None,
        }
    }

    /// Returns the element type for tensors of a program and arrays of its caller.
    #[must_use]
    pub const fn element_type(self) -> Option<ElementType> {
        match self {
            Self::F16 => Some(ElementType::F16),
            Self::Bf16 => Some(ElementType::Bf16),
            Self::F32 => Some(ElementType::F32),
            Self::F64 => Some(ElementType::F64),
            Self::F8E4M3Fn => Some(ElementType::F8E4M3Fn),
            Self::F8E5M2 => Some(ElementType::F8E5M2),
            Self::Integer(1) => Some(ElementType::Bool),
            Self::Integer(8) => Some(ElementType::I8),
            Self::Integer(32) => Some(ElementType::I32),
            Self::Integer(64) => Some(ElementType::I64),
            Self::Index => Some(ElementType::Index),
            Self::Integer(_) | Self::SignedInteger | Self::Other => None,
        }
    }

    /// Returns whether it is a floating-point type of 16 bits; the device has a single format for these.
    #[must_use]
    pub const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// Returns whether it is a floating-point type of 8 bits, whose numbers the 16-bit types represent exactly.
    #[must_use]
    pub const fn is_float8(self) -> bool {
        matches!(self, Self::F8E4M3Fn | Self::F8E5M2)
    }

    /// Returns whether it is a floating-point type in which the device computes.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::{type_of_element, types::parse_type};

    #[test]
    fn converts_every_element_type() {
        let session = crate::pipeline::create_session();
        for element in ElementType::ALL {
            assert_eq!(
                ScalarType::from_type(type_of_element(session.context(), element)).element_type(),
                Some(element),
                "{element}"
            );
        }
        assert_eq!(ScalarType::from_type(parse_type(session.context(), "i16")).element_type(), None);
    }

    #[test]
    fn classifies_types() {
        let session = crate::pipeline::create_session();
        let of = |text: &str| ScalarType::from_type(parse_type(session.context(), text));
        assert_eq!(
            ["f16", "bf16", "f32", "f64", "index"].map(of),
            [ScalarType::F16, ScalarType::Bf16, ScalarType::F32, ScalarType::F64, ScalarType::Index]
        );
        assert_eq!(["i1", "i64"].map(of), [ScalarType::Integer(1), ScalarType::Integer(64)]);
        assert_eq!(["ui8", "si32"].map(of), [ScalarType::SignedInteger; 2]);
        assert_eq!(["f8E4M3FN", "f8E5M2"].map(of), [ScalarType::F8E4M3Fn, ScalarType::F8E5M2]);
        assert_eq!(["f8E4M3FNUZ", "tensor<2xf16>"].map(of), [ScalarType::Other; 2]);
    }
}
