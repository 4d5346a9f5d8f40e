//! Error messages for ops that cannot be divided, in the user's names.

use super::WorkError;
use program::UndividedOp;

impl WorkError {
    /// Returns the message for the author of the op, with the names of its iteration dimensions (one each, empty if
    /// unknown) and their units. For a span, the message also has the tensor, and the slices of the dimensions along
    /// which it moves.
    #[must_use]
    pub fn explain(&self, op: &UndividedOp, names: &[String]) -> String {
        let dim_text = |dim: usize| match names.get(dim).filter(|name| !name.is_empty()) {
            Some(name) => format!("dimension '{name}'"),
            None => format!("iteration dimension {dim}"),
        };
        let unit = |dim: usize, units: i64| if op.dims[dim].size == units { "positions" } else { "sticks" };
        let message = match self {
            Self::Uneven { dim, units, slices } => {
                format!(
                    "{slices} slices of {}, which has {units} {}; use a divisor of {units}",
                    dim_text(*dim),
                    unit(*dim, *units)
                )
            }
            Self::Blocked { dim } if op.is_masked_reduction(*dim) => {
                format!(
                    "{} cannot be split across cores: the reduction masks its last stick; split another dimension",
                    dim_text(*dim)
                )
            }
            Self::Blocked { dim } => {
                format!("{} cannot be split across cores; split another dimension", dim_text(*dim))
            }
            Self::Span { operand, bytes, limit, split } => {
                let units = op.units();
                let along = op.operand_dims(*operand).into_iter().map(|dim| {
                    let cut = if op.may_split(dim) {
                        format!("{} of at most {}", split.slices()[dim], units[dim])
                    } else {
                        "indivisible".to_owned()
                    };
                    format!("{}: {cut}", dim_text(dim))
                });
                let along: Vec<String> = along.collect();
                let parts = bytes.unsigned_abs().div_ceil(limit.unsigned_abs().max(1));
                let device_size = op.operands[*operand].layout.device_size();
                format!(
                    "{self} (device size {device_size:?}; slices: {}); split the tensor into {parts} or more smaller ones in the program",
                    along.join(", ")
                )
            }
            _ => self.to_string(),
        };
        self.code().format(message)
    }
}
