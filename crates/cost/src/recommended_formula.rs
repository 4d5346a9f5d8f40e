//! The recommended formula ("cost models, section 10", changed as docs/reference/cost-model.md says): the sum of the
//! ops' times.

use super::{
    op_contribution::OpContribution,
    op_features::{AccessPattern, BatchLayout, MatmulFeatures, OpFeatures, as_f64},
    rates::estimate_monotone_ns,
    shape::OpKind,
    torch_spyre::{estimate_spilled_bytes, estimate_split_penalty_ns},
};
use machine::{RecommendedTime, TimeModel};

/// Maximum rows of a matmul that counts as a decoding step. No time of a decoding step is published.
const MAX_DECODE_ROWS: f64 = 32.0;

/// Computes the contribution of one op to the cost of its kernel.
pub(super) fn compute_contribution(op: &OpFeatures, model: &TimeModel) -> OpContribution {
    let constants = &model.recommended;
    let shuffle_ns = op.shuffle_ns * op.trips;
    if shuffle_ns > 0.0 {
        return compute_shuffle_contribution(op, shuffle_ns, constants);
    }
    let (hbm_ns, compute_ns) = (estimate_hbm_ns(op, model), estimate_compute_ns(op, model));
    let overlapped_ns = if op.kind == OpKind::Matmul {
        hbm_ns + compute_ns - constants.overlap * hbm_ns.min(compute_ns)
    } else {
        (hbm_ns * hbm_ns + compute_ns * compute_ns).sqrt()
    };
    let iterations = compute_iteration_ns(op, constants);
    let lopsided = if op.kind == OpKind::Matmul { estimate_lopsided_split_ns(&op.product, model) } else { 0.0 };
    OpContribution {
        hbm_ns,
        compute_ns,
        fixed_ns: constants.op_ns + iterations,
        total_ns: overlapped_ns + lopsided + constants.op_ns + iterations,
        spread: select_error_interval(op, constants),
        is_ranked: has_published_times(op),
    }
}

/// Computes the contribution of a shuffle, which moves bytes between LX of cores only.
fn compute_shuffle_contribution(op: &OpFeatures, shuffle_ns: f64, constants: &RecommendedTime) -> OpContribution {
    let fixed_ns = constants.op_ns + compute_iteration_ns(op, constants);
    OpContribution {
        hbm_ns: 0.0,
        compute_ns: shuffle_ns,
        fixed_ns,
        total_ns: shuffle_ns + fixed_ns,
        spread: constants.spread.transport,
        is_ranked: true,
    }
}

fn compute_iteration_ns(op: &OpFeatures, constants: &RecommendedTime) -> f64 {
    if op.trips > 1.0 { op.trips * constants.iteration_ns } else { 0.0 }
}

/// Returns whether times of such ops are published.
fn has_published_times(op: &OpFeatures) -> bool {
    let product = &op.product;
    let is_decode = op.kind == OpKind::Matmul && product.m * product.batch <= MAX_DECODE_ROWS;
    !(is_decode || op.is_irregular || product.k_tiles > 1.0 || op.element_bytes < 2.0)
}

fn select_error_interval(op: &OpFeatures, constants: &RecommendedTime) -> [f64; 2] {
    let spreads = &constants.spread;
    if !has_published_times(op) {
        return spreads.unmeasured;
    }
    match (op.kind, op.access) {
        (OpKind::Matmul, _) if op.product.batching == BatchLayout::None => spreads.product,
        (OpKind::Matmul, _) => spreads.batched_product,
        (OpKind::Reduction, _) => spreads.reduction,
        (OpKind::Pointwise, AccessPattern::BroadcastRow(_) | AccessPattern::BroadcastColumn(_)) => spreads.broadcast,
        (OpKind::Pointwise, AccessPattern::Plain) => spreads.pointwise,
        (OpKind::Pointwise, _) => spreads.transport,
    }
}

