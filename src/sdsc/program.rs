//! `program.json`: what a launcher must know beside the bundles ("tools, files and their contracts").
//!
//! ```json
//! {
//!   "name": "main",
//!   "arguments": [{"name": "arg0", "shape": [512, 1024], "element_type": "f16", "format": "SEN169_FP16",
//!                  "device_size": [16, 512, 64], "stride_map": [64, 1024, 1], "bytes": 1048576}],
//!   "results": [{"name": "result0", ...}],
//!   "constants": [],
//!   "buffers": [],
//!   "launches": [{"bundle": "bundle_0", "arguments": ["arg0", "result0"]}]
//! }
//! ```

use serde::{Deserialize, Serialize};

/// The name of the file.
pub const FILE_NAME: &str = "program.json";

/// A compiled program: its tensors in HBM and its launches in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of the function it was compiled from.
    pub name: String,
    /// What the caller gives, in the function's order.
    pub arguments: Vec<Tensor>,
    /// What the caller gets, in the function's order.
    pub results: Vec<Tensor>,
    /// Tensors known at compile time.
    pub constants: Vec<Tensor>,
    /// Tensors that one launch leaves for another.
    pub buffers: Vec<Tensor>,
    /// The launches in order.
    pub launches: Vec<LaunchEntry>,
}

/// A tensor in HBM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// The name that launches refer to.
    pub name: String,
    /// Sizes as the caller sees them.
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
    /// Set on arguments that ops read as indices: what their elements must keep to, half-open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_range: Option<[i64; 2]>,
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchEntry {
    /// The folder of the bundle.
    pub bundle: String,
    /// The tensor of each kernel argument, by number.
    pub arguments: Vec<String>,
}

impl Program {
    /// Every tensor: arguments, results, constants and buffers.
    pub fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.arguments.iter().chain(&self.results).chain(&self.constants).chain(&self.buffers)
    }
}
