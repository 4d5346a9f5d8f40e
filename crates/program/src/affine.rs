//! Affine expressions as plain values, for algorithms that know no MLIR.

/// Affine expression as a plain value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AffineExpression {
    /// A number.
    Constant(i64),
    /// Dimension `n` of the map.
    Dim(usize),
    /// Symbol `n` of the map.
    Symbol(usize),
    /// A sum.
    Add(Box<AffineExpression>, Box<AffineExpression>),
    /// A product.
    Mul(Box<AffineExpression>, Box<AffineExpression>),
    /// Division that rounds down.
    FloorDiv(Box<AffineExpression>, Box<AffineExpression>),
    /// Division that rounds up.
    CeilDiv(Box<AffineExpression>, Box<AffineExpression>),
    /// Remainder.
    Mod(Box<AffineExpression>, Box<AffineExpression>),
}

impl AffineExpression {
    /// Returns the expression times a number; unchanged for 1.
    #[must_use]
    pub fn times(self, factor: i64) -> Self {
        if factor == 1 { self } else { Self::Mul(Box::new(self), Box::new(Self::Constant(factor))) }
    }

    /// Returns the sum of two expressions; a summand 0 is dropped.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(0), sum) | (sum, Self::Constant(0)) => sum,
            (one, other) => Self::Add(Box::new(one), Box::new(other)),
        }
    }

    /// Returns the value at a point; division rounds as in MLIR. Symbols are zero.
    ///
    /// # Panics
    /// If the point has fewer dimensions than the expression, or on a division by zero.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        let both = |lhs: &Self, rhs: &Self| (lhs.evaluate(point), rhs.evaluate(point));
        match self {
            Self::Constant(number) => *number,
            Self::Dim(dim) => point[*dim],
            Self::Symbol(_) => 0,
            Self::Add(lhs, rhs) => lhs.evaluate(point) + rhs.evaluate(point),
            Self::Mul(lhs, rhs) => lhs.evaluate(point) * rhs.evaluate(point),
            Self::FloorDiv(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                lhs.div_euclid(rhs)
            }
            Self::CeilDiv(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                -(-lhs).div_euclid(rhs)
            }
            Self::Mod(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                lhs.rem_euclid(rhs)
            }
        }
    }

    /// Returns the least and the greatest value, or wider bounds, over dimensions of sizes `sizes`. `None` if it has a
    /// symbol, a product or a quotient of dimensions, or leaves 64 bits. Terms are bounded one by one.
    #[must_use]
    pub fn bounds(&self, sizes: &[i64]) -> Option<[i64; 2]> {
        let number = |expr: &Self| if let Self::Constant(number) = expr { Some(*number) } else { None };
        match self {
            Self::Constant(number) => Some([*number; 2]),
            Self::Dim(dim) => Some([0, sizes.get(*dim)? - 1]),
            Self::Symbol(_) => None,
            Self::Add(lhs, rhs) => {
                let (lhs, rhs) = (lhs.bounds(sizes)?, rhs.bounds(sizes)?);
                Some([lhs[0].checked_add(rhs[0])?, lhs[1].checked_add(rhs[1])?])
            }
            Self::Mul(lhs, rhs) => {
                let (of, factor) =
                    number(rhs).map_or_else(|| Some((rhs, number(lhs)?)), |factor| Some((lhs, factor)))?;
                let [first, last] = of.bounds(sizes)?;
                let ends = [first.checked_mul(factor)?, last.checked_mul(factor)?];
                Some([ends[0].min(ends[1]), ends[0].max(ends[1])])
            }
            Self::FloorDiv(lhs, rhs) | Self::CeilDiv(lhs, rhs) => {
                let by = number(rhs).filter(|by| *by > 0)?;
                let round_up = if matches!(self, Self::CeilDiv(..)) { by - 1 } else { 0 };
                let [first, last] = lhs.bounds(sizes)?;
                Some([first.checked_add(round_up)?.div_euclid(by), last.checked_add(round_up)?.div_euclid(by)])
            }
            Self::Mod(lhs, rhs) => {
                let by = number(rhs).filter(|by| *by > 0)?;
                let within = lhs.bounds(sizes)?;
                Some(if within[0] >= 0 && within[1] < by { within } else { [0, by - 1] })
            }
        }
    }

    /// Returns the dimensions that the expression depends on, each once.
    #[must_use]
    pub fn dims(&self) -> Vec<usize> {
        let mut dims = Vec::new();
        self.collect_dims(&mut dims);
        dims
    }

    fn collect_dims(&self, dims: &mut Vec<usize>) {
        match self {
            Self::Dim(dim) if !dims.contains(dim) => dims.push(*dim),
            Self::Dim(_) | Self::Constant(_) | Self::Symbol(_) => {}
            Self::Add(lhs, rhs)
            | Self::Mul(lhs, rhs)
            | Self::FloorDiv(lhs, rhs)
            | Self::CeilDiv(lhs, rhs)
            | Self::Mod(lhs, rhs) => {
                lhs.collect_dims(dims);
                rhs.collect_dims(dims);
            }
        }
    }

    /// Returns the expression with each dimension replaced by an expression.
    #[must_use]
    pub fn with_dims(&self, dims: &impl Fn(usize) -> Self) -> Self {
        let of = |expr: &Self| Box::new(expr.with_dims(dims));
        match self {
            Self::Dim(dim) => dims(*dim),
            Self::Constant(_) | Self::Symbol(_) => self.clone(),
            Self::Add(lhs, rhs) => Self::Add(of(lhs), of(rhs)),
            Self::Mul(lhs, rhs) => Self::Mul(of(lhs), of(rhs)),
            Self::FloorDiv(lhs, rhs) => Self::FloorDiv(of(lhs), of(rhs)),
            Self::CeilDiv(lhs, rhs) => Self::CeilDiv(of(lhs), of(rhs)),
            Self::Mod(lhs, rhs) => Self::Mod(of(lhs), of(rhs)),
        }
    }

    /// Returns the expression as a sum, with each quotient and remainder of one division replaced by the dividend. For
    /// example, `(x floordiv 6 + 1) * 6 + x mod 6` becomes `x + 6`. Such sums result from a tensor that is viewed in
    /// rows of 6, sliced without its first row, and flattened.
    #[must_use]
    pub fn fold_quotients(&self) -> Self {
        LinearCombination::from_expr(self).into_expr()
    }
}

