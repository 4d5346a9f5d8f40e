//! Indices as sums of digits: the normal form of an affine index with known dimension sizes.

use super::IndexError;
use crate::affine::AffineExpression;

/// Digits of one dimension, times a factor: `((c_dim floordiv divisor) mod size) * factor`. Before the factor, the
/// value is in `0..size`.
///
/// In a [`TensorIndex`], every divisor and factor is at least 1 and every size at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexDigit {
    /// The dimension.
    pub dim: usize,
    /// Number of neighbors that share a value.
    pub divisor: i64,
    /// Number of values; then they repeat.
    pub size: i64,
    /// Change of the index per step of the digit.
    pub factor: i64,
}

/// Index of one tensor dimension as a sum of digits plus a constant.
///
/// The form is as short as possible: digits of a dimension that continue each other are one digit, no digit has values
/// that its dimension is too small for, and dimensions of size 1 do not appear.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TensorIndex {
    /// The digits, by descending factor.
    pub digits: Vec<IndexDigit>,
    /// Value if every digit is 0.
    pub offset: i64,
}

impl IndexDigit {
    /// Returns the digit's value, factor included, at a point.
    ///
    /// # Panics
    /// If the point has no such dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        point[self.dim].div_euclid(self.divisor).rem_euclid(self.size) * self.factor
    }

    /// Returns the number of positions of the dimension after which the digit repeats.
    #[must_use]
    pub const fn period(&self) -> i64 {
        self.divisor.saturating_mul(self.size)
    }

    /// Returns whether its dimension, of size `range`, has no digit above this one, so that the modulus has no effect.
    const fn is_top(&self, range: i64) -> bool {
        self.period() >= range
    }

    /// Merges two digits of the same dimension: equal ones, or neighbors whose factors also continue each other.
    fn try_merge(&self, other: &Self, range: i64) -> Option<Self> {
        if (self.divisor, self.size) == (other.divisor, other.size) {
            return Some(Self { factor: self.factor.checked_add(other.factor)?, ..*self });
        }
        let (low, high) = if self.divisor < other.divisor { (self, other) } else { (other, self) };
        let continues = low.period() == high.divisor && low.factor.checked_mul(low.size) == Some(high.factor);
        let size = low.size.saturating_mul(high.size).min(count_groups(range, low.divisor));
        continues.then_some(Self { size, ..*low })
    }

    /// Splits the digit into `floordiv divisor` and `mod divisor`, if nothing carries between them. A missing part has
    /// factor 0.
    const fn div_mod(&self, divisor: i64, range: i64) -> (Self, Self) {
        if self.factor >= divisor {
            return (Self { factor: self.factor / divisor, ..*self }, Self { factor: self.factor % divisor, ..*self });
        }
        let below = divisor / self.factor;
        let is_between_digits = divisor % self.factor == 0 && (self.size % below == 0 || self.is_top(range));
        if below < self.size && is_between_digits {
            let high =
                Self { dim: self.dim, divisor: self.divisor * below, size: count_groups(self.size, below), factor: 1 };
            (high, Self { size: below, ..*self })
        } else {
            (Self { factor: 0, ..*self }, *self)
        }
    }

    fn to_expr(self, range: i64) -> AffineExpression {
        let boxed = |number: i64| Box::new(AffineExpression::Constant(number));
        let mut expr = AffineExpression::Dim(self.dim);
        if self.divisor != 1 {
            expr = AffineExpression::FloorDiv(Box::new(expr), boxed(self.divisor));
        }
        if !self.is_top(range) {
            expr = AffineExpression::Mod(Box::new(expr), boxed(self.size));
        }
        if self.factor == 1 { expr } else { AffineExpression::Mul(Box::new(expr), boxed(self.factor)) }
    }
}

