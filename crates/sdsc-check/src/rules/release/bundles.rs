//! Rules of the release on `bundle.mlir`.

use super::super::super::launch::{ExecuteView, LaunchProblemKind};
use super::super::super::report::ViolationReport;
use super::super::launches::{BundleView, check_pool_limit};
use sdsc_format::bundle_text::Position;
use std::collections::BTreeMap;

/// Maximum number of bytes that a bundle may request: a segment of 16 GiB, less 1 GiB.
const MAX_REQUEST_BYTES: i64 = 15 << 30;

/// Visits each execute that repeats a file, with the first execute of the file.
fn repeated_executes<'v>(view: &'v BundleView<'_>) -> impl Iterator<Item = (&'v ExecuteView<'v>, &'v ExecuteView<'v>)> {
    let mut first: BTreeMap<&str, &ExecuteView<'_>> = BTreeMap::new();
    view.launch.executes.iter().filter_map(move |execute| {
        let known = *first.entry(execute.execute.file).or_insert(execute);
        (!std::ptr::eq(known, execute)).then_some((known, execute))
    })
}

pub(in super::super) fn check_files_run_once(view: &BundleView<'_>, report: &mut ViolationReport) {
    for (known, execute) in repeated_executes(view) {
        let message =
            format!("'{}' was executed at {}; each execute has a file of its own", execute.execute.file, known.at);
        report.report_text(execute.at, message);
    }
}

pub(in super::super) fn check_shared_file_symbols(view: &BundleView<'_>, report: &mut ViolationReport) {
    for (known, execute) in repeated_executes(view) {
        if known.symbol_ids() != execute.symbol_ids() {
            let (ids, known_ids) = (execute.symbol_ids(), known.symbol_ids());
            let message = format!(
                "ids {ids:?} where the execute at {} has {known_ids:?}; a shared file has one list of ids",
                known.at
            );
            report.report_text(execute.at, message);
        }
    }
}

pub(in super::super) fn check_constant_loop_bounds(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::SizedLoop, report);
    view.report_problems(LaunchProblemKind::Loop, report);
}

pub(in super::super) fn check_request_sizes(view: &BundleView<'_>, report: &mut ViolationReport) {
    check_pool_limit(view, MAX_REQUEST_BYTES, report);
}

pub(in super::super) fn check_extract_positions(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::ExtractInLoop, report);
}

pub(in super::super) fn check_invariant_map_symbols(view: &BundleView<'_>, report: &mut ViolationReport) {
    view.report_problems(LaunchProblemKind::VaryingSymbol, report);
}

pub(in super::super) fn check_module(view: &BundleView<'_>, report: &mut ViolationReport) {
    if !view.is_in_module {
        report.report_text(Position { line: 1, column: 1 }, "a function without a module; a module contains it");
    }
}
