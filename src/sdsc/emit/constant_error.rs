//! Why a constant cannot be stored.

use crate::layout::LayoutError;
use machine::DeviceFormat;

/// Why a constant cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// Elements that the device has no numbers for.
    #[error("elements of '{element}' cannot be stored in the device format {format}")]
    Format {
        /// The type of the elements.
        element: String,
        /// The device format.
        format: DeviceFormat,
    },
    /// More or fewer bytes than the elements have.
    #[error("found {found} bytes, where {elements} elements of '{element}' have {expected}")]
    Length {
        /// Bytes found.
        found: usize,
        /// How many elements there are.
        elements: i64,
        /// Their type.
        element: String,
        /// The bytes that they have.
        expected: i64,
    },
    /// A number that the device's integers, which have 32 bits, do not reach.
    #[error("element {index} is {value}, which does not fit in the 32 bits of {format}")]
    Range {
        /// The position of the element, row-major.
        index: usize,
        /// Its value.
        value: i64,
        /// The device format.
        format: DeviceFormat,
    },
    /// A device dimension that steps over the host's elements in a way that no dimension does.
    #[error("device dimension {device_dim} steps over {stride} elements, which follows no dimension of the tensor")]
    Stride {
        /// The device dimension.
        device_dim: usize,
        /// Its entry of the stride map.
        stride: i64,
    },
    /// A host dimension of which the layout leaves out a part, or has it twice.
    #[error("the device layout does not hold the {size} positions of dimension {dim} once each")]
    Dimension {
        /// The host dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// A shape that no layout has.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
