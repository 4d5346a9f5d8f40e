//! `exact.json`: numbers of a program before device formats round them.
//!
//! The other files hold constants in device formats. This file holds the unrounded values of those that rounding
//! changed, so that the referee can tell rounding errors from wrong results. No launcher needs it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the file.
pub const EXACT_FILE: &str = "exact.json";

/// Name suffix of files of exact constants, before the common suffix of all constant files.
pub const EXACT_SUFFIX: &str = "_exact";

/// Numbers before rounding; numbers that rounding does not change are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactNumbers {
    /// Constants of the program by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, ExactConstant>,
    /// Constants of ops: by the path of the SDSC file, then by the constant's name there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ops: BTreeMap<String, BTreeMap<String, f64>>,
}

/// Elements of a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExactConstant {
    /// One number for all elements.
    Number(f64),
    /// Path of a file with the elements, row-major and little endian, in the element type that `program.json` states or
    /// in f64.
    File(String),
}

impl ExactNumbers {
    /// Returns whether rounding changed nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.ops.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the scale of an attention with heads of size 32, whose last digit changes if a reader rounds in between,
    /// and many others. This crate is also tested without the features that the tests of other crates enable.
    #[test]
    fn reads_numbers_exactly() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let others = (1..2000_u64).map(|n| f64::from_bits(n.wrapping_mul(step))).filter(|number| number.is_finite());
        for number in [0.176_776_695_296_636_87, 0.1, 1e-5, f64::MIN].into_iter().chain(others) {
            let constants = BTreeMap::from([("const0".to_owned(), ExactConstant::Number(number))]);
            let written = ExactNumbers { constants, ops: BTreeMap::new() };
            let text = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<ExactNumbers>(&text).unwrap(), written, "{text}");
        }
    }
}
