//! Proof of a lower bound, before it is written as a certificate.

use super::{cut::PackingCut, multipliers::StepMultipliers, prices::DualPrices};

/// Proof of a lower bound: prices of LX and cuts, or multipliers per value and operation.
#[derive(Clone)]
pub(super) struct BoundProof {
    pub(super) prices: DualPrices,
    pub(super) cuts: Vec<PackingCut>,
    pub(super) multipliers: Vec<StepMultipliers>,
}

pub(super) fn ceil_div(dividend: i64, divisor: i64) -> i64 {
    dividend.div_euclid(divisor) + i64::from(dividend.rem_euclid(divisor) > 0)
}
