//! Sums of products of residues, reduced once at the end.

/// Maximum number of products that are added before the sum is split: residues are below `2^31`, so four products fill
/// 64 bits.
const MAX_UNREDUCED_PRODUCTS: usize = 4;

/// Sums of products, one per column: accumulators for the lower and for the upper 32 bits.
pub(super) struct ResidueSums {
    low: Vec<u64>,
    high: Vec<u64>,
}

impl ResidueSums {
    pub(super) fn new(num_columns: usize) -> Self {
        Self { low: vec![0; num_columns], high: vec![0; num_columns] }
    }

    /// Adds the product of a row and a row-major matrix of residues.
    pub(super) fn add(&mut self, row: &[u32], matrix: &[u32]) {
        let n = self.low.len();
        let (fours, rest) = row.as_chunks::<MAX_UNREDUCED_PRODUCTS>();
        for (factors, lines) in fours.iter().zip(matrix.chunks_exact(MAX_UNREDUCED_PRODUCTS * n)) {
            let [a, b, c, d] = factors.map(u64::from);
            let (first, others) = lines.split_at(n);
            let (second, others) = others.split_at(n);
            let (third, fourth) = others.split_at(n);
            let both = self.low.iter_mut().zip(&mut self.high);
            for ((((low, high), x), y), (z, w)) in both.zip(first).zip(second).zip(third.iter().zip(fourth)) {
                let sum = a * u64::from(*x) + b * u64::from(*y) + c * u64::from(*z) + d * u64::from(*w);
                *low += sum & u64::from(u32::MAX);
                *high += sum >> 32;
            }
        }
        for (factor, line) in rest.iter().zip(matrix[fours.len() * MAX_UNREDUCED_PRODUCTS * n..].chunks_exact(n)) {
            for ((low, high), element) in self.low.iter_mut().zip(&mut self.high).zip(line) {
                let product = u64::from(*factor) * u64::from(*element);
                *low += product & u64::from(u32::MAX);
                *high += product >> 32;
            }
        }
    }

    /// Returns the sums as residues, and resets them to 0.
    pub(super) fn take(&mut self, modulus: u32) -> impl Iterator<Item = u64> {
        let modulus = u64::from(modulus);
        let upper = (1 << 32) % modulus;
        self.low.iter_mut().zip(&mut self.high).map(move |(low, high)| {
            let (low, high) = (std::mem::take(low), std::mem::take(high));
            (low % modulus + high % modulus * upper) % modulus
        })
    }
}
