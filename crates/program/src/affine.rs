//! Affine expressions as plain values, for algorithms that know no MLIR.

/// An affine expression as a plain value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// A number.
    Constant(i64),
    /// Dimension `n` of the map.
    Dim(usize),
    /// Symbol `n` of the map.
    Symbol(usize),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// A product.
    Mul(Box<Expr>, Box<Expr>),
    /// Division that rounds down.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// Division that rounds up.
    CeilDiv(Box<Expr>, Box<Expr>),
    /// Remainder.
    Mod(Box<Expr>, Box<Expr>),
}

impl Expr {
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

    /// The value at a point; division rounds as in MLIR. Symbols are zero.
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

    /// Returns the least and the greatest value, or wider bounds, over dimensions of sizes `sizes`. None if it has a symbol, a product or a
    /// quotient of dimensions, or leaves 64 bits. Terms are bounded one by one.
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
                let (of, factor) = number(rhs).map_or_else(|| Some((rhs, number(lhs)?)), |factor| Some((lhs, factor)))?;
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
        self.note_dims(&mut dims);
        dims
    }

    fn note_dims(&self, dims: &mut Vec<usize>) {
        match self {
            Self::Dim(dim) if !dims.contains(dim) => dims.push(*dim),
            Self::Dim(_) | Self::Constant(_) | Self::Symbol(_) => {}
            Self::Add(lhs, rhs) | Self::Mul(lhs, rhs) | Self::FloorDiv(lhs, rhs) | Self::CeilDiv(lhs, rhs) | Self::Mod(lhs, rhs) => {
                lhs.note_dims(dims);
                rhs.note_dims(dims);
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
    pub fn with_whole_quotients(&self) -> Self {
        Sum::of(self).expr()
    }
}

/// Returns whether indices over dimensions of sizes `space` are within the bounds of a buffer of these sizes.
#[must_use]
pub fn are_inside(exprs: &[Expr], sizes: &[i64], space: &[i64]) -> bool {
    let is_inside = |(expr, &size): (&Expr, &i64)| expr.bounds(space).is_some_and(|[first, last]| first >= 0 && last < size);
    exprs.iter().zip(sizes).all(is_inside)
}

/// Linear combination of distinct terms, plus a constant.
#[derive(Default)]
struct Sum {
    terms: Vec<(i64, Expr)>,
    constant: i64,
}

impl Sum {
    fn of(expr: &Expr) -> Self {
        let mut sum = Self::default();
        sum.add(1, expr);
        while let Some((quotient, remainder)) = sum.divided_twice() {
            let (factor, Expr::Mod(of, _)) = sum.terms[remainder].clone() else { break };
            sum.terms.remove(quotient.max(remainder));
            sum.terms.remove(quotient.min(remainder));
            sum.add(factor, &of);
        }
        sum
    }

    /// Returns the floor quotient. Divides by a common factor of the divisor and a coefficient first:
    /// `(33 a + b) floordiv 77` becomes `(3 a + b floordiv 11) floordiv 7`. A quotient of a quotient becomes one quotient, and multiples of
    /// the divisor are divided alone: `(7 a + b + 9) floordiv 7` becomes `a + 1 + (b + 2) floordiv 7`.
    fn divided_by(mut self, by: i64) -> Expr {
        let common = |factor: i64| Some(common_part(by, factor)).filter(|part| *part > 1);
        let divided = |of: Expr, by: i64| Expr::FloorDiv(Box::new(of), Box::new(Expr::Constant(by)));
        if let [(1, Expr::FloorDiv(of, inner))] = self.terms.as_slice()
            && let Expr::Constant(inner @ 1..) = inner.as_ref()
            && let (Some(both), Some(constant)) = (inner.checked_mul(by), inner.checked_mul(self.constant))
        {
            let mut sum = Self::of(of);
            sum.constant += constant;
            return sum.divided_by(both);
        }
        let Some(part) = self.terms.iter().filter_map(|(factor, _)| common(*factor)).max() else {
            let mut whole = self.split_multiples(by);
            if !self.terms.is_empty() {
                whole.terms.push((1, divided(self.expr(), by)));
            }
            return whole.expr();
        };
        let (whole, rest): (Vec<_>, Vec<_>) = self.terms.into_iter().partition(|(factor, _)| factor % part == 0);
        let rest = Self { terms: rest, constant: self.constant.rem_euclid(part) };
        let whole = whole.into_iter().map(|(factor, term)| (factor / part, term)).collect();
        let mut sum = Self { terms: whole, constant: self.constant.div_euclid(part) };
        if !rest.terms.is_empty() {
            sum.add(1, &divided(rest.expr(), part));
        }
        Self::of(&sum.expr()).divided_by(by / part)
    }

    /// Removes the multiples of a number, and returns the sum of their quotients.
    fn split_multiples(&mut self, of: i64) -> Self {
        let (whole, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.terms).into_iter().partition(|(factor, _)| factor % of == 0);
        let constant = self.constant.div_euclid(of);
        self.terms = rest;
        self.constant = self.constant.rem_euclid(of);
        Self { terms: whole.into_iter().map(|(factor, term)| (factor / of, term)).collect(), constant }
    }

    fn add(&mut self, factor: i64, expr: &Expr) {
        let inner = |of: &Expr| Box::new(of.with_whole_quotients());
        let term = match expr {
            Expr::Constant(number) => return self.constant += factor * number,
            Expr::Add(lhs, rhs) => {
                self.add(factor, lhs);
                return self.add(factor, rhs);
            }
            Expr::Mul(lhs, rhs) => match (lhs.as_ref(), rhs.as_ref()) {
                (of, Expr::Constant(number)) | (Expr::Constant(number), of) => return self.add(factor * number, of),
                _ => Expr::Mul(inner(lhs), inner(rhs)),
            },
            Expr::FloorDiv(lhs, rhs) => match rhs.as_ref() {
                Expr::Constant(by) if *by > 0 => match Self::of(lhs).divided_by(*by) {
                    quotient @ Expr::FloorDiv(..) => quotient,
                    sum => return self.add(factor, &sum),
                },
                _ => Expr::FloorDiv(inner(lhs), rhs.clone()),
            },
            Expr::CeilDiv(lhs, rhs) => Expr::CeilDiv(inner(lhs), rhs.clone()),
            Expr::Mod(lhs, rhs) => match rhs.as_ref() {
                Expr::Constant(by) if *by > 0 => {
                    let mut rest = Self::of(lhs);
                    rest.split_multiples(*by);
                    if rest.terms.is_empty() {
                        return self.constant += factor * rest.constant;
                    }
                    Expr::Mod(Box::new(rest.expr()), rhs.clone())
                }
                _ => Expr::Mod(inner(lhs), rhs.clone()),
            },
            Expr::Dim(_) | Expr::Symbol(_) => expr.clone(),
        };
        match self.terms.iter_mut().find(|(_, known)| *known == term) {
            Some((known, _)) => *known += factor,
            None => self.terms.push((factor, term)),
        }
    }

    /// Returns the indices of two terms that are the quotient and the remainder of one division, with matching factors.
    fn divided_twice(&self) -> Option<(usize, usize)> {
        let pair = |(remainder, (factor, term)): (usize, &(i64, Expr))| {
            let Expr::Mod(of, by) = term else { return None };
            let &Expr::Constant(number @ 1..) = by.as_ref() else { return None };
            let quotient = Self::of(of).divided_by(number);
            let place = self.terms.iter().position(|(other, term)| *term == quotient && *other == factor * number)?;
            Some((place, remainder))
        };
        self.terms.iter().enumerate().find_map(pair)
    }

    fn expr(self) -> Expr {
        let scaled = |(factor, term): (i64, Expr)| match factor {
            0 => None,
            1 => Some(term),
            _ => Some(Expr::Mul(Box::new(term), Box::new(Expr::Constant(factor)))),
        };
        let number = (self.constant != 0).then_some(Expr::Constant(self.constant));
        let all = self.terms.into_iter().filter_map(scaled).chain(number);
        all.reduce(|sum, term| Expr::Add(Box::new(sum), Box::new(term))).unwrap_or(Expr::Constant(0))
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
fn common_part(of: i64, other: i64) -> i64 {
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

    fn of(build: impl Fn(Box<Expr>, Box<Expr>) -> Expr, lhs: i64, rhs: i64) -> i64 {
        build(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(rhs))).evaluate(&[lhs])
    }

    #[test]
    fn division_rounds_down_or_up_and_the_remainder_is_not_negative() {
        assert_eq!([7, -7].map(|lhs| of(Expr::FloorDiv, lhs, 2)), [3, -4]);
        assert_eq!([7, -7].map(|lhs| of(Expr::CeilDiv, lhs, 2)), [4, -3]);
        assert_eq!([7, -7].map(|lhs| of(Expr::Mod, lhs, 4)), [3, 1]);
    }

    #[test]
    fn dimensions_are_replaced_everywhere() {
        let sum = Expr::Add(Box::new(Expr::Mod(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(4)))), Box::new(Expr::Dim(1)));
        assert_eq!(sum.with_dims(&|dim| Expr::Constant([7, 10][dim])).evaluate(&[]), 13);
    }

    #[test]
    fn a_common_part_is_less_than_all() {
        let searched = |of: i64, other: i64| (2..of).rev().find(|part| of % part == 0 && other % part == 0).unwrap_or(1);
        for of in 1..60 {
            assert!((-70..70).all(|other| common_part(of, other) == searched(of, other)), "{of}");
        }
    }

    #[test]
    fn a_quotient_and_its_remainder_are_what_was_divided() {
        let two = |build: fn(Box<Expr>, Box<Expr>) -> Expr, lhs: &Expr, rhs: Expr| build(Box::new(lhs.clone()), Box::new(rhs));
        // Rows of 32 viewed as rows of 6, without the first row.
        let x = two(Expr::Add, &two(Expr::Mul, &Expr::Dim(0), Expr::Constant(32)), Expr::Dim(1));
        let next = two(Expr::Add, &two(Expr::FloorDiv, &x, Expr::Constant(6)), Expr::Constant(1));
        let flat = |by: i64| two(Expr::Add, &two(Expr::Mul, &next, Expr::Constant(by)), two(Expr::Mod, &x, Expr::Constant(6)));
        let whole = two(Expr::Add, &x, Expr::Constant(6));
        assert_eq!(flat(6).with_whole_quotients(), whole);
        let rows = |of: &Expr| two(Expr::FloorDiv, of, Expr::Constant(33));
        assert_eq!(rows(&flat(6)).with_whole_quotients(), rows(&whole), "inside of another division, too");
        // 3 x 7 rows of 11 viewed as 7 rows of 33.
        let x = two(Expr::Add, &two(Expr::Mul, &Expr::Dim(0), Expr::Constant(33)), Expr::Dim(1));
        let tens =
            two(Expr::Add, &two(Expr::Mul, &Expr::Dim(0), Expr::Constant(3)), two(Expr::FloorDiv, &Expr::Dim(1), Expr::Constant(11)));
        let digits = [
            two(Expr::Mul, &two(Expr::FloorDiv, &x, Expr::Constant(77)), Expr::Constant(77)),
            two(Expr::Mul, &two(Expr::Mod, &tens, Expr::Constant(7)), Expr::Constant(11)),
            two(Expr::Mod, &Expr::Dim(1), Expr::Constant(11)),
        ];
        let sum = digits.into_iter().reduce(|sum, digit| two(Expr::Add, &sum, digit)).unwrap();
        assert_eq!(sum.with_whole_quotients(), x);
        // 8 x 7 x 5 rows of 16 viewed as rows of 32.
        let x = two(Expr::Add, &two(Expr::Mul, &Expr::Dim(0), Expr::Constant(32)), Expr::Dim(1));
        let halves =
            two(Expr::Add, &two(Expr::Mul, &Expr::Dim(0), Expr::Constant(2)), two(Expr::FloorDiv, &Expr::Dim(1), Expr::Constant(16)));
        let quotient = |by: i64| two(Expr::FloorDiv, &x, Expr::Constant(by));
        let digits = [
            two(Expr::Mul, &quotient(560), Expr::Constant(560)),
            two(Expr::Mul, &two(Expr::Mod, &quotient(80), Expr::Constant(7)), Expr::Constant(80)),
            two(Expr::Mul, &two(Expr::Mod, &halves, Expr::Constant(5)), Expr::Constant(16)),
            two(Expr::Mod, &Expr::Dim(1), Expr::Constant(16)),
        ];
        let sum = digits.into_iter().reduce(|sum, digit| two(Expr::Add, &sum, digit)).unwrap();
        assert_eq!(sum.with_whole_quotients(), x);
        // Of rows of 7 it is another element.
        for by in [6, 7] {
            let points = (0..6).flat_map(|row| (0..32).map(move |column| [row, column]));
            assert!(points.clone().all(|point| flat(by).evaluate(&point) == flat(by).with_whole_quotients().evaluate(&point)));
        }
        assert_ne!(flat(7).with_whole_quotients(), whole);
    }
}
