//! The least time of an op in tiles: over all divisions among the cores, with all of its tensors in LX, but for bytes that must pass HBM.

use cost::{Formula, KernelOp, OpKind, TileOp, describe, fastest, price};
use machine::Target;

/// What a division among the cores takes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Division {
    compute_ns: f64,
    /// What cores fetch in vain.
    memory_ns: f64,
    /// What is added to both: starts, and what a lopsided division takes.
    added_ns: f64,
}

/// An op in tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    kind: OpKind,
    /// Divisions none of which is worse in all parts than another.
    divisions: Vec<Division>,
}

/// The parts of a machine's model that bounds ask for.
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

    /// Bytes of the scratchpads of all cores.
    pub(super) fn lx_bytes(&self) -> i64 {
        self.target.lx_bytes * self.target.cores
    }

    fn together(&self, kind: OpKind, compute_ns: f64, memory_ns: f64) -> f64 {
        if kind == OpKind::Matmul { compute_ns + memory_ns - self.overlap * compute_ns.min(memory_ns) } else { compute_ns.hypot(memory_ns) }
    }
}

impl Tiles {
    /// An op of which loops cut these dimensions into so many tiles.
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

    /// The least time if so many bytes pass HBM.
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

/// The op as one iteration runs it, all in LX.
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

/// The op on the cores, in every way that its time tells apart.
fn divided(tile: &TileOp, whole: &KernelOp, cores: i64) -> Vec<KernelOp> {
    let extents: Vec<i64> = tile.shape().dims.iter().skip(tile.trips.len()).map(|dim| dim.extent).collect();
    if whole.kind != OpKind::Matmul {
        // Nothing of it is in HBM, so that the number of cores is all that counts.
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

/// All numbers of slices of some extents, whether they divide or not, on so many cores at the most.
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
