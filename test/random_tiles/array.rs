//! Arrays in plain Rust, and which of their numbers neither the device nor the JIT rounds.

/// Integers up to this have a place in the device's 9 bits of mantissa; a JIT's f16 has one more.
const LARGEST_INTEGER: f64 = 1024.0;

/// No exponent beyond these: within those of f16 with room for a sum.
const EXPONENTS: i32 = 13;

/// Row-major numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// An operand, and the iteration dimension behind each of its dimensions; none where it is read at 0.
pub(crate) type Read<'a> = (&'a Array, &'a [Option<usize>]);

impl Array {
    pub(crate) fn filled(shape: &[usize], value: f32) -> Self {
        Self { shape: shape.to_vec(), values: vec![value; shape.iter().product()] }
    }

    /// Numbers that follow from a seed: small integers, many of them 0, so that sums stay small; or, for products, 1 and -1 with a few
    /// powers of two among them.
    pub(crate) fn seeded(shape: &[usize], seed: u64, is_for_products: bool) -> Self {
        let number = |index: usize| {
            let drawn = mixed(seed ^ mixed(index as u64)) % 256;
            let sign = if drawn.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * match drawn / 2 {
                0..3 if is_for_products => 2.0,
                3..6 if is_for_products => 0.5,
                _ if is_for_products => 1.0,
                0..64 => 0.0,
                64..112 => 1.0,
                112..124 => 2.0,
                _ => 3.0,
            }
        };
        Self { shape: shape.to_vec(), values: (0..shape.iter().product()).map(number).collect() }
    }

    fn strides(&self) -> Vec<usize> {
        (0..self.shape.len()).map(|dim| self.shape[dim + 1..].iter().product()).collect()
    }

    /// How far apart the elements are that neighbours along each iteration dimension read.
    fn strides_of(&self, n_dims: usize, map: &[Option<usize>]) -> Vec<usize> {
        let mut apart = vec![0; n_dims];
        for (stride, dim) in self.strides().iter().zip(map) {
            if let Some(dim) = dim {
                apart[*dim] += stride;
            }
        }
        apart
    }

    /// Folds every point of an iteration space into its element of this array: `fold(element, left, right)`.
    pub(crate) fn fold(&mut self, sizes: &[usize], map: &[Option<usize>], reads: [Read<'_>; 2], fold: impl Fn(f32, f32, f32) -> f32) {
        let own = self.strides_of(sizes.len(), map);
        let [left, right] = reads.map(|(array, map)| array.strides_of(sizes.len(), map));
        let mut at = [0, 0, 0];
        let mut point = vec![0; sizes.len()];
        for _ in 0..sizes.iter().product() {
            self.values[at[0]] = fold(self.values[at[0]], reads[0].0.values[at[1]], reads[1].0.values[at[2]]);
            for dim in (0..sizes.len()).rev() {
                point[dim] += 1;
                let is_through = point[dim] == sizes[dim];
                for (at, strides) in at.iter_mut().zip([&own, &left, &right]) {
                    *at = if is_through { *at - strides[dim] * (sizes[dim] - 1) } else { *at + strides[dim] };
                }
                if !is_through {
                    break;
                }
                point[dim] = 0;
            }
        }
    }

    /// Dimension `dim` of the result is dimension `order[dim]` of this array.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let shape: Vec<usize> = order.iter().map(|&dim| self.shape[dim]).collect();
        let mut map = vec![None; order.len()];
        order.iter().enumerate().for_each(|(dim, &from)| map[from] = Some(dim));
        let own: Vec<Option<usize>> = (0..order.len()).map(Some).collect();
        let mut result = Self::filled(&shape, 0.0);
        result.fold(&shape, &own, [(self, &map), (self, &map)], |_, value, _| value);
        result
    }

    /// The part from `offset` on along a dimension.
    pub(crate) fn sliced(&self, axis: usize, offset: usize, size: usize) -> Self {
        let inner: usize = self.shape[axis + 1..].iter().product();
        let rows = self.values.chunks(self.shape[axis] * inner);
        let values = rows.flat_map(|row| &row[offset * inner..(offset + size) * inner]).copied().collect();
        let mut shape = self.shape.clone();
        shape[axis] = size;
        Self { shape, values }
    }

    pub(crate) fn reshaped(&self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), values: self.values.clone() }
    }

    pub(crate) fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Self { shape: self.shape.clone(), values: self.values.iter().map(|&value| of(value)).collect() }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0.0)
    }

    /// Whether every element has a place in the format.
    pub(crate) fn is_exact(&self) -> bool {
        self.values.iter().all(|&value| has_place(f64::from(value)))
    }

    /// The largest power of two that divides every element.
    pub(crate) fn quantum(&self) -> f64 {
        self.values.iter().filter(|value| **value != 0.0).map(|&value| lowest_bit(f64::from(value))).fold(f64::MAX, f64::min)
    }

    /// Whether sums of numbers of such a quantum are exact, given the sums of their magnitudes: whatever their order, and whatever partial
    /// sums are stored on the way.
    pub(crate) fn are_exact_sums(magnitudes: &Self, quantum: f64) -> bool {
        magnitudes.values.iter().all(|&sum| f64::from(sum) <= LARGEST_INTEGER * quantum && f64::from(sum) < f64::from(1 << EXPONENTS))
    }
}

/// Whether every product of some of these numbers is exact, given the product of their odd parts and the sum of their exponents' sizes.
pub(crate) fn are_exact_products(odd_parts: &Array, exponents: &Array) -> bool {
    odd_parts.values.iter().all(|&part| f64::from(part) <= LARGEST_INTEGER / 2.0)
        && exponents.values.iter().all(|&sum| sum <= (EXPONENTS - 3) as f32)
}

/// A number other than 0 as its odd part and the size of its exponent.
pub(crate) fn odd_part(value: f32) -> (f32, f32) {
    let bit = lowest_bit(f64::from(value));
    ((f64::from(value.abs()) / bit) as f32, bit.log2().abs() as f32)
}

fn has_place(value: f64) -> bool {
    value == 0.0
        || value.abs() / lowest_bit(value) < LARGEST_INTEGER
            && value.abs() < f64::from(1 << EXPONENTS)
            && lowest_bit(value) >= f64::exp2(f64::from(-EXPONENTS))
}

/// The largest power of two that divides a number other than 0.
fn lowest_bit(value: f64) -> f64 {
    let bits = value.abs().to_bits();
    let (exponent, mantissa) = ((bits >> 52) as i32 - 1023, (bits & ((1 << 52) - 1)) | (1 << 52));
    f64::exp2(f64::from(exponent - 52 + mantissa.trailing_zeros() as i32))
}

/// A number's bits, stirred (the finaliser of `SplitMix64`).
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}
