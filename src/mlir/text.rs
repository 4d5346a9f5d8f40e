//! Texts between Rust and MLIR.

use mlir_sys::MlirStringRef;
use std::{slice, str};

/// A reference that MLIR may read during the call it is given to; it copies what it keeps.
pub(crate) const fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The text of a string of MLIR.
///
/// # Safety
/// Its bytes are there, and do not change, for as long as the result is used. Strings in attributes and identifiers are uniqued in the
/// context, which outlives the module; the bridge keeps its own alive until the Rust function that it calls returns.
pub(crate) unsafe fn text_of<'c>(raw: MlirStringRef) -> &'c str {
    // SAFETY: as the caller promises.
    str::from_utf8(unsafe { bytes_of(raw) }).unwrap_or_default()
}

/// The bytes of a string of MLIR.
///
/// # Safety
/// As of [`text_of`].
pub(super) unsafe fn bytes_of<'c>(raw: MlirStringRef) -> &'c [u8] {
    if raw.length == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) }
}
