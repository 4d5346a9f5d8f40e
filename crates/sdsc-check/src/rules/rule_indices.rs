//! Indices of the rules that are checked while files are read, or on several files together.

use super::FormatRule;
use super::release_table::{RELEASE_RULES, SYMBOLIC_SPACE_LABEL};
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
pub(in super::super) const CONSTANTS: usize = rule_index(RULES, "sdsc_r72");

/// Index of the rule on the buffers that launches share.
pub(in super::super) const BUFFERS: usize = rule_index(RULES, "sdsc_r73");

/// Indices of the rules on several files together.
pub(in super::super) const SIZES: usize = rule_index(RULES, "sdsc_r87");
pub(in super::super) const FLOW_IN_LX: usize = rule_index(RULES, "sdsc_r88");
pub(in super::super) const FLOW_IN_HBM: usize = rule_index(RULES, "sdsc_r89");
pub(in super::super) const FLOW_BETWEEN_LAUNCHES: usize = rule_index(RULES, "sdsc_r90");
pub(in super::super) const READ_ONLY: usize = rule_index(RULES, "sdsc_r91");
pub(in super::super) const TENSORS: usize = rule_index(RULES, "sdsc_r92");
pub(in super::super) const NAMES: usize = rule_index(RULES, "sdsc_r93");
pub(in super::super) const ARGUMENTS: usize = rule_index(RULES, "sdsc_r94");
pub(in super::super) const POOL_BYTES: usize = rule_index(RULES, "sdsc_r95");
pub(in super::super) const INDEX_RANGES: usize = rule_index(RULES, "sdsc_r96");
pub(in super::super) const LIVE_RANGES: usize = rule_index(RULES, "sdsc_r97");
pub(in super::super) const LIVE_RANGES_IN_LAUNCHES: usize = rule_index(RULES, "sdsc_r100");
pub(in super::super) const SYMBOLIC_SIZES: usize = rule_index(RULES, "sdsc_r103");
pub(in super::super) const LAUNCH_SPEC: usize = rule_index(RULES, "sdsc_r136");
pub(in super::super) const DEBUG_HANDLES: usize = rule_index(RULES, "sdsc_r137");
pub(in super::super) const ELEMENT_ORDER: usize = rule_index(RULES, "sdsc_r153");

/// Index of the release's rule on the sizes of symbolic dimensions.
pub(in super::super) const SYMBOLIC_SPACE: usize = RULES.len() + rule_index(RELEASE_RULES, SYMBOLIC_SPACE_LABEL);

/// Returns the index of a label in a table.
const fn rule_index(table: &[FormatRule], label: &str) -> usize {
    let mut place = 0;
    while !bytes_equal(table[place].label.as_bytes(), label.as_bytes()) {
        place += 1;
    }
    place
}

const fn bytes_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
