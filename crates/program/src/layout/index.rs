//! Indices as sums of digits: the form of an affine index with known dimension sizes.

use super::IndexError;
use crate::affine::Expr;

/// `((c_dim floordiv divisor) mod size) * factor`: a run of digits of one dimension. Before the factor it takes the values `0..size`.
///
/// In an [`Index`] every divisor and factor is at least 1 and every size at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digit {
    /// The dimension.
    pub dim: usize,
    /// So many neighbours share a value.
    pub divisor: i64,
    /// The values start again after so many.
    pub size: i64,
    /// How far one step of the digit moves the index.
    pub factor: i64,
}

/// One index of a tensor as a sum of digits plus a constant.
///
/// The form is as short as possible: digits of a dimension that continue each other are one digit, a digit takes no value that its
/// dimension is too small for, and dimensions of size 1 do not appear.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Index {
    /// The digits, the one with the largest factor first.
    pub digits: Vec<Digit>,
    /// The index when every digit is 0.
    pub offset: i64,
}

impl Digit {
    /// The digit's value, factor included, at a point.
    ///
    /// # Panics
    /// When the point has no such dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        point[self.dim].div_euclid(self.divisor).rem_euclid(self.size) * self.factor
    }

    /// Positions of the dimension after which the digit starts again.
    #[must_use]
    pub const fn end(&self) -> i64 {
        self.divisor.saturating_mul(self.size)
    }

    /// Whether its dimension, of size `range`, has no digit above this one: then the modulus changes nothing.
    const fn is_top(&self, range: i64) -> bool {
        self.end() >= range
    }

    /// One digit for two of the same dimension: the same one twice, or neighbours whose factors continue each other too.
    fn joined(&self, other: &Self, range: i64) -> Option<Self> {
        if (self.divisor, self.size) == (other.divisor, other.size) {
            return Some(Self { factor: self.factor.checked_add(other.factor)?, ..*self });
        }
        let (low, high) = if self.divisor < other.divisor { (self, other) } else { (other, self) };
        let continues = low.end() == high.divisor && low.factor.checked_mul(low.size) == Some(high.factor);
        let size = low.size.saturating_mul(high.size).min(groups(range, low.divisor));
        continues.then_some(Self { size, ..*low })
    }

    /// The parts that make up `floordiv divisor` and `mod divisor`, if nothing carries between them. A part that is not there has
    /// factor 0.
    const fn cut(&self, divisor: i64, range: i64) -> (Self, Self) {
        if self.factor >= divisor {
            return (Self { factor: self.factor / divisor, ..*self }, Self { factor: self.factor % divisor, ..*self });
        }
        let below = divisor / self.factor;
        let is_between_digits = divisor % self.factor == 0 && (self.size % below == 0 || self.is_top(range));
        if below < self.size && is_between_digits {
            let high = Self { dim: self.dim, divisor: self.divisor * below, size: groups(self.size, below), factor: 1 };
            (high, Self { size: below, ..*self })
        } else {
            (Self { factor: 0, ..*self }, *self)
        }
    }

    fn expr(&self, range: i64) -> Expr {
        let boxed = |number: i64| Box::new(Expr::Constant(number));
        let mut expr = Expr::Dim(self.dim);
        if self.divisor != 1 {
            expr = Expr::FloorDiv(Box::new(expr), boxed(self.divisor));
        }
        if !self.is_top(range) {
            expr = Expr::Mod(Box::new(expr), boxed(self.size));
        }
        if self.factor == 1 { expr } else { Expr::Mul(Box::new(expr), boxed(self.factor)) }
    }
}

impl Index {
    /// The sum of `digits` and `offset` over dimensions with these sizes, in the shortest form. Digits of size 1 or factor 0 may be
    /// among them.
    ///
    /// # Errors
    /// When a digit names no dimension, its divisor or size is not positive, its factor is negative, or the index can leave 64 bits.
    pub fn new(digits: &[Digit], offset: i64, sizes: &[i64]) -> Result<Self, IndexError> {
        let mut index = Self::constant(offset);
        for &digit in digits {
            let range = range_of(digit.dim, sizes)?;
            if let Some(&divisor) = [digit.divisor, digit.size].iter().find(|&&number| number < 1) {
                return Err(IndexError::Divisor { divisor });
            }
            if digit.factor < 0 {
                return Err(IndexError::NegativeFactor { factor: digit.factor });
            }
            index.add(Digit { size: digit.size.min(groups(range, digit.divisor)), ..digit }, range);
        }
        index.digits.sort_by_key(|digit| (-digit.factor, *digit));
        let within_64_bits = |sum: i64, digit: &Digit| sum.checked_add(digit.factor.checked_mul(digit.size - 1)?);
        index.digits.iter().try_fold(offset, within_64_bits).ok_or(IndexError::TooLarge)?;
        Ok(index)
    }

