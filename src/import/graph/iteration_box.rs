//! Boxes of an iteration space: a body whose branches depend on an index alone is imported separately for each box.

use super::constant_tensor::ConstantTensor;
use program::affine::AffineExpression;

/// Maximum number of ranges that one condition splits a dimension into; a mask with more ranges is data.
const MAX_RUNS: usize = 4;

/// Box of an iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct IterationBox {
    /// First index along each dimension.
    pub(in crate::import) origin: Vec<i64>,
    /// Sizes of the dimensions.
    pub(in crate::import) sizes: Vec<i64>,
}

impl IterationBox {
    /// Returns the complete iteration space.
    pub(in crate::import) fn from_sizes(sizes: Vec<i64>) -> Self {
        Self { origin: vec![0; sizes.len()], sizes }
    }

    /// Returns the range from `first` to `end` along `dim`, both relative to this box.
    pub(in crate::import) fn restrict(&self, dim: usize, first: i64, end: i64) -> Self {
        let mut part = self.clone();
        part.origin[dim] += first;
        part.sizes[dim] = end - first;
        part
    }

    /// Rewrites indices of the iteration space in terms of the box.
    pub(in crate::import) fn shift_map(&self, map: &[AffineExpression]) -> Vec<AffineExpression> {
        let moved = |dim: usize| AffineExpression::Dim(dim).plus(AffineExpression::Constant(self.origin[dim]));
        map.iter().map(|expr| expr.with_dims(&moved)).collect()
    }
}

/// Dimension and its ranges, each from the first index to one past the last.
pub(in crate::import) type DimRuns = (usize, Vec<(i64, i64)>);

/// Returns the dimension that a condition of shape `shape` depends on, and the runs along it with a constant condition.
/// Returns None if the condition depends on several dimensions or has too many runs.
pub(in crate::import) fn find_constant_runs(condition: &ConstantTensor, shape: &[i64]) -> Option<DimRuns> {
    let mut moving = shape.iter().enumerate().filter(|(_, size)| **size > 1).map(|(dim, _)| dim);
    let (dim, None) = (moving.next()?, moving.next()) else { return None };
    let mut runs: Vec<(i64, i64)> = Vec::new();
    let mut before = None;
    for (number, index) in condition.numbers().zip(0_i64..) {
        match runs.last_mut() {
            Some(run) if before == Some(number) => run.1 = index + 1,
            _ => runs.push((index, index + 1)),
        }
        before = Some(number);
        if runs.len() > MAX_RUNS {
            return None;
        }
    }
    Some((dim, runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_one_dim_into_runs() {
        let condition = ConstantTensor::from_numbers(&[1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(find_constant_runs(&condition, &[1, 5, 1]), Some((1, vec![(0, 2), (2, 5)])));
        let often = ConstantTensor::from_numbers(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(find_constant_runs(&often, &[6]), None);
        assert_eq!(find_constant_runs(&often, &[2, 3]), None, "a mask of two dims is data");
    }

    #[test]
    fn restricts_box_relative_to_its_origin() {
        let part = IterationBox::from_sizes(vec![4, 10]).restrict(1, 2, 10).restrict(1, 3, 5);
        assert_eq!(part, IterationBox { origin: vec![0, 5], sizes: vec![4, 2] });
        let moved = AffineExpression::Add(Box::new(AffineExpression::Dim(1)), Box::new(AffineExpression::Constant(5)));
        assert_eq!(
            part.shift_map(&[AffineExpression::Dim(0), AffineExpression::Dim(1)]),
            [AffineExpression::Dim(0), moved]
        );
    }
}
