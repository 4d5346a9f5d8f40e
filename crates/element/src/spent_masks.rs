//! Spent marks of sums of products: a sum is spent if some non-zero summand has a spent factor.
//!
//! The mark depends on the factors of the sum alone. Two executions that partition a matmul differently, or pad it with
//! zeros, mark the same elements.

/// Bit masks of a row or column of factors: which factors are not 0, and which of these are spent.
pub(super) struct SpentMasks(Vec<[u64; 2]>);

impl SpentMasks {
    /// Builds the masks of the factors; each factor is given by whether it is 0 and whether it is spent.
    pub(super) fn new(factors: impl ExactSizeIterator<Item = (bool, bool)>) -> Self {
        let mut words = vec![[0; 2]; factors.len().div_ceil(64)];
        for (index, (is_zero, is_spent)) in factors.enumerate().filter(|(_, (is_zero, _))| !is_zero) {
            let word = &mut words[index / 64];
            word[0] |= u64::from(!is_zero) << (index % 64);
            word[1] |= u64::from(is_spent) << (index % 64);
        }
        Self(words)
    }

    /// Builds the masks of the columns of a row-major matrix; `describe` returns whether a factor is 0 and whether it is
    /// spent.
    pub(super) fn new_columns<T>(matrix: &[T], num_columns: usize, describe: impl Fn(&T) -> (bool, bool)) -> Vec<Self> {
        let mut columns: Vec<Vec<[u64; 2]>> = vec![Vec::new(); num_columns];
        for lines in matrix.chunks(64 * num_columns) {
            let mut words = vec![[0; 2]; num_columns];
            for (bit, line) in lines.chunks_exact(num_columns).enumerate() {
                for (word, factor) in words.iter_mut().zip(line) {
                    let (is_zero, is_spent) = describe(factor);
                    word[0] |= u64::from(!is_zero) << bit;
                    word[1] |= u64::from(!is_zero & is_spent) << bit;
                }
            }
            columns.iter_mut().zip(words).for_each(|(column, word)| column.push(word));
        }
        columns.into_iter().map(Self).collect()
    }

    /// Returns whether the sum of the products of two lines of factors is spent.
    pub(super) fn has_spent_product(&self, other: &Self) -> bool {
        self.0
            .iter()
            .zip(&other.0)
            .any(|([left, left_spent], [right, right_spent])| left & right & (left_spent | right_spent) != 0)
    }
}
