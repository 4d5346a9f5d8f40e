//! Which sums of products are spent: those with a summand that is not 0 and of which a factor is spent.
//!
//! That depends on the factors alone, and not on what else is multiplied at the same time: two executions that cut a product into other
//! parts, or fill it up with zeros, mark the same elements.

/// Of a line of factors, in bits: which are not 0, and which of these are spent.
pub(super) struct Marks(Vec<[u64; 2]>);

impl Marks {
    /// The marks of factors, each given by whether it is 0 and whether it is spent.
    pub(super) fn new(factors: impl ExactSizeIterator<Item = (bool, bool)>) -> Self {
        let mut words = vec![[0; 2]; factors.len().div_ceil(64)];
        for (index, (is_zero, is_spent)) in factors.enumerate().filter(|(_, (is_zero, _))| !is_zero) {
            let word = &mut words[index / 64];
            word[0] |= u64::from(!is_zero) << (index % 64);
            word[1] |= u64::from(is_spent) << (index % 64);
        }
        Self(words)
    }

    /// Whether the sum of the products of two lines of factors is spent.
    pub(super) fn meet(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|([left, left_spent], [right, right_spent])| left & right & (left_spent | right_spent) != 0)
    }
}
