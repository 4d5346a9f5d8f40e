//! Access to files: on disk, or in memory before they are written.

use super::error::CheckError;
pub(super) use files::is_below;
use files::{read_below, resolve_below};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::Path;

/// Files by their path below a directory, with `/` between folders.
pub(super) trait FileTree {
    /// Error of a file that cannot be read.
    type Error;

    /// Returns whether there is a file at that path.
    fn has_file(&self, path: &str) -> bool;

    /// Returns the size of a file in bytes; `None` if it does not exist.
    fn size_bytes(&self, path: &str) -> Option<u64>;

    /// Returns the names of the files in a folder; the empty path is the directory itself.
    fn file_names(&self, folder: &str) -> Result<Vec<String>, Self::Error>;

    /// Returns the contents of a file. A missing file is an error on disk, and empty in memory.
    fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, Self::Error>;
}

/// Returns the path of a file in a folder.
pub(super) fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A directory on disk.
pub(super) struct DiskTree<'a>(pub(super) &'a Path);

impl FileTree for DiskTree<'_> {
    type Error = CheckError;

    fn has_file(&self, path: &str) -> bool {
        is_below(path) && self.0.join(path).is_file()
    }

    fn size_bytes(&self, path: &str) -> Option<u64> {
        let file = resolve_below(self.0, path).and_then(fs::metadata).ok()?;
        file.is_file().then_some(file.len())
    }

    fn file_names(&self, folder: &str) -> Result<Vec<String>, CheckError> {
        let folder = self.0.join(folder);
        let failed = |source| CheckError::Read { path: folder.clone(), source };
        let entries = fs::read_dir(&folder).map_err(failed)?;
        entries
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(failed))
            .collect()
    }

    fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, CheckError> {
        read_below(self.0, path).map(Cow::from).map_err(|source| CheckError::Read { path: self.0.join(path), source })
    }
}

/// Files in memory.
#[derive(Default)]
pub(super) struct MemoryTree<'a>(pub(super) BTreeMap<&'a str, &'a [u8]>);

impl FileTree for MemoryTree<'_> {
    type Error = Infallible;

    fn has_file(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    fn size_bytes(&self, path: &str) -> Option<u64> {
        self.0.get(path).and_then(|bytes| u64::try_from(bytes.len()).ok())
    }

    fn file_names(&self, folder: &str) -> Result<Vec<String>, Infallible> {
        let start = join_path(folder, "");
        let below = self.0.range(&*start..).map_while(|(path, _)| path.strip_prefix(&*start));
        Ok(below.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn read_file(&self, path: &str) -> Result<Cow<'_, [u8]>, Infallible> {
        Ok(self.0.get(path).map_or_else(Cow::default, |bytes| Cow::from(*bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_memory_files_by_folder() {
        let tree =
            MemoryTree(["a", "b/x", "b/y/z", "b0", "c"].into_iter().map(|path| (path, path.as_bytes())).collect());
        assert_eq!(tree.file_names(""), Ok(vec!["a".to_owned(), "b0".to_owned(), "c".to_owned()]));
        assert_eq!(tree.file_names("b"), Ok(vec!["x".to_owned()]));
        assert!(tree.has_file("b/y/z") && !tree.has_file("b/y"));
        assert_eq!((tree.size_bytes("b/y/z"), tree.size_bytes("b/y")), (Some(5), None));
        assert_eq!(tree.read_file("b/x").unwrap(), b"b/x".as_slice());
    }
}
