//! `exact.json`: numbers of a program that the formats of the device round.
//!
//! Files hold constants as the device has them. This file, which no launcher needs, holds those that rounding changed as the program has
//! them, so that a referee can tell what rounding does from what is wrong.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub const EXACT_FILE: &str = "exact.json";

/// What the names of files of exact constants end with, before the suffix that all files of constants have.
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
