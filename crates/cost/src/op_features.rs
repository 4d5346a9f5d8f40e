//! Numeric features of an op, which are the input of the cost formulas.

use super::{
    bytes::{OpBytes, compute_kernel_bytes},
    shape::{OpKind, OpShape, OperandShape},
};

/// Features of one op. Bytes and points are those of all iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpFeatures {
    /// Kind of the op.
    pub kind: OpKind,
    /// HBM access pattern.
    pub access: AccessPattern,
    /// Bytes moved.
    pub bytes: OpBytes,
    /// Number of cores that execute it.
    pub cores: f64,
    /// Points of its iteration space; multiply-adds of a matmul.
    pub points: f64,
    /// Number of executions.
    pub trips: f64,
    /// Whether a loop tiles a dimension of the result.
    pub tiles_output: bool,
    /// Rows of one tile per core: points of the result except those along its sticks (for a matmul, except those along
    /// batch and columns).
    pub tile_rows: f64,
    /// Maximum number of points along the sticks of its tensors.
    pub columns: f64,
    /// Points of the result divided by those along the sticks; for a reduction, the reduced points are included.
    pub rows: f64,
    /// log2 of `columns`, precomputed.
    pub log2_columns: f64,
    /// log2 of `rows`.
    pub log2_rows: f64,
    /// Bytes of a result element.
    pub element_bytes: f64,
    /// Whether an index tensor or a window determines where a tensor is read or written.
    pub is_irregular: bool,
    /// Time of the movement between cores in one execution, ns; 0 unless the op is a shuffle.
    pub shuffle_ns: f64,
    /// Properties that only matmuls have.
    pub product: MatmulFeatures,
}

/// HBM access pattern of an op that is no matmul.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AccessPattern {
    /// Contiguous sticks.
    #[default]
    Plain,
    /// Elements of a stick come from many sticks.
    Restickify,
    /// Reduction that keeps the sticks.
    ColumnReduction,
    /// Reduction along the sticks.
    RowReduction,
    /// A full input and one that is broadcast along the rows.
    BroadcastRow(BroadcastLocation),
    /// A full input and a scalar, or one that is broadcast along the columns.
    BroadcastColumn(BroadcastLocation),
    /// Strided sticks: tensors are concatenated along the rows.
    SpreadSticks {
        /// Rows of the input.
        rows: f64,
    },
    /// Tensors are concatenated along the columns.
    SpreadRows {
        /// Rows of the input.
        rows: f64,
    },
    /// Transpose of the two outer dimensions; the sticks are unchanged.
    SwapOuter {
        /// Points of the dimension that becomes the inner one.
        rows: f64,
        /// Points of the other dimension.
        outer: f64,
    },
}

/// Location of the inputs of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroadcastLocation {
    /// The full input and the broadcast input are in HBM.
    Hbm,
    /// At least one of the two is in LX.
    Lx,
}

/// Matmul of `[batch, m, k]` and `[batch, k, n]`, or with a second operand without batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MatmulFeatures {
    /// Points per tile of the dimension that only the first operand and the result have.
    pub m: f64,
    /// Points per tile of the dimension that only the second operand and the result have.
    pub n: f64,
    /// Slices of `m`.
    pub m_slices: f64,
    /// Slices of `n`.
    pub n_slices: f64,
    /// Slices of the contracted dimension.
    pub k_slices: f64,
    /// Points of the batch dimensions.
    pub batch: f64,
    /// Slices of the batch dimensions.
    pub batch_slices: f64,
    /// Bytes of both operands, per tile and batch entry.
    pub operand_bytes: f64,
    /// log2 of `m_slices`.
    pub log2_m_slices: f64,
    /// log2 of `n_slices`.
    pub log2_n_slices: f64,
    /// log2 of the result elements per core, tile and batch entry.
    pub log2_area: f64,
    /// Tiles of the contracted dimension.
    pub k_tiles: f64,
    /// Memory layout of the batch.
    pub batching: BatchLayout,
}

impl MatmulFeatures {
    /// Returns the result elements per core, tile and batch entry.
    #[must_use]
    pub fn result_elements_per_core(&self) -> f64 {
        self.m * self.n / (self.m_slices * self.n_slices)
    }
}

