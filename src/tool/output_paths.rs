//! Checks of output paths before long work, and errors about paths.

use crate::codes;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// Checks that a file can be written, so that the error appears before long work and not after it.
///
/// # Errors
/// Returns the obstacle at the path, as [`super::write_file`] would.
pub fn check_output_file(path: &str) -> Result<(), String> {
    let target = Path::new(path);
    if path == "-" || (target.exists() && !target.is_dir()) {
        return Ok(());
    }
    if target.is_dir() {
        return Err(codes::OUTPUT_PLACE
            .format(format_args!("expected a file to write, found the directory '{path}'; name a file")));
    }
    check_parent_directory(path)?;
    super::new_file(parent_directory(target)).map(drop).map_err(|error| {
        codes::OUTPUT_WRITE.format(format_args!("cannot write '{path}': {}", describe_io_error(&error)))
    })
}

/// Checks that a bundle directory can be created or replaced, as far as the file system shows this beforehand.
///
/// # Errors
/// Returns the obstacle at the path and a remedy.
pub fn check_output_directory(path: &str) -> Result<(), String> {
    if path == "-" {
        let instead = "give -o DIR, or print IR with --compile-to PHASE";
        return Err(codes::OUTPUT_PLACE.format(format_args!(
            "-o: expected a directory for the files of a bundle, found '-' (standard output); {instead}"
        )));
    }
    let target = Path::new(path);
    if target.exists() && !target.is_dir() {
        return Err(codes::OUTPUT_PLACE.format(format_args!(
            "-o: expected a new path or an older bundle, found the file '{path}'; name another path, or remove the file"
        )));
    }
    check_parent_directory(path).map_err(|error| format!("-o: {error}"))
}

/// Checks that the parent directory exists. Creating missing parents would hide a misspelled name.
fn check_parent_directory(path: &str) -> Result<(), String> {
    let folder = parent_directory(Path::new(path));
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(codes::OUTPUT_PLACE.format(format_args!(
            "cannot write '{path}': '{}' is not a directory; name another path",
            folder.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(codes::OUTPUT_PLACE.format(format_args!(
            "cannot write '{path}': there is no directory '{}'; create it first",
            folder.display()
        ))),
        Err(error) => {
            Err(codes::OUTPUT_WRITE.format(format_args!("cannot write '{path}': {}", describe_io_error(&error))))
        }
    }
}

/// Returns the parent directory of a path; `.` if the path has no directory.
pub(super) fn parent_directory(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Formats an I/O error without the names of temporary files.
pub(super) fn describe_io_error(error: &io::Error) -> String {
    let inner = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let text = inner.map_or_else(|| error.kind().to_string(), io::Error::to_string);
    error.raw_os_error().map_or(text, |code| files::reason(&io::Error::from_raw_os_error(code)))
}

/// Returns the path of the file in the same directory with the most similar name, if a misspelling is likely.
#[must_use]
pub fn find_similar_file(path: &str) -> Option<String> {
    let target = Path::new(path);
    let wanted = target.file_name()?.to_string_lossy().into_owned();
    let mut names: Vec<String> = fs::read_dir(parent_directory(target))
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let likeness = |name: &String| strsim::jaro_winkler(&wanted, name);
    let best = names.into_iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(&best) > 0.9).then(|| target.with_file_name(best).to_string_lossy().into_owned())
}

/// Formats the error for an unreadable input, with a suggestion if a file with a similar name exists.
#[must_use]
pub fn format_read_error(input: &str, reason: &str) -> String {
    let similar = Some(input).filter(|input| !Path::new(input).exists()).and_then(find_similar_file);
    let advice = similar
        .map_or_else(|| "give a file of MLIR text or bytecode".to_owned(), |name| format!("did you mean '{name}'?"));
    codes::INPUT_READ.format(format_args!("cannot read '{input}': {reason}; {advice}"))
}

/// Returns the program with this name next to the running one. Also searches next to the started one, because a tool of
/// the Python package runs in an interpreter.
pub(super) fn find_sibling_program(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let started = env::args_os().next().map(PathBuf::from);
    // A name without a directory was found through `PATH`, so its directory is unknown.
    let started = started.filter(|path| path.parent().is_some_and(|folder| folder != Path::new("")));
    let places = [env::current_exe().ok(), started].into_iter().flatten();
    places.map(|place| place.with_file_name(&name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_output_path_without_parent_directory() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("nowhere/file").to_string_lossy().into_owned();
        for rejected in [check_output_file(&inner), check_output_directory(&inner)] {
            assert!(rejected.unwrap_err().ends_with("nowhere'; create it first"));
        }
        assert!(check_output_file(place.path().to_str().unwrap()).unwrap_err().ends_with("name a file"));
        assert!(check_output_directory("-").is_err());
        assert!(check_output_file(&place.path().join("file").to_string_lossy()).is_ok());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn hides_names_of_temporary_files() {
        let place = tempfile::tempdir().unwrap();
        let error = tempfile::NamedTempFile::new_in(place.path().join("nowhere")).unwrap_err();
        assert!(
            error.to_string().contains("nowhere") && !describe_io_error(&error).contains("nowhere"),
            "{}",
            describe_io_error(&error)
        );
    }

    #[test]
    fn finds_file_with_similar_name_only() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("softmax.mlir"), "").unwrap();
        let near = |name: &str| find_similar_file(&place.path().join(name).to_string_lossy());
        assert!(near("sofmax.mlir").unwrap().ends_with("softmax.mlir"));
        assert_eq!(near("granite.txt"), None);
    }

    #[test]
    fn finds_program_in_directory_of_running_one() {
        let own = env::current_exe().unwrap();
        assert_eq!(find_sibling_program(own.file_name().unwrap().to_str().unwrap()), Some(own));
        assert_eq!(find_sibling_program("a program that is not there"), None);
    }
}
