//! Core splits, and the assignment of slices to cores.

use machine::Family;

/// Reason why slice counts, or a core order, do not form a split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A split has one slice count per iteration dimension.
    #[error("expected slice counts for {expected} iteration dimensions, found {found}")]
    Length {
        /// Iteration dimensions of the op.
        expected: usize,
        /// Slice counts in the split.
        found: usize,
    },
    /// A dimension has at least one slice.
    #[error("iteration dimension {dim} cannot be split into {slices} slices")]
    Slices {
        /// The dimension.
        dim: usize,
        /// Its slices.
        slices: i64,
    },
    /// A core order must be an order of the dimensions.
    #[error("expected an order of cores with each of the {dims} dimensions once, found {order:?}")]
    Order {
        /// Dimensions of the split.
        dims: usize,
        /// The specified order.
        order: Vec<usize>,
    },
}

/// Number of slices of each iteration dimension; their product is the number of cores used. An optional order of the
/// dimensions determines which core has which slice; the default is [`CoreOrder`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkSplit {
    slices: Vec<i64>,
    order: Vec<usize>,
}

/// Fastest varying digit of the core number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreOrder {
    /// The first iteration dimension varies fastest: neighboring cores have neighboring slices of it. All ops but
    /// matmuls use this order.
    FirstFastest,
    /// The last iteration dimension varies fastest, then the first. In a matmul that is K: neighboring cores hold the
    /// partial sums of one block (torch-spyre, `core_id_k_fast_emission`).
    LastFastest,
}

impl CoreOrder {
    /// Returns torch-spyre's order for an op of that family.
    #[must_use]
    pub const fn from_family(family: Family) -> Self {
        match family {
            Family::Matmul => Self::LastFastest,
            Family::Pointwise | Family::Reduce | Family::Copy | Family::Gather => Self::FirstFastest,
        }
    }
}

impl WorkSplit {
    /// Creates a split with these slices, in the order of the iteration dimensions.
    ///
    /// # Errors
    /// If a number of slices is not positive.
    pub fn new(slices: Vec<i64>) -> Result<Self, SplitError> {
        match slices.iter().position(|&slices| slices < 1) {
            Some(dim) => Err(SplitError::Slices { dim, slices: slices[dim] }),
            None => Ok(Self { slices, order: Vec::new() }),
        }
    }

    /// Returns the split with another core order: the dimensions from the fastest to the slowest varying in the core
    /// number. The format lists the slices of every core (SDSC schema, section 5), so any order is expressible, but the
    /// slices of one sum must be on neighboring cores. An empty order is the default of the op's family.
    ///
    /// # Errors
    /// If the order does not have every dimension once.
    pub fn with_order(self, order: Vec<usize>) -> Result<Self, SplitError> {
        let dims = self.slices.len();
        if !order.is_empty() && (order.len() != dims || (0..dims).any(|dim| !order.contains(&dim))) {
            return Err(SplitError::Order { dims, order });
        }
        Ok(Self { order, ..self })
    }

    /// Creates the split in one slice: one core does all work.
    #[must_use]
    pub fn single_core(num_dims: usize) -> Self {
        Self { slices: vec![1; num_dims], order: Vec::new() }
    }

    /// Returns the dimensions from the fastest digit of the core number; empty if the split uses the default order.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the split with the core order in which `divisors[dim]` consecutive cores have the same slice of
    /// dimension `dim`. Omits the order if the default of the family is equivalent. Only divisors of dimensions with
    /// several slices matter.
    ///
    /// # Errors
    /// If there is not one number for every dimension.
    pub fn with_divisors(self, divisors: &[i64], family: CoreOrder) -> Result<Self, SplitError> {
        let dims = self.slices.len();
        if divisors.len() != dims {
            return Err(SplitError::Length { expected: dims, found: divisors.len() });
        }
        let usual = Self { order: Vec::new(), ..self.clone() };
        let is_cut = |dim: usize| self.slices[dim] > 1;
        if (0..dims).all(|dim| !is_cut(dim) || usual.divisors(family)[dim] == divisors[dim]) {
            return Ok(usual);
        }
        let mut order: Vec<usize> = (0..dims).collect();
        order.sort_by_key(|&dim| if is_cut(dim) { divisors[dim] } else { i64::MAX });
        self.with_order(order)
    }

    /// Returns for every dimension the number of consecutive cores with the same slice; 1 for a dimension that is not
    /// split.
    #[must_use]
    pub fn divisors(&self, order: CoreOrder) -> Vec<i64> {
        let (mut divisors, mut cores) = (vec![1; self.slices.len()], 1);
        for dim in self.dims_fastest_first(order).filter(|&dim| self.slices[dim] > 1) {
            divisors[dim] = cores;
            cores *= self.slices[dim];
        }
        divisors
    }

    /// Returns the slice count of every iteration dimension.
    #[must_use]
    pub fn slices(&self) -> &[i64] {
        &self.slices
    }

