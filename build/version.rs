//! Origin of a build, which `--version` prints after the version of the package. Used by `build.rs` and
//! `test/version.rs`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Origin of a build.
pub(crate) struct Origin {
    /// Text for `--version`.
    pub(crate) text: String,
    /// Files whose changes invalidate the text.
    pub(crate) watched: Vec<PathBuf>,
}

/// Returns the origin of a build of the sources in `root`.
///
/// A development build does not name the commit, like rustc's: every commit would rebuild everything, and the commit
/// says little about files that are being edited.
#[must_use]
pub(crate) fn origin(root: &Path, is_release: bool) -> Origin {
    if !is_release {
        return Origin { text: "development build".to_owned(), watched: Vec::new() };
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"]).filter(|_| is_own_repository(root));
    let Some(commit) = commit else {
        return Origin { text: "built from sources without git".to_owned(), watched: Vec::new() };
    };
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    let paths = names.filter_map(|name| git(root, &["rev-parse", "--git-path", name])).map(|path| root.join(path));
    // If a watched file is missing, cargo reruns the build script every time.
    Origin { text: format!("commit {commit}"), watched: paths.filter(|path| path.exists()).collect() }
}

/// Returns whether `root` is the top level of its git repository. Sources may be copied into another repository.
fn is_own_repository(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]).and_then(|top| fs::canonicalize(top).ok());
    top.is_some() && top == fs::canonicalize(root).ok()
}

/// Returns the output of a git command; `None` if git is missing, the command fails or the output is empty.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Returns the version of LLVM below `prefix`, as stated in its headers.
#[must_use]
pub(crate) fn llvm_version(prefix: &Path) -> Option<String> {
    let header = fs::read_to_string(prefix.join("include/llvm/Config/llvm-config.h")).ok()?;
    let version = header.lines().find_map(|line| line.strip_prefix("#define LLVM_VERSION_STRING \""))?;
    version.strip_suffix('"').map(str::to_owned)
}
