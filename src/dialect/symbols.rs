//! Declarations of named values on a function: the sizes of dimensions, and the maxima of symbolic trip counts.

use crate::dialect::ods::attr;
use crate::mlir::{Op, OpExt, dictionary_entries, integer};
use std::collections::BTreeMap;

/// Returns the dimension sizes that a function declares, by dimension name.
#[must_use]
pub fn declared_sizes(function: Op<'_>) -> BTreeMap<String, i64> {
    read_numbers(function, attr::SPYRE_DIM_SIZES)
}

/// Returns the maxima that a function declares, by the names of the trip counts.
#[must_use]
pub fn declared_maxima(function: Op<'_>) -> BTreeMap<String, i64> {
    read_numbers(function, attr::SPYRE_SYMBOLS)
}

fn read_numbers(function: Op<'_>, attribute: &str) -> BTreeMap<String, i64> {
    let entries = function.attr(attribute).and_then(dictionary_entries).unwrap_or_default();
    entries.into_iter().filter_map(|(name, number)| Some((name.to_owned(), integer(number)?))).collect()
}
