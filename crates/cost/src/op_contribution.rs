//! Contribution of one op to the cost of its kernel.

/// Contribution of one op to the cost of its kernel.
pub(super) struct OpContribution {
    pub hbm_ns: f64,
    pub compute_ns: f64,
    pub fixed_ns: f64,
    pub total_ns: f64,
    pub spread: [f64; 2],
    pub is_ranked: bool,
}