/// Memory layout of the batch of a matmul.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchLayout {
    /// No batch.
    #[default]
    None,
    /// One operand has no batch: all entries share it.
    Shared,
    /// Neighboring sticks belong to different entries, in both operands.
    Inner,
    /// Neighboring sticks belong to different entries, in one of the operands.
    HalfInner,
    /// Each entry is contiguous.
    Outer,
}

/// Computes the features of a kernel's ops, in their order. Time is linear in the number of operands.
#[must_use]
pub fn extract_features(kernel: &[OpShape]) -> Vec<OpFeatures> {
    kernel.iter().zip(compute_kernel_bytes(kernel)).map(|(op, bytes)| extract_op_features(op, bytes)).collect()
}

/// Computes the features of one op with known bytes.
#[must_use]
pub fn extract_op_features(op: &OpShape, bytes: OpBytes) -> OpFeatures {
    let product = if op.kind == OpKind::Matmul { compute_matmul_features(op) } else { MatmulFeatures::default() };
    let repeats = op.loops.iter().filter(|around| around.tiled.is_empty()).map(|around| around.trips).product::<i64>();
    let points = as_f64(op.dims.iter().map(|dim| dim.extent).product());
    let columns = as_f64(
        op.operands.iter().filter_map(|operand| operand.stick).map(|dim| op.dims[dim].extent).max().unwrap_or(1),
    );
    OpFeatures {
        kind: op.kind,
        access: classify_access(op),
        bytes,
        cores: as_f64(op.num_cores()),
        points: points * as_f64(repeats),
        trips: as_f64(op.trips()),
        tiles_output: op.tiles_output(),
        tile_rows: compute_tile_rows(op, &product),
        columns,
        rows: points / columns,
        log2_columns: columns.log2(),
        log2_rows: (points / columns).log2(),
        element_bytes: as_f64(op.output().map_or(2, |output| output.element_bytes)),
        is_irregular: op.is_irregular,
        shuffle_ns: op.shuffle.map_or(0.0, |shuffle| shuffle.estimate_ns()),
        product,
    }
}

#[allow(clippy::cast_precision_loss, reason = "extents and bytes are far below 2^53")]
pub(super) fn as_f64(value: i64) -> f64 {
    value as f64
}

fn compute_tile_rows(op: &OpShape, product: &MatmulFeatures) -> f64 {
    if op.kind == OpKind::Matmul {
        return product.m / product.m_slices;
    }
    let columns = op.operands.iter().filter_map(|operand| operand.stick).max_by_key(|&dim| op.dims[dim].extent);
    let rows = op.dims.iter().enumerate().filter(|(index, _)| Some(*index) != columns);
    rows.map(|(index, dim)| as_f64(dim.extent) / as_f64(op.num_tiles_along(index) * dim.slices)).product()
}

fn classify_access(op: &OpShape) -> AccessPattern {
    let Some(output) = op.output() else { return AccessPattern::Plain };
    match op.kind {
        OpKind::Matmul => AccessPattern::Plain,
        OpKind::Reduction if output.stick.is_some() => AccessPattern::ColumnReduction,
        OpKind::Reduction => AccessPattern::RowReduction,
        OpKind::Pointwise => {
            classify_transport(op, output).or_else(|| classify_broadcast(op, output)).unwrap_or_default()
        }
    }
}

/// Returns the access pattern of an op that moves elements.
fn classify_transport(op: &OpShape, output: &OperandShape) -> Option<AccessPattern> {
    let stick = output.stick?;
    if op.inputs().any(|input| input.is_indexed_by(stick) && input.stick.is_some_and(|other| other != stick)) {
        return Some(AccessPattern::Restickify);
    }
    let mut inputs = op.inputs();
    let (input, None) = (inputs.next()?, inputs.next()) else { return None };
    let extent = |dim: usize| op.dims[dim].extent;
    let points = || op.dims.iter().map(|dim| dim.extent).product::<i64>();
    if let Some(&new) = output.moved_by.iter().find(|&&dim| op.varies_in_tile(dim) && !input.is_indexed_by(dim)) {
        let rows = as_f64(points() / extent(new) / extent(stick));
        let is_inner = output.inner == Some(new) && extent(new) < 64;
        return (input.stick == Some(stick) && output.moved_by.len() > 2).then_some(if is_inner {
            AccessPattern::SpreadSticks { rows }
        } else {
            AccessPattern::SpreadRows { rows }
        });
    }
    let (from, to) = (input.inner?, output.inner?);
    (from != to && input.moved_by.len() > 2)
        .then(|| AccessPattern::SwapOuter { rows: as_f64(extent(from)), outer: as_f64(extent(to)) })
}

