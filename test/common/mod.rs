//! What several test programs need.

use std::{
    env,
    path::{Path, PathBuf},
};

/// A folder of the material that stands beside the project: `SPYRE_SHARED`, else `../shared`. None where it is absent; the test says so
/// and checks nothing. A variable that names a folder without it is a mistake, not an absence.
#[allow(clippy::print_stderr, reason = "a test that checks nothing says so")]
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let named = env::var_os("SPYRE_SHARED").map(PathBuf::from);
    let root = named.clone().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let path = root.join(folder);
    if path.exists() {
        return Some(path);
    }
    assert!(named.is_none(), "SPYRE_SHARED is set, but {} does not exist", path.display());
    eprintln!("SKIPPED: {} does not exist", path.display());
    None
}

/// The folders of the golden cases; none where they are not shared.
#[allow(dead_code, reason = "not every test program reads golden cases")]
pub(crate) fn golden_cases() -> Vec<PathBuf> {
    let Some(visible) = shared("golden/visible") else { return Vec::new() };
    let entries = std::fs::read_dir(&visible).unwrap_or_else(|error| panic!("{}: {error}", visible.display()));
    let mut cases: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no golden cases in {}", visible.display());
    cases
}
