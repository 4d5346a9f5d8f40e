//! Helpers that several test programs share.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Returns the root folder of the project, which contains the test programs of crates and the fuzzer.
fn project() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors()
        .find(|folder| folder.join("test/common/places.rs").exists())
        .unwrap_or_else(|| panic!("{} is in no project", own.display()))
}

/// Returns a folder or file of the reference material outside the repository: `SPYRE_SHARED`, else `../shared`. A test
/// that needs it fails where it is absent; `test/tidy.rs` checks that every such test is in a module `shared`, whose
/// tests are ignored.
#[allow(dead_code, reason = "not every test program looks beside the project")]
pub(crate) fn shared(name: &str) -> PathBuf {
    let path = project().join(env::var_os("SPYRE_SHARED").unwrap_or_else(|| "../shared".into())).join(name);
    assert!(
        path.exists(),
        "{} does not exist: this test needs the material beside the project; SPYRE_SHARED says where it is",
        path.display()
    );
    path
}

/// Folders of the project's own golden cases; `test/golden/README.md` lists their sources.
#[allow(dead_code, reason = "not every test program reads golden cases")]
pub(crate) fn golden_cases() -> Vec<PathBuf> {
    folders_in(&project().join("test/golden"))
}

/// Folders of the reference emitter's golden cases, outside the repository.
#[allow(dead_code, reason = "not every test program reads golden cases")]
pub(crate) fn shared_golden_cases() -> Vec<PathBuf> {
    folders_in(&shared("golden/visible"))
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<_> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    assert!(found.len() > 10, "{} cases are in {}", found.len(), folder.display());
    found
}
