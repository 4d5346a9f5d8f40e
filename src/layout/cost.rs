//! Cost of a choice of stick dimensions.

use crate::assignment;

/// Cost of a choice of stick dimensions, compared lexicographically: bytes moved by restickifies, then bytes that the
/// host must reorder, then bytes that buffers occupy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StickCost {
    /// Bytes that restickifies move.
    pub moved_bytes: u64,
    /// Bytes of arguments and results whose last dimension is not in the sticks.
    pub strided_bytes: u64,
    /// Bytes of device memory that the buffers take.
    pub buffer_bytes: u64,
}

impl assignment::AdditiveCost for StickCost {
    const ZERO: Self = Self { moved_bytes: 0, strided_bytes: 0, buffer_bytes: 0 };
    const IMPOSSIBLE: Self = Self { moved_bytes: u64::MAX, strided_bytes: u64::MAX, buffer_bytes: u64::MAX };

    /// Returns `IMPOSSIBLE` if the moved bytes overflow.
    fn saturating_add(self, other: Self) -> Self {
        self.moved_bytes.checked_add(other.moved_bytes).map_or(Self::IMPOSSIBLE, |moved_bytes| Self {
            moved_bytes,
            strided_bytes: self.strided_bytes.saturating_add(other.strided_bytes),
            buffer_bytes: self.buffer_bytes.saturating_add(other.buffer_bytes),
        })
    }
}
