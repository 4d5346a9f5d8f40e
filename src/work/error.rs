//! Why an op cannot be divided.

use super::{SplitError, WorkSplit};
use crate::{hint::NameError, layout::LayoutError};

/// Why an op cannot be divided. Dimensions are iteration dimensions, operands are numbered inputs first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The numbers of slices are none of a split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Every core gets the same number of units (sticks or positions).
    #[error("{slices} slices do not divide the {units} units of iteration dimension {dim}")]
    Uneven {
        /// The dimension.
        dim: usize,
        /// Sticks, or positions, of the dimension.
        units: i64,
        /// Its slices.
        slices: i64,
    },
    /// The device function cannot be cut along this dimension.
    #[error("iteration dimension {dim} cannot be divided over cores")]
    Blocked {
        /// The dimension.
        dim: usize,
    },
    /// There are only so many cores.
    #[error("the split needs {needed} cores of {cores}")]
    Cores {
        /// Product of the slices.
        needed: i64,
        /// Cores of the target.
        cores: i64,
    },
    /// Partial results are combined along one dimension only.
    #[error("more than one reduction dimension would be divided over cores")]
    Reductions,
    /// A core can address only so much of one tensor.
    #[error("a core would address {bytes} bytes of operand {operand}; the hardware allows {limit}")]
    Span {
        /// The operand.
        operand: usize,
        /// Bytes that one core addresses.
        bytes: i64,
        /// The limit of the target.
        limit: i64,
        /// The split with which it does.
        split: WorkSplit,
    },
    /// A hint names a dimension in two ways.
    #[error("'{first}' and '{second}' both name iteration dimension {dim}")]
    TwoNames {
        /// One name.
        first: String,
        /// The other one.
        second: String,
        /// The dimension.
        dim: usize,
    },
    /// A name in a hint means no one dimension.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An operand has one coordinate per device dimension.
    #[error("operand {operand} has {found} coordinates for {expected} device dimensions")]
    Coordinates {
        /// The operand.
        operand: usize,
        /// Device dimensions of its layout.
        expected: usize,
        /// Its coordinates.
        found: usize,
    },
    /// A coordinate names no iteration dimension, or is none.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
