//! From op specs to files.
//!
//! | file | what |
//! |---|---|
//! | `from_op_spec` | the SDSC file of an op; `context`, `tensors`, `folds`, `windows`, `constants` are parts of it |
//! | `shuffle` | the SDSC file of a copy between the LX of cores, from two views of a tensor |
//! | `share_files` | one file for equal ops |
//! | `constant_bytes`, `element_places`, `constant_error` | the file of a constant: where its elements lie, and their bits |

mod constant_bytes;
mod constant_error;
mod constants;
mod context;
mod element_map;
mod folds;
mod from_op_spec;
mod share_files;
mod shuffle;
mod tensors;
mod windows;

pub use constant_bytes::{HostElements, decode_host_bytes, encode_device_bytes, is_rounded, is_rounded_number};
pub use constant_error::ConstantError;
pub use constants::{constant_bits, dl16_bits};
pub use from_op_spec::{from_op_spec, from_op_spec_baked};
pub use share_files::{SharedFiles, share_files};
pub use shuffle::{Shuffle, ShuffleError, ShuffleView, build_shuffle_file};

use crate::launch::LaunchError;
use crate::launch::geometry::DimLabel;

/// An op that has no SDSC file. The text names the value found and the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SdscError {
    /// The op at fault, by its depth-first number.
    #[error("op {index} ('{function}'): {source}")]
    InOp {
        /// The depth-first number of the op.
        index: usize,
        /// Its device function.
        function: String,
        /// The error of the op.
        source: Box<SdscError>,
    },
    /// The op has no geometry or no addresses.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A windowed op without a window.
    #[error("a windowed op has no window; its kernel, stride and padding must be given")]
    MissingWindow,
    /// A depthwise convolution that does not say how large its input is.
    #[error(
        "the window along '{label}' has no total size; a depthwise convolution must say how large its padded input is"
    )]
    MissingTotal {
        /// The dimension.
        label: DimLabel,
    },
    /// A tensor that shares a class with one of other dimensions.
    #[error(
        "tensor {tensor} has no dimension '{label}', which its layout class has; tensors of a class have the same dimensions"
    )]
    ForeignDim {
        /// The tensor.
        tensor: usize,
        /// The dimension.
        label: DimLabel,
    },
}
