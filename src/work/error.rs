//! Errors of work division.

use crate::codes::{self, Code};
use program::DimNameError;
use program::layout::LayoutError;
use program::{SplitError, UndividedOpError, WorkSplit};

/// Reason why an op cannot be divided. Dimensions are iteration dimensions; operands are numbered inputs first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The slice counts do not form a split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Every core must get the same number of units (sticks or positions).
    #[error("{slices} slices of iteration dimension {dim}, which has {units} units; use a divisor of {units}")]
    Uneven {
        /// The dimension.
        dim: usize,
        /// Sticks, or positions, of the dimension.
        units: i64,
        /// Its slices.
        slices: i64,
    },
    /// The device function cannot be split along this dimension.
    #[error("iteration dimension {dim} cannot be split across cores; split another dimension")]
    Blocked {
        /// The dimension.
        dim: usize,
    },
    /// The number of cores is limited.
    #[error("expected at most {cores} slices in all, one per core, found {needed}; request fewer slices")]
    Cores {
        /// Product of the slices.
        needed: i64,
        /// Cores of the target.
        cores: i64,
    },
    /// Partial results are combined along one dimension only.
    #[error("expected core splits of at most one reduction dimension, found several; split one of them")]
    Reductions,
    /// The bytes of one tensor that a core can address are limited.
    #[error("operand {operand} spans {bytes} bytes on one core; the hardware limit is {limit}")]
    Span {
        /// The operand.
        operand: usize,
        /// Bytes that one core addresses.
        bytes: i64,
        /// The limit of the target.
        limit: i64,
        /// Split under which the core addresses these bytes.
        split: WorkSplit,
    },
    /// A hint gives a dimension two names.
    #[error("expected one name for iteration dimension {dim}, found '{first}' and '{second}'; use one of them")]
    TwoNames {
        /// The first name.
        first: String,
        /// The second name.
        second: String,
        /// The dimension.
        dim: usize,
    },
    /// A name in a hint does not identify one dimension.
    #[error(transparent)]
    Name(#[from] DimNameError),
    /// The description of the op is contradictory.
    #[error(transparent)]
    Operation(UndividedOpError),
    /// A coordinate is invalid, or refers to no iteration dimension.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl From<UndividedOpError> for WorkError {
    fn from(error: UndividedOpError) -> Self {
        match error {
            UndividedOpError::Split(error) => Self::Split(error),
            UndividedOpError::Layout(error) => Self::Layout(error),
            UndividedOpError::Coordinates { .. } => Self::Operation(error),
        }
    }
}

impl WorkError {
    /// Returns the code of the message.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Split(_) | Self::Uneven { .. } => codes::SPLIT_DIVISOR,
            Self::Blocked { .. } | Self::Reductions => codes::SPLIT_BLOCKED,
            Self::Cores { .. } => codes::SPLIT_CORES,
            Self::Span { .. } => codes::SPAN,
            Self::TwoNames { .. } | Self::Name(_) => codes::SPLIT_NAME,
            Self::Operation(_) | Self::Layout(_) => codes::LAYOUT_CONFLICT,
        }
    }
}
