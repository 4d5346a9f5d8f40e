//! Pairwise reduction of values that arrive one at a time, which limits rounding errors. A sequential reduction rounds
//! a value once for each value before it. Here, blocks of a few values are reduced sequentially, and the blocks in a
//! balanced tree.

/// Number of values that are combined sequentially. Smaller blocks have more live partial results, and save few
/// roundings.
const BLOCK_VALUES: usize = 8;

/// Partial results of a reduction, in the order of their values.
pub(in crate::import) struct PairwiseReducer<T> {
    /// Partial results, each with the number of values that it combines: decreasing numbers of complete blocks, then a
    /// block that may be incomplete.
    partial: Vec<(T, usize)>,
    /// Whether the order of the values does not change the result. They are then combined sequentially, with one live
    /// partial result.
    is_exact: bool,
}

impl<T> PairwiseReducer<T> {
    pub(in crate::import) fn new(is_exact: bool) -> Self {
        Self { partial: Vec::new(), is_exact }
    }

    /// Adds the next value to the last block, and combines complete blocks of equal size.
    ///
    /// # Errors
    ///
    /// Returns the error of `combine`.
    pub(in crate::import) fn push<E>(
        &mut self,
        value: T,
        mut combine: impl FnMut(T, T) -> Result<T, E>,
    ) -> Result<(), E> {
        let (mut value, mut num_values) = (value, 1);
        let is_exact = self.is_exact;
        let is_next =
            |num_left: usize, num_values: usize| is_exact || num_left < BLOCK_VALUES || num_left == num_values;
        while let Some((left, num_left)) = self.partial.pop_if(|(_, num_left)| is_next(*num_left, num_values)) {
            value = combine(left, value)?;
            num_values += num_left;
        }
        self.partial.push((value, num_values));
        Ok(())
    }

    /// Returns the combination of all values, or None if there are none.
    ///
    /// # Errors
    ///
    /// Returns the error of `combine`.
    pub(in crate::import) fn finish<E>(self, mut combine: impl FnMut(T, T) -> Result<T, E>) -> Result<Option<T>, E> {
        let mut partial = self.partial.into_iter().map(|(value, _)| value).rev();
        let Some(last) = partial.next() else { return Ok(None) };
        partial.try_fold(last, |right, left| combine(left, right)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn build_tree(num_values: usize, is_exact: bool) -> (Option<String>, usize) {
        let mut reduction = PairwiseReducer::new(is_exact);
        let mut num_live = 0;
        let combine = |left: String, right: String| Ok::<_, Infallible>(format!("({left}{right})"));
        for value in 0..num_values {
            let Ok(()) = reduction.push(value.to_string(), combine);
            num_live = num_live.max(reduction.partial.len());
        }
        let Ok(tree) = reduction.finish(combine);
        (tree, num_live)
    }

    #[test]
    fn combines_blocks_in_balanced_tree_in_order() {
        assert_eq!(build_tree(0, false).0, None);
        assert_eq!(build_tree(1, false).0.as_deref(), Some("0"));
        assert_eq!(build_tree(4, false).0.as_deref(), Some("(((01)2)3)"));
        assert_eq!(build_tree(9, false).0.as_deref(), Some("((((((((01)2)3)4)5)6)7)8)"));
        assert_eq!(
            build_tree(20, false).0.as_deref(),
            Some("(((((((((01)2)3)4)5)6)7)(((((((89)10)11)12)13)14)15))(((1617)18)19))")
        );
        let (tree, num_live) = build_tree(1000, false);
        let depth = tree.expect("a tree").bytes().take_while(|&byte| byte == b'(').count();
        assert_eq!((depth, num_live), (14, 7));
    }

    #[test]
    fn combines_exact_values_sequentially() {
        let (tree, num_live) = build_tree(5, true);
        assert_eq!((tree.as_deref(), num_live), (Some("((((01)2)3)4)"), 1));
    }
}
