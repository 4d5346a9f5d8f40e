//! Random numbers that are the same on every machine: the generator SplitMix64.

/// Generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

/// Increment of the state, and the factors of the bit mixing, as published by the generator's authors.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const MIXED: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

impl Random {
    /// Creates the generator of a walk: walks of one seed draw different numbers.
    pub(super) fn new(seed: u64, walk: usize) -> Self {
        let mut of_seed = Self(seed);
        Self(of_seed.next().wrapping_add(walk as u64))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = MIXED.into_iter().fold(self.0, |bits, (shift, factor)| (bits ^ (bits >> shift)).wrapping_mul(factor));
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below another one, which is not 0.
    #[expect(clippy::cast_possible_truncation, reason = "the quotient is below `end`")]
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_the_authors_publish_for_seed_1234567() {
        let mut random = Random(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn all_numbers_below_the_end_come() {
        let mut random = Random::new(0, 3);
        let mut seen = [false; 5];
        (0..100).for_each(|_| seen[random.below(5)] = true);
        assert_eq!(seen, [true; 5]);
    }
}
