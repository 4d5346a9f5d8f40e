//! Final check after the rules of the format: a file must be identical to the emission of its own op spec.
//!
//! A rule names the invalid field; this check only shows that no op spec has the file. So it runs after the rules, and
//! on files on disk only: new output would be compared with itself. The reader does not support every layout of the
//! reference emitter's poolings, so the check skips poolings. It also skips shuffles, whose views may have no op spec,
//! and matmuls of integers, which the IR does not have.

use crate::sdsc::read::{OpSpecReadError, ProgramFacts, parse_launch, to_bundle};
use sdsc_check::{Violation, ViolationLocation};
use sdsc_format::{
    BUNDLE_FILE, Sdsc,
    program::{LaunchEntry, PROGRAM_FILE, Program},
};
use std::collections::BTreeMap;

/// Label of these violations, in addition to those of the rules.
pub const RE_EMISSION_LABEL: &str = "sdsc_r98";

/// Returns the first difference between the files of a bundle, or of a program and its bundles, and the emission of
/// their op specs.
///
/// Files are given with their paths below the directory. A file that cannot be interpreted violates a rule and is not
/// reported here.
#[must_use]
pub fn find_emission_difference<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<Violation> {
    let files: BTreeMap<&str, &[u8]> = files.into_iter().collect();
    let program: Option<Program> = files.get(PROGRAM_FILE).and_then(|bytes| serde_json::from_slice(bytes).ok());
    let launches = program.map(|program| program.launches).unwrap_or_default();
    if files.contains_key(BUNDLE_FILE) {
        let facts = launches.first().map(ProgramFacts::from_entry).unwrap_or_default();
        return find_bundle_difference(&files, "", facts);
    }
    let difference = |launch: &LaunchEntry| {
        find_bundle_difference(&files, &format!("{}/", launch.bundle), ProgramFacts::from_entry(launch))
    };
    launches.iter().find_map(difference)
}

fn find_bundle_difference(
    files: &BTreeMap<&str, &[u8]>,
    folder: &str,
    facts: ProgramFacts<'_>,
) -> Option<Violation> {
    let path = |name: &str| format!("{folder}{name}");
    let text = std::str::from_utf8(files.get(&*path(BUNDLE_FILE))?).ok()?;
    let mut read: Vec<Sdsc> = Vec::new();
    while let Some(bytes) = files.get(&*path(&format!("sdsc_{}.json", read.len()))) {
        read.push(serde_json::from_slice(bytes).ok()?);
    }
    let error = parse_launch(text).and_then(|launch| to_bundle(&launch, &read, facts)).err()?;
    let violation = |file: String, message: String| Violation {
        label: RE_EMISSION_LABEL,
        file,
        place: ViolationLocation::File,
        message,
    };
    match error {
        OpSpecReadError::InFile { index, source }
            if is_member_order_error(&source) || may_lack_op_spec(&read[index]) =>
        {
            None
        }
        OpSpecReadError::InFile { index, source } => {
            Some(violation(path(&format!("sdsc_{index}.json")), source.to_string()))
        }
        error => Some(violation(path(BUNDLE_FILE), error.to_string())),
    }
}

/// Returns whether the operation is one of which not every legal file has an op spec.
fn may_lack_op_spec(sdsc: &Sdsc) -> bool {
    let mut ops = sdsc.value.dscs.iter().flat_map(|dsc| &dsc.value.compute);
    ops.any(|op| matches!(&*op.function, "avgpoolfwd" | "shuffle" | "batchmatmulint8" | "batchmatmulint4"))
}

/// Returns whether the error is a difference in the order of an object's members, which has no meaning.
fn is_member_order_error(error: &OpSpecReadError) -> bool {
    matches!(error, OpSpecReadError::NoOpSpec { member, .. } if member == "the order of members")
}
