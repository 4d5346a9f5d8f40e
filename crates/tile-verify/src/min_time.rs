//! Lower bound on the time of a tiled op: the minimum over all core splits, with all tensors in LX. Only the bytes that
//! must pass through HBM are added as traffic.

use cost::{CostFormula, OpFeatures, OpKind, TileOp, estimate_kernel_time, extract_features, find_max_hbm_rate};
use machine::Target;

/// Modeled cost of a core split.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CoreSplitCost {
    /// Compute time, ns.
    compute_ns: f64,
    /// Memory time, ns: redundant fetches by the cores.
    memory_ns: f64,
    /// Time in addition to both: start-up, and the penalty of an unbalanced core split, ns.
    added_ns: f64,
}

/// Tiled op, with the core splits that may have the minimum time.
#[derive(Clone, Debug)]
pub(super) struct TiledOp {
    kind: OpKind,
    /// Pareto-optimal core splits: no other split is as good in all components and better in one.
    core_splits: Vec<CoreSplitCost>,
}

/// Machine, and the parameters of its cost model that the bounds use.
#[derive(Clone, Copy, Debug)]
pub(super) struct MachineModel<'a> {
    target: &'a Target,
    /// Fraction of the smaller of compute and memory time that the larger one hides in a matmul.
    overlap: f64,
    /// Maximum HBM rate of any op, bytes/ns.
    max_hbm_rate: f64,
}

impl<'a> MachineModel<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, overlap: target.time.recommended.overlap, max_hbm_rate: find_max_hbm_rate(&target.time.hbm) }
    }

    /// Returns the total bytes of the scratchpads of all cores.
    pub(super) fn lx_bytes(&self) -> i64 {
        self.target.lx_bytes * self.target.cores
    }

    /// Returns the time, ns, of overlapping computation and memory accesses.
    fn combine_times(&self, kind: OpKind, compute_ns: f64, memory_ns: f64) -> f64 {
        if kind == OpKind::Matmul {
            compute_ns + memory_ns - self.overlap * compute_ns.min(memory_ns)
        } else {
            compute_ns.hypot(memory_ns)
        }
    }
}

impl TiledOp {
    /// Computes the core splits of an op whose dimensions are tiled, given pairs of a dimension and its tile count.
    pub(super) fn new(op: &TileOp, tilings: &[(usize, i64)], model: &MachineModel<'_>) -> Self {
        let tile = tile_op(op, tilings);
        let undivided = extract_features(&[tile.to_op_shape()]).pop().unwrap_or_default();
        let kind = tile.kind;
        let mut core_splits: Vec<CoreSplitCost> = Vec::new();
        for features in enumerate_core_splits(&tile, &undivided, model.target.cores) {
            let estimate = estimate_kernel_time(&[features], &model.target.time, CostFormula::Recommended);
            let (compute_ns, memory_ns) = (estimate.compute_ns, estimate.hbm_ns);
            let start_ns = model.target.time.recommended.kernel_ns;
            let added_ns = estimate.estimate_ns - start_ns - model.combine_times(kind, compute_ns, memory_ns);
            let candidate = CoreSplitCost { compute_ns, memory_ns, added_ns };
            if !core_splits.iter().any(|known| known.is_no_worse(&candidate)) {
                core_splits.retain(|known| !candidate.is_no_worse(known));
                core_splits.push(candidate);
            }
        }
        Self { kind, core_splits }
    }

    /// Returns the minimum time, ns, of an op of which `hbm_bytes` pass through HBM.
    pub(super) fn min_time_ns(&self, hbm_bytes: i64, model: &MachineModel<'_>) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        let traffic_ns = hbm_bytes as f64 / model.max_hbm_rate;
        let compute_split_time_ns = |division: &CoreSplitCost| {
            model.combine_times(self.kind, division.compute_ns, division.memory_ns + traffic_ns) + division.added_ns
        };
        self.core_splits.iter().map(compute_split_time_ns).fold(f64::INFINITY, f64::min)
    }
}

impl CoreSplitCost {
    /// Returns whether all components are at most those of another core split.
    fn is_no_worse(&self, other: &Self) -> bool {
        self.compute_ns <= other.compute_ns && self.memory_ns <= other.memory_ns && self.added_ns <= other.added_ns
    }
}

