//! Drivers of MLIR's own tools, with our dialects registered.

use std::ffi::{CString, c_char, c_int};

unsafe extern "C" {
    fn spyreLspServerMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

/// Runs MLIR's language server on standard input and output; returns the exit code.
#[must_use]
pub fn run_lsp_server(words: impl Iterator<Item = String>) -> i32 {
    // SAFETY: C++ only reads the words, which outlive the call.
    call_with_argv(words, |count, words| unsafe { spyreLspServerMain(count, words) })
}

/// Passes words to C as `argc` and `argv`. The pointers are valid during the call only.
pub(super) fn call_with_argv<T>(
    words: impl Iterator<Item = String>,
    run: impl FnOnce(c_int, *mut *mut c_char) -> T,
) -> T {
    let words: Vec<CString> = words.filter_map(|word| CString::new(word).ok()).collect();
    let mut pointers: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
    let count = c_int::try_from(pointers.len()).expect("as many words as a process can have");
    pointers.push(std::ptr::null_mut());
    run(count, pointers.as_mut_ptr())
}
