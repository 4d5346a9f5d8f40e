//! The compiler as a C library. `include/spyre-c/Compile.h` says what each function does; `test/bridge.rs` compares the
//! two.

#![allow(non_snake_case, reason = "names of C")]

mod compile;

use compile::{CompileRequest, CompileResponse, compile};
use spyre_compiler::{mlir::CollectedDiagnostic, report::Report, tool::VERSION};
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

/// Result of a successful compilation; opaque in C.
#[derive(Debug)]
pub struct SpyreReport {
    ir: Option<CString>,
    json: Option<CString>,
    hbm_bytes: i64,
    modeled_us: f64,
}

impl SpyreReport {
    /// Returns the IR, if the compilation ended with IR, and otherwise the report as JSON with its traffic and time.
    fn new(report: &Report, ir: Option<String>) -> Result<Self, String> {
        if let Some(ir) = ir {
            return Ok(Self { ir: Some(to_c_text(&ir)), json: None, hbm_bytes: 0, modeled_us: 0.0 });
        }
        let json = serde_json::to_string(report).map_err(|error| error.to_string())?;
        let (hbm_bytes, modeled_us) = (report.total.hbm(), report.time.estimate_us);
        Ok(Self { ir: None, json: Some(to_c_text(&json)), hbm_bytes, modeled_us })
    }
}

/// Returns the version of the library.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn spyreVersion() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    TEXT.get_or_init(|| to_c_text(&format!("spyre-mlir {VERSION}"))).as_ptr()
}

/// Compiles a module.
///
/// # Safety
/// The texts end with zeros, `output` may be null, `options` has `n_options` entries, `report` can be written.
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
    report: *mut *mut SpyreReport,
) -> c_int {
    // SAFETY: the contract of the function.
    let request = unsafe {
        *report = ptr::null_mut();
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
    let CompileResponse { code, report: compiled, diagnostics } =
        catch_unwind(|| compile(&request)).unwrap_or_else(|_| CompileResponse::from_panic());
    if let Some(handler) = handler {
        // SAFETY: the handler is called according to its type, with the data that was passed with it.
        diagnostics.iter().for_each(|message| unsafe { report_messages(message, handler, data) });
    }
    if let Some(compiled) = compiled {
        // SAFETY: the contract of the function says that `report` can be written.
        unsafe { *report = Box::into_raw(Box::new(compiled)) };
    }
    code
}

/// Returns the IR, or null if the compilation wrote files.
///
/// # Safety
/// The report is a report of [`spyreCompile`] that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreReportIr(report: *const SpyreReport) -> *const c_char {
    // SAFETY: the contract of the function.
    unsafe { &*report }.ir.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

/// Returns the report as JSON, or null if the compilation wrote no files.
///
/// # Safety
/// The report is a report of [`spyreCompile`] that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreReportJson(report: *const SpyreReport) -> *const c_char {
    // SAFETY: the contract of the function.
    unsafe { &*report }.json.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

/// Returns the bytes that the program moves to and from HBM.
///
/// # Safety
/// The report is a report of [`spyreCompile`] that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreReportHbmBytes(report: *const SpyreReport) -> i64 {
    // SAFETY: the contract of the function.
    unsafe { &*report }.hbm_bytes
}

/// Returns the modeled time in microseconds.
///
/// # Safety
/// The report is a report of [`spyreCompile`] that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreReportModeledUs(report: *const SpyreReport) -> f64 {
    // SAFETY: the contract of the function.
    unsafe { &*report }.modeled_us
}

/// Frees a report.
///
/// # Safety
/// The report is null, or a report of [`spyreCompile`] that has not been freed.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spyreReportFree(report: *mut SpyreReport) {
    if !report.is_null() {
        // SAFETY: the contract of the function.
        drop(unsafe { Box::from_raw(report) });
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