/// Returns whether indices over dimensions of sizes `space` are within the bounds of a buffer of these sizes.
#[must_use]
pub fn are_in_bounds(exprs: &[AffineExpression], sizes: &[i64], space: &[i64]) -> bool {
    let is_inside = |(expr, &size): (&AffineExpression, &i64)| {
        expr.bounds(space).is_some_and(|[first, last]| first >= 0 && last < size)
    };
    exprs.iter().zip(sizes).all(is_inside)
}

/// Linear combination of distinct terms, plus a constant.
#[derive(Default)]
struct LinearCombination {
    terms: Vec<(i64, AffineExpression)>,
    constant: i64,
}

impl LinearCombination {
    fn from_expr(expr: &AffineExpression) -> Self {
        let mut sum = Self::default();
        sum.add(1, expr);
        while let Some((quotient, remainder)) = sum.find_quotient_and_remainder() {
            let (factor, AffineExpression::Mod(of, _)) = sum.terms[remainder].clone() else { break };
            sum.terms.remove(quotient.max(remainder));
            sum.terms.remove(quotient.min(remainder));
            sum.add(factor, &of);
        }
        sum
    }

    /// Returns the floor quotient. Divides by a common factor of the divisor and a coefficient first:
    /// `(33 a + b) floordiv 77` becomes `(3 a + b floordiv 11) floordiv 7`. A quotient of a quotient becomes one
    /// quotient, and multiples of the divisor are divided alone: `(7 a + b + 9) floordiv 7` becomes
    /// `a + 1 + (b + 2) floordiv 7`.
    fn floor_div(mut self, by: i64) -> AffineExpression {
        let common = |factor: i64| Some(find_proper_common_divisor(by, factor)).filter(|part| *part > 1);
        let divided = |of: AffineExpression, by: i64| {
            AffineExpression::FloorDiv(Box::new(of), Box::new(AffineExpression::Constant(by)))
        };
        if let [(1, AffineExpression::FloorDiv(of, inner))] = self.terms.as_slice()
            && let AffineExpression::Constant(inner @ 1..) = inner.as_ref()
            && let (Some(both), Some(constant)) = (inner.checked_mul(by), inner.checked_mul(self.constant))
        {
            let mut sum = Self::from_expr(of);
            sum.constant += constant;
            return sum.floor_div(both);
        }
        let Some(part) = self.terms.iter().filter_map(|(factor, _)| common(*factor)).max() else {
            let mut whole = self.extract_multiples(by);
            if !self.terms.is_empty() {
                whole.terms.push((1, divided(self.into_expr(), by)));
            }
            return whole.into_expr();
        };
        let (whole, rest): (Vec<_>, Vec<_>) = self.terms.into_iter().partition(|(factor, _)| factor % part == 0);
        let rest = Self { terms: rest, constant: self.constant.rem_euclid(part) };
        let whole = whole.into_iter().map(|(factor, term)| (factor / part, term)).collect();
        let mut sum = Self { terms: whole, constant: self.constant.div_euclid(part) };
        if !rest.terms.is_empty() {
            sum.add(1, &divided(rest.into_expr(), part));
        }
        Self::from_expr(&sum.into_expr()).floor_div(by / part)
    }

