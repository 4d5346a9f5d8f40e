//! torch-spyre's formula of August 2026, reproduced exactly ("cost models, 2.3"): for comparison, not for decisions.

use super::{
    op_features::{AccessPattern, BatchLayout, MatmulFeatures, OpFeatures, as_f64},
    rates::{compute_row_reduction_rate, estimate_plain_ns, find_pattern_rate},
    shape::OpKind,
};
use machine::{TimeModel, TorchSpyreTime};

/// Returns the cost of a kernel in ns.
pub(super) fn estimate_kernel_ns(ops: &[OpFeatures], model: &TimeModel) -> f64 {
    let constants = &model.torch_spyre;
    let has_product = ops.iter().any(|op| op.kind == OpKind::Matmul);
    let (mut efficiency, mut slowdown) = (1.0_f64, 1.0_f64);
    let (mut compute, mut split, mut reread) = (0.0, 0.0, 0.0);
    for op in ops {
        reread += as_f64(op.bytes.reread);
        if op.kind == OpKind::Matmul {
            compute += estimate_compute_ns(constants, op);
            split += estimate_split_penalty_ns(constants, &op.product);
        }
        if op.trips > 1.0 && op.tiles_output {
            efficiency = efficiency.min(compute_tile_efficiency(constants, op));
            slowdown = slowdown.min(compute_tile_slowdown(constants, op, has_product));
        }
    }
    let hbm = estimate_hbm_ns(ops, model, has_product) / efficiency / slowdown;
    compute.max(hbm + constants.reread * reread / model.hbm.one_way) + split
}

fn estimate_hbm_ns(ops: &[OpFeatures], model: &TimeModel, has_product: bool) -> f64 {
    let rates = &model.hbm;
    let sum = |bytes: &dyn Fn(&OpFeatures) -> i64| as_f64(ops.iter().map(bytes).sum());
    let read = sum(&|op| op.bytes.hbm_read - op.bytes.shared - op.bytes.reread);
    let written = sum(&|op| op.bytes.hbm_written);
    if has_product {
        let spilled: f64 = ops.iter().map(|op| estimate_spilled_bytes(&model.torch_spyre, &op.product)).sum();
        return estimate_plain_ns(rates, read, written) + spilled / rates.one_way;
    }
    if ops.iter().any(|op| find_pattern_rate(rates, op).is_some()) {
        let of_op = |op: &OpFeatures| {
            let (read, written) = (as_f64(op.bytes.hbm_read - op.bytes.reread), as_f64(op.bytes.hbm_written));
            find_pattern_rate(rates, op)
                .map_or_else(|| estimate_plain_ns(rates, read, written), |rate| (read + written) / rate)
        };
        return ops.iter().map(of_op).sum();
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

/// Returns the fraction of the rate that a number of cores reaches, linear in log2 between the powers of two.
fn interpolate_reduction_share(constants: &TorchSpyreTime, cores: f64) -> f64 {
    let shares = &constants.row_reduction_cores;
    let at = cores.max(1.0).log2();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "log2 of a number of cores")]
    let below = (at as usize).min(shares.len() - 1);
    let above = (below + 1).min(shares.len() - 1);
    let part = (at - at.floor()) * if above > below { 1.0 } else { 0.0 };
    shares[below] + (shares[above] - shares[below]) * part
}

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
    let [rows, power] = constants.full_array;
    let fill = if op.tiles_output || op.tile_rows >= rows { 1.0 } else { (op.tile_rows / rows).powf(power) };
    // A loop over the contracted dimension inside a loop over rows counts the rows again ("cost models, 2.6, 9").
    let counted = if product.k_tiles > 1.0 { op.points * op.trips / product.k_tiles } else { op.points };
    counted / op.cores / (rate * fill)
}

pub(super) fn estimate_spilled_bytes(constants: &TorchSpyreTime, product: &MatmulFeatures) -> f64 {
    if product.result_elements_per_core() <= constants.spill_elements {
        return 0.0;
    }
    product.operand_bytes
        * (constants.spill * (product.log2_area - constants.spill_elements.log2())).min(constants.spill_most)
}

pub(super) fn estimate_split_penalty_ns(constants: &TorchSpyreTime, product: &MatmulFeatures) -> f64 {
    let excess = product.result_elements_per_core() - constants.split_elements;
    if excess <= 0.0 {
        return 0.0;
    }
    let (rows, columns) = ((product.m_slices, product.log2_m_slices), (product.n_slices, product.log2_n_slices));
    let (long, short) = if product.m >= product.n { (rows, columns) } else { (columns, rows) };
    let doublings = |(slices, log2): (f64, f64), knee: f64| if slices > knee { log2 - knee.log2() } else { 0.0 };
    excess
        * (constants.split_long_ns * doublings(long, constants.split_long_cores)
            + constants.split_short_ns * doublings(short, constants.split_short_cores))
}

/// Returns the rows of a tile per core; the trip count of a loop over the contracted dimension divides them too.
fn compute_tile_rows(op: &OpFeatures) -> f64 {
    op.tile_rows / op.product.k_tiles.max(1.0)
}

fn compute_tile_efficiency(constants: &TorchSpyreTime, op: &OpFeatures) -> f64 {
    let [low, low_power] = constants.tile_low;
    let tile_rows = compute_tile_rows(op);
    if op.kind == OpKind::Matmul {
        let [rows, power, most, least_rows] = constants.product_tile;
        let at = |at_rows: f64| (at_rows / rows).powf(power).min(most);
        return if tile_rows < least_rows {
            at(least_rows) * (tile_rows / least_rows).powf(low_power)
        } else {
            at(tile_rows)
        };
    }
    let [rows, power, columns, column_power] = constants.tile;
    let raw = (tile_rows / rows).powf(power) * (op.columns / columns).powf(column_power);
    if raw < low { low * (raw / low).powf(low_power) } else { raw }
}

fn compute_tile_slowdown(constants: &TorchSpyreTime, op: &OpFeatures, has_product: bool) -> f64 {
    let [most, power] = if has_product { constants.product_tile_bytes } else { constants.tile_bytes };
    let bytes = 2.0 * compute_tile_rows(op) * op.columns * op.element_bytes;
    if bytes > most { (most / bytes).powf(power) } else { 1.0 }
}
