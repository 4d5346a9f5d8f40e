//! Reasons why a constant cannot be stored.

use machine::DeviceFormat;
use program::layout::LayoutError;

/// Reason why a constant cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// Elements without a representation on the device.
    #[error("elements of '{element}' cannot be stored in the device format {format}")]
    Format {
        /// The type of the elements.
        element: String,
        /// The device format.
        format: DeviceFormat,
    },
    /// Wrong number of bytes.
    #[error("found {found} bytes, where {elements} elements of '{element}' have {expected}")]
    Length {
        /// Bytes found.
        found: usize,
        /// Number of elements.
        elements: i64,
        /// Their type.
        element: String,
        /// Expected number of bytes.
        expected: i64,
    },
    /// Integer out of range of the device's 32 bits.
    #[error("element {index} is {value}, which does not fit in the 32 bits of {format}")]
    Range {
        /// The position of the element, row-major.
        index: usize,
        /// Its value.
        value: i64,
        /// The device format.
        format: DeviceFormat,
    },
    /// Device dimension whose stride matches no host dimension.
    #[error("device dimension {device_dim} steps over {stride} elements, which follows no dimension of the tensor")]
    Stride {
        /// The device dimension.
        device_dim: usize,
        /// Its entry of the stride map.
        stride: i64,
    },
    /// Host dimension whose positions the layout does not cover exactly once.
    #[error("the device layout does not hold the {size} positions of dimension {dim} once each")]
    Dimension {
        /// The host dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// Shape without a layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
