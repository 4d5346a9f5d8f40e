//! `spyre-opt`: MLIR's opt driver with our dialects and passes.

use super::{on_large_stack, says_version};
use crate::{mlir::opt_main, pipeline::HOOKS, validate::Observer};
use std::ffi::OsString;

/// Runs the tool with the words of its command line, of which the first is its own name, and gives its exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if says_version("spyre-opt", &words) {
        return 0;
    }
    let observer = Observer::default();
    on_large_stack(|| opt_main(&HOOKS, &|pass, event| observer.observe(pass, event), words.into_iter()))
}
