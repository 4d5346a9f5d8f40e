//! Assumed speed of the machine: the constants of the models in `crates/cost`.
//!
//! There is no public cycle model of the device. Every constant was fitted to published times, elsewhere or here; "cost
//! models, 2.4" lists them. Rates are bytes or elements per nanosecond (1 GB/s is 1 byte/ns).

use serde::{Deserialize, Serialize};

/// Constants of both formulas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimeModel {
    /// HBM rates by access pattern; both formulas use them.
    pub hbm: HbmRates,
    /// Further constants of torch-spyre's formula.
    pub torch_spyre: TorchSpyreTime,
    /// Further constants of the recommended formula.
    pub recommended: RecommendedTime,
}

impl TimeModel {
    /// Returns the constants fitted to published times of Spyre.
    #[must_use]
    pub const fn spyre() -> Self {
        Self { hbm: HbmRates::spyre(), torch_spyre: TorchSpyreTime::spyre(), recommended: RecommendedTime::spyre() }
    }

    /// Rejects rates that are out of range.
    ///
    /// # Errors
    /// Returns the name of the constant, its value and the rule.
    pub fn check(&self) -> Result<(), String> {
        let (hbm, torch_spyre, recommended) = (&self.hbm, &self.torch_spyre, &self.recommended);
        let rates = [
            ("hbm.one_way", hbm.one_way),
            ("hbm.restickify", hbm.restickify),
            ("hbm.column_reduction", hbm.column_reduction),
            ("hbm.row_reduction_floor", hbm.row_reduction_floor),
            ("torch_spyre.products", torch_spyre.products),
            ("recommended.pointwise", recommended.pointwise),
            ("recommended.reduction", recommended.reduction),
            ("recommended.lx", recommended.lx),
            ("recommended.batch_split", recommended.batch_split),
            ("recommended.half_inner_batch", recommended.half_inner_batch),
        ];
        let no_rate = rates.into_iter().find(|(_, rate)| !(rate.is_finite() && *rate > 0.0));
        no_rate.map_or(Ok(()), |(name, rate)| Err(format!("'time.{name}' must be a positive rate, found {rate}")))
    }
}

/// HBM rates, in bytes/ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HbmRates {
    /// Rate of one direction alone (61 pointwise runs of 4 to 268 MB on 32 cores, a line through the origin).
    pub one_way: f64,
    /// ns per byte of the smaller direction, for turning the bus around (a sweep of the share of writes; it implies 105
    /// bytes/ns for a copy).
    pub turnaround_ns_per_byte: f64,
    /// Rate of both directions together if the elements of a stick come from many sticks (transposes, 32 cores).
    pub restickify: f64,
    /// Rate of both directions together in a reduction that keeps its sticks (32 cores).
    pub column_reduction: f64,
    /// Rate of both directions together with an input broadcast along the rows (a sweep of rows and columns, 3 to 7 %
    /// off; cause unknown).
    pub broadcast_row: BroadcastRate,
    /// Rate of both directions together with a scalar, or an input broadcast along the columns.
    pub broadcast_column: BroadcastRate,
    /// Rate of both directions together if tensors are concatenated along the rows ("cat on rows").
    pub spread_sticks: TransportRate,
    /// Rate of both directions together if tensors are concatenated along the columns ("cat on columns").
    pub spread_rows: TransportRate,
    /// Rate of both directions together if the outer dimensions are transposed.
    pub swap_outer: TransportRate,
    /// Bytes/ns that a transpose loses for each halving of the new inner dimension below 8 points.
    pub swap_outer_halving: f64,
    /// Minimum rate of such a transpose.
    pub swap_outer_floor: f64,
    /// Rate of a reduction along the sticks: `min(one_way, floor + extra * exp(-rows / scale))` (five reductions by
    /// rows, 32 cores; cause unknown).
    pub row_reduction_floor: f64,
    /// See `row_reduction_floor`.
    pub row_reduction_extra: f64,
    /// See `row_reduction_floor`; rows.
    pub row_reduction_scale_rows: f64,
}

/// Rate that falls with the logarithms of columns and rows:
/// `clamp(at_one - per_column * log2(sticks) - per_row * log2(rows))`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransportRate {
    /// Rate for one stick of one row.
    pub at_one: f64,
    /// Decrease for each doubling of the sticks in a row.
    pub per_column: f64,
    /// Decrease for each doubling of the rows.
    pub per_row: f64,
    /// Minimum rate.
    pub floor: f64,
}

