//! Sums of products: which iteration dimension is batch, M, N or K.

/// The dimensions of a product of two tensors, by what they appear in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// In the left operand and the result, in the result's order. The right operand may lack one of them, as a shared weight does.
    pub batch: Vec<usize>,
    /// In the left operand and the result.
    pub m: usize,
    /// In the right operand and the result.
    pub n: usize,
    /// In both operands only: summed up.
    pub k: usize,
}

impl Contraction {
    /// Reads the dimensions off the three access maps, each the iteration dimensions of a tensor in order. None unless there is exactly
    /// one M, one N and one K, M in front of N: a product with a vector is elementwise work and a sum for the device.
    #[must_use]
    pub fn of(lhs: &[usize], rhs: &[usize], result: &[usize]) -> Option<Self> {
        let is_shared = |dim: &usize| lhs.contains(dim) && rhs.contains(dim);
        let rows: Vec<usize> = result.iter().copied().filter(|dim| !rhs.contains(dim)).collect();
        // The device's matmul has at most two dimensions that only the left operand and the result have.
        let &([m] | [_, m]) = rows.as_slice() else { return None };
        let n = only(result.iter().filter(|dim| !lhs.contains(dim)))?;
        let k = only(lhs.iter().filter(|dim| is_shared(dim) && !result.contains(dim)))?;
        let batch: Vec<usize> = result.iter().copied().filter(|&dim| dim != m && dim != n).collect();
        let n_repeated = rows.len() - 1;
        let has_all = lhs.len() == batch.len() + 2 && rhs.len() == batch.len() + 2 - n_repeated && result.len() == batch.len() + 2;
        let in_left = |dim: &usize| batch.contains(dim) || *dim == m || *dim == k;
        let in_right = |dim: &usize| batch.contains(dim) || *dim == n || *dim == k;
        let rows_first = result.iter().position(|&dim| dim == m) < result.iter().position(|&dim| dim == n);
        (has_all && rows_first && lhs.iter().all(in_left) && rhs.iter().all(in_right)).then_some(Self { batch, m, n, k })
    }

    /// How many iteration dimensions the product has.
    #[must_use]
    pub const fn n_dims(&self) -> usize {
        self.batch.len() + 3
    }

    /// The batch dimensions and behind them the two of an operand or the result.
    #[must_use]
    pub fn order(&self, last: [usize; 2]) -> Vec<usize> {
        self.batch.iter().copied().chain(last).collect()
    }
}

/// The element of an iterator that has just one.
fn only<'a>(mut dims: impl Iterator<Item = &'a usize>) -> Option<usize> {
    let first = dims.next()?;
    dims.next().is_none().then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_product_has_m_n_and_k() {
        let expected = Contraction { batch: vec![], m: 0, n: 1, k: 2 };
        assert_eq!(Contraction::of(&[0, 2], &[2, 1], &[0, 1]), Some(expected.clone()));
        assert_eq!(Contraction::of(&[0, 2], &[1, 2], &[0, 1]), Some(expected), "a transposed right operand is the same product");
        assert_eq!(Contraction::of(&[2, 1], &[0, 2], &[0, 1]), None, "the left operand has the rows");
    }

    #[test]
    fn batch_dims_are_in_all_three() {
        let expected = Contraction { batch: vec![0], m: 1, n: 2, k: 3 };
        assert_eq!(Contraction::of(&[0, 1, 3], &[0, 3, 2], &[0, 1, 2]), Some(expected));
    }

    #[test]
    fn a_shared_weight_lacks_one_batch_dim() {
        let expected = Contraction { batch: vec![0], m: 1, n: 2, k: 3 };
        assert_eq!(Contraction::of(&[0, 1, 3], &[3, 2], &[0, 1, 2]), Some(expected));
        assert_eq!(Contraction::of(&[0, 1, 2, 4], &[4, 3], &[0, 1, 2, 3]), None, "the device has no place for a second one");
        assert_eq!(Contraction::of(&[1, 3], &[0, 3, 2], &[0, 1, 2]), None, "nor for one of the right operand");
    }

    #[test]
    fn a_product_with_a_vector_is_none() {
        assert_eq!(Contraction::of(&[0, 1], &[1], &[0]), None);
        assert_eq!(Contraction::of(&[0], &[1], &[0, 1]), None);
    }

    #[test]
    fn a_dim_that_stands_twice_or_in_one_factor_only_is_no_product() {
        assert_eq!(Contraction::of(&[0, 2, 2], &[2, 1], &[0, 1]), None);
        assert_eq!(Contraction::of(&[0, 3, 2], &[2, 1], &[0, 1]), None);
    }
}
