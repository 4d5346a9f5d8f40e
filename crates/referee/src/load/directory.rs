//! Reads a bundle directory, and no other files.

use crate::error::SimError;
use crate::load::address_program::{BundleProgram, parse};
use crate::load::host::{ArrayElements, HostArray};
use crate::plan::{ConcurrentPlans, OpPlan, compile_steps};
use files::{MAX_TEXT_BYTES, is_plain_name, open, read_text, resolve_below};
use machine::{STICK_BYTES, Target};
use sdsc_format::BUNDLE_FILE;
use sdsc_format::exact::{EXACT_FILE, ExactConstant, ExactNumbers};
use sdsc_format::model::Sdsc;
use sdsc_format::program::{BufferPlace, PROGRAM_FILE, Program, Tensor};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bundle and the plans of its ops.
#[derive(Clone, Debug)]
pub(crate) struct LoadedBundle {
    pub(crate) bundle: BundleProgram,
    /// Steps of each SDSC file.
    pub(crate) plans: BTreeMap<String, Vec<ConcurrentPlans>>,
}

/// Reads `program.json`.
pub(crate) fn read_program(dir: &Path) -> Result<Program, SimError> {
    let program: Program = read_json(dir, PROGRAM_FILE)?;
    check_result_names(dir, &program)?;
    Ok(program)
}