/// Rate with a broadcast input: three fits, each for its own range of shapes. `c` and `r` are log2 of columns and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BroadcastRate {
    /// Coefficients from 1024 rows on: `a - b c - d r`, then minimum and maximum.
    pub tall: [f64; 5],
    /// Coefficients for fewer rows and up to 4096 columns: `a + b r + d r^2 + e c`, then minimum and maximum.
    pub small: [f64; 6],
    /// Coefficients for all other shapes: `a + b max(0, c - 6 - r) + d max(0, r - c + 6)`, then minimum and maximum (a
    /// valley at rows = columns / 64).
    pub wide: [f64; 5],
}

/// Constants of torch-spyre's formula of August 2026 ("cost models, 2.3"), including its errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TorchSpyreTime {
    /// Fraction of `one_way` that a row reduction reaches on 1, 2, 4, 8, 16 and 32 cores, linear in log2 between (32:
    /// fitted; 8 and 16: one run each; fewer: later ruled out of scope).
    pub row_reduction_cores: [f64; 6],
    /// Multiply-adds per ns and core (slope of time over 1 / cores, 4 to 32 cores; nominal 1536).
    pub products: f64,
    /// Multiply-adds per ns and core with the batch between the sticks, from `inner_batch_entries` entries and
    /// `inner_batch_cores` cores (one split, 32 cores).
    pub inner_batch_products: f64,
    /// See `inner_batch_products`.
    pub inner_batch_entries: f64,
    /// See `inner_batch_products`.
    pub inner_batch_cores: f64,
    /// Multiply-adds per ns and core if all entries share one operand: up to `shared_entries` entries, and above.
    pub shared_products: [f64; 2],
    /// See `shared_products`.
    pub shared_entries: f64,
    /// Rows per core that fill the array, and the exponent of the rate below.
    pub full_array: [f64; 2],
    /// Additional traffic, as a multiple of the operands' bytes, per doubling of a core's result elements beyond
    /// `spill_elements`, at most `spill_most` (balanced matmuls; the shape is fitted, the true cause differs).
    pub spill: f64,
    /// See `spill`.
    pub spill_elements: f64,
    /// See `spill`.
    pub spill_most: f64,
    /// ns per result element of a core beyond `split_elements`, for each doubling of the cores along the longer
    /// dimension beyond `split_long_cores`, and along the shorter one beyond `split_short_cores` (a sweep of forced
    /// splits).
    pub split_long_ns: f64,
    /// See `split_long_ns`.
    pub split_short_ns: f64,
    /// See `split_long_ns`.
    pub split_elements: f64,
    /// See `split_long_ns`.
    pub split_long_cores: f64,
    /// See `split_long_ns`.
    pub split_short_cores: f64,
    /// Fraction of a repeated read that adds time (32 cores; contradicted by runs on 16).
    pub reread: f64,
    /// Efficiency of a tile of `h` rows per core and `c` columns: `(h / rows)^power * (c / columns)^power`, in this
    /// order (48 tiled softmax rows, 9 % off).
    pub tile: [f64; 4],
    /// Efficiency below which the tile efficiency falls faster, and the exponent of that fall.
    pub tile_low: [f64; 2],
    /// Efficiency of a tile with a matmul: rows, exponent, the maximum, and the rows below which it falls with the
    /// exponent of `tile_low` (carried over from softmax, not fitted).
    pub product_tile: [f64; 4],
    /// Bytes of a core's tile beyond which it slows down, and the exponent. `product_tile_bytes` applies to kernels
    /// with a matmul. The cause is not identified.
    pub tile_bytes: [f64; 2],
    /// See `tile_bytes`.
    pub product_tile_bytes: [f64; 2],
}

