//! Rules on the statements of `bundle.mlir` and the files that it executes.

use super::super::file_tree::join_path;
use super::super::launch::{ExecuteView, LaunchProblemKind, LaunchValues, LinearForm, ValueBase};
use super::super::profile::Profile;
use super::super::report::ViolationReport;
use machine::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Function of a bundle, and the names of the files in its folder.
pub(in super::super) struct BundleView<'a> {
    pub(in super::super) launch: &'a LaunchValues<'a>,
    /// Whether the function is in a module.
    pub(in super::super) is_in_module: bool,
    /// Folder of the files.
    pub(in super::super) folder: &'a str,
    pub(in super::super) files: &'a BTreeSet<String>,
    pub(in super::super) target: &'a Target,
    pub(in super::super) profile: Profile,
}

impl BundleView<'_> {
    pub(super) fn report_problems(&self, fault: LaunchProblemKind, report: &mut ViolationReport) {
        for problem in self.launch.problems.iter().filter(|problem| problem.kind == fault) {
            report.report_text(problem.at, problem.message.clone());
        }
    }

    /// Returns the executes whose file no earlier execute has.
    fn first_executes(&self) -> impl Iterator<Item = &ExecuteView<'_>> {
        let mut seen = BTreeSet::new();
        self.launch.executes.iter().filter(move |view| seen.insert(view.execute.file))
    }
}

pub(super) fn check_definitions(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::Definition, report);
}

pub(super) fn check_value_kinds(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::Kind, report);
}

pub(super) fn check_linear_addresses(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::Form, report);
}

pub(super) fn check_pools(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::Pool, report);
    check_pool_limit(view, view.target.pool_bytes, report);
}

/// Reports pools without bytes, and the first pool at which the total size exceeds `limit` bytes.
pub(super) fn check_pool_limit(view: &BundleView<'_>, limit: i64, report: &mut ViolationReport) {
    let mut total = 0_i64;
    for pool in &view.launch.pools {
        if pool.bytes < 1 {
            report.report_text(pool.at, format!("the pool has {} bytes; it must have at least one", pool.bytes));
            continue;
        }
        total = total.saturating_add(pool.bytes);
        if total > limit {
            report.report_text(pool.at, format!("the pools have {total} bytes; they must not exceed {limit}"));
            return;
        }
    }
}

pub(super) fn check_loops(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::SizedLoop, report);
    check_sized_loops(view, report);
}

pub(super) fn check_sized_loops(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::Loop, report);
    view.report_problems(LaunchProblemKind::LoopForm, report);
}

pub(super) fn check_files_are_present(view: &BundleView<'_>, report: &mut ViolationReport) {
    for execute in view.first_executes().filter(|view_of| !view.files.contains(view_of.execute.file)) {
        report.report_text(
            execute.at,
            format!("there is no file '{}'; every executed file stands beside bundle.mlir", execute.execute.file),
        );
    }
}

pub(super) fn check_files_are_executed(view: &BundleView<'_>, report: &mut ViolationReport) {
    let executed: BTreeSet<_> = view.launch.executes.iter().map(|view| view.execute.file).collect();
    for name in view.files.iter().filter(|name| !executed.contains(name.as_str())) {
        report.report_other_file(
            &join_path(view.folder, name),
            "nothing executes the file; every SDSC file of a bundle is executed",
        );
    }
}

pub(super) fn check_repeated_files(view: &BundleView<'_>, report: &mut ViolationReport) {
    let mut first: BTreeMap<&str, &ExecuteView<'_>> = BTreeMap::new();
    for execute in &view.launch.executes {
        let file = execute.execute.file;
        let known = *first.entry(file).or_insert(execute);
        let (has_ids, has_values) =
            (known.execute.symbol_ids == execute.execute.symbol_ids, known.values == execute.values);
        if !(has_ids && has_values) {
            let message = format!(
                "'{file}' was executed at {} with other symbols; a file has one value for each symbol",
                known.at
            );
            report.report_text(execute.at, message);
        }
    }
}

pub(super) fn check_operand_ids(view: &BundleView<'_>, report: &mut ViolationReport) {
    for execute in &view.launch.executes {
        let (operands, ids) = (execute.values.len(), execute.symbol_ids().len());
        if operands != ids {
            report.report_text(
                execute.at,
                format!("{operands} operands for {ids} symbol ids; each operand is the value of one symbol"),
            );
        }
    }
}

pub(super) fn check_unique_ids(view: &BundleView<'_>, report: &mut ViolationReport) {
    let mut seen = BTreeSet::new();
    for execute in view.first_executes() {
        for id in execute.symbol_ids() {
            if *id >= 0 {
                report.report_text(execute.at, format!("symbol id {id}; ids are negative"));
            } else if !seen.insert(*id) {
                report.report_text(
                    execute.at,
                    format!("symbol id {id} is used twice; an id stands for one value in the whole bundle"),
                );
            }
        }
    }
}

/// Checks that symbol ids are consecutive from op to op. The base of a kernel argument has an id even if the op uses
/// slices of the argument only, so such an id may be skipped.
pub(super) fn check_consecutive_ids(view: &BundleView<'_>, report: &mut ViolationReport) {
    let (mut next, mut seen, mut files) = (-1_i64, BTreeSet::new(), BTreeSet::new());
    // Ops that share a file reserve their own ids, which no execute lists.
    let mut used_up = 0_i64;
    for execute in &view.launch.executes {
        if !files.insert(execute.execute.file) {
            if view.profile.shares_files() {
                used_up +=
                    i64::try_from(execute.symbol_ids().len()).expect("fewer than 2^63") + count_unused_bases(execute);
            }
            continue;
        }
        // Another rule checks ids that are not negative or are used twice.
        let ids: BTreeSet<i64> =
            execute.symbol_ids().iter().copied().filter(|id| *id < 0 && seen.insert(*id)).collect();
        let (Some(last), Some(first)) = (ids.first().copied(), ids.last().copied()) else { continue };
        if first > next {
            report.report_text(
                execute.at,
                format!("symbol id {first} after {}; ids go on from op to op", next.saturating_add(1)),
            );
        } else {
            let num_ids = i64::try_from(ids.len()).expect("fewer than 2^63");
            let skipped = next.saturating_sub(last).saturating_add(1).saturating_sub(num_ids);
            let reserved = count_unused_bases(execute) + std::mem::take(&mut used_up);
            if skipped > reserved {
                report.report_text(
                    execute.at,
                    format!("{skipped} symbol ids are skipped from {next} to {last}; ids are consecutive"),
                );
            }
        }
        next = next.min(last.saturating_sub(1));
    }
}

/// Returns the number of kernel arguments of which an op uses slices but not the base.
fn count_unused_bases(execute: &ExecuteView<'_>) -> i64 {
    let mut uses_base: BTreeMap<ValueBase, bool> = BTreeMap::new();
    for LinearForm { base, constant, terms: _ } in execute.values.iter().flatten() {
        if let Some(base @ ValueBase::Argument(_)) = base {
            *uses_base.entry(*base).or_default() |= *constant == 0;
        }
    }
    uses_base.values().filter(|uses| !**uses).count().try_into().expect("fewer than 2^63")
}
