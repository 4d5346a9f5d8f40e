//! How fast HBM is for an op that has no plain way through it ("cost models, 2.3").

use super::kernel::{Access, KernelOp};
use crate::target::{BroadcastRate, HbmRates, TransportRate};

/// Elements of an f16 stick: the fits count columns in these.
const STICK: f64 = 64.0;

/// ns of plain traffic: a direction each, and the bus turned around for the smaller one.
pub(super) fn plain_ns(rates: &HbmRates, read: f64, written: f64) -> f64 {
    (read + written) / rates.one_way + rates.turnaround_ns_per_byte * read.min(written)
}

/// Bytes/ns of both directions together where an op has a rate of its own. A reduction along the sticks has none beside other ops.
pub(super) fn own_rate(rates: &HbmRates, op: &KernelOp) -> Option<f64> {
    Some(match op.access {
        Access::Plain | Access::RowReduction => return None,
        Access::Restickify => rates.restickify,
        Access::ColumnReduction => rates.column_reduction,
        Access::BroadcastRow => broadcast(&rates.broadcast_row, op),
        Access::BroadcastColumn => broadcast(&rates.broadcast_column, op),
        Access::SpreadSticks { rows } => transport(&rates.spread_sticks, op.columns, rows),
        Access::SpreadRows { rows } => transport(&rates.spread_rows, op.columns, rows),
        Access::SwapOuter { rows, outer } => {
            let rate = transport(&rates.swap_outer, op.columns, rows);
            if outer < 8.0 { (rate - rates.swap_outer_halving * (8.0 / outer).log2()).max(rates.swap_outer_floor) } else { rate }
        }
    })
}

/// Bytes/ns of a reduction along the sticks on all cores.
pub(super) fn row_reduction(rates: &HbmRates, rows: f64) -> f64 {
    (rates.row_reduction_floor + rates.row_reduction_extra * (-rows / rates.row_reduction_scale_rows).exp()).min(rates.one_way)
}

fn transport(rate: &TransportRate, columns: f64, rows: f64) -> f64 {
    (rate.at_one - rate.per_column * (columns / STICK).max(1.0).log2() - rate.per_row * rows.max(1.0).log2()).max(rate.floor)
}

fn broadcast(rate: &BroadcastRate, op: &KernelOp) -> f64 {
    let (c, r) = (op.columns.log2(), op.rows.log2());
    if op.rows >= 1024.0 {
        let [a, b, d, least, most] = rate.tall;
        (a - b * c - d * r).clamp(least, most)
    } else if op.columns <= 4096.0 {
        let [a, b, d, e, least, most] = rate.small;
        (a + b * r + d * r * r + e * c).clamp(least, most)
    } else {
        let [a, b, d, least, most] = rate.wide;
        (a + b * (c - 6.0 - r).max(0.0) + d * (r - c + 6.0).max(0.0)).clamp(least, most)
    }
}
