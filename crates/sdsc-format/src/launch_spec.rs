//! `launch_spec.json`: interface of one kernel, for launchers ("launch specification").
//!
//! The file is next to `bundle.mlir`. It lists the arguments of the kernel by position, with their host shapes, PyTorch
//! types, layouts and roles, so that a launcher can reject a tensor of another shape or type. A reader skips unknown
//! members, because a launch depends on no optional member.
//!
//! ```json
//! {
//!   "version": 1, "kernel_name": "f_0", "pool_size": 0, "bundle_symbolic_args": true, "emitter": "sdsc",
//!   "symbol_kinds": [{"kind": "kernel", "base_sym_idx": -1, "offset": 0, "arg_index": 0}],
//!   "args": [{"arg_index": 0, "role": "output", "shape": [3, 200], "dtype": "float16",
//!             "layout": {"stick_size": [64], "padding": [0, 0]}}]
//! }
//! ```

use super::FormatVersion;
use super::model::present;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Name of the file.
pub const LAUNCH_SPEC_FILE: &str = "launch_spec.json";

/// Emitter of files that this project writes.
pub const EMITTER_NAME: &str = "sdsc";

/// Launch specification of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchSpec {
    /// Version of the format.
    pub version: FormatVersion<1>,
    /// Name of the kernel.
    pub kernel_name: String,
    /// Bytes of the pool that the caller passes before the arguments; 0 if the bundle allocates its own.
    pub pool_size: i64,
    /// Whether the addresses of arguments are parameters of the bundle. A launcher rejects a kernel with addresses in
    /// its files.
    pub bundle_symbolic_args: bool,
    /// Producer of the files, for diagnosis.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub emitter: Option<String>,
    /// Parameters of the bundle's function, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbol_kinds: Vec<SymbolKind>,
    /// Sizes that are known at launch only, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub symbols: BTreeMap<String, SizeRange>,
    /// Arguments of the kernel, in the order of `arg_index`.
    pub args: Vec<ArgSpec>,
}

/// Meaning of a parameter of the bundle's function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolKind {
    /// Class of the symbol.
    pub kind: SymbolClass,
    /// Position of the symbol to which the offset is added; -1 if none.
    #[serde(default = "none_index")]
    pub base_sym_idx: i64,
    /// Bytes above the base.
    #[serde(default)]
    pub offset: i64,
    /// Argument of the kernel; -1 if none.
    #[serde(default = "none_index")]
    pub arg_index: i64,
    /// Granularity of a size, of which it is a multiple.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub granularity: Option<i64>,
    /// Maximum of a size.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_value: Option<i64>,
    /// Name of a size.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub pytorch_sym: Option<String>,
    /// Core of an address that depends on a size.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub core_idx: Option<i64>,
    /// Number of slices of a size over the cores.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub split_count: Option<i64>,
}

impl SymbolKind {
    /// Creates the entry for the address of a kernel argument.
    #[must_use]
    pub const fn kernel(arg_index: i64) -> Self {
        Self {
            kind: SymbolClass::Kernel,
            base_sym_idx: none_index(),
            offset: 0,
            arg_index,
            granularity: None,
            max_value: None,
            pytorch_sym: None,
            core_idx: None,
            split_count: None,
        }
    }

    /// Creates the entry for a size that is known at launch only.
    #[must_use]
    pub fn dimension(name: String, granularity: i64, maximum: i64) -> Self {
        Self {
            kind: SymbolClass::Dimension,
            granularity: Some(granularity),
            max_value: Some(maximum),
            pytorch_sym: Some(name),
            ..Self::kernel(none_index())
        }
    }
}

const fn none_index() -> i64 {
    -1
}

/// Class of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolClass {
    /// Address of a kernel argument.
    Kernel,
    /// Address of a slice of a kernel argument.
    KernelSlice,
    /// Address of one core's slice of a kernel argument.
    KernelDerived,
    /// Address of one core's slice of a kernel argument, whose size is known at launch only.
    KernelDerivedSymbolic,
    /// Address in the pool.
    Pool,
    /// Size that is known at launch only.
    Dimension,
}

impl SymbolClass {
    /// Returns whether the symbol is an address that follows from that of a kernel argument.
    #[must_use]
    pub const fn is_derived(self) -> bool {
        matches!(self, Self::KernelSlice | Self::KernelDerived | Self::KernelDerivedSymbolic)
    }
}

/// Sizes that a launch may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRange {
    /// Minimum.
    pub min: i64,
    /// Maximum.
    pub max: i64,
}

/// Argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgSpec {
    /// Position of the argument.
    pub arg_index: i64,
    /// Direction in which the kernel passes data.
    pub role: ArgRole,
    /// Sizes of the host's tensor.
    pub shape: Vec<ArgDimSize>,
    /// PyTorch name of the host's element type, such as `float16`.
    pub dtype: String,
    /// Arrangement in device memory; absent for the arrangement that launcher and compiler agree on.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub layout: Option<ArgLayout>,
}

/// Direction in which an argument passes data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgRole {
    /// Read only.
    Input,
    /// Written only; it holds no values before.
    Output,
    /// Written, and holds values before.
    InputOutput,
}

impl fmt::Display for ArgRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::InputOutput => "input_output",
        })
    }
}

/// Size of a dimension: a number, or the name of a size that is known at launch only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArgDimSize {
    /// A number.
    Fixed(i64),
    /// Name of an entry of `symbols`.
    Symbol(String),
}

impl fmt::Display for ArgDimSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => size.fmt(formatter),
            Self::Symbol(name) => write!(formatter, "'{name}'"),
        }
    }
}

/// Arrangement of an argument in device memory: the standard tiling into sticks, or the one that `device_size` and
/// `stride_map` define.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgLayout {
    /// Number of elements in a stick.
    pub stick_size: Vec<i64>,
    /// Number of elements beyond the host's size in each dimension of device memory, without the remainder of the last
    /// stick.
    pub padding: Vec<i64>,
    /// Device shape, as in `program.json`; absent for the standard tiling.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub device_size: Option<Vec<i64>>,
    /// Host elements that one step along each device dimension moves, as in `program.json`; absent for the standard
    /// tiling.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub stride_map: Option<Vec<i64>>,
}

impl fmt::Display for ArgLayout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "stick_size {:?}, padding {:?}", self.stick_size, self.padding)?;
        if let (Some(sizes), Some(map)) = (&self.device_size, &self.stride_map) {
            write!(formatter, ", device_size {sizes:?}, stride_map {map:?}")?;
        }
        Ok(())
    }
}

impl LaunchSpec {
    /// Returns the text of the file.
    ///
    /// # Panics
    /// Never: every key is a string.
    #[must_use]
    pub fn to_text(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("a launch specification has a JSON form");
        text.push(b'\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members that a launcher requires, as in the published example.
    const SHORT: &str = r#"{"version": 1, "kernel_name": "k", "pool_size": 0, "bundle_symbolic_args": true,
        "symbol_kinds": [{"kind": "kernel", "arg_index": 0}, {"kind": "kernel_derived", "base_sym_idx": 0, "offset": 128, "arg_index": 0}],
        "symbols": {"s0": {"min": 1, "max": 256}},
        "args": [{"arg_index": 0, "role": "input_output", "shape": ["s0", 512], "dtype": "float16"}]}"#;

    #[test]
    fn completes_abbreviated_file() {
        let spec: LaunchSpec = serde_json::from_str(SHORT).unwrap();
        assert_eq!(spec.symbol_kinds[0], SymbolKind::kernel(0));
        assert_eq!(spec.args[0].shape, [ArgDimSize::Symbol("s0".to_owned()), ArgDimSize::Fixed(512)]);
        assert_eq!((spec.args[0].role.to_string().as_str(), &spec.args[0].layout), ("input_output", &None));
        let text = String::from_utf8(spec.to_text()).unwrap();
        assert!(text.contains("\"base_sym_idx\": -1,\n      \"offset\": 0,\n      \"arg_index\": 0"), "{text}");
        assert_eq!(serde_json::from_str::<LaunchSpec>(&text).unwrap(), spec);
    }

    #[test]
    fn skips_unknown_members() {
        let text = SHORT
            .replacen("\"version\": 1", "\"version\": 1, \"target\": \"card\"", 1)
            .replacen("\"kind\": \"kernel\"", "\"kind\": \"kernel\", \"note\": 1", 1)
            .replacen("\"arg_index\": 0, \"role\"", "\"arg_index\": 0, \"device\": 0, \"role\"", 1);
        let short: LaunchSpec = serde_json::from_str(SHORT).unwrap();
        assert_eq!(serde_json::from_str::<LaunchSpec>(&text).unwrap(), short);
    }

    #[test]
    fn rejects_missing_member_other_version_and_unknown_role() {
        for (from, to, message) in [
            ("\"pool_size\": 0, ", "", "missing field `pool_size`"),
            ("\"version\": 1", "\"version\": 2", "expected version 1, found version 2"),
            ("\"input_output\"", "\"inout\"", "unknown variant `inout`"),
            ("\"kernel_derived\"", "\"core\"", "unknown variant `core`"),
        ] {
            let rejected = serde_json::from_str::<LaunchSpec>(&SHORT.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(rejected.starts_with(message), "{rejected}");
        }
    }
}
