//! Random numbers that are equal on every machine: the generator SplitMix64.

/// Generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64(u64);

/// Increment of the state, and the factors of the bit mixing, as published by the generator's authors.
const STATE_INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_STAGES: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

impl SplitMix64 {
    /// Creates the generator of a walk. Walks with one seed draw different numbers.
    pub(super) fn new(seed: u64, walk: usize) -> Self {
        let mut of_seed = Self(seed);
        Self(of_seed.next_u64().wrapping_add(walk as u64))
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STATE_INCREMENT);
        let mixed =
            MIX_STAGES.into_iter().fold(self.0, |bits, (shift, factor)| (bits ^ (bits >> shift)).wrapping_mul(factor));
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    #[expect(clippy::cast_possible_truncation, reason = "the quotient is below `end`")]
    pub(super) fn next_below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_published_numbers_for_seed_1234567() {
        let mut random = SplitMix64(1_234_567);
        assert_eq!([random.next_u64(), random.next_u64()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn generates_all_numbers_below_end() {
        let mut random = SplitMix64::new(0, 3);
        let mut seen = [false; 5];
        (0..100).for_each(|_| seen[random.next_below(5)] = true);
        assert_eq!(seen, [true; 5]);
    }
}
