//! Rule on symbolic sizes: the program, its tensors, its launches and their bundles must agree on them.

use super::BundleFacts;
use super::program_flow::tensor_lists;
use super::report::ViolationReport;
use sdsc_format::program::{LaunchEntry, Program, Size};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the symbolic sizes of a program whose bundles have been checked.
pub(super) fn check(program: &Program, bundles: &BTreeMap<String, BundleFacts>, report: &mut ViolationReport) {
    let mut names = BTreeSet::new();
    for (number, Size { name, maximum, granularity }) in program.sizes.iter().enumerate() {
        let path = format!("/sizes/{number}");
        if !names.insert(name) {
            report.report_json(path, format!("'{name}' is there twice; a size has one entry"));
        } else if *granularity < 1 || *maximum < 1 || maximum % granularity != 0 {
            report.report_json(
                path,
                format!("'{name}' is at most {maximum} in steps of {granularity}; the largest size is a whole number of steps"),
            );
        }
    }
    check_tensors(program, report);
    for (number, launch) in program.launches.iter().enumerate() {
        if let Some(facts) = bundles.get(&launch.bundle) {
            check_launch(program, number, launch, facts, report);
        }
    }
}

/// Checks that only dimensions of arguments and results are symbolic, and that their shapes have the maximum size.
fn check_tensors(program: &Program, report: &mut ViolationReport) {
    for (list, tensors) in tensor_lists(program) {
        for (number, tensor) in tensors.iter().enumerate() {
            let mut before = None;
            for (entry, symbolic) in tensor.symbolic.iter().enumerate() {
                let path = format!("/{list}/{number}/symbolic/{entry}");
                let known = program.size(&symbolic.size).map(|size| size.maximum);
                let found = tensor.shape.get(symbolic.dim).copied();
                if !["arguments", "results"].contains(&list) {
                    report.report_json(
                        path,
                        format!(
                            "'{}' is one of the {list}; only arguments and results have symbolic sizes",
                            tensor.name
                        ),
                    );
                } else if known.is_none() || known != found {
                    let message = format!(
                        "dimension {} of {found:?} has the size '{}' of {known:?}; a shape has the maximum of each size",
                        symbolic.dim, symbolic.size
                    );
                    report.report_json(path, message);
                } else if before.is_some_and(|before| before >= symbolic.dim) {
                    report.report_json(
                        path,
                        format!(
                            "dimension {} does not come after the previous entry; dimensions are listed once, in order",
                            symbolic.dim
                        ),
                    );
                }
                before = Some(symbolic.dim);
            }
        }
    }
}

/// Checks that a launch names the sizes that its bundle has as parameters, in the same order and with the same bounds.
fn check_launch(
    program: &Program,
    number: usize,
    launch: &LaunchEntry,
    facts: &BundleFacts,
    report: &mut ViolationReport,
) {
    let path = format!("/launches/{number}/sizes");
    // A bundle of a program without sizes runs at the maxima.
    if program.sizes.is_empty() && launch.sizes.is_empty() {
        return;
    }
    if launch.sizes.len() != facts.sizes.len() {
        let message = format!(
            "{} sizes for the {} that '{}' has as parameters; each has a name",
            launch.sizes.len(),
            facts.sizes.len(),
            launch.bundle
        );
        report.report_json(path, message);
        return;
    }
    for (entry, (name, (maximum, granularity))) in launch.sizes.iter().zip(&facts.sizes).enumerate() {
        let is_same =
            program.size(name).is_some_and(|size| (size.maximum, size.granularity) == (*maximum, *granularity));
        if !is_same {
            let message = format!(
                "'{name}' is not at most {maximum} in steps of {granularity} in the program, as it is in '{}'",
                launch.bundle
            );
            report.report_json(format!("{path}/{entry}"), message);
        }
    }
    let loop_sizes = facts.loop_sizes.iter().filter_map(|size| launch.sizes.get(*size));
    let used: BTreeSet<&String> = facts.valid_files().flat_map(|file| &file.sizes).chain(loop_sizes).collect();
    if used != launch.sizes.iter().collect() {
        let message = format!("{:?}; the files and loops of '{}' have {used:?}", launch.sizes, launch.bundle);
        report.report_json(path, message);
    }
}
