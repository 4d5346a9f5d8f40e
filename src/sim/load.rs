//! Reading a bundle directory, and nothing else.

use super::bundle_text::{Bundle, parse};
use super::error::SimError;
use super::plan::{Plan, compile};
use crate::files::{MAX_TEXT_BYTES, is_plain_name, open, path_below, read_text};
use crate::sdsc::model::Sdsc;
use crate::sdsc::program::{BufferPlace, FILE_NAME, Program, Tensor};
use crate::target::{STICK_BYTES, Target};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the text of a bundle.
const BUNDLE_FILE: &str = "bundle.mlir";

/// A bundle with its ops interpreted.
#[derive(Clone, Debug)]
pub(crate) struct LoadedBundle {
    pub(crate) bundle: Bundle,
    pub(crate) plans: BTreeMap<String, Plan>,
}

/// Reads `program.json`.
pub(crate) fn program(dir: &Path) -> Result<Program, SimError> {
    let program: Program = json(dir, FILE_NAME)?;
    check_result_names(dir, &program)?;
    Ok(program)
}

/// Results are written to files of their names.
fn check_result_names(dir: &Path, program: &Program) -> Result<(), SimError> {
    let malformed = |message: String| Err(SimError::Malformed { file: dir.join(FILE_NAME).display().to_string(), message });
    let mut names = BTreeSet::new();
    for Tensor { name, .. } in &program.results {
        if !is_plain_name(name) {
            return malformed(format!("the result '{name}' has no plain file name"));
        }
        if !names.insert(name) {
            return malformed(format!("two results are called '{name}'"));
        }
    }
    Ok(())
}

/// Reads a bundle and all files that it executes.
pub(crate) fn bundle(dir: &Path, name: &str, target: &Target) -> Result<LoadedBundle, SimError> {
    let text_path = format!("{}/{BUNDLE_FILE}", plain(dir, name)?);
    let path = dir.join(&text_path);
    let bundle = parse(&text(dir, &text_path)?).map_err(|error| SimError::Text {
        path: path.clone(),
        line: error.line,
        column: error.column,
        message: error.message,
    })?;
    let mut plans = BTreeMap::new();
    for file in bundle.files() {
        let sdsc: Sdsc = json(dir, &format!("{name}/{}", plain(&path, &file)?))?;
        plans.insert(file.clone(), compile(&format!("{name}/{file}"), &sdsc, target)?);
    }
    Ok(LoadedBundle { bundle, plans })
}

/// Makes sure that each buffer with a place is whole sticks of the region; whether two share bytes is for the numbers to tell.
pub(crate) fn check_places(dir: &Path, program: &Program) -> Result<(), SimError> {
    let malformed = |message: String| SimError::Malformed { file: dir.join(FILE_NAME).display().to_string(), message };
    if program.buffer_bytes < 0 {
        return Err(malformed(format!("'buffer_bytes' is {}", program.buffer_bytes)));
    }
    let others = program.arguments.iter().chain(&program.results).chain(&program.constants);
    if let Some(other) = others.into_iter().find(|tensor| tensor.place.is_some()) {
        return Err(malformed(format!("'{}' has a place, which only buffers have", other.name)));
    }
    for buffer in &program.buffers {
        let Some(BufferPlace { offset, .. }) = buffer.place else { continue };
        let end = offset.checked_add(buffer.bytes).filter(|end| offset >= 0 && *end > offset && *end <= program.buffer_bytes);
        if offset % STICK_BYTES != 0 || end.is_none() {
            let (name, bytes, all) = (&buffer.name, buffer.bytes, program.buffer_bytes);
            return Err(malformed(format!("'{name}' has {bytes} bytes at {offset}, which are no whole sticks within {all} bytes")));
        }
    }
    Ok(())
}

/// The files of the constants that have one, by the constant's name.
pub(crate) fn constants(dir: &Path, program: &Program) -> Result<BTreeMap<String, PathBuf>, SimError> {
    let mut files = BTreeMap::new();
    for constant in &program.constants {
        if let Some(file) = &constant.file {
            // What is wrong with a name stands in the program, what is missing does not.
            let at = |error: &io::Error| if error.raw_os_error().is_some() { file } else { FILE_NAME };
            let path = path_below(dir, file).map_err(|error| refused(&dir.join(at(&error)), error))?;
            opened(&path, constant)?;
            files.insert(constant.name.clone(), path);
        }
    }
    Ok(files)
}

/// The file of a constant, which has just the constant's bytes.
pub(crate) fn opened(path: &Path, constant: &Tensor) -> Result<File, SimError> {
    let file = open(path).map_err(|error| refused(path, error))?;
    let found = file.metadata().map_err(|error| refused(path, error))?;
    if i64::try_from(found.len()) != Ok(constant.bytes) {
        let message = format!("is no file of {} bytes, which '{}' has", constant.bytes, constant.name);
        return Err(SimError::Malformed { file: path.display().to_string(), message });
    }
    Ok(file)
}

/// A name of a file beside another one; paths would let a bundle read what is not its own.
fn plain<'n>(within: &Path, name: &'n str) -> Result<&'n str, SimError> {
    let refused = || SimError::Malformed { file: within.display().to_string(), message: format!("'{name}' is no plain file name") };
    if is_plain_name(name) { Ok(name) } else { Err(refused()) }
}

fn text(dir: &Path, path: &str) -> Result<String, SimError> {
    let read = path_below(dir, path).and_then(|path| read_text(&path, MAX_TEXT_BYTES));
    read.map_err(|error| refused(&dir.join(path), error))
}

/// What the system does not give is missing; what we do not take is wrong.
fn refused(path: &Path, error: io::Error) -> SimError {
    if error.raw_os_error().is_some() {
        return SimError::Io { path: PathBuf::from(path), source: error };
    }
    SimError::Malformed { file: path.display().to_string(), message: error.to_string() }
}

fn json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T, SimError> {
    let (text, path) = (text(dir, name)?, dir.join(name));
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let parsed = serde_path_to_error::deserialize(&mut deserializer);
    let value = parsed.map_err(|error| SimError::Json {
        path: path.clone(),
        member: error.path().to_string(),
        message: error.inner().to_string(),
    })?;
    deserializer.end().map_err(|error| SimError::Json { path, member: ".".to_owned(), message: error.to_string() })?;
    Ok(value)
}
