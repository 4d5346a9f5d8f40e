//! `program.json`: manifest of a program for launchers ("tools, files and their contracts").
//!
//! It lists the tensors in HBM ([`Tensor`]), the symbolic sizes ([`Size`]), and the launches with the live ranges in LX
//! and in the pool ([`Life`]).
//!
//! ```json
//! {
//!   "version": 1,
//!   "name": "main",
//!   "arguments": [{"name": "arg0", "shape": [512, 1024], "element_type": "f16", "format": "SEN169_FP16",
//!                  "device_size": [16, 512, 64], "stride_map": [64, 1024, 1], "bytes": 1048576}],
//!   "results": [{"name": "result0", ...}],
//!   "constants": [{"name": "const0", ..., "file": "constants/const0.bin"}],
//!   "buffers": [{"name": "temp0", ..., "place": {"offset": 0, "first_launch": 0, "last_launch": 1}}],
//!   "buffer_bytes": 8192,
//!   "launches": [{"bundle": "bundle_0", "arguments": ["arg0", "result0"],
//!                 "lx": [{"offset": 0, "bytes": 512, "first_op": 0, "last_op": 3}],
//!                 "pool": [{"offset": 0, "bytes": 4096, "first_op": 1, "last_op": 2}]}]
//! }
//! ```

use super::FormatVersion;
use super::model::DebugHandle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const PROGRAM_FILE: &str = "program.json";

/// Folder of the constant files.
pub const CONSTANTS_FOLDER: &str = "constants";

/// Name suffix of constant files.
pub const CONSTANT_SUFFIX: &str = ".bin";

/// Compiled program: its tensors in HBM and its launches in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Version of the format. A file without the member has version 1.
    #[serde(default)]
    pub version: FormatVersion<1>,
    /// Name of the compiled function.
    pub name: String,
    /// Arguments that the caller passes, in the function's order.
    pub arguments: Vec<Tensor>,
    /// Results that the caller receives, in the function's order.
    pub results: Vec<Tensor>,
    /// Tensors known at compile time. One without a file gets its value from the caller.
    pub constants: Vec<Tensor>,
    /// Tensors that one launch writes and a later one reads. With a place they are in one region, which a launcher
    /// allocates once.
    pub buffers: Vec<Tensor>,
    /// Bytes of the region that holds the buffers with a place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub buffer_bytes: i64,
    /// Order in which conversions between 16-bit and 32-bit numbers leave elements in sticks. It has one value, which
    /// files of earlier compilers state.
    #[serde(default, skip_serializing)]
    pub conversions: ConversionOrder,
    /// Symbolic sizes, which the caller chooses for each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
    /// Launches in order.
    pub launches: Vec<LaunchEntry>,
}

/// Order in which conversions between 16-bit and 32-bit numbers leave elements in sticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConversionOrder {
    /// Groups of four elements alternate between two sticks or two halves, as on the device.
    #[default]
    Staggered,
}

/// Symbolic size, for example `{"name": "s0", "maximum": 1024, "granularity": 64}`. Shapes in the file have the
/// maximum. The caller's array has the size that the run chooses; positions in device memory do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Name that the user chose.
    pub name: String,
    /// Maximum size.
    pub maximum: i64,
    /// Number of which every size is a multiple, and the minimum size.
    pub granularity: i64,
}

impl Size {
    /// Checks that a run may choose the size.
    ///
    /// # Errors
    /// A message with the valid sizes next to `size`.
    pub fn check(&self, size: i64) -> Result<(), String> {
        let Self { name, maximum, granularity } = self;
        let is_taken = *granularity > 0 && (*granularity..=*maximum).contains(&size) && size % granularity == 0;
        let message = || {
            format!("'{name}' cannot be {size}: expected a multiple of {granularity} from {granularity} to {maximum}")
        };
        if is_taken { Ok(()) } else { Err(format!("{}; choose {}", message(), self.nearest_valid_sizes(size))) }
    }

    /// Formats the valid sizes next to an invalid one.
    fn nearest_valid_sizes(&self, size: i64) -> String {
        let step = self.granularity.max(1);
        let below = size.min(self.maximum).max(step) / step * step;
        let above = below.saturating_add(step);
        if size > below && above <= self.maximum { format!("{below} or {above}") } else { below.to_string() }
    }
}

/// Symbolic dimension of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolicDim {
    /// Number of the dimension, from 0.
    pub dim: usize,
    /// Name of its size.
    pub size: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
const fn is_zero(bytes: &i64) -> bool {
    *bytes == 0
}

/// Location and lifetime of a buffer that launches share. Outside its lifetime, other buffers may use its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferPlace {
    /// Byte offset from the start of the region, a multiple of the stick size.
    pub offset: i64,
    /// Number of the first launch that uses it.
    pub first_launch: usize,
    /// Number of the last launch that uses it.
    pub last_launch: usize,
}

