//! Conversion of op specs to files.

mod constant_bytes;
mod constant_error;
mod constants;
mod context;
mod element_map;
mod folds;
mod from_op_spec;
mod release;
mod share_files;
mod shuffle;
mod tensors;
mod windows;

pub use constant_bytes::{HostElements, decode_host_bytes, encode_device_bytes, is_rounded, is_rounded_number};
pub use constant_error::ConstantError;
pub use constants::{constant_bits, dl16_bits};
pub use from_op_spec::{from_op_spec, from_op_spec_baked};
pub use release::convert_to_release;
pub use share_files::{SharedFiles, share_files};
pub use shuffle::{Shuffle, ShuffleError, ShuffleView, build_shuffle_file};

use crate::launch::LaunchError;
use crate::launch::geometry::DimLabel;

/// Reason why an op has no SDSC file. The text states the value found and the violated rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SdscError {
    /// Error of an op, with its depth-first number.
    #[error("op {index} ('{function}'): {source}")]
    InOp {
        /// Depth-first number of the op.
        index: usize,
        /// Device function of the op.
        function: String,
        /// Error of the op.
        source: Box<SdscError>,
    },
    /// The op has no geometry or no addresses.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A windowed op without a window.
    #[error("a windowed op has no window; its kernel, stride and padding must be given")]
    MissingWindow,
    /// A depthwise convolution without the size of its padded input.
    #[error(
        "the window along '{label}' has no total size; a depthwise convolution must say how large its padded input is"
    )]
    MissingTotal {
        /// Dimension of the window.
        label: DimLabel,
    },
    /// Windows that read more points than a padded input has.
    #[error("the windows along '{label}' read {needed} points; the padded input has {found}")]
    WindowBeyondInput {
        /// Dimension of the window.
        label: DimLabel,
        /// Number of points that the windows read.
        needed: i64,
        /// Number of points of the padded input.
        found: i64,
    },
    /// Cores whose slices of an input do not start where their windows start.
    #[error(
        "the slices of the input along '{label}' start {found} elements apart, but the windows of two cores start \
         {expected} elements apart; do not split '{label}' over cores, or choose a torch-spyre bundle format"
    )]
    WindowStart {
        /// Dimension of the window.
        label: DimLabel,
        /// Distance of two slices of the input.
        found: i64,
        /// Distance of the windows of two cores.
        expected: i64,
    },
    /// A tensor lacks a dimension of its layout class.
    #[error(
        "tensor {tensor} has no dimension '{label}', which its layout class has; tensors of a class have the same dimensions"
    )]
    ForeignDim {
        /// Number of the tensor.
        tensor: usize,
        /// Missing dimension.
        label: DimLabel,
    },
}