impl TensorIndex {
    /// Creates the sum of `digits` and `offset` over dimensions with these sizes, in the shortest form. `digits` may
    /// contain digits of size 1 or factor 0.
    ///
    /// # Errors
    /// If a digit names no dimension, its divisor or size is not positive, its factor is negative, or the index can
    /// exceed 64 bits.
    pub fn new(digits: &[IndexDigit], offset: i64, sizes: &[i64]) -> Result<Self, IndexError> {
        let mut index = Self::constant(offset);
        for &digit in digits {
            let range = find_dim_size(digit.dim, sizes)?;
            if let Some(&divisor) = [digit.divisor, digit.size].iter().find(|&&number| number < 1) {
                return Err(IndexError::Divisor { divisor });
            }
            if digit.factor < 0 {
                return Err(IndexError::NegativeFactor { factor: digit.factor });
            }
            index.add_digit(IndexDigit { size: digit.size.min(count_groups(range, digit.divisor)), ..digit }, range);
        }
        index.digits.sort_by_key(|digit| (-digit.factor, *digit));
        let within_64_bits = |sum: i64, digit: &IndexDigit| sum.checked_add(digit.factor.checked_mul(digit.size - 1)?);
        index.digits.iter().try_fold(offset, within_64_bits).ok_or(IndexError::TooLarge)?;
        Ok(index)
    }

    /// Returns the index that is dimension `dim` of dimensions with these sizes.
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn from_dim(dim: usize, sizes: &[i64]) -> Result<Self, IndexError> {
        Self::new(&[IndexDigit { dim, divisor: 1, size: find_dim_size(dim, sizes)?, factor: 1 }], 0, sizes)
    }

    /// Returns the index that is always `offset`.
    #[must_use]
    pub const fn constant(offset: i64) -> Self {
        Self { digits: Vec::new(), offset }
    }

    /// Converts an affine expression over dimensions with these sizes to an index.
    ///
    /// The sizes determine the result: with `d0` in `0..8` and `d1` in `0..32`, `(d0 * 32 + d1) floordiv 64` is
    /// `d0 floordiv 2`.
    ///
    /// # Errors
    /// If the expression has a symbol, a product of dimensions, a divisor that is no positive number or a negative
    /// factor; if a division carries between digits; or if the index can exceed 64 bits.
    pub fn from_expr(expr: &AffineExpression, sizes: &[i64]) -> Result<Self, IndexError> {
        match expr {
            AffineExpression::Constant(offset) => Ok(Self::constant(*offset)),
            AffineExpression::Dim(dim) => Self::from_dim(*dim, sizes),
            AffineExpression::Symbol(symbol) => Err(IndexError::Symbol { symbol: *symbol }),
            AffineExpression::Add(lhs, rhs) => {
                Self::from_expr(lhs, sizes)?.checked_add(&Self::from_expr(rhs, sizes)?, sizes)
            }
            AffineExpression::Mul(lhs, rhs) => {
                let (lhs, rhs) = (Self::from_expr(lhs, sizes)?, Self::from_expr(rhs, sizes)?);
                if lhs.digits.is_empty() {
                    rhs.checked_mul(lhs.offset, sizes)
                } else {
                    lhs.checked_mul(rhs.as_constant()?, sizes)
                }
            }
            AffineExpression::FloorDiv(lhs, rhs) => {
                Ok(Self::from_expr(lhs, sizes)?.div_mod(Self::from_expr(rhs, sizes)?.as_constant()?, sizes)?.0)
            }
            AffineExpression::Mod(lhs, rhs) => {
                Ok(Self::from_expr(lhs, sizes)?.div_mod(Self::from_expr(rhs, sizes)?.as_constant()?, sizes)?.1)
            }
            AffineExpression::CeilDiv(lhs, rhs) => {
                let divisor = Self::from_expr(rhs, sizes)?.as_constant()?;
                let rounded =
                    Self::from_expr(lhs, sizes)?.checked_add(&Self::constant(divisor.saturating_sub(1)), sizes)?;
                Ok(rounded.div_mod(divisor, sizes)?.0)
            }
        }
    }

