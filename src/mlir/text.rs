//! Passes strings between Rust and MLIR.

use mlir_sys::{MlirContext, MlirStringRef, mlirStringAttrGet, mlirStringAttrGetValue};
use std::{borrow::Cow, slice, str};

/// Returns a string reference for MLIR, valid during the call; MLIR copies the strings that it keeps.
pub(crate) const fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// Returns the text of a string that a context owns. Invalid UTF-8 is escaped as MLIR prints it, such as `a\FF`, so
/// that different names stay different; the context owns the escaped text as well.
///
/// # Safety
/// The bytes exist and do not change while the result is used, and the context is alive. Strings in attributes and
/// identifiers are uniqued in the context, which outlives the module.
pub(crate) unsafe fn read_context_text<'c>(raw: MlirStringRef, context: impl FnOnce() -> MlirContext) -> &'c str {
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { read_bytes(raw) };
    str::from_utf8(bytes).unwrap_or_else(|_| {
        let escaped = escape_bytes(bytes);
        // SAFETY: the context copies the text, and keeps the copy.
        let kept = unsafe { read_bytes(mlirStringAttrGetValue(mlirStringAttrGet(context(), string_ref(&escaped)))) };
        str::from_utf8(kept).unwrap_or_default()
    })
}

/// Returns the text of a string of the bridge, which C++ keeps during the call. Invalid UTF-8 is escaped as MLIR prints
/// it.
///
/// # Safety
/// The bytes exist and do not change while the result is used.
pub(crate) unsafe fn read_text<'c>(raw: MlirStringRef) -> Cow<'c, str> {
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { read_bytes(raw) };
    str::from_utf8(bytes).map_or_else(|_| Cow::Owned(escape_bytes(bytes)), Cow::Borrowed)
}

/// Escapes bytes as MLIR prints them.
fn escape_bytes(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        b' '..=b'~' if ![b'\\', b'"'].contains(byte) => char::from(*byte).to_string(),
        _ => format!("\\{byte:02X}"),
    };
    bytes.iter().map(letter).collect()
}

/// Returns the bytes of an MLIR string.
/// # Safety
/// As for [`read_context_text`].
pub(super) unsafe fn read_bytes<'c>(raw: MlirStringRef) -> &'c [u8] {
    if raw.length == 0 {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) }
}

#[cfg(test)]
mod tests {
    use crate::mlir::{Module, OpExt};

    #[test]
    fn escapes_invalid_utf8_as_mlir_prints_it() {
        let session = crate::pipeline::create_session();
        let text = r#"module attributes {a.first = "x\FFy", a.second = "x\FEy", a.third = "\E2\82\AC"} {}"#;
        let module = Module::parse(&session, text).unwrap();
        let read = ["a.first", "a.second", "a.third"].map(|name| module.op().text_attr(name).to_owned());
        assert_eq!(read, [r"x\FFy", r"x\FEy", "\u{20ac}"]);
    }
}