/// Returns whether the op has a full input and a smaller one, and the direction of the broadcast.
fn classify_broadcast(op: &OpShape, output: &OperandShape) -> Option<AccessPattern> {
    let is_whole =
        |input: &&OperandShape| output.moved_by.iter().all(|&dim| input.is_indexed_by(dim) || !op.varies_in_tile(dim));
    let repeated = op.inputs().find(|input| !is_whole(input))?;
    op.inputs().find(is_whole)?;
    let is_in_hbm = |whole: bool| op.inputs().any(|input| is_whole(&input) == whole && !input.is_in_lx);
    let inputs = if is_in_hbm(true) && is_in_hbm(false) { BroadcastLocation::Hbm } else { BroadcastLocation::Lx };
    let is_row = output.stick.is_some_and(|stick| repeated.is_indexed_by(stick));
    Some(if is_row { AccessPattern::BroadcastRow(inputs) } else { AccessPattern::BroadcastColumn(inputs) })
}

fn compute_matmul_features(op: &OpShape) -> MatmulFeatures {
    let mut inputs = op.inputs();
    let (Some(output), Some(first), Some(second)) = (op.output(), inputs.next(), inputs.next()) else {
        return MatmulFeatures::default();
    };
    let mut product = MatmulFeatures {
        m: 1.0,
        n: 1.0,
        m_slices: 1.0,
        n_slices: 1.0,
        k_slices: 1.0,
        batch: 1.0,
        ..MatmulFeatures::default()
    };
    (product.batch_slices, product.k_tiles) = (1.0, 1.0);
    let (mut batch, mut batch_dims) = (None, Vec::new());
    for (index, dim) in op.dims.iter().enumerate() {
        let (slices, tiles) = (as_f64(dim.slices), as_f64(op.num_tiles_along(index)));
        let points = as_f64(dim.extent) / tiles;
        match (output.is_indexed_by(index), first.is_indexed_by(index), second.is_indexed_by(index)) {
            (false, ..) => (product.k_slices, product.k_tiles) = (product.k_slices * slices, product.k_tiles * tiles),
            (true, false, _) => (product.n, product.n_slices) = (product.n * points, product.n_slices * slices),
            (true, true, false) if !is_shared_batch(op, index, first, second) => {
                (product.m, product.m_slices) = (product.m * points, product.m_slices * slices);
            }
            (true, true, moves_both) => {
                (product.batch, product.batch_slices) = (product.batch * points, product.batch_slices * slices);
                batch_dims.push(index);
                batch = batch.or((moves_both && dim.extent > 1).then_some(index));
            }
        }
    }
    let of_tile = |operand: &OperandShape| {
        let tiles: i64 =
            if operand.is_in_lx { 1 } else { operand.moved_by.iter().map(|&dim| op.num_tiles_along(dim)).product() };
        let batch = if operand.moved_by.iter().any(|dim| batch_dims.contains(dim)) { product.batch } else { 1.0 };
        as_f64(operand.device_bytes) / as_f64(tiles) / batch
    };
    product.operand_bytes = of_tile(first) + of_tile(second);
    (product.log2_m_slices, product.log2_n_slices) = (product.m_slices.log2(), product.n_slices.log2());
    product.log2_area = product.result_elements_per_core().log2();
    product.batching = match batch {
        Some(batch) => match [first, second].iter().filter(|operand| operand.inner == Some(batch)).count() {
            0 => BatchLayout::Outer,
            1 => BatchLayout::HalfInner,
            _ => BatchLayout::Inner,
        },
        None if product.batch > 1.0 => BatchLayout::Shared,
        None => BatchLayout::None,
    };
    product
}

/// Returns whether a dimension that the second operand lacks is a batch, not the rows: the outer of two.
fn is_shared_batch(op: &OpShape, index: usize, first: &OperandShape, second: &OperandShape) -> bool {
    (index + 1..op.dims.len())
        .any(|dim| first.is_indexed_by(dim) && !second.is_indexed_by(dim) && !op.dims[dim].is_reduced)
}