    /// Returns the number of cores used.
    #[must_use]
    pub fn num_cores(&self) -> i64 {
        self.slices.iter().product()
    }

    /// Returns the split with `slices` slices of `dim`.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[must_use]
    pub fn with_slices(&self, dim: usize, slices: i64) -> Self {
        let mut split = self.clone();
        split.slices[dim] = slices;
        split
    }

    /// Returns the slice of every dimension that `core` has: the digits of the core number.
    #[must_use]
    pub fn core_slices(&self, core: i64, order: CoreOrder) -> Vec<i64> {
        let mut rest = core;
        let mut slices = vec![0; self.slices.len()];
        for dim in self.dims_fastest_first(order) {
            (slices[dim], rest) = (rest % self.slices[dim], rest / self.slices[dim]);
        }
        slices
    }

    /// Returns the core that has these slices, one per dimension.
    #[must_use]
    pub fn find_core(&self, slices: &[i64], order: CoreOrder) -> i64 {
        let digits = self
            .dims_fastest_first(order)
            .fold((0, 1), |(core, weight), dim| (core + slices[dim] * weight, weight * self.slices[dim]));
        digits.0
    }

    fn dims_fastest_first(&self, order: CoreOrder) -> impl Iterator<Item = usize> + use<'_> {
        let num_dims = self.slices.len();
        let first = match order {
            CoreOrder::FirstFastest => num_dims,
            CoreOrder::LastFastest => num_dims.saturating_sub(1),
        };
        let of_family = if self.order.is_empty() { first..num_dims } else { 0..0 };
        let others = if self.order.is_empty() { 0..first } else { 0..0 };
        self.order.iter().copied().chain(of_family).chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn varies_first_dim_fastest() {
        let split = WorkSplit::new(vec![4, 2]).unwrap();
        let cores: Vec<_> = (0..6).map(|core| split.core_slices(core, CoreOrder::FirstFastest)).collect();
        assert_eq!(cores, [[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [1, 1]]);
    }

    #[test]
    fn places_contraction_slices_on_neighboring_cores() {
        // The golden case mm_m4_n4_k2: M, N, K.
        let split = WorkSplit::new(vec![4, 4, 2]).unwrap();
        let cores: Vec<_> = (0..4).map(|core| split.core_slices(core, CoreOrder::LastFastest)).collect();
        assert_eq!(cores, [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]);
    }

    #[test]
    fn rejects_slice_counts_below_one() {
        assert_eq!(WorkSplit::new(vec![4, 0]), Err(SplitError::Slices { dim: 1, slices: 0 }));
        assert_eq!(WorkSplit::single_core(0).num_cores(), 1);
        assert_eq!(WorkSplit::single_core(0).core_slices(0, CoreOrder::LastFastest), [0; 0]);
    }

    #[test]
    fn accepts_explicit_core_order() {
        let split = WorkSplit::new(vec![4, 2, 1]).unwrap().with_order(vec![1, 0, 2]).unwrap();
        let cores: Vec<_> = (0..4).map(|core| split.core_slices(core, CoreOrder::FirstFastest)).collect();
        assert_eq!(cores, [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]);
        assert_eq!(split.divisors(CoreOrder::LastFastest), [2, 1, 1]);
        let usual = WorkSplit::new(vec![4, 2, 1]).unwrap();
        assert_eq!(usual.divisors(CoreOrder::FirstFastest), [1, 4, 1]);
        assert_eq!(usual.clone().with_divisors(&[2, 1, 1], CoreOrder::FirstFastest), Ok(split));
        assert_eq!(
            usual.clone().with_divisors(&[1, 4, 7], CoreOrder::FirstFastest),
            Ok(usual),
            "the usual order has no name"
        );
    }

    #[test]
    fn rejects_order_without_each_dimension_once() {
        let split = || WorkSplit::new(vec![4, 2]).unwrap();
        for order in [vec![0], vec![0, 0], vec![0, 2], vec![0, 1, 2]] {
            assert_eq!(split().with_order(order.clone()), Err(SplitError::Order { dims: 2, order }));
        }
        assert_eq!(
            split().with_divisors(&[1], CoreOrder::FirstFastest),
            Err(SplitError::Length { expected: 2, found: 1 })
        );
    }

    proptest! {
        #[test]
        fn cores_and_slices_are_a_bijection(slices in prop::collection::vec(1_i64..5, 0..4), last in any::<bool>()) {
            let split = WorkSplit::new(slices).unwrap();
            let order = if last { CoreOrder::LastFastest } else { CoreOrder::FirstFastest };
            let mut seen = BTreeSet::new();
            for core in 0..split.num_cores() {
                let digits = split.core_slices(core, order);
                prop_assert!(digits.iter().zip(split.slices()).all(|(&digit, &slices)| (0..slices).contains(&digit)));
                prop_assert_eq!(split.find_core(&digits, order), core);
                prop_assert!(seen.insert(digits));
            }
        }
    }
}
