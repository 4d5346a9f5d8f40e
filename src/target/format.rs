//! Device number formats: how wide an element is and what the files call it.

use super::STICK_BYTES;
use std::{fmt, str::FromStr};

/// A number format of the device ("SuperDSC format, `DataFormats`").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceFormat {
    /// 1 sign, 6 exponent, 9 mantissa bits (DL16): f16, bf16, and booleans made from them.
    Sen169Fp16,
    /// IEEE single precision: f32, and booleans made from it.
    IeeeFp32,
    /// 32-bit signed integer.
    IeeeInt32,
    /// 32-bit unsigned integer, the format of index tensors.
    SenUint32,
    /// 8-bit signed integer.
    SenInt8,
    /// 1-4-3 eight-bit float (e4m3).
    Sen143Fp8,
    /// 1-5-2 eight-bit float (e5m2).
    Sen152Fp8,
}

impl DeviceFormat {
    /// Every format, in the order of the enum.
    pub const ALL: [Self; 7] =
        [Self::Sen169Fp16, Self::IeeeFp32, Self::IeeeInt32, Self::SenUint32, Self::SenInt8, Self::Sen143Fp8, Self::Sen152Fp8];

    /// The spelling in SDSC files (`dataFormat_`) and in `#spyre.layout`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sen169Fp16 => "SEN169_FP16",
            Self::IeeeFp32 => "IEEE_FP32",
            Self::IeeeInt32 => "IEEE_INT32",
            Self::SenUint32 => "SENUINT32",
            Self::SenInt8 => "SENINT8",
            Self::Sen143Fp8 => "SEN143_FP8",
            Self::Sen152Fp8 => "SEN152_FP8",
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn bytes(self) -> i64 {
        match self {
            Self::Sen169Fp16 => 2,
            Self::IeeeFp32 | Self::IeeeInt32 | Self::SenUint32 => 4,
            Self::SenInt8 | Self::Sen143Fp8 | Self::Sen152Fp8 => 1,
        }
    }

    /// Elements of one stick.
    #[must_use]
    pub const fn elements_per_stick(self) -> i64 {
        STICK_BYTES / self.bytes()
    }
}

impl fmt::Display for DeviceFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is no device format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown device format '{0}'")]
pub struct UnknownFormat(pub String);

impl FromStr for DeviceFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stick_holds_128_bytes_of_every_format() {
        for format in DeviceFormat::ALL {
            assert_eq!(format.bytes() * format.elements_per_stick(), STICK_BYTES, "{format}");
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("FP16".parse::<DeviceFormat>(), Err(UnknownFormat("FP16".to_owned())));
    }
}