/// Constants of the recommended formula ("cost models, section 10", with the changes that docs/reference/cost-model.md
/// lists). A matmul's rate, array, and penalties for large slices and lopsided splits are those of [`TorchSpyreTime`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecommendedTime {
    /// ns of launching a kernel (not measured).
    pub kernel_ns: f64,
    /// ns of an op in a kernel (fitted here on short softmaxes; 300 to 500 when shapes are left out).
    pub op_ns: f64,
    /// ns of an op in each iteration of a loop (fitted here on tiled softmaxes; 320 to 340).
    pub iteration_ns: f64,
    /// Elements per ns and core of a pointwise op on tensors in HBM (fitted here on 1 to 32 cores; 13.7 to 16).
    pub pointwise: f64,
    /// Elements per ns and core of a reduction on tensors in HBM (fitted here; 7.3 to 8.9).
    pub reduction: f64,
    /// Elements per ns and core of a pointwise op or a reduction on tensors in LX (fitted here on softmaxes; 19 to 21).
    pub lx: f64,
    /// ns for each byte that an op reads and an earlier op of the kernel wrote to HBM (chains with and without LX;
    /// 0.005 to 0.0074).
    pub read_back_ns_per_byte: f64,
    /// Rows of a core's tile below which its HBM traffic slows down as their square root (softmax tiles of 4 rows; one
    /// published case of a tile of 4 rows, 2048 columns agrees).
    pub tile_rows: f64,
    /// Fraction of the shorter of memory and compute time that a matmul hides (recovered from tables of torch-spyre's
    /// report, then removed there).
    pub overlap: f64,
    /// Fraction of a repeated read of a matmul operand that adds time (fitted here on row-tiled matmuls; 0.59 to 0.65).
    pub reread: f64,
    /// Efficiency of splitting the contracted dimension: `k` slices count as `k` times this factor (all matmuls that
    /// split it).
    pub summed_slices: f64,
    /// ns per doubling of the row slices of a matmul: breaks ties (chosen by hand).
    pub row_split_ns: f64,
    /// Exponent with which the operand bytes of a matmul grow with the cores along its longer side beyond `fan_cores`
    /// (chosen by hand on matmuls).
    pub fan: f64,
    /// See `fan`, `fan_rows` and `fan_columns`.
    pub fan_cores: f64,
    /// Multiply-adds per ns and core of a batched matmul with the batch between the sticks of both operands: two or
    /// three entries, and more (sweeps on 32 cores).
    pub inner_batch: [f64; 2],
    /// Multiply-adds per ns and core of a batched matmul with the batch between the sticks of one operand (two
    /// published times of one shape).
    pub half_inner_batch: f64,
    /// `inner_batch` falls with this power of the cores along the rows beyond `fan_cores` (fitted here; 0.76 to 0.95).
    pub fan_rows: f64,
    /// `inner_batch` falls with this power of the cores along the columns beyond `fan_cores` (fitted here; 0.16 to
    /// 0.36).
    pub fan_columns: f64,
    /// Maximum of the divisor of `inner_batch` (1.8 to 3).
    pub fan_most: f64,
    /// Multiply-adds per ns and core if the cores split the batch of a matmul whose batch is between the sticks (72 to
    /// 73 on 8 and 16 cores).
    pub batch_split: f64,
    /// Exponent with which `batch_split` falls with the ratio of column slices to row slices, if that is above 1 (three
    /// splits on 32 cores; the split of columns alone took 1.79 times as long as the split of rows alone).
    pub batch_split_columns: f64,
    /// `batch_split` for other batched matmuls, as a fraction of their rate (carried over, not fitted).
    pub batch_split_share: f64,
    /// Slices of the batch beyond which the rate falls, and the exponent (three splits on 32 cores; 0.75 to 0.78).
    pub batch_slices: [f64; 2],
    /// Ratios of measured times to estimates, by kind of op.
    pub spread: EstimateErrorRatios,
}

/// Ratios of measured time to estimate: for each kind of op, the factors between which nineteen of twenty times lie.
///
/// Each end excludes one in twenty of the published rows of a kind (none if there are fewer), and is moved out by 8 %.
/// The intervals therefore also hold for shapes outside of the fit: for 97 % of the rows, each with its shape left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EstimateErrorRatios {
    /// Pointwise ops, chains of them included (31 rows).
    pub pointwise: [f64; 2],
    /// Ops with a broadcast input (12 rows).
    pub broadcast: [f64; 2],
    /// Reductions (19 rows) and the ops of softmaxes (19 rows).
    pub reduction: [f64; 2],
    /// Ops that move sticks or their elements (12 rows).
    pub transport: [f64; 2],
    /// Matmuls, row-tiled ones included (112 rows).
    pub product: [f64; 2],
    /// Batched matmuls (40 rows).
    pub batched_product: [f64; 2],
    /// Ops without published times (no rows: a guess).
    pub unmeasured: [f64; 2],
}

