//! Sticks, and the device's number formats with their element sizes and their names in the files.
//!
//! `Formats.def` contains the rows, and the C++ verifiers read it too; `build.rs` generates [`STICK_BYTES`] and
//! [`DeviceFormat`] from it.

use std::{fmt, str::FromStr};

include!(concat!(env!("OUT_DIR"), "/formats.rs"));

impl DeviceFormat {
    /// Returns the bytes of one element. An element of [`Self::PACKED`] shares its byte; see [`Self::packed_bytes`].
    #[must_use]
    pub const fn bytes(self) -> i64 {
        if self.bits() < 8 { 1 } else { self.bits() / 8 }
    }

    /// Returns the bytes of consecutive elements, the first of which begins a byte; `None` if there are too many.
    #[must_use]
    pub const fn packed_bytes(self, elements: i64) -> Option<i64> {
        match elements.checked_mul(self.bits()) {
            Some(bits) => Some(bits / 8 + (bits % 8 > 0) as i64),
            None => None,
        }
    }

    /// Returns the elements of one stick.
    #[must_use]
    pub const fn elements_per_stick(self) -> i64 {
        8 * STICK_BYTES / self.bits()
    }
}

impl fmt::Display for DeviceFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Unknown device format name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown device format '{0}'")]
pub struct UnknownFormat(pub String);

impl FromStr for DeviceFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let mut formats = Self::ALL.into_iter().chain(Self::PACKED);
        formats.find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_128_bytes_per_stick_in_every_format() {
        for format in DeviceFormat::ALL.into_iter().chain(DeviceFormat::PACKED) {
            assert_eq!(format.packed_bytes(format.elements_per_stick()), Some(STICK_BYTES), "{format}");
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("FP16".parse::<DeviceFormat>(), Err(UnknownFormat("FP16".to_owned())));
    }

    #[test]
    fn rounds_packed_elements_up_to_bytes() {
        assert_eq!([3, 4].map(|elements| DeviceFormat::SenInt4.packed_bytes(elements)), [Some(2), Some(2)]);
        assert_eq!(DeviceFormat::IeeeFp32.packed_bytes(i64::MAX), None);
    }
}
