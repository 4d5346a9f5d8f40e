//! Proof of a lower bound.

use super::{cut::Cut, prices::Prices, rents::Rented};

/// Proof of a lower bound: Lagrange multipliers of the capacity and cuts, or multipliers per value and operation.
#[derive(Clone)]
pub(super) struct Proof {
    pub(super) prices: Prices,
    pub(super) cuts: Vec<Cut>,
    pub(super) rents: Vec<Rented>,
}

pub(super) fn ceil_div(dividend: i64, divisor: i64) -> i64 {
    dividend.div_euclid(divisor) + i64::from(dividend.rem_euclid(divisor) > 0)
}
