//! Bytes by memory and direction, for reports.

use schemars::JsonSchema;
use serde::Serialize;

/// Bytes moved, over all executions; see [`super::OpTraffic`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bytes {
    /// Read from HBM.
    pub hbm_read: i64,
    /// Written to HBM.
    pub hbm_written: i64,
    /// Read from LX, all cores together.
    pub lx_read: i64,
    /// Written to LX, all cores together.
    pub lx_written: i64,
}

impl Bytes {
    /// Returns the HBM bytes in both directions.
    #[must_use]
    pub const fn hbm(&self) -> i64 {
        self.hbm_read + self.hbm_written
    }

    /// Returns the LX bytes in both directions.
    #[must_use]
    pub const fn lx(&self) -> i64 {
        self.lx_read + self.lx_written
    }

    /// Returns the bytes of one of `num_iterations` identical iterations.
    #[must_use]
    pub fn divide_by(&self, num_iterations: i64) -> Self {
        let part = |bytes: i64| bytes / num_iterations.max(1);
        let Self { hbm_read, hbm_written, lx_read, lx_written } = *self;
        Self {
            hbm_read: part(hbm_read),
            hbm_written: part(hbm_written),
            lx_read: part(lx_read),
            lx_written: part(lx_written),
        }
    }

    /// Adds the bytes of another count.
    pub fn add(&mut self, other: &Self) {
        self.hbm_read += other.hbm_read;
        self.hbm_written += other.hbm_written;
        self.lx_read += other.lx_read;
        self.lx_written += other.lx_written;
    }
}
