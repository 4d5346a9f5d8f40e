//! `spyre-lsp-server`: MLIR's language server with our dialects, for editors.

use super::{on_large_stack, says_version};
use crate::mlir::lsp_server_main;
use std::ffi::OsString;

/// Runs the tool with the words of its command line, of which the first is its own name, and gives its exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if says_version("spyre-lsp-server", &words) {
        return 0;
    }
    on_large_stack(|| lsp_server_main(words.into_iter()))
}
