//! HBM rates by access pattern of an op ("cost models, 2.3").

use super::op_features::{AccessPattern, BroadcastLocation, OpFeatures};
use machine::{BroadcastRate, HbmRates, TransportRate};

/// log2 of the elements of an f16 stick: the unit in which the fits count columns.
const LOG2_STICK_ELEMENTS: f64 = 6.0;

/// Maximum rate of any op in bytes/ns, both directions together.
#[must_use]
pub fn find_max_hbm_rate(rates: &HbmRates) -> f64 {
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
pub(super) fn estimate_plain_ns(rates: &HbmRates, read: f64, written: f64) -> f64 {
    (read + written) / rates.one_way + rates.turnaround_ns_per_byte * read.min(written)
}

/// Returns the bytes/ns of both directions together for ops with a rate in torch-spyre. Plain accesses have none; that
/// of a reduction along the sticks applies only without other ops.
pub(super) fn find_pattern_rate(rates: &HbmRates, op: &OpFeatures) -> Option<f64> {
    Some(match op.access {
        AccessPattern::Plain
        | AccessPattern::RowReduction
        | AccessPattern::BroadcastRow(BroadcastLocation::Lx)
        | AccessPattern::BroadcastColumn(BroadcastLocation::Lx) => return None,
        AccessPattern::Restickify => rates.restickify,
        AccessPattern::ColumnReduction => rates.column_reduction,
        AccessPattern::BroadcastRow(BroadcastLocation::Hbm) => compute_broadcast_rate(&rates.broadcast_row, op),
        AccessPattern::BroadcastColumn(BroadcastLocation::Hbm) => compute_broadcast_rate(&rates.broadcast_column, op),
        AccessPattern::SpreadSticks { rows } => compute_transport_rate(&rates.spread_sticks, op, rows),
        AccessPattern::SpreadRows { rows } => compute_transport_rate(&rates.spread_rows, op, rows),
        AccessPattern::SwapOuter { rows, outer } => {
            let rate = compute_transport_rate(&rates.swap_outer, op, rows);
            if outer < 8.0 {
                (rate - rates.swap_outer_halving * (8.0 / outer).log2()).max(rates.swap_outer_floor)
            } else {
                rate
            }
        }
    })
}

/// Returns the bytes/ns of a reduction along the sticks on all cores.
pub(super) fn compute_row_reduction_rate(rates: &HbmRates, rows: f64) -> f64 {
    (rates.row_reduction_floor + rates.row_reduction_extra * (-rows / rates.row_reduction_scale_rows).exp())
        .min(rates.one_way)
}

/// Returns the ns of an op's traffic, which never decreases with the bytes.
///
/// torch-spyre's rates for few rows with a broadcast input, and for a transpose with a short new inner dimension, make
/// twice the bytes cheaper at some sizes. These cases are omitted. No broadcast input makes an op slower than its plain
/// traffic.
pub(super) fn estimate_monotone_ns(rates: &HbmRates, op: &OpFeatures, read: f64, written: f64) -> f64 {
    let plain = estimate_plain_ns(rates, read, written);
    let both = read + written;
    match op.access {
        AccessPattern::Plain => plain,
        AccessPattern::Restickify => both / rates.restickify,
        AccessPattern::ColumnReduction => both / rates.column_reduction,
        AccessPattern::RowReduction if read == 0.0 => written / rates.one_way,
        AccessPattern::RowReduction => read / compute_row_reduction_rate(rates, op.rows) + written / rates.one_way,
        AccessPattern::BroadcastRow(_) => plain.min(both / compute_tall_rate(&rates.broadcast_row, op)),
        AccessPattern::BroadcastColumn(_) => plain.min(both / compute_tall_rate(&rates.broadcast_column, op)),
        AccessPattern::SpreadSticks { rows } => both / compute_transport_rate(&rates.spread_sticks, op, rows),
        AccessPattern::SpreadRows { rows } => both / compute_transport_rate(&rates.spread_rows, op, rows),
        AccessPattern::SwapOuter { rows, .. } => both / compute_transport_rate(&rates.swap_outer, op, rows),
    }
}

fn compute_transport_rate(rate: &TransportRate, op: &OpFeatures, rows: f64) -> f64 {
    (rate.at_one
        - rate.per_column * (op.log2_columns - LOG2_STICK_ELEMENTS).max(0.0)
        - rate.per_row * rows.max(1.0).log2())
    .max(rate.floor)
}

fn compute_tall_rate(rate: &BroadcastRate, op: &OpFeatures) -> f64 {
    let [a, b, d, least, most] = rate.tall;
    (a - b * op.log2_columns - d * op.log2_rows).clamp(least, most)
}

fn compute_broadcast_rate(rate: &BroadcastRate, op: &OpFeatures) -> f64 {
    let (c, r) = (op.log2_columns, op.log2_rows);
    if op.rows >= 1024.0 {
        compute_tall_rate(rate, op)
    } else if op.columns <= 4096.0 {
        let [a, b, d, e, least, most] = rate.small;
        (a + b * r + d * r * r + e * c).clamp(least, most)
    } else {
        let [a, b, d, least, most] = rate.wide;
        (a + b * (c - 6.0 - r).max(0.0) + d * (r - c + 6.0).max(0.0)).clamp(least, most)
    }
}
