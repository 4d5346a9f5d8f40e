//! Tensors of elements, and element-wise data movement between them.

use super::{eval_program::EvalTensor, positions::PositionSequence};
use crate::interpret::EvaluationError;
use std::sync::Arc;

/// Elements of a tensor, row-major. Clones share the storage.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalArray<E> {
    /// Elements that the ops compute with.
    Numbers(Arc<Vec<E>>),
    /// Positions in tables; `None` for unwritten elements.
    Positions(Arc<Vec<Option<i64>>>),
}

impl<E: Copy> EvalArray<E> {
    /// Creates a tensor of numbers.
    #[must_use]
    pub fn numbers(elements: Vec<E>) -> Self {
        Self::Numbers(Arc::new(elements))
    }

    /// Creates a tensor of positions.
    #[must_use]
    pub fn positions(elements: impl IntoIterator<Item = i64>) -> Self {
        Self::Positions(Arc::new(elements.into_iter().map(Some).collect()))
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Numbers(elements) => elements.len(),
            Self::Positions(elements) => elements.len(),
        }
    }

    /// Converts the numbers to another type of elements. Positions remain unchanged.
    #[must_use]
    pub fn map_numbers<O: Copy>(self, element: impl Fn(E) -> O) -> EvalArray<O> {
        match self {
            Self::Numbers(elements) => EvalArray::numbers(elements.iter().map(|number| element(*number)).collect()),
            Self::Positions(elements) => EvalArray::Positions(elements),
        }
    }

    /// Returns an unwritten tensor.
    pub(super) fn new_unwritten(of: &EvalTensor, poison: E) -> Self {
        if of.element.is_integer() {
            Self::Positions(Arc::new(vec![None; of.length()]))
        } else {
            Self::numbers(vec![poison; of.length()])
        }
    }

    /// Gathers the elements that a walk visits, in its order.
    pub(super) fn gather(&self, walk: &PositionSequence) -> Self {
        match self {
            Self::Numbers(elements) => Self::numbers(walk.gather(elements)),
            Self::Positions(elements) => Self::Positions(Arc::new(walk.gather(elements))),
        }
    }

    /// Scatters the elements of `part` to the positions that a walk visits, in its order.
    pub(super) fn scatter(&mut self, walk: &PositionSequence, part: &Self) -> Result<(), EvaluationError> {
        match (self, part) {
            (Self::Numbers(whole), Self::Numbers(part)) => walk.scatter(part, Arc::<Vec<_>>::make_mut(whole)),
            (Self::Positions(whole), Self::Positions(part)) => walk.scatter(part, Arc::<Vec<_>>::make_mut(whole)),
            _ => return Err(EvaluationError::KindMismatch),
        }
        Ok(())
    }
}
