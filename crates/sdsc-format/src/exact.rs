//! `exact.json`: numbers of a program that the formats of the device round.
//!
//! Files hold constants as the device has them. This file, which no launcher needs, holds those that rounding changed
//! as the program has them, so that a referee can tell what rounding does from what is wrong.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub const EXACT_FILE: &str = "exact.json";

/// Name suffix of files of exact constants, before the common suffix of all constant files.
pub const EXACT_SUFFIX: &str = "_exact";

/// Numbers before they were rounded; those that are not here were not changed.
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

/// The elements of a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExactConstant {
    /// One number for all elements.
    Number(f64),
    /// A file with the elements, row-major and little endian, in the element type that `program.json` says, or in f64.
    File(String),
}

impl ExactNumbers {
    /// Whether nothing was changed by rounding.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.ops.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor of an attention with heads of 32, whose last digit a reader that rounds in between gets wrong; many
    /// others besides. The crate is tested alone, too, without the features that the tests of other crates ask for.
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
