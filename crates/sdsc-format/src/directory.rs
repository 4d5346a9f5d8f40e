//! Writes a bundle directory: all of it or nothing.

use super::BUNDLE_FILE;
use super::exact::EXACT_FILE;
use super::launch_spec::LAUNCH_SPEC_FILE;
use super::program::{CONSTANT_SUFFIX, CONSTANTS_FOLDER, PROGRAM_FILE};
use files::is_below;
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Name prefix of staging folders, and of folders that wait for their removal.
const STAGING_PREFIX: &str = ".spyre-new-";

/// Name prefix of folders that hold an old bundle, if the file system cannot exchange two folders.
const OLD_PREFIX: &str = ".spyre-old-";

/// Maximum number of attempts to create a staging folder: another compilation may remove one as abandoned before it is
/// locked.
const MAX_TRIES: usize = 16;

/// File of the directory: its path and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path below the directory.
    pub path: String,
    /// Content of the file.
    pub content: Vec<u8>,
}

/// Reason why a directory was not written. No part of it remains.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file operation failed.
    #[error("cannot write '{path}': {reason}; name a path that can be written", path = path.display(), reason = files::reason(source))]
    Io {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The path is occupied by something other than a bundle.
    #[error("will not replace '{path}': it exists and is not a bundle directory; name another path, or remove it", path = path.display())]
    Occupied {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The path is a link whose target does not exist.
    #[error("cannot write '{path}': it is a link to a path that does not exist", path = path.display())]
    Dangling {
        /// Path of the link.
        path: PathBuf,
    },
    /// A file would be outside the directory, or over another file.
    #[error("cannot write '{path}': {reason}")]
    Name {
        /// Path of the file.
        path: String,
        /// Reason for the rejection of the path.
        reason: &'static str,
    },
}

/// Bundle directory that is written, but not yet moved to its path. Dropping it removes it.
#[derive(Debug)]
pub struct StagedBundle {
    folder: LockedFolder,
    /// Folder that is moved to the directory's path: the locked folder, or a folder in it.
    bundle: PathBuf,
    directory: PathBuf,
}

/// Folder that other compilations do not remove while it is locked. The lock ends with the process, even if that
/// crashes.
#[derive(Debug)]
struct LockedFolder {
    folder: tempfile::TempDir,
    _lock: fs::File,
}

impl StagedBundle {
    /// Creates a staging folder next to `directory`, for a bundle that the caller writes to [`StagedBundle::bundle`]
    /// and checks before [`StagedBundle::commit`].
    ///
    /// # Errors
    /// As [`StagedBundle::write`].
    pub fn create_next_to(directory: &Path) -> Result<Self, WriteError> {
        let directory = resolve_links(directory)?;
        let parent = parent_folder(&directory);
        remove_abandoned_folders(parent);
        check_replaceable(&directory)?;
        let folder = LockedFolder::new(parent, STAGING_PREFIX).map_err(io_error_at(&directory))?;
        Ok(Self { bundle: folder.path().join("bundle"), folder, directory })
    }

    /// Returns the folder that [`Self::commit`] moves to the directory's path.
    #[must_use]
    pub fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Writes `files` to a staging folder next to `directory`, which does not exist or holds an earlier bundle. Follows
    /// a link to its target.
    ///
    /// # Errors
    /// See [`WriteError`]. If several files cannot be written, the error is that of the first.
    pub fn write(directory: &Path, files: &[OutputFile]) -> Result<Self, WriteError> {
        check_names(files)?;
        let directory = resolve_links(directory)?;
        let parent = parent_folder(&directory);
        remove_abandoned_folders(parent);
        check_replaceable(&directory)?;
        let folder = LockedFolder::new(parent, STAGING_PREFIX).map_err(io_error_at(&directory))?;
        let mut made = folder.path().to_owned();
        for file in files {
            let path = folder.path().join(&file.path);
            if let Some(parent) = path.parent().filter(|parent| *parent != made) {
                fs::create_dir_all(parent).map_err(io_error_at(&directory.join(&file.path)))?;
                parent.clone_into(&mut made);
            }
        }
        // Not in parallel: threads that create files in one folder wait for each other.
        for file in files {
            fs::write(folder.path().join(&file.path), &file.content)
                .map_err(io_error_at(&directory.join(&file.path)))?;
        }
        make_readable(folder.path()).map_err(io_error_at(&directory))?;
        Ok(Self { bundle: folder.path().to_owned(), folder, directory })
    }

    /// Exchanges the staging folder with the directory, then removes the old bundle. After a failure the old bundle is
    /// still there; a mixture of both never is.
    ///
    /// # Errors
    /// If a system call fails, or the path holds something other than a bundle by now.
    pub fn commit(self) -> Result<(), WriteError> {
        let Self { folder, bundle, directory } = self;
        let rejected = io_error_at(&directory);
        for _ in 0..MAX_TRIES {
            match renameat_with(CWD, &bundle, CWD, &directory, RenameFlags::NOREPLACE) {
                Ok(()) => {
                    folder.release(&bundle);
                    return Ok(());
                }
                Err(Errno::EXIST) => {}
                Err(error) if is_unsupported(error) => return replace_by_two_renames(folder, &bundle, &directory),
                Err(error) => return Err(rejected(error.into())),
            }
            match renameat_with(CWD, &bundle, CWD, &directory, RenameFlags::EXCHANGE) {
                // The staging folder now holds the old bundle and is removed on drop.
                Ok(()) if !contains_foreign_files(&bundle) => return Ok(()),
                Ok(()) => {
                    // Foreign files have appeared in the meantime: undo the exchange.
                    renameat_with(CWD, &bundle, CWD, &directory, RenameFlags::EXCHANGE)
                        .map_err(|error| rejected(error.into()))?;
                    return Err(WriteError::Occupied { path: directory });
                }
                // The directory has been removed in the meantime.
                Err(Errno::NOENT) if !directory.exists() => {}
                Err(error) if is_unsupported(error) => return replace_by_two_renames(folder, &bundle, &directory),
                Err(error) => return Err(rejected(error.into())),
            }
        }
        Err(rejected(io::Error::other("other programs keep creating and removing it")))
    }
}

impl LockedFolder {
    fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        for _ in 0..MAX_TRIES {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?;
            // A process that removes abandoned folders may hold the lock already, and then removes this folder. Without
            // file locks no process gets a lock, and nothing is removed.
            let Ok(lock) = fs::File::open(folder.path()) else { continue };
            if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && folder.path().exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
        Err(io::Error::other("other programs keep removing the temporary directory"))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Keeps the folder if it is the bundle itself, which has been moved. Otherwise it is empty and is removed.
    fn release(self, bundle: &Path) {
        if bundle == self.path() {
            let _ = self.folder.keep();
        }
    }
}

fn io_error_at(path: &Path) -> impl Fn(io::Error) -> WriteError + use<> {
    let path = path.to_owned();
    move |source| WriteError::Io { path: path.clone(), source }
}

fn parent_folder(directory: &Path) -> &Path {
    directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that every path stays below the directory, and that no two files collide.
fn check_names(files: &[OutputFile]) -> Result<(), WriteError> {
    let mut names = BTreeSet::new();
    for file in files {
        let reject = |reason| Err(WriteError::Name { path: file.path.clone(), reason });
        if !is_below(&file.path) {
            return reject("it is no path below the directory");
        }
        if !names.insert(&file.path) {
            return reject("two files have this name");
        }
    }
    Ok(())
}

/// Returns the path that is meant: the target of a link, as for files.
fn resolve_links(directory: &Path) -> Result<PathBuf, WriteError> {
    match fs::symlink_metadata(directory) {
        Ok(found) if found.is_symlink() => {
            fs::canonicalize(directory).map_err(|_| WriteError::Dangling { path: directory.to_owned() })
        }
        _ => Ok(directory.to_owned()),
    }
}

/// Checks that a directory contains nothing but a bundle, so that no foreign files are lost.
fn check_replaceable(directory: &Path) -> Result<(), WriteError> {
    if directory.exists() && !contains_only_bundle(directory) {
        return Err(WriteError::Occupied { path: directory.to_owned() });
    }
    Ok(())
}

/// Returns whether every file below the folder has a name that a bundle directory gives its files.
fn contains_only_bundle(folder: &Path) -> bool {
    let has_program = folder.join(PROGRAM_FILE).is_file();
    contains_only(folder, &|path, name| {
        // A foreign folder may have this name; next to a `program.json` it is the program's.
        let is_constants = || {
            has_program && name == CONSTANTS_FOLDER && contains_only(path, &|_, name| name.ends_with(CONSTANT_SUFFIX))
        };
        is_bundle_file(name) || (is_folder(path) && (is_constants() || contains_only_bundle(path)))
    })
}

fn is_bundle_file(name: &str) -> bool {
    [PROGRAM_FILE, EXACT_FILE, LAUNCH_SPEC_FILE, BUNDLE_FILE].contains(&name)
        || (name.starts_with("sdsc_") && name.ends_with(".json"))
}

/// Returns whether a path is a folder and not a link: the target of a link is elsewhere, and may contain the link.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn contains_only(folder: &Path, is_ours: &dyn Fn(&Path, &str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| is_ours(&entry.path(), &entry.file_name().to_string_lossy()))
}

/// Removes the unlocked folders of aborted compilations. Moves an old bundle back if its path is free. Ignores errors.
fn remove_abandoned_folders(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_old = name.starts_with(OLD_PREFIX);
        if !(is_old || name.starts_with(STAGING_PREFIX)) || !is_folder(&path) {
            continue;
        }
        let Ok(lock) = fs::File::open(&path) else { continue };
        // The lock is held until the folder is removed: otherwise its creator could lock it and then lose it.
        if lock.try_lock().is_ok() && !contains_foreign_files(&path) && !(is_old && is_still_needed(&path, parent)) {
            // Another process may remove it at the same time.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Moves an old bundle back if its path is free. Returns whether the folder is still needed because a move failed.
fn is_still_needed(old: &Path, parent: &Path) -> bool {
    let Ok(entries) = fs::read_dir(old) else { return true };
    entries.flatten().any(|entry| {
        let place = parent.join(entry.file_name());
        // A rename does not replace a folder with contents, so a concurrent writer loses nothing.
        fs::symlink_metadata(&place).is_err() && fs::rename(entry.path(), &place).is_err()
    })
}

/// Returns whether a folder has a file that no bundle has. The bundle may be incomplete.
fn contains_foreign_files(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return folder.exists() };
    entries.flatten().any(|entry| match fs::symlink_metadata(entry.path()) {
        Ok(found) if found.is_dir() => contains_foreign_files(&entry.path()),
        Ok(_) => {
            let name = entry.file_name().to_string_lossy().into_owned();
            !is_bundle_file(&name) && !name.ends_with(CONSTANT_SUFFIX)
        }
        Err(_) => false,
    })
}

/// Gives a bundle the permissions of any other folder; temporary folders are private to the user.
#[cfg(unix)]
fn make_readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether the system or the file system does not support the flags of `renameat2`.
fn is_unsupported(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}

/// Replaces the directory by two renames, if the system cannot exchange folders. Between them the path is free. If the
/// second rename fails, the first one is undone.
fn replace_by_two_renames(fresh: LockedFolder, bundle: &Path, directory: &Path) -> Result<(), WriteError> {
    let rejected = io_error_at(directory);
    if !directory.exists() {
        fs::rename(bundle, directory).map_err(&rejected)?;
        fresh.release(bundle);
        return Ok(());
    }
    // The name of the old folder states where it belongs, in case the process ends here.
    let old = LockedFolder::new(parent_folder(directory), OLD_PREFIX).map_err(&rejected)?;
    let kept = old.path().join(directory.file_name().unwrap_or(OsStr::new("bundle")));
    fs::rename(directory, &kept).map_err(&rejected)?;
    if let Err(error) = fs::rename(bundle, directory) {
        if fs::rename(&kept, directory).is_err() {
            // The old bundle remains next to its path.
            let _ = old.folder.keep();
        }
        return Err(rejected(error));
    }
    fresh.release(bundle);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_directory(directory: &Path, files: &[OutputFile]) -> Result<(), WriteError> {
        StagedBundle::write(directory, files)?.commit()
    }

    fn file(path: &str, content: &str) -> OutputFile {
        OutputFile { path: path.to_owned(), content: content.as_bytes().to_vec() }
    }

    #[test]
    fn replaces_whole_bundle() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        let first =
            [file("program.json", "1"), file("bundle_0/sdsc_0.json", "a"), file("bundle_0/launch_spec.json", "{}")];
        write_directory(&directory, &first).unwrap();
        write_directory(&directory, &[file("program.json", "2")]).unwrap();
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
        assert!(!directory.join("bundle_0").exists(), "nothing of the old bundle is left");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing temporary is left");
    }

    #[test]
    fn keeps_foreign_files() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("bundle.mlir"), "x").unwrap();
        fs::write(place.path().join("thesis.tex"), "x").unwrap();
        let rejected = write_directory(place.path(), &[file("program.json", "1")]).unwrap_err();
        assert!(matches!(rejected, WriteError::Occupied { .. }));
        assert!(place.path().join("thesis.tex").exists());
        let rejected = write_directory(&place.path().join("thesis.tex"), &[]).unwrap_err();
        assert!(rejected.to_string().starts_with("will not replace"));
    }

    #[test]
    fn accepts_constants_only_with_program() {
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
    fn names_folder_that_cannot_be_created() {
        let place = tempfile::tempdir().unwrap();
        let rejected = write_directory(&place.path().join("missing/out"), &[]).unwrap_err();
        assert!(rejected.to_string().contains("missing/out"), "{rejected}");
    }

    /// Returns the names in a folder, including hidden ones.
    fn list_names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn rejects_paths_outside_directory() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("in/out");
        fs::create_dir(place.path().join("in")).unwrap();
        let absolute = place.path().join("escaped").to_str().unwrap().to_owned();
        for path in ["../escaped", "../../escaped", "a/../../../escaped", absolute.as_str(), "", "."] {
            let rejected = write_directory(&directory, &[file("program.json", "1"), file(path, "x")]).unwrap_err();
            assert!(matches!(rejected, WriteError::Name { .. }), "{path}: {rejected}");
            assert_eq!(
                (list_names(place.path()), list_names(&place.path().join("in"))),
                (vec!["in".to_owned()], vec![]),
                "{path}"
            );
        }
        let twice = [file("bundle_0/bundle.mlir", "1"), file("bundle_0/bundle.mlir", "2")];
        assert!(write_directory(&directory, &twice).unwrap_err().to_string().contains("two files have this name"));
    }

    #[test]
    fn keeps_old_bundle_after_failure() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        write_directory(&directory, &[file("program.json", "1")]).unwrap();
        // The staging folder is dropped without a commit, as after a violated rule or a signal.
        drop(StagedBundle::write(&directory, &[file("program.json", "2")]).unwrap());
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "1");
        assert_eq!(list_names(place.path()), ["out"]);
        // A foreign file appears after the check of the directory.
        let fresh = StagedBundle::write(&directory, &[file("program.json", "2")]).unwrap();
        fs::write(directory.join("thesis.tex"), "x").unwrap();
        assert!(matches!(fresh.commit(), Err(WriteError::Occupied { .. })));
        assert_eq!(list_names(&directory), ["program.json", "thesis.tex"]);
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "1");
        assert_eq!(list_names(place.path()), ["out"]);
    }

    #[test]
    fn commits_external_bundle_or_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        for number in ["1", "2"] {
            let fresh = StagedBundle::create_next_to(&directory).unwrap();
            write_directory(fresh.bundle(), &[file("program.json", number)]).unwrap();
            fresh.commit().unwrap();
            assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), number);
        }
        let fresh = StagedBundle::create_next_to(&directory).unwrap();
        write_directory(fresh.bundle(), &[file("program.json", "3")]).unwrap();
        drop(fresh);
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
        let fresh = StagedBundle::create_next_to(&directory).unwrap();
        write_directory(fresh.bundle(), &[file("program.json", "4")]).unwrap();
        replace_by_two_renames(fresh.folder, &fresh.bundle, &directory).unwrap();
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "4");
        assert_eq!(list_names(place.path()), ["out"]);
    }

    #[test]
    fn undoes_first_rename_without_exchange() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        write_directory(&directory, &[file("program.json", "1")]).unwrap();
        let fresh = StagedBundle::write(&directory, &[file("program.json", "2")]).unwrap();
        replace_by_two_renames(fresh.folder, &fresh.bundle, &directory).unwrap();
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
        assert_eq!(list_names(place.path()), ["out"]);
        let fresh = StagedBundle::write(&directory, &[file("bundle.mlir", "3")]).unwrap();
        // The second rename fails since its source is gone.
        fs::remove_dir_all(fresh.folder.path()).unwrap();
        assert!(replace_by_two_renames(fresh.folder, &fresh.bundle, &directory).is_err());
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
        assert_eq!(list_names(place.path()), ["out"]);
    }

    #[test]
    fn removes_abandoned_folders_only() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        // A compilation that was ended by a signal holds no lock.
        let forgotten = place.path().join(".spyre-new-abc/constants");
        fs::create_dir_all(&forgotten).unwrap();
        fs::write(forgotten.join("const0.bin"), "x").unwrap();
        let somebodys = place.path().join(".spyre-new-mine");
        fs::create_dir(&somebodys).unwrap();
        fs::write(somebodys.join("thesis.tex"), "x").unwrap();
        let running = StagedBundle::write(&directory, &[file("program.json", "1")]).unwrap();
        write_directory(&directory, &[file("program.json", "2")]).unwrap();
        assert!(!forgotten.exists() && somebodys.exists() && running.folder.path().exists());
        running.commit().unwrap();
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "1");
        assert_eq!(list_names(place.path()), [".spyre-new-mine", "out"]);
    }

    #[test]
    fn removes_or_restores_old_bundles() {
        let place = tempfile::tempdir().unwrap();
        let old = |folder: &str, name: &str, file: &str| {
            fs::create_dir_all(place.path().join(folder).join(name)).unwrap();
            fs::write(place.path().join(folder).join(name).join(file), "old").unwrap();
        };
        let directory = place.path().join("out");
        write_directory(&directory, &[file("program.json", "1")]).unwrap();
        // Killed after the second rename, between both, and before the first; a foreign folder; and one that is still
        // needed.
        old(".spyre-old-behind", "out", "program.json");
        old(".spyre-old-between", "lost", "program.json");
        fs::create_dir(place.path().join(".spyre-old-before")).unwrap();
        old(".spyre-old-mine", "lost", "thesis.tex");
        let running = LockedFolder::new(place.path(), OLD_PREFIX).unwrap();
        old(running.path().file_name().unwrap().to_str().unwrap(), "moving", "program.json");
        write_directory(&directory, &[file("program.json", "2")]).unwrap();
        let now = running.path().file_name().unwrap().to_str().unwrap().to_owned();
        let mut expected = vec![".spyre-old-mine".to_owned(), "lost".to_owned(), "out".to_owned(), now];
        expected.sort();
        assert_eq!(list_names(place.path()), expected);
        assert_eq!(fs::read_to_string(place.path().join("lost/program.json")).unwrap(), "old");
        drop(running);
        // The path of the output itself: the old bundle comes back, and is replaced as any other.
        fs::create_dir(place.path().join(".spyre-old-x")).unwrap();
        fs::rename(&directory, place.path().join(".spyre-old-x/out")).unwrap();
        drop(StagedBundle::write(&directory, &[file("program.json", "3")]).unwrap());
        assert_eq!(fs::read_to_string(directory.join("program.json")).unwrap(), "2");
    }

    #[test]
    fn follows_link_to_existing_target() {
        let place = tempfile::tempdir().unwrap();
        let (real, link, dangling) =
            (place.path().join("real"), place.path().join("link"), place.path().join("dangling"));
        write_directory(&real, &[file("program.json", "1")]).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        write_directory(&link, &[file("program.json", "2")]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(real.join("program.json")).unwrap(), "2");
        let rejected = write_directory(&dangling, &[file("program.json", "3")]).unwrap_err().to_string();
        assert!(rejected.ends_with("it is a link to a path that does not exist"), "{rejected}");
        assert_eq!(list_names(place.path()), ["dangling", "link", "real"]);
    }

    #[test]
    fn keeps_concurrent_writes_separate() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let directory = &directory;
                scope.spawn(move || {
                    for _ in 0..20 {
                        let text = number.to_string();
                        let files = [
                            file("program.json", &text),
                            file("bundle_0/bundle.mlir", &text),
                            file("bundle_0/sdsc_0.json", &text),
                        ];
                        write_directory(directory, &files).unwrap();
                    }
                });
            }
        });
        let content = |path: &str| fs::read_to_string(directory.join(path)).unwrap();
        let first = content("program.json");
        assert!(["bundle_0/bundle.mlir", "bundle_0/sdsc_0.json"].iter().all(|path| content(path) == first));
        assert_eq!(list_names(place.path()), ["out"]);
    }
}
