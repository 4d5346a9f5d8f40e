//! Rule on the windows of tensors that move in loops.

use super::super::extent::trailing_gap;
use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use super::addresses::start_path;
use std::collections::{BTreeMap, BTreeSet};

/// Window of a tensor on its buffer, as far as a file describes it: the scale and the trailing gap of each dimension of
/// the iteration space.
type BufferWindow = Vec<(Option<i64>, i64)>;

fn describe_window(file: &FileView<'_>, tensor: &TensorView<'_>) -> BufferWindow {
    file.labels().map(|label| (tensor.scale(label), trailing_gap(tensor, label))).collect()
}

pub(super) fn check_moving_symbols(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(execute) = file.context.execute else { return };
    let moves = |value: &Option<_>| {
        value.as_ref().is_some_and(|form: &super::super::launch::LinearForm| !form.terms.is_empty())
    };
    let moving: BTreeSet<i64> =
        execute.symbol_ids().iter().zip(&execute.values).filter(|(_, value)| moves(value)).map(|(id, _)| *id).collect();
    let mut known: BTreeMap<i64, (usize, BufferWindow)> = BTreeMap::new();
    for tensor in file.tensors().filter(|tensor| tensor.node.has_symbolic_start()) {
        let window = describe_window(file, &tensor);
        let mut is_reported = false;
        for (core, start) in tensor.node.start.data.iter().filter(|(_, start)| moving.contains(&start.0)) {
            let (first, of_first) = known.entry(start.0).or_insert_with(|| (tensor.index, window.clone()));
            if *of_first != window && !std::mem::replace(&mut is_reported, true) {
                let message = format!(
                    "symbol {} moves in a loop and is the start of tensors {first} and {}, whose windows differ; each has a symbol of its own",
                    start.0, tensor.index
                );
                report.report_json(start_path(file, tensor.index, *core), message);
            }
        }
    }
}