/// Returns the op of one iteration, with all tensors in LX.
fn tile_op(op: &TileOp, tilings: &[(usize, i64)]) -> TileOp {
    let mut tile = op.clone();
    tile.trips = tilings.iter().map(|(_, count)| *count).collect();
    for &(dim, count) in tilings {
        tile.dims[dim].extent /= count;
    }
    for operand in &mut tile.operands {
        operand.is_in_lx = true;
        operand.advances = tilings.iter().map(|(dim, _)| operand.moved_by.contains(dim)).collect();
        for (dim, count) in tilings {
            operand.tile_bytes /= if operand.moved_by.contains(dim) { *count } else { 1 };
        }
        operand.moved_by.retain(|dim| tile.dims[*dim].extent > 1);
    }
    tile
}

/// Returns the features of the op for each core split. Core splits with equal modeled time are represented by one of
/// them.
fn enumerate_core_splits(tile: &TileOp, undivided: &OpFeatures, cores: i64) -> Vec<OpFeatures> {
    let extents: Vec<i64> = tile.to_op_shape().dims.iter().skip(tile.trips.len()).map(|dim| dim.extent).collect();
    if undivided.kind != OpKind::Matmul {
        // No tensor is in HBM, so only the number of cores matters.
        let max_cores = enumerate_slice_counts(&extents, cores)
            .iter()
            .map(|slices| slices.iter().product::<i64>())
            .max()
            .unwrap_or(1);
        return vec![OpFeatures { cores: to_f64(max_cores), ..*undivided }];
    }
    let product = &undivided.product;
    let summed: i64 = tile.dims.iter().filter(|dim| dim.is_reduced).map(|dim| dim.extent).product();
    let points = [to_i64(product.m), to_i64(product.n), summed, to_i64(product.batch)];
    let split_features = |slices: &Vec<i64>| {
        let [m_slices, n_slices, k_slices, batch_slices] = [0, 1, 2, 3].map(|class| to_f64(slices[class]));
        let mut features = *undivided;
        features.cores = m_slices * n_slices * k_slices * batch_slices;
        features.tile_rows = product.m / m_slices;
        let product_features = &mut features.product;
        (
            product_features.m_slices,
            product_features.n_slices,
            product_features.k_slices,
            product_features.batch_slices,
        ) = (m_slices, n_slices, k_slices, batch_slices);
        (product_features.log2_m_slices, product_features.log2_n_slices) = (m_slices.log2(), n_slices.log2());
        product_features.log2_area = product_features.result_elements_per_core().log2();
        features
    };
    enumerate_slice_counts(&points, cores).iter().map(split_features).collect()
}

