//! Verdicts on mutants.

use crate::mutants::{
    Mutant,
    programs::{CorrectProgram, Files, RunResults, comparison_fields, run},
};
use element::FieldElement;
use machine::Target;
use referee::{IntervalArithmetic, ShadowResult};
use sdsc_check::{Profile, check_files_with_profile};
use spyre_compiler::{reference, sdsc::find_emission_difference};
use std::{fs, path::Path};

/// Check that detects a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MutantVerdict {
    /// A rule of the format, by its label.
    Rule(&'static str),
    /// The file differs from the emission of its op spec.
    Emission,
    /// The simulated machine rejects the file.
    Rejected,
    /// The results differ in the finite field.
    Field,
    /// The results differ as numbers, or leave their bounds.
    Numbers,
    Survives,
}

impl MutantVerdict {
    pub(crate) fn is_kill(&self) -> bool {
        *self != Self::Survives
    }
}

/// Returns the label of the first rule of a profile that files violate.
fn find_broken_rule(files: &Files, profile: Profile) -> Option<(&'static str, String)> {
    let contents = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let found = check_files_with_profile(contents, &Target::spyre(), profile).unwrap();
    found.first().map(|violation| (violation.label, violation.to_string()))
}

pub(crate) fn check_correct_files(program: &CorrectProgram) {
    if let Some((_, message)) = find_broken_rule(&program.files, program.profile) {
        panic!("{}: {message}", program.name);
    }
    let contents = program.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    if program.profile == Profile::default() {
        assert_eq!(find_emission_difference(contents), None, "{}", program.name);
    }
}

pub(crate) fn evaluate_mutant(program: &CorrectProgram, mutant: &Mutant) -> MutantVerdict {
    let mut files = program.files.clone();
    files.extend(mutant.files(&program.files));
    if let Some((label, _)) = find_broken_rule(&files, program.profile) {
        return MutantVerdict::Rule(label);
    }
    // `--check-bundle` reads files of the default profile back.
    let is_default = program.profile == Profile::default();
    if is_default
        && find_emission_difference(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))).is_some()
    {
        return MutantVerdict::Emission;
    }
    let place = tempfile::tempdir().unwrap();
    write_files(place.path(), &files);
    let right = &program.right;
    for (field, right_ran) in comparison_fields().iter().zip(&right.fields) {
        match run(place.path(), &program.inputs, field, right.max_steps) {
            Err(_) => return MutantVerdict::Rejected,
            Ok(ran) if !agrees(&ran, right_ran) => return MutantVerdict::Field,
            Ok(_) => {}
        }
    }
    let Ok(ran) = run(place.path(), &program.inputs, &IntervalArithmetic, right.max_steps) else {
        return MutantVerdict::Rejected;
    };
    let is_right = ran
        .results
        .iter()
        .zip(&right.exact)
        .all(|((_, found), right)| reference::check_against_reference(found, right, &[], 0.0).is_ok());
    if is_right { MutantVerdict::Survives } else { MutantVerdict::Numbers }
}

fn agrees(found: &RunResults<FieldElement>, right: &RunResults<FieldElement>) -> bool {
    let is_same = |found: &ShadowResult<FieldElement>, right: &ShadowResult<FieldElement>| {
        found.shape == right.shape
            && found.elements.iter().zip(&right.elements).all(|(found, right)| found.agrees_with(*right))
    };
    let mut results = found.results.iter().zip(&right.results);
    found.results.len() == right.results.len()
        && results.all(|(found, right)| found.0 == right.0 && is_same(&found.1, &right.1))
}

fn write_files(out: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = out.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