    /// The index is dimension `dim` of dimensions with these sizes.
    ///
    /// # Errors
    /// When there is no such dimension.
    pub fn dim(dim: usize, sizes: &[i64]) -> Result<Self, IndexError> {
        Self::new(&[Digit { dim, divisor: 1, size: range_of(dim, sizes)?, factor: 1 }], 0, sizes)
    }

    /// The index never moves.
    #[must_use]
    pub const fn constant(offset: i64) -> Self {
        Self { digits: Vec::new(), offset }
    }

    /// The index that an affine expression over dimensions with these sizes is.
    ///
    /// The sizes decide what the expression comes to: with `d0` in `0..8` and `d1` in `0..32`, `(d0 * 32 + d1) floordiv 64` is
    /// `d0 floordiv 2`.
    ///
    /// # Errors
    /// When the expression has a symbol, a product of dimensions, a divisor that is no positive number or a negative factor; when a
    /// division carries between digits; or when the index can leave 64 bits.
    pub fn of(expr: &Expr, sizes: &[i64]) -> Result<Self, IndexError> {
        match expr {
            Expr::Constant(offset) => Ok(Self::constant(*offset)),
            Expr::Dim(dim) => Self::dim(*dim, sizes),
            Expr::Symbol(symbol) => Err(IndexError::Symbol { symbol: *symbol }),
            Expr::Add(lhs, rhs) => Self::of(lhs, sizes)?.plus(&Self::of(rhs, sizes)?, sizes),
            Expr::Mul(lhs, rhs) => {
                let (lhs, rhs) = (Self::of(lhs, sizes)?, Self::of(rhs, sizes)?);
                if lhs.digits.is_empty() { rhs.times(lhs.offset, sizes) } else { lhs.times(rhs.number()?, sizes) }
            }
            Expr::FloorDiv(lhs, rhs) => Ok(Self::of(lhs, sizes)?.cut(Self::of(rhs, sizes)?.number()?, sizes)?.0),
            Expr::Mod(lhs, rhs) => Ok(Self::of(lhs, sizes)?.cut(Self::of(rhs, sizes)?.number()?, sizes)?.1),
            Expr::CeilDiv(lhs, rhs) => {
                let divisor = Self::of(rhs, sizes)?.number()?;
                let rounded = Self::of(lhs, sizes)?.plus(&Self::constant(divisor.saturating_sub(1)), sizes)?;
                Ok(rounded.cut(divisor, sizes)?.0)
            }
        }
    }

