//! What `--version` says of a build beside the version of the package. `build.rs` asks it, and `test/version.rs`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Where a build comes from.
pub(crate) struct Origin {
    /// In words, for `--version`.
    pub(crate) text: String,
    /// The files that say otherwise when they change.
    pub(crate) watched: Vec<PathBuf>,
}

/// Where a build of the sources in `root` comes from.
///
/// A build for development does not name the commit, as that of rustc does not: every commit would have everything built once more, for a
/// name that says little of files that are being changed.
#[must_use]
pub(crate) fn origin(root: &Path, is_release: bool) -> Origin {
    if !is_release {
        return Origin { text: "development build".to_owned(), watched: Vec::new() };
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"]).filter(|_| is_own_repository(root));
    let Some(commit) = commit else { return Origin { text: "built from sources without git".to_owned(), watched: Vec::new() } };
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    let paths = names.filter_map(|name| git(root, &["rev-parse", "--git-path", name])).map(|path| root.join(path));
    // Cargo builds again each time where a file that it watches is not there.
    Origin { text: format!("commit {commit}"), watched: paths.filter(|path| path.exists()).collect() }
}

/// Whether the repository around the sources is theirs, and not one that they were copied into.
fn is_own_repository(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]).and_then(|top| fs::canonicalize(top).ok());
    top.is_some() && top == fs::canonicalize(root).ok()
}

/// What git says, if it is there and has no objection.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The version of the LLVM in a prefix, as its headers have it.
#[must_use]
pub(crate) fn llvm_version(prefix: &Path) -> Option<String> {
    let header = fs::read_to_string(prefix.join("include/llvm/Config/llvm-config.h")).ok()?;
    let version = header.lines().find_map(|line| line.strip_prefix("#define LLVM_VERSION_STRING \""))?;
    version.strip_suffix('"').map(str::to_owned)
}