/// Tensor in HBM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// Name that launches refer to.
    pub name: String,
    /// Sizes of the caller's array, after the dimension of [`Self::digit_base`] if there is one. A tensor with a size
    /// of 0 occupies a stick in HBM; no launch receives it as an argument.
    pub shape: Vec<i64>,
    /// Element type as the caller sees it, such as `f16`.
    pub element_type: String,
    /// Device number format.
    pub format: String,
    /// Device shape, row-major; the last entry is the number of elements in a stick, or the last entries are its sizes.
    pub device_size: Vec<i64>,
    /// Number of host elements that one step along each device dimension moves; -1 if no host dimension moves.
    pub stride_map: Vec<i64>,
    /// Size in HBM, in bytes.
    pub bytes: i64,
    /// Path of a constant's file, below the directory. The file is the image in device memory: exactly `bytes` bytes,
    /// row-major over `device_size`, in the number format, little endian. Positions without a host element are zero.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Range of the elements of an integer argument that ops read as indices or compute with; the end is excluded.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub index_range: Option<[i64; 2]>,
    /// Symbolic dimensions of an argument or a result, in order: `[{"dim": 0, "size": "s0"}]`. `shape`, `device_size`
    /// and `stride_map` have the maxima.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbolic: Vec<SymbolicDim>,
    /// Base of the digits of an integer result that the device format cannot hold. The shape then has an additional
    /// first dimension with the upper and the lower digit. An element is `upper * base + lower`.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub digit_base: Option<i64>,
    /// Location of a buffer in the region that launches share; a buffer without it has its own memory.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub place: Option<BufferPlace>,
}

/// Returns the number of last device dimensions that are a stick of `per_stick` elements: 1 for a stick along one
/// dimension, more for a stick of several, such as `[.., 2, 64]`; `None` if the sizes do not end with a stick.
#[must_use]
pub fn count_stick_dims(device_size: &[i64], per_stick: i64) -> Option<usize> {
    let product = |sizes: &[i64]| sizes.iter().try_fold(1_i64, |product, size| product.checked_mul(*size));
    (1..=device_size.len()).find(|count| product(&device_size[device_size.len() - count..]) == Some(per_stick))
}

/// Live range of a value in LX or in the pool of a launch. Executes are counted in the order of the text of
/// `bundle.mlir`.
///
/// It extends from the first execute that writes the value to the last one that accesses it. In a loop around both,
/// each iteration has its own live range. If either execute is in a further inner loop, the range covers that loop
/// completely. Outside all live ranges the bytes are undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Life {
    /// Offset of its first byte.
    pub offset: i64,
    /// Size in bytes; in LX that on one core.
    pub bytes: i64,
    /// First execute that writes it.
    pub first_op: usize,
    /// Last execute that reads or writes it.
    pub last_op: usize,
}

/// Origin of an op that executes the file of an earlier op. Executes are counted in the order of the text of
/// `bundle.mlir`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpHandle {
    /// Number of the execute.
    pub op: usize,
    /// Origin of the op.
    pub handle: DebugHandle,
}

/// One kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchEntry {
    /// Folder of the bundle.
    pub bundle: String,
    /// Tensor of each kernel argument, by number.
    pub arguments: Vec<String>,
    /// Symbolic sizes that the launch receives after the arguments, in the order of the parameters of `bundle.mlir`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Bytes of the pool of a launch with addresses in its files; otherwise `bundle.mlir` allocates the pool.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pool_bytes: i64,
    /// Origins of ops whose file states the origin of an earlier op, in the order of the ops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debug_handles: Vec<OpHandle>,
    /// Live ranges of values in the LX of the cores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lx: Vec<Life>,
    /// Live ranges of values in the pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pool: Vec<Life>,
}

impl Program {
    /// Returns every tensor: arguments, results, constants and buffers.
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.arguments.iter().chain(&self.results).chain(&self.constants).chain(&self.buffers)
    }

    /// Returns the size with that name.
    #[must_use]
    pub fn size(&self, name: &str) -> Option<&Size> {
        self.sizes.iter().find(|size| size.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_granularity_and_maximum_of_size() {
        let size = Size { name: "s0".to_owned(), maximum: 256, granularity: 64 };
        assert!([64, 128, 192, 256].into_iter().all(|taken| size.check(taken).is_ok()));
        assert!([-64, 0, 1, 63, 65, 257, 320].into_iter().all(|rejected| size.check(rejected).is_err()));
        assert_eq!(
            size.check(320).unwrap_err(),
            "'s0' cannot be 320: expected a multiple of 64 from 64 to 256; choose 256"
        );
    }
}
