//! The compiler as a C library. `include/spyre-c/Compile.h` says what each function does; `test/bridge.rs` compares the
//! two.

#![allow(non_snake_case, reason = "names of C")]

mod compile;

use compile::{CompileRequest, CompileResponse, compile};
use spyre_compiler::{mlir::CollectedDiagnostic, tool::VERSION};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    panic::catch_unwind,
    ptr, slice,
    sync::OnceLock,
};

/// An option: name and value.
#[repr(C)]
#[derive(Debug)]
pub struct SpyreOption {
    name: *const c_char,
    value: *const c_char,
}

/// A message.
#[repr(C)]
#[derive(Debug)]
pub struct SpyreMessage {
    severity: c_int,
    message: *const c_char,
    file: *const c_char,
    line: i64,
    column: i64,
}

/// Is told of messages.
pub type SpyreMessageHandler = unsafe extern "C" fn(*const SpyreMessage, *mut c_void);

/// The version of the library.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn spyreVersion() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    TEXT.get_or_init(|| to_c_text(&format!("spyre-mlir {VERSION}"))).as_ptr()
}

/// Compiles a module.
///
/// # Safety
/// The texts end with zeros, `output` may be null, `options` has `n_options` entries, `result` can be written.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreCompile(
    program: *const c_char,
    name: *const c_char,
    output: *const c_char,
    options: *const SpyreOption,
    n_options: isize,
    handler: Option<SpyreMessageHandler>,
    data: *mut c_void,
    result: *mut *mut c_char,
) -> c_int {
    // SAFETY: what the caller promises.
    let request = unsafe {
        *result = ptr::null_mut();
        let given = usize::try_from(n_options).ok().filter(|count| *count > 0 && !options.is_null());
        let options = given.map_or(&[][..], |count| slice::from_raw_parts(options, count));
        CompileRequest {
            program: read_text(program),
            name: read_text(name),
            output: (!output.is_null()).then(|| read_text(output)),
            options: options.iter().map(|option| (read_text(option.name), read_text(option.value))).collect(),
        }
    };
    // A panic must not unwind into C; its message is on standard error.
    let CompileResponse { code, result: written, said } =
        catch_unwind(|| compile(&request)).unwrap_or_else(|_| CompileResponse::from_panic());
    if let Some(handler) = handler {
        // SAFETY: the handler is called according to its type, with the data that was passed with it.
        said.iter().for_each(|message| unsafe { report_messages(message, handler, data) });
    }
    if let Some(written) = written {
        // SAFETY: the caller promises that this can be written.
        unsafe { *result = to_c_text(&written).into_raw() };
    }
    code
}

/// Frees a result.
///
/// # Safety
/// The text is null, or a result that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreFreeText(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: what the caller promises.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// # Safety
/// The pointer is null, which is taken for an empty text, or at a text with a zero at its end.
unsafe fn read_text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: what the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// A zero would end the text early.
fn to_c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// # Safety
/// The handler may be called with the data.
unsafe fn report_messages(said: &CollectedDiagnostic, handler: SpyreMessageHandler, data: *mut c_void) {
    let severity = ["error", "warning", "remark"].iter().position(|name| *name == said.severity).unwrap_or(3);
    let (message, place) = (to_c_text(&said.coded_text()), said.places.first());
    let file = place.map(|place| to_c_text(&place.file));
    let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
    let told = SpyreMessage {
        severity: c_int::try_from(severity).unwrap_or(3),
        message: message.as_ptr(),
        file: file.as_ref().map_or(ptr::null(), |file| file.as_ptr()),
        line,
        column,
    };
    // SAFETY: what the caller promises; the texts outlive the call.
    unsafe { handler(&raw const told, data) };
    // SAFETY: as before.
    said.notes.iter().for_each(|note| unsafe { report_messages(note, handler, data) });
}
