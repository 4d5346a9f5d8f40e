//! Element types of a caller's tensors, as opposed to the formats in which the device stores them
//! ([`crate::DeviceFormat`]).

use crate::DeviceFormat;
use std::{fmt, str::FromStr};

/// Element type of a tensor in a program, or of an array of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementType {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision: for exact constants and references; the device does not compute in it.
    F64,
    /// 8 bits with 3 mantissa bits; without infinities.
    F8E4M3Fn,
    /// 8 bits with 2 mantissa bits: the upper half of half precision.
    F8E5M2,
    /// Boolean: 1 or 0 in a byte; on the device in the format of the op that uses it.
    Bool,
    /// 8-bit integer.
    I8,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Size or position (`index`); a 64-bit integer in arrays.
    Index,
}

impl ElementType {
    /// All element types.
    pub const ALL: [Self; 11] = [
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::F8E4M3Fn,
        Self::F8E5M2,
        Self::Bool,
        Self::I8,
        Self::I32,
        Self::I64,
        Self::Index,
    ];

    /// Returns the name of the type in MLIR and in `program.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F8E4M3Fn => "f8E4M3FN",
            Self::F8E5M2 => "f8E5M2",
            Self::Bool => "i1",
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Index => "index",
        }
    }

    /// Returns the name of the type in PyTorch, without the prefix `torch.`.
    #[must_use]
    pub const fn torch_name(self) -> &'static str {
        match self {
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::F8E4M3Fn => "float8_e4m3fn",
            Self::F8E5M2 => "float8_e5m2",
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I32 => "int32",
            Self::I64 | Self::Index => "int64",
        }
    }

    /// Returns the format in which torch-spyre stores host tensors of the type (later torch-spyre sources); `None` if
    /// it copies no such tensor.
    #[must_use]
    pub const fn stored_format(self) -> Option<DeviceFormat> {
        match self {
            Self::F16 | Self::Bf16 | Self::Bool => Some(DeviceFormat::Sen169Fp16),
            Self::F32 => Some(DeviceFormat::IeeeFp32),
            Self::I32 | Self::I64 | Self::Index => Some(DeviceFormat::IeeeInt32),
            Self::F64 | Self::F8E4M3Fn | Self::F8E5M2 | Self::I8 => None,
        }
    }

    /// Returns the type of the host tensor that torch-spyre copies to `format` for elements of this type.
    ///
    /// It is the type itself if torch-spyre stores it in that format. Otherwise it is the format's own type: an integer
    /// that the program computes with in DL16 is passed as a `float16` number.
    #[must_use]
    pub fn launch_type(self, format: DeviceFormat) -> Self {
        match format {
            _ if self.stored_format() == Some(format) => self,
            DeviceFormat::Sen169Fp16 => Self::F16,
            DeviceFormat::IeeeFp32 => Self::F32,
            DeviceFormat::IeeeInt32 | DeviceFormat::SenUint32 => Self::I32,
            DeviceFormat::SenInt8 | DeviceFormat::SenInt4 => Self::I8,
            DeviceFormat::Sen143Fp8 => Self::F8E4M3Fn,
            DeviceFormat::Sen152Fp8 => Self::F8E5M2,
        }
    }

    /// Returns the bytes of one element on the host.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::F8E4M3Fn | Self::F8E5M2 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 | Self::Index => 8,
        }
    }

    /// Returns whether it is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64 | Self::F8E4M3Fn | Self::F8E5M2)
    }

    /// Returns whether it is an 8-bit floating-point type, which every wider format represents exactly.
    #[must_use]
    pub const fn is_f8(self) -> bool {
        matches!(self, Self::F8E4M3Fn | Self::F8E5M2)
    }

    /// Returns whether it is an integer type: a position, or a number passed as an integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I32 | Self::I64 | Self::Index)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Unknown element type name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported element type '{0}'")]
pub struct UnknownElementType(pub String);

impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(name: &str) -> Result<Self, UnknownElementType> {
        Self::ALL.into_iter().find(|element| element.name() == name).ok_or_else(|| UnknownElementType(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn parses_own_name_and_has_one_kind() {
        for element in ElementType::ALL {
            assert_eq!(element.to_string().parse(), Ok(element));
            let kinds = [element.is_float(), element.is_integer(), element == ElementType::Bool];
            assert_eq!(kinds.into_iter().filter(|is_of_it| *is_of_it).count(), 1, "{element}");
            assert_eq!(element.is_f8(), element.is_float() && element.bytes() == 1, "{element}");
        }
        let names: BTreeSet<_> = ElementType::ALL.into_iter().map(ElementType::torch_name).collect();
        assert_eq!(names.len(), ElementType::ALL.len() - 1, "only 'index' shares its name, with i64");
        let rejected = "f8E4M3FNUZ".parse::<ElementType>().unwrap_err();
        assert_eq!(rejected.to_string(), "unsupported element type 'f8E4M3FNUZ'");
    }

    #[test]
    fn chooses_launch_type_stored_in_format() {
        use DeviceFormat::{IeeeFp32, IeeeInt32, Sen169Fp16};
        let expected = [
            (ElementType::F16, Sen169Fp16, "float16"),
            (ElementType::Bf16, Sen169Fp16, "bfloat16"),
            (ElementType::Bool, Sen169Fp16, "bool"),
            (ElementType::F32, Sen169Fp16, "float16"),
            (ElementType::I64, Sen169Fp16, "float16"),
            (ElementType::F32, IeeeFp32, "float32"),
            (ElementType::Bool, IeeeFp32, "float32"),
            (ElementType::I32, IeeeInt32, "int32"),
            (ElementType::I64, IeeeInt32, "int64"),
        ];
        for (element, format, name) in expected {
            let launched = element.launch_type(format);
            assert_eq!(launched.torch_name(), name, "{element} in {format}");
            assert_eq!(launched.stored_format(), Some(format), "{element} in {format}");
        }
    }
}
