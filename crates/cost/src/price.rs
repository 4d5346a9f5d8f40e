//! The price of a kernel: time as an interval, and what it is made of.

use super::{kernel::KernelOp, recommended, torch_spyre};
use machine::TimeModel;
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, iter::Sum};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

/// Which model prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formula {
    /// The one to decide by.
    #[default]
    Recommended,
    /// torch-spyre's of August 2026, wrong spots included: to compare with.
    TorchSpyre,
}

/// Resource that takes most of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// Traffic with HBM.
    #[default]
    Hbm,
    /// Computing, or moving between LX and the cores.
    Compute,
    /// Starting ops and iterations.
    Fixed,
}

impl Limit {
    /// A word for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hbm => "hbm",
            Self::Compute => "compute",
            Self::Fixed => "fixed",
        }
    }
}

/// The modeled time of a kernel, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Nineteen of twenty published times of such ops are between this part of the estimate and the upper end.
    pub low_ns: f64,
    /// The estimate: what plans are compared by.
    pub estimate_ns: f64,
    /// The upper end.
    pub high_ns: f64,
    /// Traffic with HBM, if nothing else took time.
    pub hbm_ns: f64,
    /// Computing, if nothing else took time.
    pub compute_ns: f64,
    /// Starting the kernel, its ops and its iterations.
    pub fixed_ns: f64,
    /// Resource that takes most of the time.
    pub limit: Limit,
    /// Whether times of all its kinds of ops are published; without them the interval is a guess.
    pub is_ranked: bool,
}

/// Prices a kernel. Nothing is allocated; time linear in the ops, some 20 ns each.
///
/// The ends of the interval come from published times over estimates, by kind of op; they err together, so the ends of ops add up.
/// torch-spyre's formula has no interval: its ends are the estimate.
#[must_use]
pub fn price(ops: &[KernelOp], model: &TimeModel, formula: Formula) -> Price {
    if formula == Formula::TorchSpyre {
        let ns = torch_spyre::price_ns(ops, model);
        return Price { low_ns: ns, estimate_ns: ns, high_ns: ns, is_ranked: true, ..Price::default() };
    }
    let start = model.recommended.kernel_ns;
    let mut price = Price { low_ns: start, estimate_ns: start, high_ns: start, fixed_ns: start, is_ranked: true, ..Price::default() };
    for op in ops {
        let part = recommended::part(op, model);
        price.low_ns += part.total_ns * part.spread[0];
        price.estimate_ns += part.total_ns;
        price.high_ns += part.total_ns * part.spread[1];
        price.hbm_ns += part.hbm_ns;
        price.compute_ns += part.compute_ns;
        price.fixed_ns += part.fixed_ns;
        price.is_ranked &= part.is_ranked;
    }
    price.limit = limit(&price);
    price
}

/// Estimates the contribution of one op to the time of its kernel by the recommended formula, in ns. The estimates of all ops
/// plus the start of the kernel are the estimate of [`price`].
#[must_use]
pub fn estimate_op_ns(op: &KernelOp, model: &TimeModel) -> f64 {
    recommended::part(op, model).total_ns
}

/// Cost by the recommended formula.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Time, ns, without the start of the kernel.
    pub ns: f64,
    /// Bytes to and from HBM.
    pub hbm_bytes: i64,
}

impl Cost {
    /// Computes the contribution of one op to the cost of its kernel.
    #[must_use]
    pub fn of(op: &KernelOp, model: &TimeModel) -> Self {
        Self { ns: estimate_op_ns(op, model), hbm_bytes: op.bytes.hbm() }
    }
}

/// Objective by which plans are compared.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Display, EnumString, IntoStaticStr, VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Objective {
    /// Modeled time; of equal times, bytes.
    #[default]
    Time,
    /// Bytes to and from HBM; of as many bytes, time.
    Bytes,
}

impl Objective {
    /// Which of two costs is preferred: the lesser one.
    #[must_use]
    pub fn order(self, one: &Cost, other: &Cost) -> Ordering {
        let (time, bytes) = (one.ns.total_cmp(&other.ns), one.hbm_bytes.cmp(&other.hbm_bytes));
        match self {
            Self::Time => time.then(bytes),
            Self::Bytes => bytes.then(time),
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self { ns: sum.ns + cost.ns, hbm_bytes: sum.hbm_bytes.saturating_add(cost.hbm_bytes) })
    }
}

fn limit(price: &Price) -> Limit {
    if price.fixed_ns > price.hbm_ns.max(price.compute_ns) {
        Limit::Fixed
    } else if price.compute_ns > price.hbm_ns {
        Limit::Compute
    } else {
        Limit::Hbm
    }
}