    /// Returns the index at a point.
    ///
    /// # Panics
    /// If the point lacks a digit's dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        self.offset + self.digits.iter().map(|digit| digit.evaluate(point)).sum::<i64>()
    }

    /// Returns the largest value. It is an upper bound that no point may reach if a divisor does not divide the size of
    /// its dimension.
    #[must_use]
    pub fn max_value(&self) -> i64 {
        self.offset + self.digits.iter().map(|digit| (digit.size - 1) * digit.factor).sum::<i64>()
    }

    /// Composes views: returns this index, over a tensor's dimensions, in terms of the dimensions with these `sizes`
    /// that move the tensor's `indices`. Each of the indices must stay inside its dimension.
    ///
    /// # Errors
    /// If there is no index for a dimension, a digit of the tensor carries into the next, or the index can exceed 64
    /// bits.
    pub fn compose(&self, indices: &[Self], sizes: &[i64]) -> Result<Self, IndexError> {
        let mut sum = Self::constant(self.offset);
        for digit in &self.digits {
            let index = indices.get(digit.dim).ok_or(IndexError::NoDim { dim: digit.dim, rank: indices.len() })?;
            let (shifted, _) = index.div_mod(digit.divisor, sizes)?;
            let (_, value) = shifted.div_mod(digit.size, sizes)?;
            sum = sum.checked_add(&value.checked_mul(digit.factor, sizes)?, sizes)?;
        }
        Ok(sum)
    }

    /// Converts the index to an affine expression over dimensions with these sizes; omits a modulus that the sizes
    /// imply.
    ///
    /// # Errors
    /// If a digit names no dimension.
    pub fn to_expr(&self, sizes: &[i64]) -> Result<AffineExpression, IndexError> {
        let mut sum: Option<AffineExpression> = None;
        let plus = |sum: Option<AffineExpression>, term: AffineExpression| match sum {
            None => term,
            Some(sum) => AffineExpression::Add(Box::new(sum), Box::new(term)),
        };
        for digit in &self.digits {
            sum = Some(plus(sum, digit.to_expr(find_dim_size(digit.dim, sizes)?)));
        }
        Ok(match sum {
            Some(sum) if self.offset == 0 => sum,
            sum => plus(sum, AffineExpression::Constant(self.offset)),
        })
    }

    /// Adds a digit, merged with those that it repeats or continues.
    fn add_digit(&mut self, mut digit: IndexDigit, range: i64) {
        if digit.size < 2 || digit.factor == 0 {
            return;
        }
        let joined = |digits: &[IndexDigit], digit: &IndexDigit| {
            let mut neighbours = digits.iter().enumerate().filter(|(_, other)| other.dim == digit.dim);
            neighbours.find_map(|(position, other)| Some((position, digit.try_merge(other, range)?)))
        };
        while let Some((position, both)) = joined(&self.digits, &digit) {
            self.digits.swap_remove(position);
            digit = both;
        }
        self.digits.push(digit);
    }

    fn checked_add(&self, other: &Self, sizes: &[i64]) -> Result<Self, IndexError> {
        let offset = self.offset.checked_add(other.offset).ok_or(IndexError::TooLarge)?;
        Self::new(&[&self.digits[..], &other.digits].concat(), offset, sizes)
    }

    fn checked_mul(&self, factor: i64, sizes: &[i64]) -> Result<Self, IndexError> {
        let product = |number: i64| number.checked_mul(factor).ok_or(IndexError::TooLarge);
        let scaled = |digit: &IndexDigit| Ok(IndexDigit { factor: product(digit.factor)?, ..*digit });
        Self::new(
            &self.digits.iter().map(scaled).collect::<Result<Vec<IndexDigit>, IndexError>>()?,
            product(self.offset)?,
            sizes,
        )
    }

    /// Returns `self floordiv divisor` and `self mod divisor`, digit by digit. The digits and the offset below the
    /// divisor must not carry.
    fn div_mod(&self, divisor: i64, sizes: &[i64]) -> Result<(Self, Self), IndexError> {
        if divisor < 1 {
            return Err(IndexError::Divisor { divisor });
        }
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for digit in &self.digits {
            let (high, low) = digit.div_mod(divisor, find_dim_size(digit.dim, sizes)?);
            above.push(high);
            below.push(low);
        }
        let low = Self::new(&below, self.offset.rem_euclid(divisor), sizes)?;
        if low.max_value() >= divisor {
            return Err(IndexError::Carries { divisor, reach: low.max_value() });
        }
        Ok((Self::new(&above, self.offset.div_euclid(divisor), sizes)?, low))
    }

    /// Returns the value of a constant index, which is used as a factor or a divisor.
    const fn as_constant(&self) -> Result<i64, IndexError> {
        if self.digits.is_empty() { Ok(self.offset) } else { Err(IndexError::NotAffine) }
    }
}

