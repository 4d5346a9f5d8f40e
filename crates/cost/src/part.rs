//! What one op adds to the price of its kernel.

/// What one op adds.
pub(super) struct Part {
    pub hbm_ns: f64,
    pub compute_ns: f64,
    pub fixed_ns: f64,
    pub total_ns: f64,
    pub spread: [f64; 2],
    pub is_ranked: bool,
}
