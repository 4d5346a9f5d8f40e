//! Cost formula of torch-spyre in August 2026, reproduced exactly ("cost models, 2.3"). It serves for comparison only;
//! no decision of the compiler uses it.

use super::{
    op_features::{AccessPattern, BatchLayout, MatmulFeatures, OpFeatures, as_f64},
    rates::{compute_row_reduction_rate, estimate_plain_ns, find_pattern_rate},
    shape::OpKind,
};
use machine::{TimeModel, TorchSpyreTime};

/// Estimates the time of a kernel in ns: the maximum of compute and HBM time, plus the penalty for unbalanced core
/// splits.
pub(super) fn estimate_kernel_ns(ops: &[OpFeatures], model: &TimeModel) -> f64 {
    let constants = &model.torch_spyre;
    let has_matmul = ops.iter().any(|op| op.kind == OpKind::Matmul);
    let (mut tile_efficiency, mut large_tile_efficiency) = (1.0_f64, 1.0_f64);
    let (mut compute_ns, mut split_penalty_ns, mut reread_bytes) = (0.0, 0.0, 0.0);
    for op in ops {
        reread_bytes += as_f64(op.bytes.reread);
        if op.kind == OpKind::Matmul {
            compute_ns += estimate_compute_ns(constants, op);
            split_penalty_ns += estimate_split_penalty_ns(constants, &op.product);
        }
        if op.trips > 1.0 && op.tiles_output {
            tile_efficiency = tile_efficiency.min(compute_tile_efficiency(constants, op));
            large_tile_efficiency = large_tile_efficiency.min(compute_large_tile_efficiency(constants, op, has_matmul));
        }
    }
    let hbm_ns = estimate_hbm_ns(ops, model, has_matmul) / tile_efficiency / large_tile_efficiency;
    compute_ns.max(hbm_ns + constants.reread * reread_bytes / model.hbm.one_way) + split_penalty_ns
}

/// Estimates the HBM time of a kernel in ns, without the effect of small or large tiles.
fn estimate_hbm_ns(ops: &[OpFeatures], model: &TimeModel, has_matmul: bool) -> f64 {
    let rates = &model.hbm;
    let sum_bytes = |bytes: &dyn Fn(&OpFeatures) -> i64| as_f64(ops.iter().map(bytes).sum());
    let read = sum_bytes(&|op| op.bytes.hbm_read - op.bytes.shared - op.bytes.reread);
    let written = sum_bytes(&|op| op.bytes.hbm_written);
    if has_matmul {
        let spilled: f64 = ops.iter().map(|op| estimate_spilled_bytes(&model.torch_spyre, &op.product)).sum();
        return estimate_plain_ns(rates, read, written) + spilled / rates.one_way;
    }
    if ops.iter().any(|op| find_pattern_rate(rates, op).is_some()) {
        let estimate_op_ns = |op: &OpFeatures| {
            let (read, written) = (as_f64(op.bytes.hbm_read - op.bytes.reread), as_f64(op.bytes.hbm_written));
            find_pattern_rate(rates, op)
                .map_or_else(|| estimate_plain_ns(rates, read, written), |rate| (read + written) / rate)
        };
        return ops.iter().map(estimate_op_ns).sum();
    }
    match ops {
        [op] if op.access == AccessPattern::RowReduction && op.trips <= 1.0 && read > 0.0 => {
            (read + written)
                / (compute_row_reduction_rate(rates, op.rows)
                    * interpolate_reduction_share(&model.torch_spyre, op.cores))
        }
        _ => estimate_plain_ns(rates, read, written),
    }
}

/// Returns the fraction of the HBM rate that a row reduction on `cores` cores reaches. Interpolates linearly in
/// log2(cores) between powers of two.
fn interpolate_reduction_share(constants: &TorchSpyreTime, cores: f64) -> f64 {
    let shares = &constants.row_reduction_cores;
    let log2_cores = cores.max(1.0).log2();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "log2 of a number of cores")]
    let below = (log2_cores as usize).min(shares.len() - 1);
    let above = (below + 1).min(shares.len() - 1);
    let fraction = (log2_cores - log2_cores.floor()) * if above > below { 1.0 } else { 0.0 };
    shares[below] + (shares[above] - shares[below]) * fraction
}

