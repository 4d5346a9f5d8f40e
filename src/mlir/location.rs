//! Locations that carry the name of a value.

use super::{Location, Type};
use mlir_sys::{
    mlirIdentifierStr, mlirLocationEqual, mlirLocationGetContext, mlirLocationIsAName, mlirLocationNameGet, mlirLocationNameGetName,
    mlirLocationUnknownGet,
};

/// A location with a name for the value that is made there; `--mlir-use-nameloc-as-prefix` prints it.
#[must_use]
pub fn named_location<'c>(at: Location<'c>, name: &str) -> Location<'c> {
    // SAFETY: the name is copied into the context.
    unsafe { Location::from_raw(mlirLocationNameGet(mlirLocationGetContext(at.to_raw()), super::string_ref(name), at.to_raw())) }
}

/// The name that a location carries, empty if it has none.
#[must_use]
pub fn location_name(location: Location<'_>) -> &str {
    // SAFETY: the name is only asked for where there is one; names are uniqued in the context.
    unsafe {
        if !mlirLocationIsAName(location.to_raw()) {
            return "";
        }
        super::text_of(mlirIdentifierStr(mlirLocationNameGetName(location.to_raw())))
    }
}

/// Whether a location says nothing: operations that an upstream pass made up have such.
#[must_use]
pub fn is_unknown(location: Location<'_>) -> bool {
    // SAFETY: both are locations of one context.
    unsafe { mlirLocationEqual(location.to_raw(), mlirLocationUnknownGet(mlirLocationGetContext(location.to_raw()))) }
}

/// A block whose arguments have locations of their own.
#[must_use]
pub fn named_block<'c>(arguments: &[(Type<'c>, Location<'c>)]) -> melior::ir::Block<'c> {
    melior::ir::Block::new(arguments)
}

/// `file:line:col` from MLIR's `loc("file":line:col)`.
#[must_use]
pub fn location_text(location: Location<'_>) -> String {
    let text = location.to_string();
    text.trim_start_matches("loc(").trim_end_matches(')').replace('"', "")
}
