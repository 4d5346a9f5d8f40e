//! Layout conflicts that no choice of stick dimensions resolves, as messages for the user.

use super::LayoutOp;
use crate::codes::{self, Code};
use program::layout::{IndexError, LayoutError, OperandView, split_iteration};

/// Op that cannot read an operand or write its result under any choice of layouts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LayoutConflict {
    /// Number of the op in the program.
    pub op: usize,
    /// The kind of conflict.
    pub kind: LayoutConflictKind,
}

/// Kind of layout conflict. Sizes are in elements, dimensions those of the buffer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutConflictKind {
    /// No chain of moves makes an operand readable (torch-spyre facts, B.4).
    #[error(
        "expected another stick dimension of operand {operand} (shape {sizes:?}), found {}, and no relayout gathers elements of several \
         sticks into one; transpose or copy the operand", sticks(*.found)
    )]
    Read {
        /// Index of the operand.
        operand: usize,
        /// Sizes of the operand's buffer.
        sizes: Vec<i64>,
        /// Dimension in the buffer's sticks; `None` for one element per stick.
        found: Option<usize>,
    },
    /// The indices of a view are not digits, or overlap.
    #[error("cannot read an operand through its views: {0}; copy the tensor between the views")]
    View(IndexError),
    /// Writing a slice would overwrite neighboring elements.
    #[error("{0}")]
    Part(LayoutError),
    /// A slice is written along the sticks of its buffer.
    #[error("cannot write a slice of a buffer of shape {sizes:?} with {}: the slice has {} when it is written; slice along \
     another dimension", sticks(*.found), sticks(*.expected))]
    PartSticks {
        /// Sizes of the buffer.
        sizes: Vec<i64>,
        /// The dimension in its sticks.
        found: Option<usize>,
        /// Dimension that the op would write.
        expected: Option<usize>,
    },
    /// The layout of the result is fixed, but the op writes another.
    #[error("expected a result layout with {}, found {} from the op; remove the layout of the result", sticks(*.found), sticks(*.expected))]
    Result {
        /// The dimension in its sticks.
        found: Option<usize>,
        /// Dimension that the op would write.
        expected: Option<usize>,
    },
    /// A returned buffer whose dimensions are split or merged has no padding between its elements.
    #[error(
        "returns a reshape of a buffer of shape {sizes:?} with {}, which requires whole sticks of {stick} elements; pad \
         the dimension", sticks(*.found)
    )]
    Regrouped {
        /// Sizes of the buffer.
        sizes: Vec<i64>,
        /// The dimension in its sticks.
        found: Option<usize>,
        /// Elements of one stick.
        stick: i64,
    },
}

impl LayoutConflictKind {
    /// Returns the code of the message.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Read { .. } | Self::Result { .. } | Self::Regrouped { .. } => codes::LAYOUT_CONFLICT,
            Self::View(_) => codes::LAYOUT_VIEW,
            Self::Part(_) | Self::PartSticks { .. } => codes::LAYOUT_STICK,
        }
    }
}

impl LayoutConflictKind {
    /// Returns why operand `operand` of an op, with a buffer of sizes `sizes` and `found` in its sticks, cannot be
    /// read.
    pub(super) fn from_read(op: &LayoutOp, operand: usize, sizes: &[i64], found: Option<usize>) -> Self {
        // The preceding operands determine the index.
        let mut views = vec![OperandView { sizes: &[], indices: &[] }; operand];
        views.push(OperandView { sizes, indices: &op.reads[operand].indices });
        split_iteration(&op.ranges, &views).map_or_else(Self::View, |_| Self::Read {
            operand,
            sizes: sizes.to_vec(),
            found,
        })
    }
}

fn sticks(dim: Option<usize>) -> String {
    dim.map_or_else(|| "one element per stick".to_owned(), |dim| format!("dimension {dim} in its sticks"))
}