/// Returns all combinations of slice counts on at most `cores` cores. A slice count need not divide its extent.
fn enumerate_slice_counts(extents: &[i64], cores: i64) -> Vec<Vec<i64>> {
    let mut found: Vec<(i64, Vec<i64>)> = vec![(1, Vec::new())];
    for &extent in extents {
        let append_slice_count = |(used, slices): (i64, Vec<i64>)| {
            (1..=extent.min(cores / used))
                .map(move |more| (used * more, slices.iter().copied().chain([more]).collect()))
        };
        found = found.into_iter().flat_map(append_slice_count).collect();
    }
    found.into_iter().map(|(_, slices)| slices).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a number of cores")]
const fn to_f64(cores: i64) -> f64 {
    cores as f64
}

#[allow(clippy::cast_possible_truncation, reason = "a product of extents")]
const fn to_i64(points: f64) -> i64 {
    points as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost::{Dim, ModeledCost, TileOperand};

    const TARGET: Target = Target::spyre();

    fn operand(dims: &[usize], extents: &[i64], is_output: bool, stick: usize) -> TileOperand {
        TileOperand {
            is_output,
            is_kernel_input: !is_output,
            tile_bytes: 2 * dims.iter().map(|dim| extents[*dim]).product::<i64>().max(64),
            element_bytes: 2,
            moved_by: dims.to_vec(),
            stick: Some(stick),
            inner: dims.iter().rev().copied().find(|dim| *dim != stick),
            ..TileOperand::default()
        }
    }

    fn op(kind: OpKind, extents: &[i64], num_reduced: usize, operands: Vec<TileOperand>) -> TileOp {
        let num_results = extents.len() - num_reduced;
        let dims =
            extents.iter().enumerate().map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: dim >= num_results });
        let numbered = operands.into_iter().enumerate().map(|(buffer, operand)| TileOperand { buffer, ..operand });
        TileOp {
            kind,
            is_reduction: num_reduced > 0,
            dims: dims.collect(),
            operands: numbered.collect(),
            ..TileOp::default()
        }
    }

    /// Returns elementwise ops with and without a broadcast row, a reduction along sticks, a matmul, and two batched
    /// matmuls. The batch dimension of one of them is an inner dimension.
    fn build_sample_ops() -> Vec<TileOp> {
        let plain = [32, 512, 256];
        let product = [512, 256, 1024];
        let batched = [8, 256, 512, 128];
        let inner = |batch: TileOperand| TileOperand { inner: Some(0), ..batch };
        vec![
            op(
                OpKind::Pointwise,
                &plain,
                0,
                vec![operand(&[0, 1, 2], &plain, false, 2), operand(&[0, 1, 2], &plain, true, 2)],
            ),
            op(
                OpKind::Pointwise,
                &plain,
                0,
                vec![
                    operand(&[0, 1, 2], &plain, false, 2),
                    operand(&[2], &plain, false, 2),
                    operand(&[0, 1, 2], &plain, true, 2),
                ],
            ),
            op(
                OpKind::Reduction,
                &plain,
                1,
                vec![
                    operand(&[0, 1, 2], &plain, false, 2),
                    TileOperand { stick: None, ..operand(&[0, 1], &plain, true, 1) },
                ],
            ),
            op(
                OpKind::Matmul,
                &product,
                1,
                vec![
                    operand(&[0, 2], &product, false, 2),
                    operand(&[2, 1], &product, false, 1),
                    operand(&[0, 1], &product, true, 1),
                ],
            ),
            op(
                OpKind::Matmul,
                &batched,
                1,
                vec![
                    operand(&[0, 1, 3], &batched, false, 3),
                    operand(&[0, 3, 2], &batched, false, 2),
                    operand(&[0, 1, 2], &batched, true, 2),
                ],
            ),
            op(
                OpKind::Matmul,
                &batched,
                1,
                vec![
                    inner(operand(&[0, 1, 3], &batched, false, 3)),
                    inner(operand(&[0, 3, 2], &batched, false, 2)),
                    operand(&[0, 1, 2], &batched, true, 2),
                ],
            ),
        ]
    }

    /// Returns the modeled time, ns, of a tiled op with a core split and some operands in HBM.
    fn model_time_ns(op: &TileOp, cuts: &[(usize, i64)], slices: &[i64], in_hbm: usize) -> f64 {
        let mut tile = tile_op(op, cuts);
        for (number, operand) in tile.operands.iter_mut().enumerate() {
            operand.is_in_lx = in_hbm & (1 << number) == 0;
        }
        for (dim, &slices) in tile.dims.iter_mut().zip(slices) {
            dim.slices = slices;
        }
        extract_features(&[tile.to_op_shape()]).iter().map(|op| ModeledCost::from_op(op, &TARGET.time).ns).sum()
    }

    #[test]
    fn bounds_time_of_all_core_splits_and_placements() {
        let model = MachineModel::new(&TARGET);
        for op in build_sample_ops() {
            let none: Vec<(usize, i64)> = Vec::new();
            let one = (0..op.dims.len()).flat_map(|dim| [2, 4].map(|count| vec![(dim, count)]));
            for cuts in one.chain([none, vec![(0, 8), (1, 4)], vec![(0, 4), (2, 2)]]) {
                let tiles = TiledOp::new(&op, &cuts, &model);
                let extents: Vec<i64> = tile_op(&op, &cuts).dims.iter().map(|dim| dim.extent).collect();
                let all = enumerate_slice_counts(&extents, TARGET.cores);
                for in_hbm in 0..1 << op.operands.len() {
                    let passing = op.operands.iter().enumerate().filter(|(number, _)| in_hbm & (1 << number) != 0);
                    let least = tiles.min_time_ns(passing.map(|(_, operand)| operand.tile_bytes).sum(), &model);
                    let found = all
                        .iter()
                        .map(|slices| model_time_ns(&op, &cuts, slices, in_hbm))
                        .fold(f64::INFINITY, f64::min);
                    assert!(
                        least <= found * (1.0 + 1e-12),
                        "{cuts:?}, {in_hbm:b} in HBM: {found} ns, and the least is {least}\n{op:?}"
                    );
                    assert!(
                        !cuts.is_empty() || found < 2.0 * least,
                        "{cuts:?}, {in_hbm:b} in HBM: {found} ns, and {least} says little\n{op:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn equals_best_core_split_with_all_operands_in_lx() {
        let model = MachineModel::new(&TARGET);
        for op in build_sample_ops().into_iter().take(4) {
            let extents: Vec<i64> = op.dims.iter().map(|dim| dim.extent).collect();
            let all = enumerate_slice_counts(&extents, TARGET.cores);
            let found = all.iter().map(|slices| model_time_ns(&op, &[], slices, 0)).fold(f64::INFINITY, f64::min);
            let least = TiledOp::new(&op, &[], &model).min_time_ns(0, &model);
            assert!((least - found).abs() <= 1e-9 * found, "{found} ns, and the least is {least}\n{op:?}");
        }
    }
}