impl HbmRates {
    const fn spyre() -> Self {
        Self {
            one_way: 150.0,
            turnaround_ns_per_byte: 0.005_74,
            restickify: 116.0,
            column_reduction: 113.0,
            broadcast_row: BroadcastRate {
                tall: [183.5, 2.8, 2.6, 100.0, 135.0],
                small: [-350.0, 105.0, -5.5, -2.0, 45.0, 140.0],
                wide: [92.0, 32.0, 10.0, 40.0, 128.0],
            },
            broadcast_column: BroadcastRate {
                tall: [162.0, 1.8, 2.2, 95.0, 130.0],
                small: [-270.0, 70.0, -3.5, 3.0, 45.0, 120.0],
                wide: [98.0, 15.0, 8.0, 40.0, 120.0],
            },
            spread_sticks: TransportRate { at_one: 144.0, per_column: 9.6, per_row: 2.4, floor: 44.0 },
            spread_rows: TransportRate { at_one: 110.0, per_column: 0.8, per_row: 0.0, floor: 90.0 },
            swap_outer: TransportRate { at_one: 140.0, per_column: 6.8, per_row: 1.2, floor: 83.0 },
            swap_outer_halving: 13.0,
            swap_outer_floor: 40.0,
            row_reduction_floor: 114.0,
            row_reduction_extra: 61.0,
            row_reduction_scale_rows: 3700.0,
        }
    }
}

impl TorchSpyreTime {
    const fn spyre() -> Self {
        Self {
            row_reduction_cores: [0.11, 0.22, 0.43, 0.54, 0.54, 1.0],
            products: 1140.0,
            inner_batch_products: 160.0,
            inner_batch_entries: 4.0,
            inner_batch_cores: 8.0,
            shared_products: [705.0, 470.0],
            shared_entries: 4.0,
            full_array: [64.0, 0.35],
            spill: 0.45,
            spill_elements: 65_536.0,
            spill_most: 1.5,
            split_long_ns: 2.62,
            split_short_ns: 2.88,
            split_elements: 131_072.0,
            split_long_cores: 8.0,
            split_short_cores: 16.0,
            reread: 0.85,
            tile: [7.9, 0.5, 2048.0, 0.38],
            tile_low: [0.248, 0.1],
            product_tile: [13.0, 0.68, 0.95, 2.0],
            tile_bytes: [524_288.0, 0.06],
            product_tile_bytes: [2_097_152.0, 0.15],
        }
    }
}

impl RecommendedTime {
    const fn spyre() -> Self {
        Self {
            kernel_ns: 0.0,
            op_ns: 450.0,
            iteration_ns: 350.0,
            pointwise: 15.0,
            reduction: 7.5,
            lx: 20.0,
            read_back_ns_per_byte: 0.005,
            tile_rows: 8.0,
            overlap: 0.46,
            reread: 0.65,
            summed_slices: 0.5,
            row_split_ns: 5.0,
            fan: 0.25,
            fan_cores: 8.0,
            inner_batch: [290.0, 160.0],
            half_inner_batch: 270.0,
            fan_rows: 0.8,
            fan_columns: 0.3,
            fan_most: 2.2,
            batch_split: 70.0,
            batch_split_columns: 0.4,
            batch_split_share: 0.44,
            batch_slices: [4.0, 0.75],
            spread: EstimateErrorRatios::spyre(),
        }
    }
}

impl EstimateErrorRatios {
    const fn spyre() -> Self {
        Self {
            pointwise: [0.87, 1.36],
            broadcast: [0.91, 1.27],
            reduction: [0.83, 1.50],
            transport: [0.80, 1.18],
            product: [0.69, 1.25],
            batched_product: [0.64, 1.35],
            unmeasured: [0.33, 3.0],
        }
    }
}

impl Default for TimeModel {
    fn default() -> Self {
        Self::spyre()
    }
}

impl Default for HbmRates {
    fn default() -> Self {
        Self::spyre()
    }
}

impl Default for TorchSpyreTime {
    fn default() -> Self {
        Self::spyre()
    }
}

impl Default for RecommendedTime {
    fn default() -> Self {
        Self::spyre()
    }
}

impl Default for EstimateErrorRatios {
    fn default() -> Self {
        Self::spyre()
    }
}
