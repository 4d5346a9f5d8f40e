//! What becomes of a mutant.

use crate::{
    Mutant,
    programs::{Files, Program, run},
};
use spyre::{
    sdsc::{check::check_files, differs_from_its_emission},
    target::Target,
};
use std::{fs, path::Path};

/// What finds a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A rule of the format, by its label.
    Rule(&'static str),
    /// The file is not the one that its own op spec is emitted as.
    Emission,
    /// The simulated machine refuses it.
    Refused,
    /// The results differ.
    Numbers,
    Survives,
}

impl Verdict {
    pub(crate) fn is_kill(&self) -> bool {
        *self != Self::Survives
    }
}

/// The label of the first rule that files break.
fn broken_rule(files: &Files) -> Option<(&'static str, String)> {
    let found = check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    found.first().map(|violation| (violation.label, violation.to_string()))
}

pub(crate) fn expect_right(program: &Program) {
    if let Some((_, message)) = broken_rule(&program.files) {
        panic!("{}: {message}", program.name);
    }
    let contents = program.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    assert_eq!(differs_from_its_emission(contents), None, "{}", program.name);
}

pub(crate) fn judge(program: &Program, mutant: &Mutant) -> Verdict {
    let mut files = program.files.clone();
    files.insert(mutant.file.clone(), mutant.content.clone());
    if let Some((label, _)) = broken_rule(&files) {
        return Verdict::Rule(label);
    }
    if differs_from_its_emission(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))).is_some() {
        return Verdict::Emission;
    }
    let place = tempfile::tempdir().unwrap();
    write(place.path(), &files);
    match run(place.path(), &program.inputs) {
        Err(_) => Verdict::Refused,
        Ok(results) if results != program.results => Verdict::Numbers,
        Ok(_) => Verdict::Survives,
    }
}

fn write(out: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = out.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
