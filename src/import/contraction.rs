//! Sums of products: which iteration dimension is batch, M, N or K.

/// The dimensions of a product of two tensors, by what they appear in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// In both operands and the result, in the result's order.
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
    /// one M, one N and one K: a product with a vector is elementwise work and a sum for the device.
    #[must_use]
    pub fn of(lhs: &[usize], rhs: &[usize], result: &[usize]) -> Option<Self> {
        let batch: Vec<usize> = result.iter().copied().filter(|dim| lhs.contains(dim) && rhs.contains(dim)).collect();
        let m = only(result.iter().filter(|dim| lhs.contains(dim) && !rhs.contains(dim)))?;
        let n = only(result.iter().filter(|dim| rhs.contains(dim) && !lhs.contains(dim)))?;
        let k = only(lhs.iter().filter(|dim| rhs.contains(dim) && !result.contains(dim)))?;
        let expected = batch.len() + 2;
        (lhs.len() == expected && rhs.len() == expected && result.len() == expected).then_some(Self { batch, m, n, k })
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
    }

    #[test]
    fn batch_dims_are_in_all_three() {
        let expected = Contraction { batch: vec![0], m: 1, n: 2, k: 3 };
        assert_eq!(Contraction::of(&[0, 1, 3], &[0, 3, 2], &[0, 1, 2]), Some(expected));
    }

    #[test]
    fn a_product_with_a_vector_is_none() {
        assert_eq!(Contraction::of(&[0, 1], &[1], &[0]), None);
        assert_eq!(Contraction::of(&[0], &[1], &[0, 1]), None);
    }
}
