//! A nest of loops as hints on ops.

use crate::{
    dialect::{ComputeOp, TileHint, declared_sizes, hints_attribute},
    hint::Count,
    mlir::{Op, OpExt, string_array},
    search::Loops,
};
use std::collections::BTreeSet;

/// Writes a nest as hints; a dimension that has no name of its own gets one. `ops` begin with the op of number `first`. Gives the nest as a
/// hint scope says it.
pub(super) fn write_hints(loops: &Loops, ops: &[Op<'_>], first: usize, labels: &mut Labels) -> String {
    let mut scope: Vec<String> = Vec::new();
    for level in &loops.levels {
        let (name, id) = labels.next();
        let mut first_name = None;
        for (&op, &dim) in &level.dims {
            let Some(compute) = ComputeOp::of(ops[op - first]) else { continue };
            let mut names = compute.dim_names();
            if !is_name(&names, dim) {
                names[dim].clone_from(&name);
                compute.op.set_attr("dims", string_array(compute.op.ctx(), &names));
            }
            first_name.get_or_insert_with(|| names[dim].clone());
            let mut hints = compute.hints();
            hints.push(TileHint { id, dim: names[dim].clone(), count: Count::Number(level.count) });
            compute.op.set_attr("hints", hints_attribute(compute.op.ctx(), &hints));
        }
        scope.push(format!("{} = {}", first_name.unwrap_or(name), level.count));
    }
    format!("tiles({}) around ops {} to {}", scope.join(", "), loops.ops.start, loops.ops.end - 1)
}

/// Whether the label of a dimension is the name of this one alone.
pub(super) fn is_name(labels: &[String], dim: usize) -> bool {
    let label = &labels[dim];
    let is_of_other = |(other, label_of_other): (usize, &String)| other != dim && label_of_other.split('*').any(|name| name == label);
    !label.is_empty() && !label.contains('*') && !labels.iter().enumerate().any(is_of_other)
}

/// Names and ids that a function does not have yet.
pub(super) struct Labels {
    taken: BTreeSet<String>,
    next_name: usize,
    next_id: i64,
}

impl Labels {
    pub(super) fn of(function: Op<'_>) -> Self {
        let mut labels = Self { taken: declared_sizes(function).into_keys().collect(), next_name: 0, next_id: 0 };
        for compute in ComputeOp::all_in(function) {
            labels.taken.extend(compute.dim_names().iter().flat_map(|label| label.split('*')).map(str::to_owned));
            labels.next_id = compute.hints().iter().map(|hint| hint.id + 1).fold(labels.next_id, i64::max);
        }
        labels
    }

    fn next(&mut self) -> (String, i64) {
        let name = loop {
            let name = format!("axis{}", self.next_name);
            self.next_name += 1;
            if !self.taken.contains(&name) {
                break name;
            }
        };
        self.next_id += 1;
        (name, self.next_id - 1)
    }
}
