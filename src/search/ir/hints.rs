//! Conversion of a loop nest into hints on ops.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, InsertChain, TileHint, build_copy, declared_sizes, hints_attribute, strip_views},
    mlir::{DerivationKind, Op, OpExt, Value, ValueExt, ValueLike, derived_location, insert_before, string_array},
    search::{HoistedCopy, LoopNest, OperandPosition},
};
use program::SymbolicCount;
use std::collections::BTreeSet;

/// Nest that was written as hints.
pub(super) struct WrittenTilingHints<'c> {
    /// Text of the hint scope.
    pub(super) scope: String,
    /// Copies before the nest.
    pub(super) copies: Vec<Op<'c>>,
}

/// Writes a nest as hints, with the copies before it; a dimension without a name of its own gets one. `first` is the
/// number of the first op in `ops`.
pub(super) fn write_hints<'c>(
    loops: &LoopNest,
    ops: &[Op<'c>],
    first: usize,
    labels: &mut LabelAllocator,
) -> WrittenTilingHints<'c> {
    let labels: Vec<(String, i64)> = loops.levels.iter().map(|_| labels.next_label()).collect();
    let mut scope: Vec<String> = Vec::new();
    for (level, (name, id)) in loops.levels.iter().zip(&labels) {
        let mut first_name = None;
        for (&op, &dim) in &level.dims {
            let Some(compute) = ComputeOp::from_op(ops[op - first]) else { continue };
            let name = write_hint(compute, dim, (name, *id), level.count);
            first_name.get_or_insert(name);
        }
        scope.push(format!("{} tiles of {}", level.count, first_name.as_ref().unwrap_or(name)));
    }
    // The readers are found first: a copy in the middle of an assembly would end it.
    let readers_of = |copied: &HoistedCopy| {
        copied.reads.iter().map(|&OperandPosition { op, operand }| find_reader(ops[op - first], operand)).collect()
    };
    let copies: Vec<(&HoistedCopy, Vec<CopyReader<'c>>)> =
        loops.copies.iter().map(|copied| (copied, readers_of(copied))).collect();
    let made =
        copies.into_iter().filter_map(|(copied, readers)| write_copy(loops, copied, &readers, &labels)).collect();
    let copies = match loops.copies.len() {
        0 => String::new(),
        1 => " with 1 operand copied".to_owned(),
        num_copies => format!(" with {num_copies} operands copied"),
    };
    let scope = format!("ops {}-{} in {}{copies}", loops.ops.start, loops.ops.end - 1, scope.join(" x "));
    WrittenTilingHints { scope, copies: made }
}

/// Writes a hint for a dimension of an op, and returns the dimension's name.
fn write_hint(compute: ComputeOp<'_>, dim: usize, (name, id): (&str, i64), count: i64) -> String {
    let context = compute.op.ctx();
    let mut names = compute.dim_names();
    if !is_unique_name(&names, dim) {
        name.clone_into(&mut names[dim]);
        compute.op.set_attr(attr::DIMS, string_array(context, &names));
    }
    let mut hints = compute.hints();
    hints.push(TileHint { id, dim: names[dim].clone(), count: SymbolicCount::Number(count), recomputes: false });
    compute.op.set_attr(attr::HINTS, hints_attribute(context, &hints));
    names.swap_remove(dim)
}

/// Op that reads a copied value.
struct CopyReader<'c> {
    op: Op<'c>,
    /// Index of the operand.
    position: usize,
    /// The first op of the assembly that the op is in, or the op.
    begins: Op<'c>,
}

/// Inserts a copy of a value before its first reader, only in the loops that tile it, and makes the readers use the
/// copy.
fn write_copy<'c>(
    loops: &LoopNest,
    copied: &HoistedCopy,
    readers: &[CopyReader<'c>],
    labels: &[(String, i64)],
) -> Option<Op<'c>> {
    let first = readers.first()?;
    let value = strip_views(first.op.inputs()[first.position]);
    let copy = insert_before(
        first.begins,
        build_copy(
            first.op.ctx(),
            derived_location(first.op, DerivationKind::Clone, "spyre-search-tiling"),
            value,
            value.r#type(),
        ),
    );
    for reader in readers {
        let read = rebuild_views(reader.begins, reader.op.inputs()[reader.position], copy.output());
        reader.op.set_input(reader.position, read);
    }
    let compute = ComputeOp::from_op(copy)?;
    for ((level, (name, id)), dim) in loops.levels.iter().zip(labels).zip(&copied.tiled_dims) {
        if let Some(dim) = *dim {
            write_hint(compute, dim, (name, *id), level.count);
        }
    }
    Some(copy)
}

/// Returns the op that reads an operand. For an assembly, each insert reads one slice.
fn find_reader(op: Op<'_>, operand: usize) -> CopyReader<'_> {
    match InsertChain::from_last_insert(op) {
        Some(assembly) => CopyReader { op: assembly.inserts[operand], position: 0, begins: assembly.buffer },
        None => CopyReader { op, position: operand, begins: op },
    }
}

/// Rebuilds on `copied` the chain of views from the base value to `value`, and returns the last view. The views are
/// inserted before `reader`.
fn rebuild_views<'c>(reader: Op<'c>, value: Value<'c>, copied: Value<'c>) -> Value<'c> {
    let Some(view) = value.def().filter(|def| def.is(spyre::VIEW)) else { return copied };
    let after = rebuild_views(reader, view.inputs()[0], copied);
    let again = insert_before(reader, (*view).clone());
    again.set_input(0, after);
    again.output()
}

/// Returns whether the label of a dimension names this dimension alone.
pub(super) fn is_unique_name(labels: &[String], dim: usize) -> bool {
    let label = &labels[dim];
    let is_of_other =
        |(other, label_of_other): (usize, &String)| other != dim && label_of_other.split('*').any(|name| name == label);
    !label.is_empty() && !label.contains('*') && !labels.iter().enumerate().any(is_of_other)
}

/// Names and ids that the function does not use yet.
pub(super) struct LabelAllocator {
    taken: BTreeSet<String>,
    next_name: usize,
    next_id: i64,
}

impl LabelAllocator {
    pub(super) fn from_function(function: Op<'_>) -> Self {
        let mut labels = Self { taken: declared_sizes(function).into_keys().collect(), next_name: 0, next_id: 0 };
        for compute in ComputeOp::collect_in(function) {
            labels.taken.extend(compute.dim_names().iter().flat_map(|label| label.split('*')).map(str::to_owned));
            labels.next_id = compute.hints().iter().map(|hint| hint.id + 1).fold(labels.next_id, i64::max);
        }
        labels
    }

    fn next_label(&mut self) -> (String, i64) {
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
