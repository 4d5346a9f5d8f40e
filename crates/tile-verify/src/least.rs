//! Minimum time of a tiled op: over all core splits, with all of its tensors in LX except for bytes that must pass HBM.

use cost::{Formula, KernelOp, OpKind, TileOp, describe, fastest, price};
use machine::Target;

/// Cost of a core split.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Division {
    compute_ns: f64,
    /// Time of redundant fetches by the cores, ns.
    memory_ns: f64,
    /// Time added to both: start-up, and the penalty of an unbalanced core split, ns.
    added_ns: f64,
}

/// A tiled op.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    kind: OpKind,
    /// Pareto-optimal core splits: none is worse in all parts than another.
    divisions: Vec<Division>,
}

/// The parts of a machine's cost model that the bounds use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<'a> {
    target: &'a Target,
    overlap: f64,
    fastest: f64,
}

impl<'a> Model<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, overlap: target.time.recommended.overlap, fastest: fastest(&target.time.hbm) }
    }

    /// Total bytes of the scratchpads of all cores.
    pub(super) fn lx_bytes(&self) -> i64 {
        self.target.lx_bytes * self.target.cores
    }

    fn together(&self, kind: OpKind, compute_ns: f64, memory_ns: f64) -> f64 {
        if kind == OpKind::Matmul { compute_ns + memory_ns - self.overlap * compute_ns.min(memory_ns) } else { compute_ns.hypot(memory_ns) }
    }
}

impl Tiles {
    /// Returns an op whose dimensions are cut by loops into the given tile counts.
    pub(super) fn new(op: &TileOp, cuts: &[(usize, i64)], model: &Model<'_>) -> Self {
        let tile = in_tiles(op, cuts);
        let whole = describe(&[tile.shape()]).pop().unwrap_or_default();
        let kind = tile.kind;
        let mut divisions: Vec<Division> = Vec::new();
        for divided in divided(&tile, &whole, model.target.cores) {
            let price = price(&[divided], &model.target.time, Formula::Recommended);
            let (compute_ns, memory_ns) = (price.compute_ns, price.hbm_ns);
            let start_ns = model.target.time.recommended.kernel_ns;
            let added_ns = price.estimate_ns - start_ns - model.together(kind, compute_ns, memory_ns);
            let found = Division { compute_ns, memory_ns, added_ns };
            if !divisions.iter().any(|known| known.is_no_worse(&found)) {
                divisions.retain(|known| !found.is_no_worse(known));
                divisions.push(found);
            }
        }
        Self { kind, divisions }
    }

    /// Returns the minimum time if the given number of bytes pass HBM.
    pub(super) fn ns(&self, hbm_bytes: i64, model: &Model<'_>) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        let traffic_ns = hbm_bytes as f64 / model.fastest;
        let of = |division: &Division| model.together(self.kind, division.compute_ns, division.memory_ns + traffic_ns) + division.added_ns;
        self.divisions.iter().map(of).fold(f64::INFINITY, f64::min)
    }
}

impl Division {
    fn is_no_worse(&self, other: &Self) -> bool {
        self.compute_ns <= other.compute_ns && self.memory_ns <= other.memory_ns && self.added_ns <= other.added_ns
    }
}

/// Returns the op of one iteration, with all tensors in LX.
fn in_tiles(op: &TileOp, cuts: &[(usize, i64)]) -> TileOp {
    let mut tile = op.clone();
    tile.trips = cuts.iter().map(|(_, count)| *count).collect();
    for &(dim, count) in cuts {
        tile.dims[dim].extent /= count;
    }
    for operand in &mut tile.operands {
        operand.is_in_lx = true;
        operand.advances = cuts.iter().map(|(dim, _)| operand.moved_by.contains(dim)).collect();
        for (dim, count) in cuts {
            operand.tile_bytes /= if operand.moved_by.contains(dim) { *count } else { 1 };
        }
        operand.moved_by.retain(|dim| tile.dims[*dim].extent > 1);
    }
    tile
}

/// Returns the core splits of the op that differ in modeled time.
fn divided(tile: &TileOp, whole: &KernelOp, cores: i64) -> Vec<KernelOp> {
    let extents: Vec<i64> = tile.shape().dims.iter().skip(tile.trips.len()).map(|dim| dim.extent).collect();
    if whole.kind != OpKind::Matmul {
        // No tensor is in HBM, so only the number of cores matters.
        let most = slices(&extents, cores).iter().map(|slices| slices.iter().product::<i64>()).max().unwrap_or(1);
        return vec![KernelOp { cores: number(most), ..*whole }];
    }
    let product = &whole.product;
    let summed: i64 = tile.dims.iter().filter(|dim| dim.is_reduced).map(|dim| dim.extent).product();
    let points = [whole_number(product.m), whole_number(product.n), summed, whole_number(product.batch)];
    let of = |slices: &Vec<i64>| {
        let [m_slices, n_slices, k_slices, batch_slices] = [0, 1, 2, 3].map(|class| number(slices[class]));
        let mut divided = *whole;
        divided.cores = m_slices * n_slices * k_slices * batch_slices;
        divided.tile_rows = product.m / m_slices;
        let own = &mut divided.product;
        (own.m_slices, own.n_slices, own.k_slices, own.batch_slices) = (m_slices, n_slices, k_slices, batch_slices);
        (own.log2_m_slices, own.log2_n_slices) = (m_slices.log2(), n_slices.log2());
        own.log2_area = own.area().log2();
        divided
    };
    slices(&points, cores).iter().map(of).collect()
}