    /// Removes the multiples of a number, and returns the sum of their quotients.
    fn extract_multiples(&mut self, of: i64) -> Self {
        let (whole, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.terms).into_iter().partition(|(factor, _)| factor % of == 0);
        let constant = self.constant.div_euclid(of);
        self.terms = rest;
        self.constant = self.constant.rem_euclid(of);
        Self { terms: whole.into_iter().map(|(factor, term)| (factor / of, term)).collect(), constant }
    }

    fn add(&mut self, factor: i64, expr: &AffineExpression) {
        let inner = |of: &AffineExpression| Box::new(of.fold_quotients());
        let term = match expr {
            AffineExpression::Constant(number) => return self.constant += factor * number,
            AffineExpression::Add(lhs, rhs) => {
                self.add(factor, lhs);
                return self.add(factor, rhs);
            }
            AffineExpression::Mul(lhs, rhs) => match (lhs.as_ref(), rhs.as_ref()) {
                (of, AffineExpression::Constant(number)) | (AffineExpression::Constant(number), of) => {
                    return self.add(factor * number, of);
                }
                _ => AffineExpression::Mul(inner(lhs), inner(rhs)),
            },
            AffineExpression::FloorDiv(lhs, rhs) => match rhs.as_ref() {
                AffineExpression::Constant(by) if *by > 0 => match Self::from_expr(lhs).floor_div(*by) {
                    quotient @ AffineExpression::FloorDiv(..) => quotient,
                    sum => return self.add(factor, &sum),
                },
                _ => AffineExpression::FloorDiv(inner(lhs), rhs.clone()),
            },
            AffineExpression::CeilDiv(lhs, rhs) => AffineExpression::CeilDiv(inner(lhs), rhs.clone()),
            AffineExpression::Mod(lhs, rhs) => match rhs.as_ref() {
                AffineExpression::Constant(by) if *by > 0 => {
                    let mut rest = Self::from_expr(lhs);
                    rest.extract_multiples(*by);
                    if rest.terms.is_empty() {
                        return self.constant += factor * rest.constant;
                    }
                    AffineExpression::Mod(Box::new(rest.into_expr()), rhs.clone())
                }
                _ => AffineExpression::Mod(inner(lhs), rhs.clone()),
            },
            AffineExpression::Dim(_) | AffineExpression::Symbol(_) => expr.clone(),
        };
        match self.terms.iter_mut().find(|(_, known)| *known == term) {
            Some((known, _)) => *known += factor,
            None => self.terms.push((factor, term)),
        }
    }

