//! The SuperDSC file of an op: what one `sdsc_<n>.json` says.
//!
//! This stage decides nothing about the program: it spells an op spec, whose geometry and addresses the stage
//! [`bundle`](crate::bundle) worked out, in the file format. [`sdsc_format::model`] is the format, member by member; it is also
//! what a reader of files uses. [`from_op_spec()`] fills it, and [`sdsc_format::to_text`] prints it.
//!
//! ```text
//! op spec: sum of fp16 [64, 50] along its rows, result [64], on 4 cores
//!
//! "0_sum": {... "numWkSlicesPerDim_": {"mb": 4, "out": 1}, "dscs_": [{"sum": {
//!    "N_": {"name_": "n", "mb_": 64, "out_": 64},                         rows are padded to a stick,
//!    "coordinateMasking_": {"out": [[50, 14]]}, "maskingConstId_": 0,     and the padding counts as constant 0, which is 0
//!    "scheduleTree_": [{"name_": "allocate-Tensor0_hbm", ...}, ...],      where each tensor is
//!    "labeledDs_": [{"scale_": [1, 1], ...}, {"scale_": [1, -2], ...}],   the result has one element in each stick
//!    ...
//! ```
//!
//! [`case_json`] reads bundles of op specs from JSON.

mod affine_text;
pub mod case_json;
mod constant_bytes;
mod constants;
mod folds;
mod from_op_spec;
mod placement;
mod re_emission;
mod tensors;
mod to_op_spec;
mod windows;

pub(crate) mod emit_bundle;

pub use constant_bytes::{ConstantError, HostElements, device_bytes, host_bytes, is_rounded, is_rounded_number};
pub use constants::{bits, dl16_bits};
pub use from_op_spec::{from_op_spec, from_op_spec_baked};
pub use re_emission::{LABEL as EMISSION_LABEL, differs_from_its_emission};
pub use to_op_spec::{Base, ReadError, Surroundings, SymbolValue, is_baked, to_bundle, to_launch, to_op_spec};

use crate::launch::LaunchError;
use crate::launch::geometry::Label;

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
        /// What is wrong with it.
        source: Box<SdscError>,
    },
    /// The op has no geometry or no addresses.
    #[error(transparent)]
    Bundle(#[from] LaunchError),
    /// A windowed op without a window.
    #[error("a windowed op has no window; its kernel, stride and padding must be given")]
    MissingWindow,
    /// A depthwise convolution that does not say how large its input is.
    #[error("the window along '{label}' has no total size; a depthwise convolution must say how large its padded input is")]
    MissingTotal {
        /// The dimension.
        label: Label,
    },
    /// A tensor that shares a class with one of other dimensions.
    #[error("tensor {tensor} has no dimension '{label}', which its layout class has; tensors of a class have the same dimensions")]
    ForeignDim {
        /// The tensor.
        tensor: usize,
        /// The dimension.
        label: Label,
    },
}