/// Enumerates all slice counts of the extents, whether they divide or not, on at most the given number of cores.
fn slices(extents: &[i64], cores: i64) -> Vec<Vec<i64>> {
    let mut found: Vec<(i64, Vec<i64>)> = vec![(1, Vec::new())];
    for &extent in extents {
        let with = |(used, slices): (i64, Vec<i64>)| {
            (1..=extent.min(cores / used)).map(move |more| (used * more, slices.iter().copied().chain([more]).collect()))
        };
        found = found.into_iter().flat_map(with).collect();
    }
    found.into_iter().map(|(_, slices)| slices).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a number of cores")]
const fn number(cores: i64) -> f64 {
    cores as f64
}

#[allow(clippy::cast_possible_truncation, reason = "a product of extents")]
const fn whole_number(points: f64) -> i64 {
    points as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost::{Cost, Dim, TileOperand};

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

    fn op(kind: OpKind, extents: &[i64], n_reduced: usize, operands: Vec<TileOperand>) -> TileOp {
        let n_results = extents.len() - n_reduced;
        let dims = extents.iter().enumerate().map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: dim >= n_results });
        let numbered = operands.into_iter().enumerate().map(|(buffer, operand)| TileOperand { buffer, ..operand });
        TileOp { kind, is_reduction: n_reduced > 0, dims: dims.collect(), operands: numbered.collect(), ..TileOp::default() }
    }

    /// Elementwise with and without a row that repeats, a reduction along sticks, a product, and a batch of products that lies inside or outside.
    fn ops() -> Vec<TileOp> {
        let plain = [32, 512, 256];
        let product = [512, 256, 1024];
        let batched = [8, 256, 512, 128];
        let inner = |batch: TileOperand| TileOperand { inner: Some(0), ..batch };
        vec![
            op(OpKind::Pointwise, &plain, 0, vec![operand(&[0, 1, 2], &plain, false, 2), operand(&[0, 1, 2], &plain, true, 2)]),
            op(
                OpKind::Pointwise,
                &plain,
                0,
                vec![operand(&[0, 1, 2], &plain, false, 2), operand(&[2], &plain, false, 2), operand(&[0, 1, 2], &plain, true, 2)],
            ),
            op(
                OpKind::Reduction,
                &plain,
                1,
                vec![operand(&[0, 1, 2], &plain, false, 2), TileOperand { stick: None, ..operand(&[0, 1], &plain, true, 1) }],
            ),
            op(
                OpKind::Matmul,
                &product,
                1,
                vec![operand(&[0, 2], &product, false, 2), operand(&[2, 1], &product, false, 1), operand(&[0, 1], &product, true, 1)],
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
    fn modelled_ns(op: &TileOp, cuts: &[(usize, i64)], slices: &[i64], in_hbm: usize) -> f64 {
        let mut tile = in_tiles(op, cuts);
        for (number, operand) in tile.operands.iter_mut().enumerate() {
            operand.is_in_lx = in_hbm & (1 << number) == 0;
        }
        for (dim, &slices) in tile.dims.iter_mut().zip(slices) {
            dim.slices = slices;
        }
        describe(&[tile.shape()]).iter().map(|op| Cost::of(op, &TARGET.time).ns).sum()
    }

    #[test]
    fn no_division_and_no_places_take_less() {
        let model = Model::new(&TARGET);
        for op in ops() {
            let none: Vec<(usize, i64)> = Vec::new();
            let one = (0..op.dims.len()).flat_map(|dim| [2, 4].map(|count| vec![(dim, count)]));
            for cuts in one.chain([none, vec![(0, 8), (1, 4)], vec![(0, 4), (2, 2)]]) {
                let tiles = Tiles::new(&op, &cuts, &model);
                let extents: Vec<i64> = in_tiles(&op, &cuts).dims.iter().map(|dim| dim.extent).collect();
                let all = slices(&extents, TARGET.cores);
                for in_hbm in 0..1 << op.operands.len() {
                    let passing = op.operands.iter().enumerate().filter(|(number, _)| in_hbm & (1 << number) != 0);
                    let least = tiles.ns(passing.map(|(_, operand)| operand.tile_bytes).sum(), &model);
                    let found = all.iter().map(|slices| modelled_ns(&op, &cuts, slices, in_hbm)).fold(f64::INFINITY, f64::min);
                    assert!(least <= found * (1.0 + 1e-12), "{cuts:?}, {in_hbm:b} in HBM: {found} ns, and the least is {least}\n{op:?}");
                    assert!(
                        !cuts.is_empty() || found < 2.0 * least,
                        "{cuts:?}, {in_hbm:b} in HBM: {found} ns, and {least} says little\n{op:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn with_all_in_lx_the_best_division_takes_just_that() {
        let model = Model::new(&TARGET);
        for op in ops().into_iter().take(4) {
            let extents: Vec<i64> = op.dims.iter().map(|dim| dim.extent).collect();
            let all = slices(&extents, TARGET.cores);
            let found = all.iter().map(|slices| modelled_ns(&op, &[], slices, 0)).fold(f64::INFINITY, f64::min);
            let least = Tiles::new(&op, &[], &model).ns(0, &model);
            assert!((least - found).abs() <= 1e-9 * found, "{found} ns, and the least is {least}\n{op:?}");
        }
    }
}