    /// The index at a point.
    ///
    /// # Panics
    /// When the point lacks a digit's dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        self.offset + self.digits.iter().map(|digit| digit.evaluate(point)).sum::<i64>()
    }

    /// The largest value. It is a bound that no point may reach where a dimension is cut at a number that does not divide its size.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.offset + self.digits.iter().map(|digit| (digit.size - 1) * digit.factor).sum::<i64>()
    }

    /// This index, of a tensor's dimensions, in terms of the dimensions with these `sizes` that move the tensor's `indices`: views
    /// composed. Each of the indices stays inside its dimension.
    ///
    /// # Errors
    /// When there is no index for a dimension, a digit of the tensor carries into the next, or the index can leave 64 bits.
    pub fn through(&self, indices: &[Self], sizes: &[i64]) -> Result<Self, IndexError> {
        let mut sum = Self::constant(self.offset);
        for digit in &self.digits {
            let index = indices.get(digit.dim).ok_or(IndexError::NoDim { dim: digit.dim, rank: indices.len() })?;
            let (shifted, _) = index.cut(digit.divisor, sizes)?;
            let (_, value) = shifted.cut(digit.size, sizes)?;
            sum = sum.plus(&value.times(digit.factor, sizes)?, sizes)?;
        }
        Ok(sum)
    }

    /// The index as an affine expression over dimensions with these sizes; a modulus that the sizes imply is left out.
    ///
    /// # Errors
    /// When a digit names no dimension.
    pub fn to_expr(&self, sizes: &[i64]) -> Result<Expr, IndexError> {
        let mut sum: Option<Expr> = None;
        let plus = |sum: Option<Expr>, term: Expr| match sum {
            None => term,
            Some(sum) => Expr::Add(Box::new(sum), Box::new(term)),
        };
        for digit in &self.digits {
            sum = Some(plus(sum, digit.expr(range_of(digit.dim, sizes)?)));
        }
        Ok(match sum {
            Some(sum) if self.offset == 0 => sum,
            sum => plus(sum, Expr::Constant(self.offset)),
        })
    }

    /// Adds a digit, together with those that it repeats or continues.
    fn add(&mut self, mut digit: Digit, range: i64) {
        if digit.size < 2 || digit.factor == 0 {
            return;
        }
        let joined = |digits: &[Digit], digit: &Digit| {
            let mut neighbours = digits.iter().enumerate().filter(|(_, other)| other.dim == digit.dim);
            neighbours.find_map(|(position, other)| Some((position, digit.joined(other, range)?)))
        };
        while let Some((position, both)) = joined(&self.digits, &digit) {
            self.digits.swap_remove(position);
            digit = both;
        }
        self.digits.push(digit);
    }

    fn plus(&self, other: &Self, sizes: &[i64]) -> Result<Self, IndexError> {
        let offset = self.offset.checked_add(other.offset).ok_or(IndexError::TooLarge)?;
        Self::new(&[&self.digits[..], &other.digits].concat(), offset, sizes)
    }

    fn times(&self, factor: i64, sizes: &[i64]) -> Result<Self, IndexError> {
        let product = |number: i64| number.checked_mul(factor).ok_or(IndexError::TooLarge);
        let scaled = |digit: &Digit| Ok(Digit { factor: product(digit.factor)?, ..*digit });
        Self::new(&self.digits.iter().map(scaled).collect::<Result<Vec<Digit>, IndexError>>()?, product(self.offset)?, sizes)
    }

    /// `self floordiv divisor` and `self mod divisor`, digit by digit: what lies below the divisor must stay below it.
    fn cut(&self, divisor: i64, sizes: &[i64]) -> Result<(Self, Self), IndexError> {
        if divisor < 1 {
            return Err(IndexError::Divisor { divisor });
        }
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for digit in &self.digits {
            let (high, low) = digit.cut(divisor, range_of(digit.dim, sizes)?);
            above.push(high);
            below.push(low);
        }
        let low = Self::new(&below, self.offset.rem_euclid(divisor), sizes)?;
        if low.last() >= divisor {
            return Err(IndexError::Carries { divisor, reach: low.last() });
        }
        Ok((Self::new(&above, self.offset.div_euclid(divisor), sizes)?, low))
    }

    /// The value of an index that is a factor or a divisor.
    const fn number(&self) -> Result<i64, IndexError> {
        if self.digits.is_empty() { Ok(self.offset) } else { Err(IndexError::NotAffine) }
    }
}

fn range_of(dim: usize, sizes: &[i64]) -> Result<i64, IndexError> {
    match sizes.get(dim) {
        None => Err(IndexError::NoDim { dim, rank: sizes.len() }),
        Some(&size) if size < 1 => Err(IndexError::Size { dim, size }),
        Some(&size) => Ok(size),
    }
}

