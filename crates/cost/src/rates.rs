//! HBM rates by access pattern of an op ("cost models, 2.3").

use super::kernel::{Access, Inputs, KernelOp};
use machine::{BroadcastRate, HbmRates, TransportRate};

/// log2 of the elements of an f16 stick: the unit in which the fits count columns.
const LOG2_STICK: f64 = 6.0;

/// Maximum rate of any op in bytes/ns, both directions together.
#[must_use]
pub fn fastest(rates: &HbmRates) -> f64 {
    let others = [
        rates.restickify,
        rates.column_reduction,
        rates.broadcast_row.tall[4],
        rates.broadcast_column.tall[4],
        rates.spread_sticks.at_one.max(rates.spread_sticks.floor),
        rates.spread_rows.at_one.max(rates.spread_rows.floor),
        rates.swap_outer.at_one.max(rates.swap_outer.floor),
    ];
    others.into_iter().fold(rates.one_way, f64::max)
}

/// Returns the ns of plain traffic: the time of each direction, plus bus turnarounds for the smaller one.
pub(super) fn plain_ns(rates: &HbmRates, read: f64, written: f64) -> f64 {
    (read + written) / rates.one_way + rates.turnaround_ns_per_byte * read.min(written)
}

/// Returns the bytes/ns of both directions together for ops with a rate in torch-spyre. Plain accesses have none; that of a reduction
/// along the sticks applies only without other ops.
pub(super) fn own_rate(rates: &HbmRates, op: &KernelOp) -> Option<f64> {
    Some(match op.access {
        Access::Plain | Access::RowReduction | Access::BroadcastRow(Inputs::Lx) | Access::BroadcastColumn(Inputs::Lx) => return None,
        Access::Restickify => rates.restickify,
        Access::ColumnReduction => rates.column_reduction,
        Access::BroadcastRow(Inputs::Hbm) => broadcast(&rates.broadcast_row, op),
        Access::BroadcastColumn(Inputs::Hbm) => broadcast(&rates.broadcast_column, op),
        Access::SpreadSticks { rows } => transport(&rates.spread_sticks, op, rows),
        Access::SpreadRows { rows } => transport(&rates.spread_rows, op, rows),
        Access::SwapOuter { rows, outer } => {
            let rate = transport(&rates.swap_outer, op, rows);
            if outer < 8.0 { (rate - rates.swap_outer_halving * (8.0 / outer).log2()).max(rates.swap_outer_floor) } else { rate }
        }
    })
}

/// Returns the bytes/ns of a reduction along the sticks on all cores.
pub(super) fn row_reduction(rates: &HbmRates, rows: f64) -> f64 {
    (rates.row_reduction_floor + rates.row_reduction_extra * (-rows / rates.row_reduction_scale_rows).exp()).min(rates.one_way)
}

/// Returns the ns of an op's traffic, which never decreases with the bytes.
///
/// torch-spyre's rates for few rows with a broadcast input, and for a transpose with a short new inner dimension, make twice the bytes
/// cheaper at some sizes. These cases are omitted. No broadcast input makes an op slower than its plain traffic.
pub(super) fn monotone_ns(rates: &HbmRates, op: &KernelOp, read: f64, written: f64) -> f64 {
    let plain = plain_ns(rates, read, written);
    let both = read + written;
    match op.access {
        Access::Plain => plain,
        Access::Restickify => both / rates.restickify,
        Access::ColumnReduction => both / rates.column_reduction,
        Access::RowReduction if read == 0.0 => written / rates.one_way,
        Access::RowReduction => read / row_reduction(rates, op.rows) + written / rates.one_way,
        Access::BroadcastRow(_) => plain.min(both / tall(&rates.broadcast_row, op)),
        Access::BroadcastColumn(_) => plain.min(both / tall(&rates.broadcast_column, op)),
        Access::SpreadSticks { rows } => both / transport(&rates.spread_sticks, op, rows),
        Access::SpreadRows { rows } => both / transport(&rates.spread_rows, op, rows),
        Access::SwapOuter { rows, .. } => both / transport(&rates.swap_outer, op, rows),
    }
}

fn transport(rate: &TransportRate, op: &KernelOp, rows: f64) -> f64 {
    (rate.at_one - rate.per_column * (op.log2_columns - LOG2_STICK).max(0.0) - rate.per_row * rows.max(1.0).log2()).max(rate.floor)
}

fn tall(rate: &BroadcastRate, op: &KernelOp) -> f64 {
    let [a, b, d, least, most] = rate.tall;
    (a - b * op.log2_columns - d * op.log2_rows).clamp(least, most)
}

fn broadcast(rate: &BroadcastRate, op: &KernelOp) -> f64 {
    let (c, r) = (op.log2_columns, op.log2_rows);
    if op.rows >= 1024.0 {
        tall(rate, op)
    } else if op.columns <= 4096.0 {
        let [a, b, d, e, least, most] = rate.small;
        (a + b * r + d * r * r + e * c).clamp(least, most)
    } else {
        let [a, b, d, least, most] = rate.wide;
        (a + b * (c - 6.0 - r).max(0.0) + d * (r - c + 6.0).max(0.0)).clamp(least, most)
    }
}
