//! Cost of a kernel: an interval of time, and its components.

use super::{op_features::OpFeatures, recommended_formula, torch_spyre};
use machine::TimeModel;
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, iter::Sum};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// Cost formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostFormula {
    /// The recommended formula, which decides between plans.
    #[default]
    Recommended,
    /// torch-spyre's formula of August 2026, including its errors: for comparison.
    TorchSpyre,
}

/// Resource that takes most of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bottleneck {
    /// HBM traffic.
    #[default]
    Hbm,
    /// Compute, or transfers between LX and the cores.
    Compute,
    /// Launch overhead of ops and iterations.
    Fixed,
}

impl Bottleneck {
    /// Returns the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hbm => "hbm",
            Self::Compute => "compute",
            Self::Fixed => "fixed",
        }
    }
}

/// Modeled time of a kernel, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeEstimate {
    /// Lower end: nineteen of twenty published times of such ops are between the lower and the upper end.
    pub low_ns: f64,
    /// Estimate by which plans are compared.
    pub estimate_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// Time of the HBM traffic alone.
    pub hbm_ns: f64,
    /// Time of the compute alone.
    pub compute_ns: f64,
    /// Launch overhead of the kernel, its ops and its iterations.
    pub fixed_ns: f64,
    /// Resource that takes most of the time.
    pub limit: Bottleneck,
    /// Whether published times exist for all its kinds of ops; otherwise the interval is a guess.
    pub is_ranked: bool,
}

/// Computes the cost of a kernel. Allocates nothing; time is linear in the number of ops, about 20 ns each.
///
/// The ends of the interval are the estimate times the extreme ratios of published times to estimates, by kind of op.
/// The errors of ops are assumed to be correlated, so the ends add up. torch-spyre's formula has no interval: its ends
/// equal the estimate.
#[must_use]
pub fn estimate_kernel_time(ops: &[OpFeatures], model: &TimeModel, formula: CostFormula) -> TimeEstimate {
    if formula == CostFormula::TorchSpyre {
        let ns = torch_spyre::estimate_kernel_ns(ops, model);
        return TimeEstimate { low_ns: ns, estimate_ns: ns, high_ns: ns, is_ranked: true, ..TimeEstimate::default() };
    }
    let start = model.recommended.kernel_ns;
    let mut price = TimeEstimate {
        low_ns: start,
        estimate_ns: start,
        high_ns: start,
        fixed_ns: start,
        is_ranked: true,
        ..TimeEstimate::default()
    };
    for op in ops {
        let part = recommended_formula::compute_contribution(op, model);
        price.low_ns += part.total_ns * part.spread[0];
        price.estimate_ns += part.total_ns;
        price.high_ns += part.total_ns * part.spread[1];
        price.hbm_ns += part.hbm_ns;
        price.compute_ns += part.compute_ns;
        price.fixed_ns += part.fixed_ns;
        price.is_ranked &= part.is_ranked;
    }
    price.limit = find_bottleneck(&price);
    price
}

/// Estimates the contribution of one op to the time of its kernel by the recommended formula, in ns. The estimates of
/// all ops plus the start of the kernel are the estimate of [`estimate_kernel_time`].
#[must_use]
pub fn estimate_op_ns(op: &OpFeatures, model: &TimeModel) -> f64 {
    recommended_formula::compute_contribution(op, model).total_ns
}

/// Cost of an op by the recommended formula.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModeledCost {
    /// Time, ns, without the start of the kernel.
    pub ns: f64,
    /// Bytes read from and written to HBM.
    pub hbm_bytes: i64,
}

impl ModeledCost {
    /// Computes the contribution of one op to the cost of its kernel.
    #[must_use]
    pub fn from_op(op: &OpFeatures, model: &TimeModel) -> Self {
        Self { ns: estimate_op_ns(op, model), hbm_bytes: op.bytes.hbm() }
    }
}

/// Objective by which plans are compared.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantNames,
    Hash,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Objective {
    /// Modeled time; ties are broken by bytes.
    #[default]
    Time,
    /// HBM bytes; ties are broken by time.
    Bytes,
}

impl Objective {
    /// Compares two costs: the smaller one is preferred.
    #[must_use]
    pub fn compare(self, one: &ModeledCost, other: &ModeledCost) -> Ordering {
        let (time, bytes) = (one.ns.total_cmp(&other.ns), one.hbm_bytes.cmp(&other.hbm_bytes));
        match self {
            Self::Time => time.then(bytes),
            Self::Bytes => bytes.then(time),
        }
    }
}

impl Sum for ModeledCost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            ns: sum.ns + cost.ns,
            hbm_bytes: sum.hbm_bytes.saturating_add(cost.hbm_bytes),
        })
    }
}

fn find_bottleneck(price: &TimeEstimate) -> Bottleneck {
    if price.fixed_ns > price.hbm_ns.max(price.compute_ns) {
        Bottleneck::Fixed
    } else if price.compute_ns > price.hbm_ns {
        Bottleneck::Compute
    } else {
        Bottleneck::Hbm
    }
}
