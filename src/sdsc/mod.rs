//! The SuperDSC file of an op: what one `sdsc_<n>.json` says.
//!
//! This stage decides nothing about the program: it spells an op spec, whose geometry and addresses the stage
//! [`lower_launch`](crate::launch) worked out, in the file format. [`sdsc_format::model`] is the format, member by
//! member; it is also what a reader of files uses. [`from_op_spec()`] fills it, and [`sdsc_format::to_text`] prints it.
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
//! [`emit`] writes files, [`read`] finds out what files of ours, or of the reference emitter, were written from, and
//! [`check`] asks of files on disk everything that can be asked of them; `ir/emit_bundle.rs` is the pass that writes
//! all files of a program.

pub mod check;
pub mod emit;
#[cfg(feature = "mlir")]
pub(crate) mod ir;
pub mod read;

pub use check::{EMISSION_LABEL, find_emission_difference, find_violations};
pub use emit::{
    ConstantError, HostElements, SdscError, Shuffle, ShuffleError, ShuffleView, build_shuffle_file, constant_bits,
    decode_host_bytes, dl16_bits, encode_device_bytes, from_op_spec, from_op_spec_baked, is_rounded, is_rounded_number,
};
pub use read::{FileContext, OpSpecReadError, SymbolBase, SymbolValue, is_baked, parse_launch, to_bundle, to_op_spec};
