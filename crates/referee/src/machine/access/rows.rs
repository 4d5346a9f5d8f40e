//! Rows of tables that index tensors select.

use super::{OpPlan, TensorSlices};
use crate::error::SimError;
use crate::machine::Machine;
use crate::plan::{PointLoopNest, StridedRun};
use std::collections::BTreeSet;

/// Reads the index tensors, and checks that every index is a row of its table.
pub(super) fn resolve_rows(plan: &OpPlan, parts: &mut TensorSlices, machine: &mut Machine) -> Result<(), SimError> {
    for tensor in 0..plan.tensors.len() {
        let Some(indirect) = plan.tensors[tensor].indirect else { continue };
        for core in 0..plan.cores.len() {
            let index = &parts.0[core][indirect.index_tensor];
            super::check_written(plan, core, indirect.index_tensor, index, machine)?;
            if machine.region(index.region).is_some_and(|region| !region.has_values()) {
                let what =
                    format!("'{}' as an index while values are not computed", plan.tensors[indirect.index_tensor].name);
                return Err(SimError::NotSimulated { op: plan.name.clone(), what });
            }
            let rows: Vec<i64> = collect_rows(plan, parts, core, indirect.index_tensor, machine).into_iter().collect();
            check_rows(plan, parts, core, tensor, &rows, machine)?;
            parts.0[core][tensor].rows = Some(rows);
        }
    }
    Ok(())
}

fn collect_rows(plan: &OpPlan, parts: &TensorSlices, core: usize, index: usize, machine: &Machine) -> BTreeSet<i64> {
    let tensor = &plan.tensors[index];
    let dims: Vec<usize> = (0..plan.dims.len()).filter(|dim| tensor.has_dim[*dim]).collect();
    let part = &parts.0[core][index];
    let bytes = machine.region(part.region).map_or(&[][..], |region| region.bytes());
    let mut rows = BTreeSet::new();
    PointLoopNest::new(vec![tensor.offset_tables()], &plan.local_sizes(), &dims, None).for_each_chunk(|piece| {
        rows.insert(read_row_index(bytes, part.byte, piece.lanes[0]));
    });
    rows
}

/// Reads the row number in an element of an index tensor: an unsigned 32-bit number (SENUINT32).
pub(crate) fn read_row_index(bytes: &[u8], byte: i64, lane: StridedRun) -> i64 {
    let at = (byte + lane.offset * 4) as usize;
    i64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
}

fn check_rows(
    plan: &OpPlan,
    parts: &TensorSlices,
    core: usize,
    tensor: usize,
    rows: &[i64],
    machine: &mut Machine,
) -> Result<(), SimError> {
    let part = &parts.0[core][tensor];
    let intervals = if tensor == plan.output {
        &plan.tensors[tensor].written_intervals
    } else {
        &plan.tensors[tensor].read_intervals
    };
    let row_end = intervals.last().map_or(0, |interval| interval.end);
    let region = machine.region_mut(part.region);
    for index in rows {
        let end = index
            .checked_mul(plan.row_bytes(tensor))
            .and_then(|start| start.checked_add(row_end)?.checked_add(part.byte));
        match end.filter(|end| *end <= part.end) {
            Some(end) => region.ensure_length(end as usize),
            None => {
                let (site, index, memory) = (plan.access_site(core, tensor), *index, region.name.clone());
                return Err(SimError::IndexOutOfBounds { site, index, memory });
            }
        }
    }
    Ok(())
}
