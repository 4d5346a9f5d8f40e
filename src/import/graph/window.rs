//! Boxes of an iteration space: a body whose branches depend on an index alone is imported separately for each box.

use super::known::Known;
use program::affine::Expr;

/// Maximum number of ranges that one condition splits a dimension into; a mask with more ranges is data.
const MOST_RUNS: usize = 4;

/// A box of an iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct Window {
    /// First index along each dimension.
    pub(in crate::import) origin: Vec<i64>,
    /// Sizes of the dimensions.
    pub(in crate::import) sizes: Vec<i64>,
}

impl Window {
    /// Returns the complete iteration space.
    pub(in crate::import) fn whole(sizes: Vec<i64>) -> Self {
        Self { origin: vec![0; sizes.len()], sizes }
    }

    /// Returns the range from `first` to `end` along `dim`, both relative to this window.
    pub(in crate::import) fn part(&self, dim: usize, first: i64, end: i64) -> Self {
        let mut part = self.clone();
        part.origin[dim] += first;
        part.sizes[dim] = end - first;
        part
    }

    /// Rewrites indices of the iteration space in terms of the window.
    pub(in crate::import) fn shifted(&self, map: &[Expr]) -> Vec<Expr> {
        let moved = |dim: usize| Expr::Dim(dim).plus(Expr::Constant(self.origin[dim]));
        map.iter().map(|expr| expr.with_dims(&moved)).collect()
    }
}

/// Dimension and its ranges, each from first to end.
pub(in crate::import) type Runs = (usize, Vec<(i64, i64)>);

/// Returns the dimension that a condition of shape `shape` depends on, and the runs along it with a constant condition. Returns None if the
/// condition depends on several dimensions or has too many runs.
pub(in crate::import) fn runs_of(condition: &Known, shape: &[i64]) -> Option<Runs> {
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
        if runs.len() > MOST_RUNS {
            return None;
        }
    }
    Some((dim, runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_divides_one_dim_into_runs() {
        let condition = Known::table(&[1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(runs_of(&condition, &[1, 5, 1]), Some((1, vec![(0, 2), (2, 5)])));
        let often = Known::table(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(runs_of(&often, &[6]), None);
        assert_eq!(runs_of(&often, &[2, 3]), None, "a mask of two dims is data");
    }

    #[test]
    fn a_part_of_a_part_counts_from_its_own_start() {
        let part = Window::whole(vec![4, 10]).part(1, 2, 10).part(1, 3, 5);
        assert_eq!(part, Window { origin: vec![0, 5], sizes: vec![4, 2] });
        let moved = Expr::Add(Box::new(Expr::Dim(1)), Box::new(Expr::Constant(5)));
        assert_eq!(part.shifted(&[Expr::Dim(0), Expr::Dim(1)]), [Expr::Dim(0), moved]);
    }
}
