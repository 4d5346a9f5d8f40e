//! Texts between Rust and MLIR.

use mlir_sys::MlirStringRef;
use std::{
    collections::BTreeMap,
    slice, str,
    sync::{Mutex, PoisonError},
};

/// A reference that MLIR may read during the call it is given to; it copies what it keeps.
pub(crate) const fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The text of a string of MLIR. What is no UTF-8 reads as MLIR prints it, `a\FF`, so that different names stay different.
///
/// # Safety
/// Its bytes are there, and do not change, for as long as the result is used. Strings in attributes and identifiers are uniqued in the
/// context, which outlives the module; the bridge keeps its own alive until the Rust function that it calls returns.
pub(crate) unsafe fn text_of<'c>(raw: MlirStringRef) -> &'c str {
    // SAFETY: as the caller promises.
    let bytes = unsafe { bytes_of(raw) };
    str::from_utf8(bytes).unwrap_or_else(|_| escaped(bytes))
}

/// Bytes as MLIR prints them. Each text is kept for the rest of the process: few programs have one, and each once.
fn escaped(bytes: &[u8]) -> &'static str {
    static KNOWN: Mutex<BTreeMap<Vec<u8>, &'static str>> = Mutex::new(BTreeMap::new());
    let letter = |byte: &u8| match byte {
        b' '..=b'~' if ![b'\\', b'"'].contains(byte) => char::from(*byte).to_string(),
        _ => format!("\\{byte:02X}"),
    };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(bytes.to_vec()).or_insert_with(|| bytes.iter().map(letter).collect::<String>().leak())
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

#[cfg(test)]
mod tests {
    use crate::mlir::{Module, OpExt};

    #[test]
    fn what_is_no_utf_8_reads_as_mlir_prints_it() {
        let session = crate::pipeline::session();
        let text = r#"module attributes {a.first = "x\FFy", a.second = "x\FEy", a.third = "\E2\82\AC"} {}"#;
        let module = Module::parse(&session, text).unwrap();
        let read = ["a.first", "a.second", "a.third"].map(|name| module.op().text_attr(name).to_owned());
        assert_eq!(read, [r"x\FFy", r"x\FEy", "\u{20ac}"]);
    }
}