fn estimate_hbm_ns(op: &OpFeatures, model: &TimeModel) -> f64 {
    let (rates, constants) = (&model.hbm, &model.recommended);
    let bytes = &op.bytes;
    // A read that another op of the kernel already did is not repeated, and a fraction of a repeated read is hidden.
    let read = as_f64((bytes.hbm_read - bytes.reread - bytes.shared).max(0));
    let traffic = estimate_monotone_ns(rates, op, read, as_f64(bytes.hbm_written))
        + constants.read_back_ns_per_byte * as_f64(bytes.read_back);
    let reread = constants.reread * as_f64(bytes.reread) / rates.one_way;
    if op.kind == OpKind::Matmul {
        return traffic + estimate_contended_bytes(&op.product, model) / rates.one_way + reread;
    }
    let is_small = op.trips > 1.0 && op.tiles_output && op.tile_rows < constants.tile_rows;
    traffic / if is_small { (op.tile_rows / constants.tile_rows).sqrt() } else { 1.0 }
}

/// Returns the redundant bytes that cores fetch: for slices that are too large for them, and for operands that many
/// cores share.
fn estimate_contended_bytes(product: &MatmulFeatures, model: &TimeModel) -> f64 {
    let constants = &model.recommended;
    let (slices, log2) = if product.m_slices > product.n_slices {
        (product.m_slices, product.log2_m_slices)
    } else {
        (product.n_slices, product.log2_n_slices)
    };
    estimate_spilled_bytes(&model.torch_spyre, product)
        + product.operand_bytes * (compute_fan_out_factor(slices, log2, constants.fan_cores, constants.fan) - 1.0)
}

/// Returns `(slices / knee)^power`, at least 1.
fn compute_fan_out_factor(slices: f64, log2_slices: f64, knee: f64, power: f64) -> f64 {
    if slices > knee { (power * (log2_slices - knee.log2())).exp2() } else { 1.0 }
}

/// Returns torch-spyre's penalty for lopsided splits, in ns. Adds a small term that prefers fewer row slices where two
/// splits cost the same.
fn estimate_lopsided_split_ns(product: &MatmulFeatures, model: &TimeModel) -> f64 {
    estimate_split_penalty_ns(&model.torch_spyre, product) + model.recommended.row_split_ns * product.log2_m_slices
}

fn estimate_compute_ns(op: &OpFeatures, model: &TimeModel) -> f64 {
    let constants = &model.recommended;
    if op.kind == OpKind::Matmul {
        let product = &op.product;
        let summed = if product.k_slices > 1.0 { product.k_slices * constants.summed_slices } else { 1.0 };
        let cores = product.m_slices * product.n_slices * product.batch_slices * summed;
        return op.points / (cores * compute_matmul_rate(op, model));
    }
    let from_hbm = if op.kind == OpKind::Reduction { constants.reduction } else { constants.pointwise };
    let hbm = as_f64(op.bytes.hbm());
    let lx = as_f64(op.bytes.lx_per_iteration) * op.trips;
    let share = if hbm + lx > 0.0 { hbm / (hbm + lx) } else { 0.0 };
    op.points / op.cores * (share / from_hbm + (1.0 - share) / constants.lx)
}

/// Returns the multiply-adds/ns of a core.
fn compute_matmul_rate(op: &OpFeatures, model: &TimeModel) -> f64 {
    let (constants, fitted, product) = (&model.recommended, &model.torch_spyre, &op.product);
    let [rows, power] = fitted.full_array;
    let is_split = product.batch_slices > 1.0;
    let few = if product.batch_slices > constants.batch_slices[0] {
        (constants.batch_slices[0] / product.batch_slices).powf(constants.batch_slices[1])
    } else {
        1.0
    };
    let rate = match product.batching {
        BatchLayout::Inner if is_split => {
            let columns =
                (constants.batch_split_columns * (product.log2_n_slices - product.log2_m_slices).max(0.0)).exp2();
            return constants.batch_split * few / columns;
        }
        BatchLayout::Inner => {
            let fan = compute_fan_out_factor(
                product.m_slices,
                product.log2_m_slices,
                constants.fan_cores,
                constants.fan_rows,
            ) * compute_fan_out_factor(
                product.n_slices,
                product.log2_n_slices,
                constants.fan_cores,
                constants.fan_columns,
            );
            return constants.inner_batch[usize::from(product.batch >= 4.0)] / fan.min(constants.fan_most);
        }
        BatchLayout::HalfInner => constants.half_inner_batch,
        BatchLayout::Shared => fitted.shared_products[usize::from(product.batch > fitted.shared_entries)],
        BatchLayout::None | BatchLayout::Outer => {
            fitted.products * if op.tile_rows < rows { (op.tile_rows / rows).powf(power) } else { 1.0 }
        }
    };
    rate * few * if is_split { constants.batch_split_share } else { 1.0 }
}
