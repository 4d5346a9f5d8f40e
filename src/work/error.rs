//! Why an op cannot be divided.

use super::{Operation, WorkSplit};
use crate::{hint::NameError, layout::LayoutError};

/// Why an op cannot be divided. Dimensions are iteration dimensions, operands are numbered inputs first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// A split has one number of slices per iteration dimension.
    #[error("{found} numbers of slices for {expected} iteration dimensions")]
    Length {
        /// Iteration dimensions of the op.
        expected: usize,
        /// Numbers in the split.
        found: usize,
    },
    /// A dimension has at least one slice.
    #[error("iteration dimension {dim} cannot be cut into {slices} slices")]
    Slices {
        /// The dimension.
        dim: usize,
        /// Its slices.
        slices: i64,
    },
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
    /// An order of cores that is no order of the dimensions.
    #[error("the order of cores has every one of the {dims} dimensions once, found {order:?}")]
    Order {
        /// Dimensions of the split.
        dims: usize,
        /// What was given.
        order: Vec<usize>,
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

impl WorkError {
    /// The message for the user who wrote the op: with the names of its iteration dimensions (one text each, empty where unknown), what
    /// their units are, and for a span the tensor and the slices of the dimensions that it runs along.
    #[must_use]
    pub fn explained(&self, op: &Operation, names: &[String]) -> String {
        let dim_text = |dim: usize| match names.get(dim).filter(|name| !name.is_empty()) {
            Some(name) => format!("iteration dimension {dim} ('{name}')"),
            None => format!("iteration dimension {dim}"),
        };
        let unit = |dim: usize, units: i64| if op.dims[dim].size == units { "positions" } else { "sticks" };
        match self {
            Self::Uneven { dim, units, slices } => {
                format!("{slices} slices do not divide the {units} {} of {}", unit(*dim, *units), dim_text(*dim))
            }
            Self::Blocked { dim } if op.is_masked_reduction(*dim) => {
                format!("{} cannot be divided over cores: its last stick is partly empty and the reduction masks it", dim_text(*dim))
            }
            Self::Blocked { dim } => format!("{} cannot be divided over cores", dim_text(*dim)),
            Self::Span { operand, split, .. } => {
                let units = op.units();
                let along = op.dims_of_operand(*operand).into_iter().map(|dim| {
                    let cut = if op.may_split(dim) {
                        format!("{} of at most {}", split.slices()[dim], units[dim])
                    } else {
                        "indivisible".to_owned()
                    };
                    format!("{}: {cut}", dim_text(dim))
                });
                let along: Vec<String> = along.collect();
                format!(
                    "{self}; its device size is {:?}, and the slices are {}",
                    op.operands[*operand].layout.device_size(),
                    along.join(", ")
                )
            }
            _ => self.to_string(),
        }
    }
}
