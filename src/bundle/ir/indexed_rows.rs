//! Computes the range of the integers in an argument that index a table, for `spyre-lower-to-sdsc`; `program.json`
//! states it for callers.

use crate::{
    codes,
    dialect::{ComputeOp, OperandAccess, base_buffer_of},
    mlir::{ErrorReported, Op, OpExt, Value, ValueMap, error_at},
};
use machine::Family;
use program::AccessKind;

/// Row count of the smallest table that the integers of each buffer index.
#[derive(Default)]
pub(super) struct IndexedRowCounts {
    /// For buffers that gathers read as indices.
    list_rows: ValueMap<i64>,
    /// For buffers whose elements are moved into index buffers.
    source_rows: ValueMap<i64>,
}

impl IndexedRowCounts {
    /// Finds the buffers of a function that are read as indices, and those whose elements are moved into them.
    ///
    /// # Errors
    /// If later stages do not support the operands of a gather.
    pub(super) fn from_function<'c>(function: Op<'c>) -> Result<Self, ErrorReported> {
        let mut rows = Self::default();
        let computes = ComputeOp::collect_in(function);
        let mut writers: ValueMap<Vec<ComputeOp<'c>>> = ValueMap::default();
        for compute in &computes {
            writers.get_or_default(base_buffer_of(compute.op.output())).push(*compute);
        }
        for gather in computes.iter().filter(|compute| compute.family() == Family::Gather) {
            let accesses =
                gather.accesses().map_err(|message| error_at(codes::BUNDLE_FORM, gather.op, message).report())?;
            let indexed = |access: &OperandAccess<'c>| {
                if let AccessKind::Table(dim) = access.used_as { Some(access.tensor.shape[dim]) } else { None }
            };
            let Some(found) = accesses.iter().find_map(indexed) else { continue };
            for index in accesses.iter().filter(|access| access.used_as == AccessKind::Indices) {
                let list = base_buffer_of(index.value);
                record_min(&mut rows.list_rows, list, found);
                for source in find_sources(list, &writers) {
                    record_min(&mut rows.source_rows, source, found);
                }
            }
        }
        Ok(rows)
    }

    /// Returns the range of the integers of an argument, end excluded. `promised` is the range that the ops which
    /// compute with them accept.
    pub(super) fn index_range(&self, argument: Value<'_>, promised: Option<[i64; 2]>) -> Option<[i64; 2]> {
        match (self.source_rows.get(argument), self.list_rows.get(argument)) {
            (moved, Some(&rows)) => Some([0, moved.map_or(rows, |&moved| moved.min(rows))]),
            (Some(&rows), None) => Some(promised.map_or([0, rows], |[first, end]| [first.max(0), end.min(rows)])),
            (None, None) => promised,
        }
    }
}

fn record_min(rows: &mut ValueMap<i64>, buffer: Value<'_>, found: i64) {
    let least = rows.get(buffer).map_or(found, |known| found.min(*known));
    rows.insert(buffer, least);
}

/// Returns the buffers whose elements are moved into a list of indices: by copies, also of slices, and by gathers.
fn find_sources<'c>(list: Value<'c>, writers: &ValueMap<Vec<ComputeOp<'c>>>) -> Vec<Value<'c>> {
    let (mut open, mut seen, mut found) = (vec![list], ValueMap::default(), Vec::new());
    while let Some(buffer) = open.pop() {
        for writer in writers.get(buffer).into_iter().flatten() {
            let moved = match writer.family() {
                Family::Copy | Family::Gather => writer.read_operands().first().copied().map(base_buffer_of),
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
