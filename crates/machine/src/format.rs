//! Sticks, and the device's number formats with their element sizes and their names in the files.
//!
//! `Formats.def` contains the rows, and the C++ verifiers read it too; `build.rs` generates [`STICK_BYTES`] and
//! [`DeviceFormat`] from it.

use std::{fmt, str::FromStr};

include!(concat!(env!("OUT_DIR"), "/formats.rs"));

impl DeviceFormat {
    /// Returns the elements of one stick.
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

/// Unknown device format name.
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
    fn holds_128_bytes_per_stick_in_every_format() {
        for format in DeviceFormat::ALL {
            assert_eq!(format.bytes() * format.elements_per_stick(), STICK_BYTES, "{format}");
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("FP16".parse::<DeviceFormat>(), Err(UnknownFormat("FP16".to_owned())));
    }
}
