//! A rule on the windows of tensors that move in loops.

use super::super::extent::gap;
use super::super::file_view::{FileView, TensorView};
use super::super::report::Report;
use super::addresses::start_path;
use std::collections::{BTreeMap, BTreeSet};

/// Window of a tensor on its buffer, as far as a file describes it: the scale and the trailing gap of each dimension of the iteration space.
type Window = Vec<(Option<i64>, i64)>;

fn window(file: &FileView<'_>, tensor: &TensorView<'_>) -> Window {
    file.labels().map(|label| (tensor.scale(label), gap(tensor, label))).collect()
}

pub(super) fn moving_symbols_are_of_one_window(file: &FileView<'_>, report: &mut Report) {
    let Some(execute) = file.around.execute else { return };
    let moves = |value: &Option<_>| value.as_ref().is_some_and(|form: &super::super::launch::Form| !form.terms.is_empty());
    let moving: BTreeSet<i64> = execute.ids().iter().zip(&execute.values).filter(|(_, value)| moves(value)).map(|(id, _)| *id).collect();
    let mut known: BTreeMap<i64, (usize, Window)> = BTreeMap::new();
    for tensor in file.tensors().filter(|tensor| tensor.node.has_symbolic_start()) {
        let window = window(file, &tensor);
        let mut is_reported = false;
        for (core, start) in tensor.node.start.data.iter().filter(|(_, start)| moving.contains(&start.0)) {
            let (first, of_first) = known.entry(start.0).or_insert_with(|| (tensor.index, window.clone()));
            if *of_first != window && !std::mem::replace(&mut is_reported, true) {
                let message = format!(
                    "symbol {} moves in a loop and is the start of tensors {first} and {}, whose windows differ; each has a symbol of its own",
                    start.0, tensor.index
                );
                report.json(start_path(file, tensor.index, *core), message);
            }
        }
    }
}