/// Groups of `size` neighbours, the last perhaps not full, among `elements` (at least 1).
const fn groups(elements: i64, size: i64) -> i64 {
    (elements - 1) / size + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{E, d, index};

    /// `(dim, divisor, size, factor)` of every digit, and the offset.
    fn parts(index: &Index) -> (Vec<(usize, i64, i64, i64)>, i64) {
        let digits = index.digits.iter().map(|digit| (digit.dim, digit.divisor, digit.size, digit.factor));
        (digits.collect(), index.offset)
    }

    fn refused(expr: &E, sizes: &[i64]) -> IndexError {
        Index::of(&expr.0, sizes).unwrap_err()
    }

    #[test]
    fn a_division_of_a_merged_index_falls_between_digits() {
        let merged = || d(0) * 32 + d(1);
        assert_eq!(parts(&index(&merged().floordiv(64), &[8, 32])), (vec![(0, 2, 4, 1)], 0));
        assert_eq!(parts(&index(&merged().modulo(64), &[8, 32])), (vec![(0, 1, 2, 32), (1, 1, 32, 1)], 0));
        assert_eq!(parts(&index(&merged().floordiv(8), &[8, 32])), (vec![(0, 1, 8, 4), (1, 8, 4, 1)], 0));
        assert_eq!(parts(&index(&merged().floordiv(256), &[8, 32])), (vec![], 0));
    }

    #[test]
    fn an_offset_that_does_not_carry_is_divided_too() {
        let window = || d(0) * 32 + d(1) + 16;
        assert_eq!(parts(&index(&window().floordiv(32), &[8, 16])), (vec![(0, 1, 8, 1)], 0));
        assert_eq!(parts(&index(&window().modulo(32), &[8, 16])), (vec![(1, 1, 16, 1)], 16));
        assert_eq!(refused(&window().floordiv(32), &[8, 17]), IndexError::Carries { divisor: 32, reach: 32 });
        assert_eq!(parts(&index(&(d(0) + -64).floordiv(64), &[256])), (vec![(0, 64, 4, 1)], -1));
        assert_eq!(parts(&index(&(d(0) + 80).floordiv(64), &[48])), (vec![], 1));
    }

    #[test]
    fn a_modulus_that_the_size_implies_goes() {
        assert_eq!(parts(&index(&d(0).modulo(32), &[20])), (vec![(0, 1, 20, 1)], 0));
        assert_eq!(index(&d(0).modulo(32), &[20]).to_expr(&[20]), Ok(Expr::Dim(0)));
        assert_eq!(index(&d(0).modulo(16), &[20]).to_expr(&[20]), Ok(d(0).modulo(16).0));
        let last = (d(0).floordiv(4).modulo(8) * 2 + 1).0;
        assert_eq!(index(&E(last.clone()), &[64]).to_expr(&[64]), Ok(last));
        assert_eq!(Index::constant(0).to_expr(&[]), Ok(Expr::Constant(0)));
    }

    #[test]
    fn digits_that_continue_each_other_are_one() {
        let again = |size: i64| d(0).floordiv(size) * size + d(0).modulo(size);
        assert_eq!(parts(&index(&again(32), &[256])), (vec![(0, 1, 256, 1)], 0));
        assert_eq!(parts(&index(&again(64), &[200])), (vec![(0, 1, 200, 1)], 0), "64 does not divide 200");
        let three = d(0).modulo(4) + d(0).floordiv(16) * 16 + d(0).floordiv(4).modulo(4) * 4;
        assert_eq!(parts(&index(&three, &[64])), (vec![(0, 1, 64, 1)], 0));
        let swapped = d(0).floordiv(4) + d(0).modulo(4) * 8;
        assert_eq!(parts(&index(&swapped, &[32])), (vec![(0, 1, 4, 8), (0, 4, 8, 1)], 0));
        let gap = d(0).modulo(4) + d(0).floordiv(8) * 4;
        assert_eq!(parts(&index(&gap, &[32])), (vec![(0, 8, 4, 4), (0, 1, 4, 1)], 0), "no digit for 4");
        assert_eq!(parts(&index(&(d(0) * 2 + d(0)), &[8])), (vec![(0, 1, 8, 3)], 0));
    }

    #[test]
    fn digits_are_no_larger_than_their_dims() {
        let digit = |divisor, size, factor| Digit { dim: 0, divisor, size, factor };
        assert_eq!(Index::new(&[digit(1, 256, 2)], 0, &[200]).unwrap().digits, [digit(1, 200, 2)]);
        assert_eq!(Index::new(&[digit(64, 4, 1)], 0, &[65]).unwrap().digits, [digit(64, 2, 1)]);
        assert_eq!(Index::new(&[digit(64, 4, 1), digit(1, 1, 5), digit(1, 8, 0)], 3, &[64]), Ok(Index::constant(3)));
    }

    #[test]
    fn unit_dims_and_overlaps_are_sums_like_others() {
        assert_eq!(parts(&index(&(d(0) * 7 + d(1)), &[1, 5])), (vec![(1, 1, 5, 1)], 0));
        assert_eq!(parts(&index(&(d(0) + d(1)), &[8, 3])), (vec![(0, 1, 8, 1), (1, 1, 3, 1)], 0));
        assert_eq!(index(&(d(0) + d(1)), &[8, 3]).last(), 9);
        assert_eq!(parts(&index(&(d(0) * 33).floordiv(32), &[32])), (vec![(0, 1, 32, 1)], 0), "32 * 1 + 1, and 31 does not carry");
    }

    #[test]
    fn a_ceiling_is_a_floor_of_more() {
        let ceil = |expr: E, divisor: i64| E(Expr::CeilDiv(Box::new(expr.0), Box::new(Expr::Constant(divisor))));
        assert_eq!(parts(&index(&ceil(d(0) * 64, 64), &[4])), (vec![(0, 1, 4, 1)], 0));
        assert_eq!(refused(&ceil(d(0), 64), &[128]), IndexError::Carries { divisor: 64, reach: 126 });
    }

    #[test]
    fn what_is_no_sum_of_digits_is_refused() {
        assert_eq!(refused(&(d(0) * -1 + 7), &[8]), IndexError::NegativeFactor { factor: -1 });
        assert_eq!(refused(&(d(0) * 3).floordiv(2), &[8]), IndexError::Carries { divisor: 2, reach: 7 });
        assert_eq!(refused(&d(0).modulo(48).floordiv(32), &[64]), IndexError::Carries { divisor: 32, reach: 47 });
        assert_eq!(refused(&(d(0) + d(1)).floordiv(8), &[8, 8]), IndexError::Carries { divisor: 8, reach: 14 });
        assert_eq!(refused(&d(0).modulo(0), &[8]), IndexError::Divisor { divisor: 0 });
        assert_eq!(refused(&d(2), &[8]), IndexError::NoDim { dim: 2, rank: 1 });
        assert_eq!(refused(&d(0), &[0]), IndexError::Size { dim: 0, size: 0 });
        assert_eq!(refused(&E(Expr::Symbol(1)), &[8]), IndexError::Symbol { symbol: 1 });
        let dims = |make: fn(Box<Expr>, Box<Expr>) -> Expr| E(make(Box::new(Expr::Dim(0)), Box::new(Expr::Dim(1))));
        assert_eq!(refused(&dims(Expr::Mul), &[8, 8]), IndexError::NotAffine);
        assert_eq!(refused(&dims(Expr::FloorDiv), &[8, 8]), IndexError::NotAffine);
    }

    #[test]
    fn numbers_that_leave_64_bits_are_refused() {
        let huge = i64::MAX;
        assert_eq!(refused(&(d(0) + huge), &[2]), IndexError::TooLarge);
        assert_eq!(refused(&(d(0) * huge), &[3]), IndexError::TooLarge);
        assert_eq!(refused(&(d(0) * 2 * huge), &[2]), IndexError::TooLarge);
        assert_eq!(refused(&(E(Expr::Constant(huge)) + 1), &[]), IndexError::TooLarge);
        let split = Index::of(&(d(0).floordiv(3) * 3 + d(0).modulo(3)).0, &[huge]).unwrap();
        assert_eq!(split, Index::dim(0, &[huge]).unwrap());
        assert_eq!(Index::of(&(d(0) + i64::MIN).floordiv(4).0, &[4]).unwrap().offset, i64::MIN / 4);
        let unknown = Index { digits: vec![Digit { dim: 0, divisor: 0, size: 2, factor: 1 }], offset: 0 };
        assert_eq!(Index::new(&unknown.digits, 0, &[8]), Err(IndexError::Divisor { divisor: 0 }));
    }

    #[test]
    fn composed_views_come_to_one_index() {
        // A buffer [256] seen as [8, 32], transposed to [32, 8], merged to [256].
        let split = [index(&(d(0) * 32 + d(1)), &[8, 32])];
        let swap = [index(&d(1), &[32, 8]), index(&d(0), &[32, 8])];
        let merge = [index(&d(0).floordiv(8), &[256]), index(&d(0).modulo(8), &[256])];
        let swapped = split[0].through(&swap, &[32, 8]).unwrap();
        assert_eq!(parts(&swapped), (vec![(1, 1, 8, 32), (0, 1, 32, 1)], 0));
        assert_eq!(parts(&swapped.through(&merge, &[256]).unwrap()), (vec![(0, 1, 8, 32), (0, 8, 32, 1)], 0));
        assert_eq!(split[0].through(&swap[..1], &[32, 8]), Err(IndexError::NoDim { dim: 1, rank: 1 }));
    }

    #[test]
    fn a_slice_of_a_merged_index_knows_that_it_is_the_top() {
        // A buffer [4, 64] merged to [256], of which the first 200 are read: 64 does not divide 200.
        let merge = [index(&d(0).floordiv(64), &[256]), index(&d(0).modulo(64), &[256])];
        let slice = [index(&d(0), &[200])];
        assert_eq!(parts(&merge[0].through(&slice, &[200]).unwrap()), (vec![(0, 64, 4, 1)], 0));
        assert_eq!(parts(&merge[1].through(&slice, &[200]).unwrap()), (vec![(0, 1, 64, 1)], 0));
    }
}
