//! The recommended formula ("cost models, section 10", changed as docs/reference/cost-model.md says): the sum of the ops' times.

use super::{
    kernel::{Access, Batching, KernelOp, Product, number},
    part::Part,
    rates::monotone_ns,
    shape::OpKind,
    torch_spyre::{spilled_bytes, split_ns},
};
use machine::{RecommendedTime, TimeModel};

/// Maximum rows of a matmul that counts as a decoding step: no time of one is published.
const DECODE_ROWS: f64 = 32.0;

/// Computes the contribution of one op to the cost of its kernel.
pub(super) fn part(op: &KernelOp, model: &TimeModel) -> Part {
    let constants = &model.recommended;
    let (hbm_ns, compute_ns) = (hbm_ns(op, model), compute_ns(op, model));
    let overlapped_ns = if op.kind == OpKind::Matmul {
        hbm_ns + compute_ns - constants.overlap * hbm_ns.min(compute_ns)
    } else {
        (hbm_ns * hbm_ns + compute_ns * compute_ns).sqrt()
    };
    let iterations = if op.trips > 1.0 { op.trips * constants.iteration_ns } else { 0.0 };
    let lopsided = if op.kind == OpKind::Matmul { lopsided_ns(&op.product, model) } else { 0.0 };
    Part {
        hbm_ns,
        compute_ns,
        fixed_ns: constants.op_ns + iterations,
        total_ns: overlapped_ns + lopsided + constants.op_ns + iterations,
        spread: spread(op, constants),
        is_ranked: is_ranked(op),
    }
}

/// Returns whether times of such ops are published.
fn is_ranked(op: &KernelOp) -> bool {
    let product = &op.product;
    let is_decode = op.kind == OpKind::Matmul && product.m * product.batch <= DECODE_ROWS;
    !(is_decode || op.is_irregular || product.k_tiles > 1.0 || op.element_bytes < 2.0)
}

fn spread(op: &KernelOp, constants: &RecommendedTime) -> [f64; 2] {
    let spreads = &constants.spread;
    if !is_ranked(op) {
        return spreads.unmeasured;
    }
    match (op.kind, op.access) {
        (OpKind::Matmul, _) if op.product.batching == Batching::None => spreads.product,
        (OpKind::Matmul, _) => spreads.batched_product,
        (OpKind::Reduction, _) => spreads.reduction,
        (OpKind::Pointwise, Access::BroadcastRow(_) | Access::BroadcastColumn(_)) => spreads.broadcast,
        (OpKind::Pointwise, Access::Plain) => spreads.pointwise,
        (OpKind::Pointwise, _) => spreads.transport,
    }
}

fn hbm_ns(op: &KernelOp, model: &TimeModel) -> f64 {
    let (rates, constants) = (&model.hbm, &model.recommended);
    let bytes = &op.bytes;
    // A read that another op of the kernel already did is not repeated; a part of a repeated read is hidden.
    let read = number((bytes.hbm_read - bytes.reread - bytes.shared).max(0));
    let traffic = monotone_ns(rates, op, read, number(bytes.hbm_written)) + constants.read_back_ns_per_byte * number(bytes.read_back);
    let reread = constants.reread * number(bytes.reread) / rates.one_way;
    if op.kind == OpKind::Matmul {
        return traffic + contended_bytes(&op.product, model) / rates.one_way + reread;
    }
    let is_small = op.trips > 1.0 && op.tiles_output && op.tile_rows < constants.tile_rows;
    traffic / if is_small { (op.tile_rows / constants.tile_rows).sqrt() } else { 1.0 }
}

/// Returns the redundant bytes that cores fetch: for slices that are too large for them, and for operands that many cores share.
fn contended_bytes(product: &Product, model: &TimeModel) -> f64 {
    let constants = &model.recommended;
    let (slices, log2) = if product.m_slices > product.n_slices {
        (product.m_slices, product.log2_m_slices)
    } else {
        (product.n_slices, product.log2_n_slices)
    };
    spilled_bytes(&model.torch_spyre, product) + product.operand_bytes * (fanned(slices, log2, constants.fan_cores, constants.fan) - 1.0)
}

/// Returns `(slices / knee)^power`, at least 1.
fn fanned(slices: f64, log2_slices: f64, knee: f64, power: f64) -> f64 {
    if slices > knee { (power * (log2_slices - knee.log2())).exp2() } else { 1.0 }
}

/// Returns torch-spyre's penalty for lopsided splits, in ns. Adds a small term that prefers fewer row slices where two splits cost
/// the same.
fn lopsided_ns(product: &Product, model: &TimeModel) -> f64 {
    split_ns(&model.torch_spyre, product) + model.recommended.row_split_ns * product.log2_m_slices
}

fn compute_ns(op: &KernelOp, model: &TimeModel) -> f64 {
    let constants = &model.recommended;
    if op.kind == OpKind::Matmul {
        let product = &op.product;
        let summed = if product.k_slices > 1.0 { product.k_slices * constants.summed_slices } else { 1.0 };
        let cores = product.m_slices * product.n_slices * product.batch_slices * summed;
        return op.points / (cores * product_rate(op, model));
    }
    let from_hbm = if op.kind == OpKind::Reduction { constants.reduction } else { constants.pointwise };
    let hbm = number(op.bytes.hbm());
    let lx = number(op.bytes.lx_per_iteration) * op.trips;
    let share = if hbm + lx > 0.0 { hbm / (hbm + lx) } else { 0.0 };
    op.points / op.cores * (share / from_hbm + (1.0 - share) / constants.lx)
}

/// Returns the multiply-adds/ns of a core.
fn product_rate(op: &KernelOp, model: &TimeModel) -> f64 {
    let (constants, fitted, product) = (&model.recommended, &model.torch_spyre, &op.product);
    let [rows, power] = fitted.full_array;
    let is_split = product.batch_slices > 1.0;
    let few = if product.batch_slices > constants.batch_slices[0] {
        (constants.batch_slices[0] / product.batch_slices).powf(constants.batch_slices[1])
    } else {
        1.0
    };
    let rate = match product.batching {
        Batching::Inner if is_split => {
            let columns = (constants.batch_split_columns * (product.log2_n_slices - product.log2_m_slices).max(0.0)).exp2();
            return constants.batch_split * few / columns;
        }
        Batching::Inner => {
            let fan = fanned(product.m_slices, product.log2_m_slices, constants.fan_cores, constants.fan_rows)
                * fanned(product.n_slices, product.log2_n_slices, constants.fan_cores, constants.fan_columns);
            return constants.inner_batch[usize::from(product.batch >= 4.0)] / fan.min(constants.fan_most);
        }
        Batching::HalfInner => constants.half_inner_batch,
        Batching::Shared => fitted.shared_products[usize::from(product.batch > fitted.shared_entries)],
        Batching::None | Batching::Outer => fitted.products * if op.tile_rows < rows { (op.tile_rows / rows).powf(power) } else { 1.0 },
    };
    rate * few * if is_split { constants.batch_split_share } else { 1.0 }
}
