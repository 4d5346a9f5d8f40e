//! Rounding errors: differences between the device's numbers and unrounded numbers.

/// Accumulated rounding errors of an op's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpRoundingError {
    /// Number of compared values.
    pub count: u64,
    /// Sum of the squares of the exact numbers.
    pub squares: f64,
    /// Sum of the squares of the differences.
    pub squares_off: f64,
    /// First device number outside of its bounds.
    pub escaped: Option<BoundViolation>,
}

/// Device number that rounding cannot explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundViolation {
    /// Device number.
    pub device: f32,
    /// Lower bound of the device's number.
    pub low: f64,
    /// Upper bound of the device's number.
    pub high: f64,
}

impl OpRoundingError {
    /// Returns the root mean square of the exact numbers.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn magnitude(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// Returns the root mean square of the differences, relative to that of the exact numbers.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        if self.squares_off == 0.0 { 0.0 } else { (self.squares_off / self.squares).sqrt() }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.squares += other.squares;
        self.squares_off += other.squares_off;
        self.escaped = self.escaped.or(other.escaped);
    }
}
