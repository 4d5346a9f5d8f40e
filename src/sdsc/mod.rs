//! Stage `sdsc`: prints each op spec as a SuperDSC file, `sdsc_<n>.json`.
//!
//! The stage decides nothing about the program; the stage [`launch`](crate::launch) has computed geometry and
//! addresses. [`from_op_spec()`] fills the model of the file, [`sdsc_format::model`], and [`sdsc_format::to_text`]
//! prints it. [`read`] is the inverse, and [`check`] checks files on disk.
//!
//! ```text
//! op spec: sum of fp16 [64, 50] along its rows, result [64], on 4 cores
//!
//! "0_sum": {... "numWkSlicesPerDim_": {"mb": 4, "out": 1}, "dscs_": [{"sum": {
//!    "N_": {"name_": "n", "mb_": 64, "out_": 64},                         rows are padded to a stick,
//!    "coordinateMasking_": {"out": [[50, 14]]}, "maskingConstId_": 0,     and the padding is constant 0, with value 0
//!    "scheduleTree_": [{"name_": "allocate-Tensor0_hbm", ...}, ...],      location of each tensor
//!    "labeledDs_": [{"scale_": [1, 1], ...}, {"scale_": [1, -2], ...}],   the result has one element in each stick
//!    ...
//! ```

pub mod check;
pub mod emit;
#[cfg(feature = "mlir")]
pub(crate) mod ir;
pub mod read;

pub use check::{EMISSION_LABEL, find_emission_difference, find_violations};
pub use emit::{
    ConstantError, HostElements, SdscError, Shuffle, ShuffleError, ShuffleView, build_shuffle_file, constant_bits,
    convert_to_release, decode_host_bytes, dl16_bits, encode_device_bytes, from_op_spec, from_op_spec_baked,
    is_rounded, is_rounded_number,
};
pub use read::{
    FileComparison, FileContext, LegalBundle, OpSpecReadError, ProgramFacts, SymbolBase, SymbolValue,
    find_executed_files, parse_launch, read_legal_bundle, to_bundle, to_op_spec,
};