/// Estimates the compute time of a matmul in ns.
fn estimate_compute_ns(constants: &TorchSpyreTime, op: &OpFeatures) -> f64 {
    let product = &op.product;
    let rate = match product.batching {
        BatchLayout::Shared if product.batch > constants.shared_entries => constants.shared_products[1],
        BatchLayout::Shared => constants.shared_products[0],
        BatchLayout::Inner
            if product.batch >= constants.inner_batch_entries && op.cores >= constants.inner_batch_cores =>
        {
            constants.inner_batch_products
        }
        _ => constants.products,
    };
    let [full_rows, exponent] = constants.full_array;
    let array_utilization =
        if op.tiles_output || op.tile_rows >= full_rows { 1.0 } else { (op.tile_rows / full_rows).powf(exponent) };
    // With a loop over the contracted dimension, the formula counts the trips of the other loops again ("cost models,
    // 2.6, 9").
    let num_points = if product.k_tiles > 1.0 { op.points * op.trips / product.k_tiles } else { op.points };
    num_points / op.cores / (rate * array_utilization)
}

/// Estimates the additional HBM bytes of a matmul whose result per core exceeds `spill_elements`.
pub(super) fn estimate_spilled_bytes(constants: &TorchSpyreTime, product: &MatmulFeatures) -> f64 {
    if product.result_elements_per_core() <= constants.spill_elements {
        return 0.0;
    }
    product.operand_bytes
        * (constants.spill * (product.log2_area - constants.spill_elements.log2())).min(constants.spill_most)
}

/// Estimates the additional time in ns of a matmul with many slices along one result dimension.
pub(super) fn estimate_split_penalty_ns(constants: &TorchSpyreTime, product: &MatmulFeatures) -> f64 {
    let excess_elements = product.result_elements_per_core() - constants.split_elements;
    if excess_elements <= 0.0 {
        return 0.0;
    }
    let (rows, columns) = ((product.m_slices, product.log2_m_slices), (product.n_slices, product.log2_n_slices));
    let (long, short) = if product.m >= product.n { (rows, columns) } else { (columns, rows) };
    let doublings = |(slices, log2): (f64, f64), knee: f64| if slices > knee { log2 - knee.log2() } else { 0.0 };
    excess_elements
        * (constants.split_long_ns * doublings(long, constants.split_long_cores)
            + constants.split_short_ns * doublings(short, constants.split_short_cores))
}

/// Returns the rows per core of a tile. As in torch-spyre, the trip count of a loop over the contracted dimension
/// divides them too.
fn compute_tile_rows(op: &OpFeatures) -> f64 {
    op.tile_rows / op.product.k_tiles.max(1.0)
}

/// Returns the fraction of the HBM rate that tiles with few rows or columns reach.
fn compute_tile_efficiency(constants: &TorchSpyreTime, op: &OpFeatures) -> f64 {
    let [low_efficiency, low_exponent] = constants.tile_low;
    let tile_rows = compute_tile_rows(op);
    if op.kind == OpKind::Matmul {
        let [full_rows, exponent, max_efficiency, min_rows] = constants.product_tile;
        let efficiency_at = |num_rows: f64| (num_rows / full_rows).powf(exponent).min(max_efficiency);
        return if tile_rows < min_rows {
            efficiency_at(min_rows) * (tile_rows / min_rows).powf(low_exponent)
        } else {
            efficiency_at(tile_rows)
        };
    }
    let [full_rows, row_exponent, full_columns, column_exponent] = constants.tile;
    let efficiency = (tile_rows / full_rows).powf(row_exponent) * (op.columns / full_columns).powf(column_exponent);
    if efficiency < low_efficiency {
        low_efficiency * (efficiency / low_efficiency).powf(low_exponent)
    } else {
        efficiency
    }
}

/// Returns the fraction of the HBM rate that tiles of many bytes reach, at most 1.
fn compute_large_tile_efficiency(constants: &TorchSpyreTime, op: &OpFeatures, has_matmul: bool) -> f64 {
    let [max_bytes, exponent] = if has_matmul { constants.product_tile_bytes } else { constants.tile_bytes };
    let bytes = 2.0 * compute_tile_rows(op) * op.columns * op.element_bytes;
    if bytes > max_bytes { (max_bytes / bytes).powf(exponent) } else { 1.0 }
}
