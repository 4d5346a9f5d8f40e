//! torch-spyre's formula of August 2026, reproduced exactly ("cost models, 2.3"): for comparison, not for decisions.

use super::{
    kernel::{Access, Batching, KernelOp, Product, number},
    rates::{own_rate, plain_ns, row_reduction},
    shape::OpKind,
};
use machine::{TimeModel, TorchSpyreTime};

/// Returns the cost of a kernel in ns.
pub(super) fn price_ns(ops: &[KernelOp], model: &TimeModel) -> f64 {
    let constants = &model.torch_spyre;
    let has_product = ops.iter().any(|op| op.kind == OpKind::Matmul);
    let (mut efficiency, mut slowdown) = (1.0_f64, 1.0_f64);
    let (mut compute, mut split, mut reread) = (0.0, 0.0, 0.0);
    for op in ops {
        reread += number(op.bytes.reread);
        if op.kind == OpKind::Matmul {
            compute += compute_ns(constants, op);
            split += split_ns(constants, &op.product);
        }
        if op.trips > 1.0 && op.tiles_output {
            efficiency = efficiency.min(tile_efficiency(constants, op));
            slowdown = slowdown.min(tile_slowdown(constants, op, has_product));
        }
    }
    let hbm = hbm_ns(ops, model, has_product) / efficiency / slowdown;
    compute.max(hbm + constants.reread * reread / model.hbm.one_way) + split
}

fn hbm_ns(ops: &[KernelOp], model: &TimeModel, has_product: bool) -> f64 {
    let rates = &model.hbm;
    let sum = |bytes: &dyn Fn(&KernelOp) -> i64| number(ops.iter().map(bytes).sum());
    let read = sum(&|op| op.bytes.hbm_read - op.bytes.shared - op.bytes.reread);
    let written = sum(&|op| op.bytes.hbm_written);
    if has_product {
        let spilled: f64 = ops.iter().map(|op| spilled_bytes(&model.torch_spyre, &op.product)).sum();
        return plain_ns(rates, read, written) + spilled / rates.one_way;
    }
    if ops.iter().any(|op| own_rate(rates, op).is_some()) {
        let of_op = |op: &KernelOp| {
            let (read, written) = (number(op.bytes.hbm_read - op.bytes.reread), number(op.bytes.hbm_written));
            own_rate(rates, op).map_or_else(|| plain_ns(rates, read, written), |rate| (read + written) / rate)
        };
        return ops.iter().map(of_op).sum();
    }
    match ops {
        [op] if op.access == Access::RowReduction && op.trips <= 1.0 && read > 0.0 => {
            (read + written) / (row_reduction(rates, op.rows) * reduction_share(&model.torch_spyre, op.cores))
        }
        _ => plain_ns(rates, read, written),
    }
}

/// Returns the fraction of the rate that a number of cores reaches, linear in log2 between the powers of two.
fn reduction_share(constants: &TorchSpyreTime, cores: f64) -> f64 {
    let shares = &constants.row_reduction_cores;
    let at = cores.max(1.0).log2();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "log2 of a number of cores")]
    let below = (at as usize).min(shares.len() - 1);
    let above = (below + 1).min(shares.len() - 1);
    let part = (at - at.floor()) * if above > below { 1.0 } else { 0.0 };
    shares[below] + (shares[above] - shares[below]) * part
}

fn compute_ns(constants: &TorchSpyreTime, op: &KernelOp) -> f64 {
    let product = &op.product;
    let rate = match product.batching {
        Batching::Shared if product.batch > constants.shared_entries => constants.shared_products[1],
        Batching::Shared => constants.shared_products[0],
        Batching::Inner if product.batch >= constants.inner_batch_entries && op.cores >= constants.inner_batch_cores => {
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

pub(super) fn spilled_bytes(constants: &TorchSpyreTime, product: &Product) -> f64 {
    if product.area() <= constants.spill_elements {
        return 0.0;
    }
    product.operand_bytes * (constants.spill * (product.log2_area - constants.spill_elements.log2())).min(constants.spill_most)
}

pub(super) fn split_ns(constants: &TorchSpyreTime, product: &Product) -> f64 {
    let excess = product.area() - constants.split_elements;
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
fn tile_rows(op: &KernelOp) -> f64 {
    op.tile_rows / op.product.k_tiles.max(1.0)
}

fn tile_efficiency(constants: &TorchSpyreTime, op: &KernelOp) -> f64 {
    let [low, low_power] = constants.tile_low;
    let tile_rows = tile_rows(op);
    if op.kind == OpKind::Matmul {
        let [rows, power, most, least_rows] = constants.product_tile;
        let at = |at_rows: f64| (at_rows / rows).powf(power).min(most);
        return if tile_rows < least_rows { at(least_rows) * (tile_rows / least_rows).powf(low_power) } else { at(tile_rows) };
    }
    let [rows, power, columns, column_power] = constants.tile;
    let raw = (tile_rows / rows).powf(power) * (op.columns / columns).powf(column_power);
    if raw < low { low * (raw / low).powf(low_power) } else { raw }
}

fn tile_slowdown(constants: &TorchSpyreTime, op: &KernelOp, has_product: bool) -> f64 {
    let [most, power] = if has_product { constants.product_tile_bytes } else { constants.tile_bytes };
    let bytes = 2.0 * tile_rows(op) * op.columns * op.element_bytes;
    if bytes > most { (most / bytes).powf(power) } else { 1.0 }
}
