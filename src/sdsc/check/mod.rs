//! Labelled rules of the bundle format, checked on the files alone.
//!
//! The back end aborts, or computes wrong numbers, on bundles that break a rule. So the compiler checks what it is about to write,
//! and `spyre-translate --check-bundle` checks any bundle. A check reads nothing but the files: `bundle.mlir` with a parser of its
//! own, and the JSON files through [`model`](super::model). What it knows of the emitter is nothing, so that a mistake of the
//! emitter is not repeated here.
//!
//! ```text
//! sdsc_0.json:/0_add/dscs_/0/add/dataStageParam_/0/ss_/mb_: sdsc_r29: 2 slices of 63 points for the 128 points of 'mb'; equal ...
//! bundle.mlir:12:3: sdsc_r13: 5 operands for 6 symbol ids; each operand is the value of one symbol
//! ```
//!
//! [`RULES`] is the table of rules; each has a label, a statement, a source and one function. Violations are reported in the
//! order of the table, from the most basic rule on. The text of a bundle is read once and each SDSC file is read, checked and
//! dropped, so time is linear in the size of a bundle and memory that of one file.

pub mod bundle_text;
mod directory;
mod extent;
mod file_view;
mod functions;
mod launch;
mod report;
mod rules;

pub use directory::{CheckError, check_directory, check_directory_for};
pub use report::{Place, Violation};
pub use rules::{RULES, Rule, rules_table};

use super::model::Sdsc;
use crate::target::Target;
use bundle_text::BundleText;
use file_view::{FileView, Surroundings};
use launch::{ExecuteView, Launch};
use report::{Report, member};
use rules::launches::BundleView;
use rules::{ONE_OPERATION, SCHEMA, TEXT};
use serde_path_to_error::Segment;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// The name of the file that says what a bundle runs.
pub const BUNDLE_FILE: &str = "bundle.mlir";

/// The files of one bundle, in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleFiles {
    /// The text of `bundle.mlir`.
    pub text: String,
    /// The SDSC files, by name.
    pub sdsc: BTreeMap<String, Vec<u8>>,
    /// The kernel arguments, by number; none when their sizes are not known.
    pub arguments: Vec<Buffer>,
}

/// A tensor in HBM that a bundle is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Its name, for messages.
    pub name: String,
    /// Its size.
    pub bytes: i64,
}

/// Checks a bundle against every rule, for the Spyre card.
#[must_use]
pub fn check_bundle(files: &BundleFiles) -> Vec<Violation> {
    check_bundle_for(files, &Target::spyre())
}

/// Checks a bundle against every rule, for a machine.
#[must_use]
pub fn check_bundle_for(files: &BundleFiles, target: &Target) -> Vec<Violation> {
    let mut report = Report::default();
    let read = |name: &str| Ok::<_, Infallible>(files.sdsc.get(name).map_or_else(Cow::default, |bytes| Cow::from(bytes.as_slice())));
    let source = Source { text: &files.text, files: files.sdsc.keys().cloned().collect(), arguments: &files.arguments, target, read };
    match source.check(&mut report) {
        Ok(()) => report.into_violations(),
        Err(never) => match never {},
    }
}

/// A bundle whose SDSC files are read one at a time.
struct Source<'a, R> {
    text: &'a str,
    files: BTreeSet<String>,
    arguments: &'a [Buffer],
    target: &'a Target,
    read: R,
}

impl<'a, E, R: Fn(&str) -> Result<Cow<'a, [u8]>, E>> Source<'a, R> {
    fn check(&self, report: &mut Report) -> Result<(), E> {
        report.enter_file(BUNDLE_FILE);
        let text = match bundle_text::parse(self.text) {
            Ok(text) => Some(text),
            Err(error) => {
                report.enter_rule(TEXT, RULES[TEXT].label);
                report.text(error.at, error.message);
                None
            }
        };
        let launch = text.as_ref().map(|text| self.check_launch(text, report));
        let executes = launch.as_ref().map(first_executes).unwrap_or_default();
        for name in &self.files {
            let around = Surroundings {
                target: self.target,
                arguments: self.arguments,
                launch: launch.as_ref(),
                execute: executes.get(name.as_str()).copied(),
            };
            report.enter_file(name);
            check_sdsc(name, &(self.read)(name)?, around, report);
        }
        Ok(())
    }

    fn check_launch<'t>(&self, text: &'t BundleText<'t>, report: &mut Report) -> Launch<'t> {
        let launch = Launch::new(text);
        rules::check_bundle(&BundleView { launch: &launch, files: &self.files, target: self.target }, report);
        launch
    }
}

/// The first execute of each file.
fn first_executes<'l, 't>(launch: &'l Launch<'t>) -> BTreeMap<&'t str, &'l ExecuteView<'t>> {
    let mut executes = BTreeMap::new();
    for execute in &launch.executes {
        executes.entry(execute.execute.file).or_insert(execute);
    }
    executes
}

fn check_sdsc(name: &str, bytes: &[u8], around: Surroundings<'_>, report: &mut Report) {
    let sdsc: Sdsc = match serde_json::from_slice(bytes) {
        Ok(sdsc) => sdsc,
        Err(error) => {
            report.enter_rule(SCHEMA, RULES[SCHEMA].label);
            return report_shape::<Sdsc>(bytes, &error, report);
        }
    };
    match FileView::new(name, &sdsc, around) {
        Some(file) => rules::check_file(&file, report),
        None => {
            report.enter_rule(ONE_OPERATION, RULES[ONE_OPERATION].label);
            rules::identity::there_is_one_operation(&sdsc, report);
        }
    }
}

/// Reports JSON of another shape. The text is read again for the path, since keeping track of it is slow.
fn report_shape<'de, T: serde::Deserialize<'de>>(bytes: &'de [u8], error: &serde_json::Error, report: &mut Report) {
    match serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_slice(bytes)) {
        Err(found) => report.json(pointer(found.path()), found.inner().to_string()),
        Ok(_) => report.file(error.to_string()),
    }
}

/// A path as a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter().fold(String::new(), |parent, segment| match segment {
        Segment::Seq { index } => format!("{parent}/{index}"),
        Segment::Map { key } => member(&parent, key),
        Segment::Enum { variant } => member(&parent, variant),
        Segment::Unknown => parent,
    })
}
