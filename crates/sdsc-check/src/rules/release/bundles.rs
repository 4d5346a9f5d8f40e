//! Rules of the release on `bundle.mlir`.

use super::super::super::launch::{Base, ExecuteView, Fault};
use super::super::super::report::Report;
use super::super::launches::{BundleView, pools_fit};
use std::collections::BTreeMap;

/// Bytes that a bundle may request: a segment of 16 GiB, less 1 GiB.
const REQUEST_LIMIT: i64 = 15 << 30;

/// Visits each execute that repeats a file, with the first execute of the file.
fn repeated<'v>(view: &'v BundleView<'_>) -> impl Iterator<Item = (&'v ExecuteView<'v>, &'v ExecuteView<'v>)> {
    let mut first: BTreeMap<&str, &ExecuteView<'_>> = BTreeMap::new();
    view.launch.executes.iter().filter_map(move |execute| {
        let known = *first.entry(execute.execute.file).or_insert(execute);
        (!std::ptr::eq(known, execute)).then_some((known, execute))
    })
}

pub(in super::super) fn files_run_once(view: &BundleView<'_>, report: &mut Report) {
    for (known, execute) in repeated(view) {
        let message = format!("'{}' was executed at {}; each execute has a file of its own", execute.execute.file, known.at);
        report.text(execute.at, message);
    }
}

pub(in super::super) fn shared_files_keep_their_symbols(view: &BundleView<'_>, report: &mut Report) {
    for (known, execute) in repeated(view) {
        if known.ids() != execute.ids() {
            let (ids, known_ids) = (execute.ids(), known.ids());
            let message = format!("ids {ids:?} where the execute at {} has {known_ids:?}; a shared file has one list of ids", known.at);
            report.text(execute.at, message);
        } else if bases(known) != bases(execute) {
            let file = execute.execute.file;
            let message = format!("'{file}' was executed at {} with other kernel arguments; equal ops have the same", known.at);
            report.text(execute.at, message);
        }
    }
}

/// Returns the arguments and pools of the values of an execute.
fn bases(execute: &ExecuteView<'_>) -> Vec<Option<Option<Base>>> {
    execute.values.iter().map(|value| value.as_ref().map(|form| form.base)).collect()
}

pub(in super::super) fn loops_have_constant_bounds(view: &BundleView<'_>, report: &mut Report) {
    view.report(Fault::Loop, report);
}

pub(in super::super) fn requests_fit(view: &BundleView<'_>, report: &mut Report) {
    pools_fit(view, REQUEST_LIMIT, report);
}

pub(in super::super) fn extracts_are_outside_loops(view: &BundleView<'_>, report: &mut Report) {
    view.report(Fault::ExtractInLoop, report);
}

pub(in super::super) fn map_symbols_are_invariant(view: &BundleView<'_>, report: &mut Report) {
    view.report(Fault::VaryingSymbol, report);
}
