//! Boxes of an iteration space. If a condition in the body of an op depends on one index only, the body is imported
//! once per box, so that the condition is a constant in each box.

use super::constant_tensor::ConstantTensor;
use program::affine::AffineExpression;

/// Maximum number of runs into which one condition splits a dimension. A condition with more runs is imported as a mask
/// tensor.
const MAX_RUNS: usize = 4;

/// Axis-aligned box of an iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct IterationBox {
    /// First index along each dimension.
    pub(in crate::import) origin: Vec<i64>,
    /// Sizes of the dimensions.
    pub(in crate::import) sizes: Vec<i64>,
}

impl IterationBox {
    /// Returns the box that covers an iteration space of these sizes.
    pub(in crate::import) fn from_sizes(sizes: Vec<i64>) -> Self {
        Self { origin: vec![0; sizes.len()], sizes }
    }

    /// Returns the sub-box `first..end` along `dim`; both indices are relative to this box.
    pub(in crate::import) fn restrict(&self, dim: usize, first: i64, end: i64) -> Self {
        let mut sub_box = self.clone();
        sub_box.origin[dim] += first;
        sub_box.sizes[dim] = end - first;
        sub_box
    }

    /// Rewrites a map over the complete iteration space as a map over indices relative to the box.
    pub(in crate::import) fn shift_map(&self, map: &[AffineExpression]) -> Vec<AffineExpression> {
        let shift_dim = |dim: usize| AffineExpression::Dim(dim).plus(AffineExpression::Constant(self.origin[dim]));
        map.iter().map(|expr| expr.with_dims(&shift_dim)).collect()
    }
}

/// Dimension and its runs, as half-open index ranges.
pub(in crate::import) type DimRuns = (usize, Vec<(i64, i64)>);

/// Returns the only dimension that a condition of shape `shape` depends on, and the runs of equal values along it.
/// Returns `None` if the condition depends on several dimensions or has more than [`MAX_RUNS`] runs.
pub(in crate::import) fn find_constant_runs(condition: &ConstantTensor, shape: &[i64]) -> Option<DimRuns> {
    let mut varying_dims = shape.iter().enumerate().filter(|(_, size)| **size > 1).map(|(dim, _)| dim);
    let (dim, None) = (varying_dims.next()?, varying_dims.next()) else { return None };
    let mut runs: Vec<(i64, i64)> = Vec::new();
    let mut previous = None;
    for (value, index) in condition.numbers().zip(0_i64..) {
        match runs.last_mut() {
            Some(run) if previous == Some(value) => run.1 = index + 1,
            _ => runs.push((index, index + 1)),
        }
        previous = Some(value);
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
        let alternating = ConstantTensor::from_numbers(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(find_constant_runs(&alternating, &[6]), None);
        assert_eq!(find_constant_runs(&alternating, &[2, 3]), None, "a mask of two dims is data");
    }

    #[test]
    fn restricts_box_relative_to_its_origin() {
        let sub_box = IterationBox::from_sizes(vec![4, 10]).restrict(1, 2, 10).restrict(1, 3, 5);
        assert_eq!(sub_box, IterationBox { origin: vec![0, 5], sizes: vec![4, 2] });
        let shifted =
            AffineExpression::Add(Box::new(AffineExpression::Dim(1)), Box::new(AffineExpression::Constant(5)));
        assert_eq!(
            sub_box.shift_map(&[AffineExpression::Dim(0), AffineExpression::Dim(1)]),
            [AffineExpression::Dim(0), shifted]
        );
    }
}
