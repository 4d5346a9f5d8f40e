//! Restricts an op to some of its points: the same tables with fewer entries.

use crate::plan::{IterationDim, OpPlan, PaddedWindow, PaddingMask, TensorPlan};
use std::collections::BTreeMap;

/// Points of the cores that compute a slice of a result: every combination of the positions.
pub(super) struct PointSubset {
    /// Needed positions, for each dimension of which not all are needed.
    positions: BTreeMap<usize, Vec<usize>>,
    /// Number of points on all of these cores.
    pub(super) computed: u64,
}

impl PointSubset {
    /// Returns the points at the needed positions along `dims`, dimensions of the result, and at all positions of the
    /// others. Returns `None` if there are none.
    pub(super) fn from_hits(plan: &OpPlan, dims: &[usize], is_hit: &[Vec<bool>], n_cores: usize) -> Option<Self> {
        let mut some = BTreeMap::new();
        for dim in dims.iter().filter(|dim| is_hit[**dim].contains(&false)) {
            let positions: Vec<usize> = (0..is_hit[*dim].len()).filter(|position| is_hit[*dim][*position]).collect();
            if positions.is_empty() {
                return None;
            }
            some.insert(*dim, positions);
        }
        let local =
            |dim: usize| some.get(&dim).map_or(plan.dims[dim].local_size as u64, |positions| positions.len() as u64);
        let computed = (0..plan.dims.len()).map(local).fold(n_cores as u64, u64::saturating_mul);
        Some(Self { positions: some, computed })
    }
}

/// Returns the cores that compute the same slice of a result as `leader`.
pub(super) fn collect_group(leaders: &[usize], leader: usize) -> Vec<usize> {
    (0..leaders.len()).filter(|core| leaders[*core] == leader).collect()
}

/// Restricts a plan to some cores and points. The restricted plan has no byte intervals: accesses have been checked
/// before.
pub(super) fn restrict_plan(plan: &OpPlan, cores: &[usize], points: &PointSubset) -> OpPlan {
    let dim = |(at, dim): (usize, &IterationDim)| IterationDim {
        local_size: points.positions.get(&at).map_or(dim.local_size, |positions| positions.len() as i64),
        label: dim.label.clone(),
        ..*dim
    };
    let dims: Vec<IterationDim> = plan.dims.iter().enumerate().map(dim).collect();
    let cores: Vec<_> = cores.iter().map(|core| plan.cores[*core].clone()).collect();
    let mask = plan.mask.as_ref().map(|mask| PaddingMask {
        // The cores have the same slice of each dimension of the result.
        dims: mask
            .dims
            .iter()
            .map(|(dim, valid)| (*dim, count_valid_points(plan, points, *dim, *valid, cores[0].slice_indices[*dim])))
            .collect(),
        constant: mask.constant,
    });
    OpPlan {
        name: plan.name.clone(),
        function: plan.function.clone(),
        kernel: plan.kernel,
        points_per_core: dims.iter().map(|dim| dim.local_size as u64).product(),
        dims,
        cores,
        tensors: plan.tensors.iter().map(|tensor| restrict_tensor(tensor, points)).collect(),
        inputs: plan.inputs.clone(),
        index_tensors: plan.index_tensors.clone(),
        output: plan.output,
        source_order: Vec::new(),
        mask,
        constants: plan.constants.clone(),
        symbolic_sizes: Vec::new(),
    }
}

/// Returns the number of valid points of a dimension in the restricted iteration space.
fn count_valid_points(plan: &OpPlan, points: &PointSubset, dim: usize, valid: i64, slot: i64) -> i64 {
    let Some(positions) = points.positions.get(&dim) else { return valid };
    let before = slot * plan.dims[dim].local_size;
    let own = positions.iter().filter(|position| before + (**position as i64) < valid).count();
    slot * positions.len() as i64 + own as i64
}

fn restrict_tensor(tensor: &TensorPlan, points: &PointSubset) -> TensorPlan {
    let table = |(dim, table): (usize, &Vec<i64>)| match points.positions.get(&dim) {
        Some(positions) => positions.iter().map(|position| table[*position]).collect(),
        None => table.clone(),
    };
    // The remaining positions are not evenly spaced.
    let even = |(dim, even): (usize, &usize)| if points.positions.contains_key(&dim) { 1 } else { *even };
    TensorPlan {
        name: tensor.name.clone(),
        format: tensor.format,
        memory: tensor.memory,
        starts: Vec::new(),
        offsets: tensor.offsets.iter().enumerate().map(table).collect(),
        uniform_run_lengths: tensor.uniform_run_lengths.iter().enumerate().map(even).collect(),
        stick_dim: tensor.stick_dim,
        stick_lanes: tensor.stick_lanes.clone(),
        adjacent_stick_dim: tensor.adjacent_stick_dim,
        num_sticks: tensor.num_sticks,
        has_dim: tensor.has_dim.clone(),
        is_sparse: tensor.is_sparse,
        indirect: tensor.indirect,
        ownership: None,
        padded_windows: tensor.padded_windows.iter().map(|window| restrict_window(window, points)).collect(),
        read_intervals: Vec::new(),
        core_read_intervals: Vec::new(),
        written_intervals: Vec::new(),
    }
}

fn restrict_window(window: &PaddedWindow, points: &PointSubset) -> PaddedWindow {
    let select = |dim: usize, table: &[i64]| match points.positions.get(&dim) {
        Some(positions) => positions.iter().map(|position| table[*position]).collect(),
        None => table.to_vec(),
    };
    PaddedWindow {
        starts: select(window.dim, &window.starts),
        distances: select(window.points, &window.distances),
        ..window.clone()
    }
}
