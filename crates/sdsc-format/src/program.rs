//! `program.json`: what a launcher must know beside the bundles ("tools, files and their contracts").
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
//!
//! Where sizes are known at launch only, `sizes` has their names, maxima and granularities:
//! `[{"name": "s0", "maximum": 1024, "granularity": 64}]`. A run chooses each, a multiple of the granularity that is
//! not above the maximum. `shape`, `device_size` and `stride_map` of a tensor are those at the maxima, and `symbolic`
//! says which dimensions of an argument or a result have such a size: `[{"dim": 0, "size": "s0"}]`. A launch has in
//! `sizes` the names of the sizes that it is given, in the order of the parameters of `bundle.mlir`, behind the
//! arguments. The caller's array has the size that was chosen; where an element lies in device memory does not depend
//! on it.
//!
//! Where a number of iterations is known at launch only, `symbols` has its name and its maximum:
//! `[{"name": "T", "maximum": 8}]`.
//!
//! The file of a constant has its content as it stands in device memory: exactly `bytes` bytes, row-major over
//! `device_size`, in the number format, little endian. What holds nothing of the host is zero.
//!
//! `lx` and `pool` of a launch are the lives of what the compiler's plan has put there: which bytes, from the first op
//! that writes them to the last that touches them. A life is one of the innermost loop around both ops, where there is
//! one: each iteration has its own. Where either op stands in a loop further in, the life has all of that loop. Outside
//! of all lives the bytes hold nothing.
//!
//! Buffers that launches share lie in one region of `buffer_bytes`, which a launcher allocates once: each at its
//! offset, from the start of its first launch to the end of its last one. Outside of that time its bytes belong to
//! others.

use super::FormatVersion;
use super::model::DebugHandle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of the file.
pub const PROGRAM_FILE: &str = "program.json";

/// The folder of the files of constants.
pub const CONSTANTS_FOLDER: &str = "constants";

/// Name suffix of constant files.
pub const CONSTANT_SUFFIX: &str = ".bin";

/// A compiled program: its tensors in HBM and its launches in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The version of this form. Bundles of before there was one are of the first.
    #[serde(default)]
    pub version: FormatVersion<1>,
    /// The name of the function it was compiled from.
    pub name: String,
    /// Arguments that the caller passes, in the function's order.
    pub arguments: Vec<Tensor>,
    /// Results that the caller receives, in the function's order.
    pub results: Vec<Tensor>,
    /// Tensors known at compile time. One without a file gets its value from the caller.
    pub constants: Vec<Tensor>,
    /// Tensors that one launch leaves for another.
    pub buffers: Vec<Tensor>,
    /// Bytes of the region in which the buffers with a place lie.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub buffer_bytes: i64,
    /// Order in which conversions between 16-bit and 32-bit numbers leave elements in sticks.
    #[serde(default, skip_serializing_if = "ConversionOrder::is_kept")]
    pub conversions: ConversionOrder,
    /// Sizes that the caller chooses for a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
    /// Numbers that the caller gives with a launch. What the back end takes today has none: `spyre-emit-bundle` refuses
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<Symbol>,
    /// The launches in order.
    pub launches: Vec<LaunchEntry>,
}

/// Order in which conversions between 16-bit and 32-bit numbers leave elements in sticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConversionOrder {
    /// Every element keeps its position in the row: the assumption of programs without the member.
    #[default]
    Kept,
    /// Groups of four elements alternate between two sticks or two halves, as on the device.
    Staggered,
}

impl ConversionOrder {
    /// Whether elements keep their positions.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        *self == Self::Kept
    }
}

/// A size that is known at launch only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// The name that the user gave it.
    pub name: String,
    /// The largest size.
    pub maximum: i64,
    /// Every size is a multiple of this number; the smallest is the number itself.
    pub granularity: i64,
}

impl Size {
    /// Whether a run may choose the size.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self, size: i64) -> Result<(), String> {
        let Self { name, maximum, granularity } = self;
        let is_taken = *granularity > 0 && (*granularity..=*maximum).contains(&size) && size % granularity == 0;
        let message = || {
            format!("'{name}' cannot be {size}: expected a multiple of {granularity} from {granularity} to {maximum}")
        };
        if is_taken { Ok(()) } else { Err(format!("{}; choose {}", message(), self.nearest_valid_sizes(size))) }
    }

    /// The sizes that a run may choose beside one that it may not.
    fn nearest_valid_sizes(&self, size: i64) -> String {
        let step = self.granularity.max(1);
        let below = size.min(self.maximum).max(step) / step * step;
        let above = below.saturating_add(step);
        if size > below && above <= self.maximum { format!("{below} or {above}") } else { below.to_string() }
    }
}

/// A dimension of a tensor that has a size which is known at launch only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SymbolicDim {
    /// The dimension, counted from 0.
    pub dim: usize,
    /// The name of its size.
    pub size: String,
}

/// A number that is known at launch only: how many iterations a loop does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    /// The name that the user gave it.
    pub name: String,
    /// The largest number; the smallest is 1.
    pub maximum: i64,
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "'{}', at most {}", self.name, self.maximum)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
const fn is_zero(bytes: &i64) -> bool {
    *bytes == 0
}