    /// Returns the indices of two terms that are the quotient and the remainder of one division, with matching factors.
    fn find_quotient_and_remainder(&self) -> Option<(usize, usize)> {
        let pair = |(remainder, (factor, term)): (usize, &(i64, AffineExpression))| {
            let AffineExpression::Mod(of, by) = term else { return None };
            let &AffineExpression::Constant(number @ 1..) = by.as_ref() else { return None };
            let quotient = Self::from_expr(of).floor_div(number);
            let place = self.terms.iter().position(|(other, term)| *term == quotient && *other == factor * number)?;
            Some((place, remainder))
        };
        self.terms.iter().enumerate().find_map(pair)
    }

    fn into_expr(self) -> AffineExpression {
        let scaled = |(factor, term): (i64, AffineExpression)| match factor {
            0 => None,
            1 => Some(term),
            _ => Some(AffineExpression::Mul(Box::new(term), Box::new(AffineExpression::Constant(factor)))),
        };
        let number = (self.constant != 0).then_some(AffineExpression::Constant(self.constant));
        let all = self.terms.into_iter().filter_map(scaled).chain(number);
        all.reduce(|sum, term| AffineExpression::Add(Box::new(sum), Box::new(term)))
            .unwrap_or(AffineExpression::Constant(0))
    }
}

/// Returns the greatest common divisor of two numbers that are not negative.
#[must_use]
pub fn gcd(one: i64, other: i64) -> i64 {
    let (mut common, mut rest) = (one, other);
    while rest != 0 {
        (common, rest) = (rest, common % rest);
    }
    common
}

