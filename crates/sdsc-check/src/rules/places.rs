//! Indices of the rules that are checked while files are read, or on several files together.

use super::table::RULES;

/// Index in [`RULES`] of the rule on the text of `bundle.mlir`.
pub(in super::super) const TEXT: usize = 0;

/// Index of the rule on the members of SDSC files.
pub(in super::super) const SCHEMA: usize = 1;

/// Index of the rule on `program.json`.
pub(in super::super) const PROGRAM: usize = 2;

/// Index of the rule on the number of operations of a file.
pub(in super::super) const ONE_OPERATION: usize = 3;

/// Index of the rule on the files of constants.
pub(in super::super) const CONSTANTS: usize = place("sdsc_r72");

/// Index of the rule on the buffers that launches share.
pub(in super::super) const BUFFERS: usize = place("sdsc_r73");

/// Indices of the rules on several files together.
pub(in super::super) const SIZES: usize = place("sdsc_r87");
pub(in super::super) const FLOW_IN_LX: usize = place("sdsc_r88");
pub(in super::super) const FLOW_IN_HBM: usize = place("sdsc_r89");
pub(in super::super) const FLOW_OF_LAUNCHES: usize = place("sdsc_r90");
pub(in super::super) const READ_ONLY: usize = place("sdsc_r91");
pub(in super::super) const TENSORS: usize = place("sdsc_r92");
pub(in super::super) const NAMES: usize = place("sdsc_r93");
pub(in super::super) const ARGUMENTS: usize = place("sdsc_r94");
pub(in super::super) const POOL_BYTES: usize = place("sdsc_r95");
pub(in super::super) const INDEX_RANGES: usize = place("sdsc_r96");
pub(in super::super) const LIVES: usize = place("sdsc_r97");
pub(in super::super) const LIVES_IN_LAUNCHES: usize = place("sdsc_r100");
pub(in super::super) const SYMBOLIC_SIZES: usize = place("sdsc_r103");
pub(in super::super) const LAUNCH_SPEC: usize = place("sdsc_r136");
pub(in super::super) const DEBUG_HANDLES: usize = place("sdsc_r137");
pub(in super::super) const ELEMENT_ORDER: usize = place("sdsc_r153");

/// Returns the index in [`RULES`] of a label.
const fn place(label: &str) -> usize {
    let mut place = 0;
    while !is_same(RULES[place].label.as_bytes(), label.as_bytes()) {
        place += 1;
    }
    place
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