/// Checks that the names of the results are distinct plain file names: results are written to files with these names.
fn check_result_names(dir: &Path, program: &Program) -> Result<(), SimError> {
    let malformed =
        |message: String| Err(SimError::Malformed { file: dir.join(PROGRAM_FILE).display().to_string(), message });
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
pub(crate) fn read_bundle(dir: &Path, name: &str, target: &Target) -> Result<LoadedBundle, SimError> {
    let text_path = format!("{}/{BUNDLE_FILE}", require_plain_name(dir, name)?);
    let path = dir.join(&text_path);
    let bundle = parse(&read_text_file(dir, &text_path)?).map_err(|error| SimError::Text {
        path: path.clone(),
        line: error.at.line,
        column: error.at.column,
        message: error.message,
    })?;
    let mut plans = BTreeMap::new();
    for file in bundle.executed_files() {
        let mut sdsc: Sdsc = read_json(dir, &format!("{name}/{file}"))?;
        sdsc.value.complete();
        sdsc.value.split_unequal_cores();
        plans.insert(file.clone(), compile_steps(&format!("{name}/{file}"), &sdsc, target)?);
    }
    Ok(LoadedBundle { bundle, plans })
}

/// Checks that each buffer with an offset consists of complete sticks of its region. Overlap is not checked here: it
/// shows in the results.
pub(crate) fn check_buffer_placement(dir: &Path, program: &Program) -> Result<(), SimError> {
    let malformed =
        |message: String| SimError::Malformed { file: dir.join(PROGRAM_FILE).display().to_string(), message };
    if program.buffer_bytes < 0 {
        return Err(malformed(format!("'buffer_bytes' is {}", program.buffer_bytes)));
    }
    let others = program.arguments.iter().chain(&program.results).chain(&program.constants);
    if let Some(other) = others.into_iter().find(|tensor| tensor.place.is_some()) {
        return Err(malformed(format!("'{}' has a place, which only buffers have", other.name)));
    }
    for buffer in &program.buffers {
        let Some(BufferPlace { offset, .. }) = buffer.place else { continue };
        let end =
            offset.checked_add(buffer.bytes).filter(|end| offset >= 0 && *end > offset && *end <= program.buffer_bytes);
        if offset % STICK_BYTES != 0 || end.is_none() {
            let (name, bytes, all) = (&buffer.name, buffer.bytes, program.buffer_bytes);
            return Err(malformed(format!(
                "'{name}' has {bytes} bytes at {offset}, which are no whole sticks within {all} bytes"
            )));
        }
    }
    Ok(())
}

/// Returns the constants with a file: the path by name.
pub(crate) fn find_constant_files(dir: &Path, program: &Program) -> Result<BTreeMap<String, PathBuf>, SimError> {
    let mut files = BTreeMap::new();
    for constant in &program.constants {
        if let Some(file) = &constant.file {
            // A missing file is reported with its own path, a malformed name with `program.json`, which contains it.
            let at = |error: &io::Error| if error.raw_os_error().is_some() { file } else { PROGRAM_FILE };
            let path = resolve_below(dir, file).map_err(|error| convert_read_error(&dir.join(at(&error)), error))?;
            open_constant(&path, constant)?;
            files.insert(constant.name.clone(), path);
        }
    }
    Ok(files)
}

/// Reads the unrounded numbers of the program. Returns those of constants by name, and records those of ops in their
/// plans.
pub(crate) fn read_exact_numbers(
    dir: &Path,
    program: &Program,
    bundles: &mut BTreeMap<String, LoadedBundle>,
) -> Result<BTreeMap<String, HostArray>, SimError> {
    let path = dir.join(EXACT_FILE);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let malformed = |message: String| SimError::Malformed { file: path.display().to_string(), message };
    let numbers: ExactNumbers = read_json(dir, EXACT_FILE)?;
    for (file, constants) in &numbers.ops {
        let plan = file.rsplit_once('/').and_then(|(bundle, file)| bundles.get_mut(bundle)?.plans.get_mut(file));
        let steps = plan.ok_or_else(|| malformed(format!("'{file}' is no file that a launch executes")))?;
        for plan in steps.iter_mut().flatten().map(Arc::make_mut) {
            record_exact_constants(plan, constants).map_err(malformed)?;
        }
    }
    let mut arrays = BTreeMap::new();
    for (name, constant) in &numbers.constants {
        let tensor = program.constants.iter().find(|tensor| tensor.name == *name && tensor.file.is_some());
        let tensor = tensor.ok_or_else(|| malformed(format!("the program has no constant '{name}' with a file")))?;
        let length =
            tensor.shape.iter().try_fold(1_usize, |length, size| length.checked_mul(usize::try_from(*size).ok()?));
        let length = length
            .filter(|length| *length as i64 <= tensor.bytes)
            .ok_or_else(|| malformed(format!("'{name}' has no size")))?;
        let elements = match constant {
            ExactConstant::Number(number) => ArrayElements::F64(vec![*number; length]),
            ExactConstant::File(file) => {
                let place = resolve_below(dir, file).map_err(|error| convert_read_error(&dir.join(file), error))?;
                read_exact_elements(&place, tensor, length)?
            }
        };
        arrays.insert(name.clone(), HostArray { shape: tensor.shape.clone(), elements });
    }
    Ok(arrays)
}

/// Records the unrounded numbers of the constants of an op.
fn record_exact_constants(plan: &mut OpPlan, constants: &BTreeMap<String, f64>) -> Result<(), String> {
    for (name, exact) in constants {
        let constant = plan.constants.iter_mut().find(|constant| constant.name == *name);
        let constant = constant.ok_or_else(|| format!("{} has no constant '{name}'", plan.name))?;
        if !constant.is_rounded_from(*exact) {
            return Err(format!(
                "{}: expected a number for '{name}' that is rounded to {}, found {exact}",
                plan.name, constant.value
            ));
        }
        constant.exact = *exact;
    }
    Ok(())
}

fn read_exact_elements(path: &Path, tensor: &Tensor, length: usize) -> Result<ArrayElements, SimError> {
    let malformed = |message: String| SimError::Malformed { file: path.display().to_string(), message };
    let mut elements = ArrayElements::zeros_for_tensor(tensor, length).map_err(malformed)?;
    // The file has f64 elements if the program's element type would round them.
    if std::fs::metadata(path).is_ok_and(|found| found.len() == 8 * length as u64) {
        elements = ArrayElements::F64(vec![0.0; length]);
    }
    let bytes = i64::try_from(length * elements.element_type().bytes()).expect("fewer than 2^63");
    let (mut file, mut content) = (open_constant(path, &Tensor { bytes, ..tensor.clone() })?, Vec::new());
    file.read_to_end(&mut content).map_err(|source| SimError::Io { path: path.to_owned(), source })?;
    elements.set_bytes(&content);
    Ok(elements)
}

/// Opens the file of a constant, and checks that its size is exactly that of the constant.
pub(crate) fn open_constant(path: &Path, constant: &Tensor) -> Result<File, SimError> {
    let file = open(path).map_err(|error| convert_read_error(path, error))?;
    let found = file.metadata().map_err(|error| convert_read_error(path, error))?;
    if i64::try_from(found.len()) != Ok(constant.bytes) {
        let message =
            format!("expected {} bytes, the size of '{}', found {}", constant.bytes, constant.name, found.len());
        return Err(SimError::Malformed { file: path.display().to_string(), message });
    }
    Ok(file)
}

/// Returns the path of a plain file name in `within`. Rejects paths, by which a bundle could read foreign files.
fn require_plain_name<'n>(within: &Path, name: &'n str) -> Result<&'n str, SimError> {
    let rejected = || SimError::Malformed {
        file: within.display().to_string(),
        message: format!("'{name}' is no plain file name"),
    };
    if is_plain_name(name) { Ok(name) } else { Err(rejected()) }
}

fn read_text_file(dir: &Path, path: &str) -> Result<String, SimError> {
    let read = resolve_below(dir, path).and_then(|path| read_text(&path, MAX_TEXT_BYTES));
    read.map_err(|error| convert_read_error(&dir.join(path), error))
}

/// Converts a read error. Errors of the operating system become [`SimError::Io`], errors of our own checks
/// [`SimError::Malformed`].
fn convert_read_error(path: &Path, error: io::Error) -> SimError {
    if error.raw_os_error().is_some() {
        return SimError::Io { path: PathBuf::from(path), source: error };
    }
    SimError::Malformed { file: path.display().to_string(), message: error.to_string() }
}

fn read_json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T, SimError> {
    let (text, path) = (read_text_file(dir, name)?, dir.join(name));
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
