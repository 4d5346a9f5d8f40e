//! `spyre-lower-to-sdsc`, how many rows the integers of an argument choose from: `program.json` says it, and a caller is held to it.

use crate::{
    codes,
    dialect::{Access, ComputeOp, UsedAs, home_of},
    mlir::{Op, OpExt, Reported, Value, ValueMap, error_at},
};
use machine::Family;

/// The rows of the smallest table that the integers of each buffer choose from.
#[derive(Default)]
pub(super) struct IndexedRows {
    /// Of buffers that gathers read as indices.
    of_lists: ValueMap<i64>,
    /// Of buffers whose elements are moved into such.
    of_sources: ValueMap<i64>,
}

impl IndexedRows {
    /// Finds the buffers of a function that are read as indices, and those whose elements get there.
    ///
    /// # Errors
    /// If a gather reads its operands in a way that later stages do not know.
    pub(super) fn find<'c>(function: Op<'c>) -> Result<Self, Reported> {
        let mut rows = Self::default();
        let computes = ComputeOp::all_in(function);
        let mut writers: ValueMap<Vec<ComputeOp<'c>>> = ValueMap::default();
        for compute in &computes {
            writers.get_or_default(home_of(compute.op.output())).push(*compute);
        }
        for gather in computes.iter().filter(|compute| compute.family() == Family::Gather) {
            let accesses = gather.accesses().map_err(|message| error_at(codes::BUNDLE_FORM, gather.op, message).report())?;
            let indexed =
                |access: &Access<'c>| if let UsedAs::Table(dim) = access.used_as { Some(access.tensor.host.shape[dim]) } else { None };
            let Some(found) = accesses.iter().find_map(indexed) else { continue };
            for index in accesses.iter().filter(|access| access.used_as == UsedAs::Indices) {
                let list = home_of(index.value);
                note_least(&mut rows.of_lists, list, found);
                for source in sources_of(list, &writers) {
                    note_least(&mut rows.of_sources, source, found);
                }
            }
        }
        Ok(rows)
    }

    /// The range of the integers of an argument, the end not included: `promised` is what ops that compute with them can take.
    pub(super) fn range_of(&self, argument: Value<'_>, promised: Option<[i64; 2]>) -> Option<[i64; 2]> {
        match (self.of_sources.get(argument), self.of_lists.get(argument)) {
            (moved, Some(&rows)) => Some([0, moved.map_or(rows, |&moved| moved.min(rows))]),
            (Some(&rows), None) => Some(promised.map_or([0, rows], |[first, end]| [first.max(0), end.min(rows)])),
            (None, None) => promised,
        }
    }
}

fn note_least(rows: &mut ValueMap<i64>, buffer: Value<'_>, found: i64) {
    let least = rows.get(buffer).map_or(found, |known| found.min(*known));
    rows.insert(buffer, least);
}

/// The buffers whose elements ops move into a list of indices: by copies, in parts, and as elements that other indices choose.
fn sources_of<'c>(list: Value<'c>, writers: &ValueMap<Vec<ComputeOp<'c>>>) -> Vec<Value<'c>> {
    let (mut open, mut seen, mut found) = (vec![list], ValueMap::default(), Vec::new());
    while let Some(buffer) = open.pop() {
        for writer in writers.get(buffer).into_iter().flatten() {
            let moved = match writer.family() {
                Family::Copy | Family::Gather => writer.reads().first().copied().map(home_of),
                Family::Pointwise | Family::Reduce | Family::Matmul => None,
            };
            if let Some(source) = moved.filter(|source| seen.get(*source).is_none()) {
                seen.insert(source, ());
                found.push(source);
                open.push(source);
            }
        }
    }
    found
}
