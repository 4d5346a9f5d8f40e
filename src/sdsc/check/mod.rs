//! Checks files on disk: the rules of the format ([`sdsc_check`]), then equality with our emission (`re_emission.rs`).

mod re_emission;

pub use re_emission::{RE_EMISSION_LABEL as EMISSION_LABEL, find_emission_difference};

use files::{read_below, reason};
use machine::Target;
use sdsc_check::{Profile, Violation, check_directory_with_profile};
use sdsc_format::{
    BUNDLE_FILE,
    program::{self, Program},
};
use std::{collections::BTreeSet, fs, path::Path};

/// Returns the rules of a profile that the files of a bundle or program directory violate. Only files of torch-spyre's
/// profiles are compared with their re-emission.
///
/// # Errors
/// If there is no bundle, or a file cannot be read.
pub fn find_violations(directory: &Path, profile: Profile) -> Result<Vec<Violation>, String> {
    let broken =
        check_directory_with_profile(directory, &Target::spyre(), profile).map_err(|error| error.to_string())?;
    if !broken.is_empty() || profile.is_release() {
        return Ok(broken);
    }
    let mut texts = read_texts(directory, "")?;
    let program = texts.iter().find(|(path, _)| path == program::PROGRAM_FILE);
    let program: Option<Program> = program.and_then(|(_, content)| serde_json::from_slice(content).ok());
    let folders: BTreeSet<String> =
        program.into_iter().flat_map(|program| program.launches).map(|launch| launch.bundle).collect();
    if !directory.join(BUNDLE_FILE).exists() {
        for folder in folders {
            texts.extend(read_texts(directory, &format!("{folder}/"))?);
        }
    }
    let contents = texts.iter().map(|(path, content)| (path.as_str(), content.as_slice()));
    // Another emitter may share other files between equal ops, so the texts of such bundles may differ from ours.
    let is_compared = |violation: &Violation| !profile.shares_files() || !violation.file.ends_with(BUNDLE_FILE);
    Ok(find_emission_difference(contents).into_iter().filter(is_compared).collect())
}

/// Returns the files of a bundle or a program below `folder`, which is empty or ends with `/`, except those of
/// constants.
fn read_texts(directory: &Path, folder: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let entries = fs::read_dir(directory.join(folder))
        .map_err(|error| format!("cannot read '{}': {}", directory.display(), reason(&error)))?;
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_text = |name: &String| Path::new(name).extension().is_some_and(|kind| kind == "json" || kind == "mlir");
    let paths =
        names.filter(is_text).map(|name| format!("{folder}{name}")).filter(|path| directory.join(path).is_file());
    let read = |path: String| match read_below(directory, &path) {
        Ok(content) => Ok((path, content)),
        Err(error) => Err(format!("cannot read '{}': {}", directory.join(path).display(), reason(&error))),
    };
    paths.map(read).collect()
}
