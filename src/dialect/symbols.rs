//! Counts that are known at launch only: the function attribute `spyre.symbols`.

use crate::mlir::{Op, OpExt, dictionary_entries, integer};
use std::collections::BTreeMap;

/// The maxima that a function declares, by the names of the counts.
#[must_use]
pub fn declared_maxima(function: Op<'_>) -> BTreeMap<String, i64> {
    let entries = function.attr("spyre.symbols").and_then(dictionary_entries).unwrap_or_default();
    entries.into_iter().filter_map(|(symbol, maximum)| Some((symbol.to_owned(), integer(maximum)?))).collect()
}
