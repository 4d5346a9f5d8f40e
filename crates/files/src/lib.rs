#![doc = include_str!("../README.md")]

use std::{
    fs::{self, File, Metadata},
    io::{self, ErrorKind, Read},
    path::{Component, Path, PathBuf},
};

/// Maximum size in bytes of a text: a file of a bundle, a machine description, an instance for `spyre-plan`. Real ones
/// have at most a few megabytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 28;

/// Returns whether a name is a single path component: no path, and neither `.` nor `..`.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    // `Path` ignores redundant characters, such as a trailing `/`; a name must not have any.
    matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == name)
        && !name.contains('\0')
}

/// Returns whether a relative path stays below the directory that it starts from. Other paths in a file are rejected:
/// they would let a bundle read foreign files.
#[must_use]
pub fn is_below(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|component| matches!(component, Component::Normal(_)))
}

/// Returns `path` joined to `directory`.
///
/// # Errors
/// If `path` does not stay below the directory, if a component does not exist, or if a link leads out of the directory.
pub fn resolve_below(directory: &Path, path: &str) -> io::Result<PathBuf> {
    let reject = |what: String| Err(io::Error::new(ErrorKind::PermissionDenied, what));
    if !is_below(path) {
        return reject(format!("'{path}' is no path below the directory"));
    }
    let (mut whole, mut has_link) = (directory.to_owned(), false);
    for component in Path::new(path).components() {
        whole.push(component);
        has_link |= fs::symlink_metadata(&whole)?.is_symlink();
    }
    if has_link && !fs::canonicalize(&whole)?.starts_with(fs::canonicalize(directory)?) {
        return reject(format!("'{path}' is a link that leads out of the directory"));
    }
    Ok(whole)
}

/// Returns the contents of a file below a directory, at most [`MAX_TEXT_BYTES`] bytes.
///
/// # Errors
/// As for [`resolve_below`] and [`read`].
pub fn read_below(directory: &Path, path: &str) -> io::Result<Vec<u8>> {
    read(&resolve_below(directory, path)?, MAX_TEXT_BYTES)
}

/// Opens a regular file. Directories, pipes and devices are not opened: pipes and devices may have no end.
///
/// # Errors
/// The system's error, or a message that the path is a directory, a pipe or a device.
pub fn open(path: &Path) -> io::Result<File> {
    check_file_type(&fs::metadata(path)?)?;
    let file = open_without_waiting(path)?;
    // The file may have been replaced since the first check.
    check_file_type(&file.metadata()?)?;
    Ok(file)
}

/// Opens without blocking: opening a pipe would block until another process opens it for writing.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn check_file_type(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        if found.is_dir() { "is a directory, not a file" } else { "is a pipe or a device, not a file" },
    ))
}

/// Returns the contents of a file of at most `limit` bytes.
///
/// # Errors
/// As [`open`], and if the file is longer.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if file.metadata()?.len() > limit {
        return Err(too_large_error(limit));
    }
    read_to_end(file, limit)
}

/// Returns the contents of a text file, as [`read`] does.
///
/// # Errors
/// As [`read`], and if the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    decode_utf8(read(path, limit)?)
}

/// Returns the text of a stream that another process closes, such as standard input.
///
/// # Errors
/// The system's error, or a message that the text is longer than `limit` or not UTF-8.
pub fn read_stream(stream: impl Read, limit: u64) -> io::Result<String> {
    decode_utf8(read_to_end(stream, limit)?)
}

fn read_to_end(stream: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    stream.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large_error(limit)) } else { Ok(bytes) }
}

fn decode_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Returns the message of an error without the system's error number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error ").map_or_else(|| text.clone(), |(words, _)| words.to_owned())
}

fn too_large_error(limit: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("is larger than the limit of {limit} bytes"))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn omits_system_error_number() {
        let missing = open(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!((reason(&missing).as_str(), missing.raw_os_error()), ("No such file or directory", Some(2)));
        assert_eq!(reason(&too_large_error(1)), "is larger than the limit of 1 bytes");
    }

    #[test]
    fn rejects_path_that_leaves_its_folder() {
        assert!(is_below("b/x") && is_below("x.json"));
        assert!(!is_below("../x") && !is_below("/x") && !is_below("") && !is_below("b/../../x"));
        assert!(is_plain_name("bundle_0") && is_plain_name("..x"));
        for name in ["", ".", "..", "/", "/x", "a/b", "a/", "./a", "a/.", "../a", "a\0b"] {
            assert!(!is_plain_name(name), "{name:?}");
        }
    }

    #[test]
    fn accepts_only_links_that_stay_below_directory() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("in");
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::write(inside.join("sub/file"), "ours").unwrap();
        fs::write(place.path().join("secret"), "theirs").unwrap();
        symlink("sub/file", inside.join("near")).unwrap();
        symlink("../secret", inside.join("far")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("nowhere", inside.join("dangling")).unwrap();
        for path in ["near", "sub/file"] {
            assert_eq!(read_text(&resolve_below(&inside, path).unwrap(), 4).unwrap(), "ours");
        }
        for path in ["far", "up/secret", "up", "dangling", "missing", "../secret"] {
            assert!(resolve_below(&inside, path).is_err(), "{path}");
        }
        assert_eq!(
            resolve_below(&inside, "far").unwrap_err().to_string(),
            "'far' is a link that leads out of the directory"
        );
        // The directory itself may be a link: paths are compared after resolving it.
        symlink("in", place.path().join("link")).unwrap();
        assert!(resolve_below(&place.path().join("link"), "near").is_ok());
    }

    #[test]
    fn rejects_files_without_end() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(open(&pipe).unwrap_err().to_string(), "is a pipe or a device, not a file");
        assert_eq!(open(Path::new("/dev/zero")).unwrap_err().to_string(), "is a pipe or a device, not a file");
        assert_eq!(open(place.path()).unwrap_err().to_string(), "is a directory, not a file");
        assert_eq!(read_stream(io::repeat(b'x'), 10).unwrap_err().to_string(), "is larger than the limit of 10 bytes");
        let long = place.path().join("long");
        File::create(&long).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&long, MAX_TEXT_BYTES).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
