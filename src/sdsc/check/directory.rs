//! Bundles on disk: one, or a program with several.

use super::report::{Report, member};
use super::rules::PROGRAM;
use super::{BUNDLE_FILE, Buffer, RULES, Source, Violation, report_shape};
use crate::sdsc::program::{FILE_NAME, LaunchEntry, Program};
use crate::target::Target;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// A directory that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It has neither of the files that make it a bundle or a program.
    #[error("{}: no {BUNDLE_FILE} and no {FILE_NAME}; a bundle has the one and a program the other", .0.display())]
    NoBundle(PathBuf),
    /// A file or a folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Checks the bundle in a directory, or every bundle of the program there, for the Spyre card.
///
/// A bundle has `bundle.mlir` and its JSON files, and may have a `program.json`; a program has `program.json` and a folder for
/// each bundle. File names in violations are relative to the directory.
///
/// # Errors
///
/// When the directory has neither file, or a file cannot be read.
pub fn check_directory(dir: &Path) -> Result<Vec<Violation>, CheckError> {
    check_directory_for(dir, &Target::spyre())
}

/// Checks the bundle in a directory, or every bundle of the program there, for a machine.
///
/// # Errors
///
/// As [`check_directory`].
pub fn check_directory_for(dir: &Path, target: &Target) -> Result<Vec<Violation>, CheckError> {
    let mut report = Report::default();
    let program_file = dir.join(FILE_NAME);
    let has_program = program_file.is_file();
    if dir.join(BUNDLE_FILE).is_file() {
        let program = if has_program { read_program(&program_file, &mut report)? } else { None };
        let arguments = program.map(|program| own_arguments(&program, dir, &mut report)).unwrap_or_default();
        return Ok(check_folder(dir, &arguments, target, report)?.into_violations());
    }
    if !has_program {
        return Err(CheckError::NoBundle(dir.to_path_buf()));
    }
    let Some(program) = read_program(&program_file, &mut report)? else { return Ok(report.into_violations()) };
    for (folder, arguments) in bundles(&program, dir, &mut report) {
        report = check_folder_as(dir, &folder, &arguments, target, report)?;
    }
    Ok(report.into_violations())
}

fn read(path: &Path) -> Result<Vec<u8>, CheckError> {
    fs::read(path).map_err(|source| CheckError::Read { path: path.to_path_buf(), source })
}

fn read_program(path: &Path, report: &mut Report) -> Result<Option<Program>, CheckError> {
    let bytes = read(path)?;
    report.enter_file(FILE_NAME);
    report.enter_rule(PROGRAM, RULES[PROGRAM].label);
    match serde_json::from_slice(&bytes) {
        Ok(program) => Ok(Some(program)),
        Err(error) => {
            report_shape::<Program>(&bytes, &error, report);
            Ok(None)
        }
    }
}

/// The kernel arguments of a launch.
fn arguments(program: &Program, number: usize, launch: &LaunchEntry, report: &mut Report) -> Vec<Buffer> {
    let bytes: BTreeMap<&str, i64> = program.tensors().map(|tensor| (tensor.name.as_str(), tensor.bytes)).collect();
    let mut buffers = Vec::with_capacity(launch.arguments.len());
    for (argument, name) in launch.arguments.iter().enumerate() {
        let known = bytes.get(name.as_str()).copied();
        if known.is_none() {
            let path = format!("/launches/{number}/arguments/{argument}");
            report.json(path, format!("'{name}' is no tensor of the program; a launch is given its tensors"));
        }
        // Of a tensor that nobody knows, no byte is out of place.
        buffers.push(Buffer { name: name.clone(), bytes: known.unwrap_or(i64::MAX) });
    }
    buffers
}

/// The kernel arguments of the bundle that stands beside its `program.json`.
fn own_arguments(program: &Program, dir: &Path, report: &mut Report) -> Vec<Buffer> {
    let own_name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_own = |launch: &LaunchEntry| matches!(&*launch.bundle, "" | ".") || Some(&launch.bundle) == own_name.as_ref();
    let only = if program.launches.len() == 1 { Some(0) } else { None };
    let number = program.launches.iter().position(is_own).or(only);
    number.map(|number| arguments(program, number, &program.launches[number], report)).unwrap_or_default()
}

/// The folder of each bundle and what it is given. A bundle that is launched twice is given the smaller of two tensors.
fn bundles(program: &Program, dir: &Path, report: &mut Report) -> BTreeMap<String, Vec<Buffer>> {
    let mut bundles: BTreeMap<String, Vec<Buffer>> = BTreeMap::new();
    let mut missing = BTreeSet::new();
    for (number, launch) in program.launches.iter().enumerate() {
        let given = arguments(program, number, launch, report);
        let folder = Path::new(&launch.bundle);
        let is_below = folder.components().all(|component| matches!(component, Component::Normal(_)));
        if !is_below || launch.bundle.is_empty() || !dir.join(folder).join(BUNDLE_FILE).is_file() {
            if missing.insert(&launch.bundle) {
                let message = format!("there is no bundle '{}'; a launch names a folder with {BUNDLE_FILE}", launch.bundle);
                report.json(format!("/launches/{number}/bundle"), message);
            }
            continue;
        }
        match bundles.get_mut(&launch.bundle) {
            Some(known) if known.len() == given.len() => {
                for (known, given) in known.iter_mut().zip(given).filter(|(known, given)| given.bytes < known.bytes) {
                    *known = given;
                }
            }
            Some(_) => {
                let path = format!("/launches/{number}/arguments");
                report.json(path, format!("{} arguments, and another number in another launch of the bundle", given.len()));
            }
            None => {
                bundles.insert(launch.bundle.clone(), given);
            }
        }
    }
    bundles
}

fn check_folder(dir: &Path, arguments: &[Buffer], target: &Target, mut report: Report) -> Result<Report, CheckError> {
    let bytes = read(&dir.join(BUNDLE_FILE))?;
    // A text that is no UTF-8 is refused at the first character that stands in for what is not.
    let text = String::from_utf8_lossy(&bytes);
    let source = Source { text: &text, files: sdsc_files(dir)?, arguments, target, read: |name: &str| read(&dir.join(name)).map(Cow::from) };
    source.check(&mut report)?;
    Ok(report)
}

fn check_folder_as(dir: &Path, folder: &str, arguments: &[Buffer], target: &Target, mut report: Report) -> Result<Report, CheckError> {
    report.enter_folder(member("", folder).trim_start_matches('/'));
    let mut report = check_folder(&dir.join(folder), arguments, target, report)?;
    report.enter_folder("");
    Ok(report)
}

/// The names of the SDSC files of a bundle.
fn sdsc_files(dir: &Path) -> Result<BTreeSet<String>, CheckError> {
    let failed = |source| CheckError::Read { path: dir.to_path_buf(), source };
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.starts_with("sdsc_") && Path::new(&name).extension().is_some_and(|extension| extension == "json") {
            names.insert(name);
        }
    }
    Ok(names)
}