/// Where a buffer that launches share lies, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferPlace {
    /// Bytes from the start of the region, whole sticks.
    pub offset: i64,
    /// The number of the first launch that uses it.
    pub first_launch: usize,
    /// The number of the last one.
    pub last_launch: usize,
}

/// A tensor in HBM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// The name that launches refer to.
    pub name: String,
    /// Sizes as the caller sees them, behind that of digits; where one is 0, the tensor is a stick in HBM, and an
    /// argument that no launch is given.
    pub shape: Vec<i64>,
    /// Element type as the caller sees it, such as `f16`.
    pub element_type: String,
    /// Device number format.
    pub format: String,
    /// Device shape, row-major; the last entry is the elements of one stick.
    pub device_size: Vec<i64>,
    /// Host elements that one step along each device dimension moves; -1 where no host dimension does.
    pub stride_map: Vec<i64>,
    /// Bytes in HBM.
    pub bytes: i64,
    /// The file that holds a constant's bytes, as a path below the directory; no other tensor has one.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Set on arguments of integers that ops read as indices or compute with: what their elements must keep to,
    /// half-open.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub index_range: Option<[i64; 2]>,
    /// The dimensions of an argument or a result whose sizes are known at launch only, in order; `shape` has their
    /// maxima.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbolic: Vec<SymbolicDim>,
    /// Set on results of integers that the format does not hold: the base of their digits. The shape has one more
    /// dimension than the caller's array, the first, with the upper and the lower digit: an element is the upper one
    /// times the base, and the lower one.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub digit_base: Option<i64>,
    /// Where a buffer lies in the region that launches share; a tensor without one has memory of its own.
    #[serde(default, deserialize_with = "super::model::present", skip_serializing_if = "Option::is_none")]
    pub place: Option<BufferPlace>,
}

/// A value that a launch has in LX or in its pool for a time. Executes are counted in the order of the text of
/// `bundle.mlir`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Life {
    /// Its first byte.
    pub offset: i64,
    /// Its bytes; in LX those of one core.
    pub bytes: i64,
    /// The first execute that writes it.
    pub first_op: usize,
    /// The last execute that reads or writes it.
    pub last_op: usize,
}

/// Origin of an op that executes the file of an earlier op. Executes are counted in the order of the text of
/// `bundle.mlir`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpHandle {
    /// The execute.
    pub op: usize,
    /// Its origin.
    pub handle: DebugHandle,
}

/// One kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchEntry {
    /// The folder of the bundle.
    pub bundle: String,
    /// The tensor of each kernel argument, by number.
    pub arguments: Vec<String>,
    /// The names of the sizes that it is given, in the order of the parameters of `bundle.mlir`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Bytes of the pool of a launch whose addresses are in its files; otherwise `bundle.mlir` allocates the pool and
    /// says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pool_bytes: i64,
    /// Origins of ops whose file has the origin of an earlier op, in the order of the ops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debug_handles: Vec<OpHandle>,
    /// Values in the LX of the cores, with their live ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lx: Vec<Life>,
    /// Values in the pool, with their live ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pool: Vec<Life>,
}

impl Program {
    /// Every tensor: arguments, results, constants and buffers.
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.arguments.iter().chain(&self.results).chain(&self.constants).chain(&self.buffers)
    }

    /// The size of that name.
    #[must_use]
    pub fn size(&self, name: &str) -> Option<&Size> {
        self.sizes.iter().find(|size| size.name == name)
    }

    /// Makes sure that every number is known.
    ///
    /// # Errors
    /// The first symbol, which nothing here can run: the counts of loops are constants (torch-spyre facts, D.10).
    pub fn check_no_symbols(&self) -> Result<(), String> {
        let unbound = |symbol: &Symbol| {
            format!("the symbol {symbol}, is known at launch only; loops must have constant trip counts")
        };
        self.symbols.first().map_or(Ok(()), |symbol| Err(unbound(symbol)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_granularity_and_maximum_of_size() {
        let size = Size { name: "s0".to_owned(), maximum: 256, granularity: 64 };
        assert!([64, 128, 192, 256].into_iter().all(|taken| size.check(taken).is_ok()));
        assert!([-64, 0, 1, 63, 65, 257, 320].into_iter().all(|refused| size.check(refused).is_err()));
        assert_eq!(
            size.check(320).unwrap_err(),
            "'s0' cannot be 320: expected a multiple of 64 from 64 to 256; choose 256"
        );
    }

    #[test]
    fn writes_symbols_only_if_present() {
        let mut program = Program::default();
        assert!(!serde_json::to_string(&program).unwrap().contains("symbols"));
        program.symbols.push(Symbol { name: "T".to_owned(), maximum: 8 });
        let text = serde_json::to_string(&program).unwrap();
        assert!(text.contains(r#""symbols":[{"name":"T","maximum":8}]"#), "{text}");
        assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
        assert_eq!(
            program.check_no_symbols().unwrap_err(),
            "the symbol 'T', at most 8, is known at launch only; loops must have constant trip counts"
        );
    }
}