/// Returns the greatest common divisor of `of` and `other`, or a smaller common divisor if that is `of` itself.
fn find_proper_common_divisor(of: i64, other: i64) -> i64 {
    let common = gcd(of, other.abs());
    if common < of {
        return common;
    }
    let smallest = (2..).take_while(|divisor| divisor * divisor <= of).find(|divisor| of % divisor == 0);
    smallest.map_or(1, |divisor| of / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate_with_rhs(
        build: impl Fn(Box<AffineExpression>, Box<AffineExpression>) -> AffineExpression,
        lhs: i64,
        rhs: i64,
    ) -> i64 {
        build(Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Constant(rhs))).evaluate(&[lhs])
    }

    #[test]
    fn rounds_quotients_and_keeps_remainders_non_negative() {
        assert_eq!([7, -7].map(|lhs| evaluate_with_rhs(AffineExpression::FloorDiv, lhs, 2)), [3, -4]);
        assert_eq!([7, -7].map(|lhs| evaluate_with_rhs(AffineExpression::CeilDiv, lhs, 2)), [4, -3]);
        assert_eq!([7, -7].map(|lhs| evaluate_with_rhs(AffineExpression::Mod, lhs, 4)), [3, 1]);
    }

    #[test]
    fn replaces_all_occurrences_of_dimensions() {
        let sum = AffineExpression::Add(
            Box::new(AffineExpression::Mod(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(4)),
            )),
            Box::new(AffineExpression::Dim(1)),
        );
        assert_eq!(sum.with_dims(&|dim| AffineExpression::Constant([7, 10][dim])).evaluate(&[]), 13);
    }

    #[test]
    fn finds_common_divisor_below_the_number() {
        let searched =
            |of: i64, other: i64| (2..of).rev().find(|part| of % part == 0 && other % part == 0).unwrap_or(1);
        for of in 1..60 {
            assert!((-70..70).all(|other| find_proper_common_divisor(of, other) == searched(of, other)), "{of}");
        }
    }

    #[test]
    fn folds_quotient_and_remainder_into_dividend() {
        let two = |build: fn(Box<AffineExpression>, Box<AffineExpression>) -> AffineExpression,
                   lhs: &AffineExpression,
                   rhs: AffineExpression| build(Box::new(lhs.clone()), Box::new(rhs));
        // Rows of 32 viewed as rows of 6, without the first row.
        let x = two(
            AffineExpression::Add,
            &two(AffineExpression::Mul, &AffineExpression::Dim(0), AffineExpression::Constant(32)),
            AffineExpression::Dim(1),
        );
        let next = two(
            AffineExpression::Add,
            &two(AffineExpression::FloorDiv, &x, AffineExpression::Constant(6)),
            AffineExpression::Constant(1),
        );
        let flat = |by: i64| {
            two(
                AffineExpression::Add,
                &two(AffineExpression::Mul, &next, AffineExpression::Constant(by)),
                two(AffineExpression::Mod, &x, AffineExpression::Constant(6)),
            )
        };
        let whole = two(AffineExpression::Add, &x, AffineExpression::Constant(6));
        assert_eq!(flat(6).fold_quotients(), whole);
        let rows = |of: &AffineExpression| two(AffineExpression::FloorDiv, of, AffineExpression::Constant(33));
        assert_eq!(rows(&flat(6)).fold_quotients(), rows(&whole), "inside of another division, too");
        // 3 x 7 rows of 11 viewed as 7 rows of 33.
        let x = two(
            AffineExpression::Add,
            &two(AffineExpression::Mul, &AffineExpression::Dim(0), AffineExpression::Constant(33)),
            AffineExpression::Dim(1),
        );
        let tens = two(
            AffineExpression::Add,
            &two(AffineExpression::Mul, &AffineExpression::Dim(0), AffineExpression::Constant(3)),
            two(AffineExpression::FloorDiv, &AffineExpression::Dim(1), AffineExpression::Constant(11)),
        );
        let digits = [
            two(
                AffineExpression::Mul,
                &two(AffineExpression::FloorDiv, &x, AffineExpression::Constant(77)),
                AffineExpression::Constant(77),
            ),
            two(
                AffineExpression::Mul,
                &two(AffineExpression::Mod, &tens, AffineExpression::Constant(7)),
                AffineExpression::Constant(11),
            ),
            two(AffineExpression::Mod, &AffineExpression::Dim(1), AffineExpression::Constant(11)),
        ];
        let sum = digits.into_iter().reduce(|sum, digit| two(AffineExpression::Add, &sum, digit)).unwrap();
        assert_eq!(sum.fold_quotients(), x);
        // 8 x 7 x 5 rows of 16 viewed as rows of 32.
        let x = two(
            AffineExpression::Add,
            &two(AffineExpression::Mul, &AffineExpression::Dim(0), AffineExpression::Constant(32)),
            AffineExpression::Dim(1),
        );
        let halves = two(
            AffineExpression::Add,
            &two(AffineExpression::Mul, &AffineExpression::Dim(0), AffineExpression::Constant(2)),
            two(AffineExpression::FloorDiv, &AffineExpression::Dim(1), AffineExpression::Constant(16)),
        );
        let quotient = |by: i64| two(AffineExpression::FloorDiv, &x, AffineExpression::Constant(by));
        let digits = [
            two(AffineExpression::Mul, &quotient(560), AffineExpression::Constant(560)),
            two(
                AffineExpression::Mul,
                &two(AffineExpression::Mod, &quotient(80), AffineExpression::Constant(7)),
                AffineExpression::Constant(80),
            ),
            two(
                AffineExpression::Mul,
                &two(AffineExpression::Mod, &halves, AffineExpression::Constant(5)),
                AffineExpression::Constant(16),
            ),
            two(AffineExpression::Mod, &AffineExpression::Dim(1), AffineExpression::Constant(16)),
        ];
        let sum = digits.into_iter().reduce(|sum, digit| two(AffineExpression::Add, &sum, digit)).unwrap();
        assert_eq!(sum.fold_quotients(), x);
        // With rows of 7, the index reaches another element.
        for by in [6, 7] {
            let points = (0..6).flat_map(|row| (0..32).map(move |column| [row, column]));
            assert!(
                points.clone().all(|point| flat(by).evaluate(&point) == flat(by).fold_quotients().evaluate(&point))
            );
        }
        assert_ne!(flat(7).fold_quotients(), whole);
    }
}
