//! Writing a bundle directory: all of it or nothing.

use super::exact::EXACT_FILE;
use super::program::{CONSTANT_SUFFIX, CONSTANTS_FOLDER, FILE_NAME};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file of the directory: its path below it, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path below the directory.
    pub path: String,
    /// What it says.
    pub content: Vec<u8>,
}

/// Why a directory was not written; nothing is left of it.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error("cannot write '{path}': {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is something else at that place.
    #[error("will not replace '{path}': it is there and is no bundle directory", path = path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
}

/// A bundle directory that is written, but not yet in its place; dropped, nothing is left of it.
#[derive(Debug)]
pub struct Fresh {
    folder: tempfile::TempDir,
    directory: PathBuf,
}

impl Fresh {
    /// Writes `files` beside `directory`, which does not exist or holds an earlier bundle.
    ///
    /// # Errors
    /// See [`WriteError`]; of several files that cannot be written the first.
    pub fn write(directory: &Path, files: &[File]) -> Result<Self, WriteError> {
        check_replaceable(directory)?;
        let parent = match directory.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = tempfile::Builder::new().prefix(".spyre-").tempdir_in(parent).map_err(at(directory))?;
        let mut made = folder.path().to_owned();
        for file in files {
            let path = folder.path().join(&file.path);
            if let Some(parent) = path.parent().filter(|parent| *parent != made) {
                fs::create_dir_all(parent).map_err(at(&directory.join(&file.path)))?;
                parent.clone_into(&mut made);
            }
        }
        // One by one: threads that make files in one folder wait for each other.
        for file in files {
            fs::write(folder.path().join(&file.path), &file.content).map_err(at(&directory.join(&file.path)))?;
        }
        make_readable(folder.path()).map_err(at(directory))?;
        Ok(Self { folder, directory: directory.to_owned() })
    }

    /// Renames the folder, so that a failure leaves what was there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn put_in_place(self) -> Result<(), WriteError> {
        replace(self.folder, &self.directory).map_err(at(&self.directory))
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_owned();
    move |source| WriteError::Io { path, source }
}

/// A directory may be replaced if all that it holds is a bundle: never somebody's other files.
fn check_replaceable(directory: &Path) -> Result<(), WriteError> {
    if directory.exists() && !holds_only_a_bundle(directory) {
        return Err(WriteError::Occupied { path: directory.to_owned() });
    }
    Ok(())
}

/// Whether every file below the folder has a name that a bundle directory gives its files.
fn holds_only_a_bundle(folder: &Path) -> bool {
    let has_program = folder.join(FILE_NAME).is_file();
    holds_only(folder, &|path, name| {
        let is_ours =
            name == FILE_NAME || name == EXACT_FILE || name == "bundle.mlir" || (name.starts_with("sdsc_") && name.ends_with(".json"));
        // Anybody may have a folder of that name; beside a program it is the program's.
        let is_constants = || has_program && name == CONSTANTS_FOLDER && holds_only(path, &|_, name| name.ends_with(CONSTANT_SUFFIX));
        is_ours || (path.is_dir() && (is_constants() || holds_only_a_bundle(path)))
    })
}

fn holds_only(folder: &Path, is_ours: &dyn Fn(&Path, &str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| is_ours(&entry.path(), &entry.file_name().to_string_lossy()))
}

/// A temporary folder is the user's alone; a bundle has the rights of any other folder.
#[cfg(unix)]
fn make_readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn replace(fresh: tempfile::TempDir, directory: &Path) -> io::Result<()> {
    if !directory.exists() {
        return fs::rename(fresh.keep(), directory);
    }
    let old = tempfile::Builder::new()
        .prefix(".spyre-old-")
        .tempdir_in(directory.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    fs::rename(directory, old.path().join("bundle"))?;
    fs::rename(fresh.keep(), directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_directory(directory: &Path, files: &[File]) -> Result<(), WriteError> {
        Fresh::write(directory, files)?.put_in_place()
    }

    fn file(path: &str, content: &str) -> File {
        File { path: path.to_owned(), content: content.as_bytes().to_vec() }
    }

    #[test]
    fn a_bundle_is_replaced_as_a_whole() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        write_directory(&directory, &[file("program.json", "1"), file("bundle_0/sdsc_0.json", "a")]).unwrap();
        write_directory(&directory, &[file("program.json", "2")]).unwrap();
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
        assert!(!directory.join("bundle_0").exists(), "nothing of the old bundle is left");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing temporary is left");
    }

    #[test]
    fn other_files_are_never_replaced() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("bundle.mlir"), "x").unwrap();
        fs::write(place.path().join("thesis.tex"), "x").unwrap();
        let refused = write_directory(place.path(), &[file("program.json", "1")]).unwrap_err();
        assert!(matches!(refused, WriteError::Occupied { .. }));
        assert!(place.path().join("thesis.tex").exists());
        let refused = write_directory(&place.path().join("thesis.tex"), &[]).unwrap_err();
        assert!(refused.to_string().starts_with("will not replace"));
    }

    #[test]
    fn constants_belong_to_a_program() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        let files = [file("program.json", "1"), file("constants/const0.bin", "x")];
        write_directory(&directory, &files).unwrap();
        write_directory(&directory, &files).unwrap();
        fs::write(directory.join("constants/thesis.tex"), "x").unwrap();
        assert!(matches!(write_directory(&directory, &files), Err(WriteError::Occupied { .. })));
        fs::remove_file(directory.join("constants/thesis.tex")).unwrap();
        fs::remove_file(directory.join("program.json")).unwrap();
        assert!(matches!(write_directory(&directory, &files), Err(WriteError::Occupied { .. })));
        assert!(matches!(write_directory(&directory.join("constants"), &files), Err(WriteError::Occupied { .. })));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let place = tempfile::tempdir().unwrap();
        let refused = write_directory(&place.path().join("missing/out"), &[]).unwrap_err();
        assert!(refused.to_string().contains("missing/out"), "{refused}");
    }
}