fn find_dim_size(dim: usize, sizes: &[i64]) -> Result<i64, IndexError> {
    match sizes.get(dim) {
        None => Err(IndexError::NoDim { dim, rank: sizes.len() }),
        Some(&size) if size < 1 => Err(IndexError::Size { dim, size }),
        Some(&size) => Ok(size),
    }
}

/// Returns the number of groups of `size` neighbors among `elements` (at least 1); the last group may be incomplete.
const fn count_groups(elements: i64, size: i64) -> i64 {
    (elements - 1) / size + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{TestExpr, checked_index, d};

    /// Returns `(dim, divisor, size, factor)` of every digit, and the offset.
    fn digits_and_offset(index: &TensorIndex) -> (Vec<(usize, i64, i64, i64)>, i64) {
        let digits = index.digits.iter().map(|digit| (digit.dim, digit.divisor, digit.size, digit.factor));
        (digits.collect(), index.offset)
    }

    fn expect_index_error(expr: &TestExpr, sizes: &[i64]) -> IndexError {
        TensorIndex::from_expr(&expr.0, sizes).unwrap_err()
    }

    #[test]
    fn divides_merged_index_between_digits() {
        let merged = || d(0) * 32 + d(1);
        assert_eq!(digits_and_offset(&checked_index(&merged().floordiv(64), &[8, 32])), (vec![(0, 2, 4, 1)], 0));
        assert_eq!(
            digits_and_offset(&checked_index(&merged().modulo(64), &[8, 32])),
            (vec![(0, 1, 2, 32), (1, 1, 32, 1)], 0)
        );
        assert_eq!(
            digits_and_offset(&checked_index(&merged().floordiv(8), &[8, 32])),
            (vec![(0, 1, 8, 4), (1, 8, 4, 1)], 0)
        );
        assert_eq!(digits_and_offset(&checked_index(&merged().floordiv(256), &[8, 32])), (vec![], 0));
    }

    #[test]
    fn divides_offset_that_does_not_carry() {
        let window = || d(0) * 32 + d(1) + 16;
        assert_eq!(digits_and_offset(&checked_index(&window().floordiv(32), &[8, 16])), (vec![(0, 1, 8, 1)], 0));
        assert_eq!(digits_and_offset(&checked_index(&window().modulo(32), &[8, 16])), (vec![(1, 1, 16, 1)], 16));
        assert_eq!(
            expect_index_error(&window().floordiv(32), &[8, 17]),
            IndexError::Carries { divisor: 32, reach: 32 }
        );
        assert_eq!(digits_and_offset(&checked_index(&(d(0) + -64).floordiv(64), &[256])), (vec![(0, 64, 4, 1)], -1));
        assert_eq!(digits_and_offset(&checked_index(&(d(0) + 80).floordiv(64), &[48])), (vec![], 1));
    }

    #[test]
    fn drops_modulus_implied_by_size() {
        assert_eq!(digits_and_offset(&checked_index(&d(0).modulo(32), &[20])), (vec![(0, 1, 20, 1)], 0));
        assert_eq!(checked_index(&d(0).modulo(32), &[20]).to_expr(&[20]), Ok(AffineExpression::Dim(0)));
        assert_eq!(checked_index(&d(0).modulo(16), &[20]).to_expr(&[20]), Ok(d(0).modulo(16).0));
        let last = (d(0).floordiv(4).modulo(8) * 2 + 1).0;
        assert_eq!(checked_index(&TestExpr(last.clone()), &[64]).to_expr(&[64]), Ok(last));
        assert_eq!(TensorIndex::constant(0).to_expr(&[]), Ok(AffineExpression::Constant(0)));
    }

    #[test]
    fn merges_consecutive_digits() {
        let again = |size: i64| d(0).floordiv(size) * size + d(0).modulo(size);
        assert_eq!(digits_and_offset(&checked_index(&again(32), &[256])), (vec![(0, 1, 256, 1)], 0));
        assert_eq!(
            digits_and_offset(&checked_index(&again(64), &[200])),
            (vec![(0, 1, 200, 1)], 0),
            "64 does not divide 200"
        );
        let three = d(0).modulo(4) + d(0).floordiv(16) * 16 + d(0).floordiv(4).modulo(4) * 4;
        assert_eq!(digits_and_offset(&checked_index(&three, &[64])), (vec![(0, 1, 64, 1)], 0));
        let swapped = d(0).floordiv(4) + d(0).modulo(4) * 8;
        assert_eq!(digits_and_offset(&checked_index(&swapped, &[32])), (vec![(0, 1, 4, 8), (0, 4, 8, 1)], 0));
        let gap = d(0).modulo(4) + d(0).floordiv(8) * 4;
        assert_eq!(
            digits_and_offset(&checked_index(&gap, &[32])),
            (vec![(0, 8, 4, 4), (0, 1, 4, 1)], 0),
            "no digit for 4"
        );
        assert_eq!(digits_and_offset(&checked_index(&(d(0) * 2 + d(0)), &[8])), (vec![(0, 1, 8, 3)], 0));
    }

    #[test]
    fn limits_digits_to_their_dims() {
        let digit = |divisor, size, factor| IndexDigit { dim: 0, divisor, size, factor };
        assert_eq!(TensorIndex::new(&[digit(1, 256, 2)], 0, &[200]).unwrap().digits, [digit(1, 200, 2)]);
        assert_eq!(TensorIndex::new(&[digit(64, 4, 1)], 0, &[65]).unwrap().digits, [digit(64, 2, 1)]);
        assert_eq!(
            TensorIndex::new(&[digit(64, 4, 1), digit(1, 1, 5), digit(1, 8, 0)], 3, &[64]),
            Ok(TensorIndex::constant(3))
        );
    }

    #[test]
    fn accepts_unit_dims_and_overlapping_digits() {
        assert_eq!(digits_and_offset(&checked_index(&(d(0) * 7 + d(1)), &[1, 5])), (vec![(1, 1, 5, 1)], 0));
        assert_eq!(digits_and_offset(&checked_index(&(d(0) + d(1)), &[8, 3])), (vec![(0, 1, 8, 1), (1, 1, 3, 1)], 0));
        assert_eq!(checked_index(&(d(0) + d(1)), &[8, 3]).max_value(), 9);
        assert_eq!(
            digits_and_offset(&checked_index(&(d(0) * 33).floordiv(32), &[32])),
            (vec![(0, 1, 32, 1)], 0),
            "32 * 1 + 1, and 31 does not carry"
        );
    }

    #[test]
    fn rounds_up_by_adding_before_floor_division() {
        let ceil = |expr: TestExpr, divisor: i64| {
            TestExpr(AffineExpression::CeilDiv(Box::new(expr.0), Box::new(AffineExpression::Constant(divisor))))
        };
        assert_eq!(digits_and_offset(&checked_index(&ceil(d(0) * 64, 64), &[4])), (vec![(0, 1, 4, 1)], 0));
        assert_eq!(expect_index_error(&ceil(d(0), 64), &[128]), IndexError::Carries { divisor: 64, reach: 126 });
    }

    #[test]
    fn rejects_expressions_that_are_no_digit_sums() {
        assert_eq!(expect_index_error(&(d(0) * -1 + 7), &[8]), IndexError::NegativeFactor { factor: -1 });
        assert_eq!(expect_index_error(&(d(0) * 3).floordiv(2), &[8]), IndexError::Carries { divisor: 2, reach: 7 });
        assert_eq!(
            expect_index_error(&d(0).modulo(48).floordiv(32), &[64]),
            IndexError::Carries { divisor: 32, reach: 47 }
        );
        assert_eq!(
            expect_index_error(&(d(0) + d(1)).floordiv(8), &[8, 8]),
            IndexError::Carries { divisor: 8, reach: 14 }
        );
        assert_eq!(expect_index_error(&d(0).modulo(0), &[8]), IndexError::Divisor { divisor: 0 });
        assert_eq!(expect_index_error(&d(2), &[8]), IndexError::NoDim { dim: 2, rank: 1 });
        assert_eq!(expect_index_error(&d(0), &[0]), IndexError::Size { dim: 0, size: 0 });
        assert_eq!(expect_index_error(&TestExpr(AffineExpression::Symbol(1)), &[8]), IndexError::Symbol { symbol: 1 });
        let dims = |make: fn(Box<AffineExpression>, Box<AffineExpression>) -> AffineExpression| {
            TestExpr(make(Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Dim(1))))
        };
        assert_eq!(expect_index_error(&dims(AffineExpression::Mul), &[8, 8]), IndexError::NotAffine);
        assert_eq!(expect_index_error(&dims(AffineExpression::FloorDiv), &[8, 8]), IndexError::NotAffine);
    }

    #[test]
    fn rejects_numbers_beyond_64_bits() {
        let huge = i64::MAX;
        assert_eq!(expect_index_error(&(d(0) + huge), &[2]), IndexError::TooLarge);
        assert_eq!(expect_index_error(&(d(0) * huge), &[3]), IndexError::TooLarge);
        assert_eq!(expect_index_error(&(d(0) * 2 * huge), &[2]), IndexError::TooLarge);
        assert_eq!(expect_index_error(&(TestExpr(AffineExpression::Constant(huge)) + 1), &[]), IndexError::TooLarge);
        let split = TensorIndex::from_expr(&(d(0).floordiv(3) * 3 + d(0).modulo(3)).0, &[huge]).unwrap();
        assert_eq!(split, TensorIndex::from_dim(0, &[huge]).unwrap());
        assert_eq!(TensorIndex::from_expr(&(d(0) + i64::MIN).floordiv(4).0, &[4]).unwrap().offset, i64::MIN / 4);
        let unknown = TensorIndex { digits: vec![IndexDigit { dim: 0, divisor: 0, size: 2, factor: 1 }], offset: 0 };
        assert_eq!(TensorIndex::new(&unknown.digits, 0, &[8]), Err(IndexError::Divisor { divisor: 0 }));
    }

    #[test]
    fn composes_views_into_one_index() {
        // A buffer [256] viewed as [8, 32], transposed to [32, 8], merged to [256].
        let split = [checked_index(&(d(0) * 32 + d(1)), &[8, 32])];
        let swap = [checked_index(&d(1), &[32, 8]), checked_index(&d(0), &[32, 8])];
        let merge = [checked_index(&d(0).floordiv(8), &[256]), checked_index(&d(0).modulo(8), &[256])];
        let swapped = split[0].compose(&swap, &[32, 8]).unwrap();
        assert_eq!(digits_and_offset(&swapped), (vec![(1, 1, 8, 32), (0, 1, 32, 1)], 0));
        assert_eq!(
            digits_and_offset(&swapped.compose(&merge, &[256]).unwrap()),
            (vec![(0, 1, 8, 32), (0, 8, 32, 1)], 0)
        );
        assert_eq!(split[0].compose(&swap[..1], &[32, 8]), Err(IndexError::NoDim { dim: 1, rank: 1 }));
    }

    #[test]
    fn recognizes_top_digit_in_slice_of_merged_index() {
        // A buffer [4, 64] merged to [256], of which the first 200 are read: 64 does not divide 200.
        let merge = [checked_index(&d(0).floordiv(64), &[256]), checked_index(&d(0).modulo(64), &[256])];
        let slice = [checked_index(&d(0), &[200])];
        assert_eq!(digits_and_offset(&merge[0].compose(&slice, &[200]).unwrap()), (vec![(0, 64, 4, 1)], 0));
        assert_eq!(digits_and_offset(&merge[1].compose(&slice, &[200]).unwrap()), (vec![(0, 1, 64, 1)], 0));
    }
}
