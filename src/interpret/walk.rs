//! Walks over tensors: windows, broadcasts and views as sequences of element positions.

use crate::interpret::Fault;
use program::affine::Expr;

/// Sequence of positions in a row-major tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Each position is a sum of one term per dimension of the walk.
    Sums(Vec<Vec<usize>>),
    /// Explicit positions.
    Places(Vec<usize>),
}

impl Walk {
    /// Walks over the window that begins at `offsets` in a tensor of shape `whole`.
    pub(super) fn window(whole: &[usize], offsets: &[usize], sizes: &[usize]) -> Result<Self, Fault> {
        let fits = whole.iter().zip(offsets).zip(sizes).all(|((whole, offset), size)| offset + size <= *whole);
        if !fits || offsets.len() != whole.len() || sizes.len() != whole.len() {
            return Err(Fault::Outside { shape: whole.to_vec() });
        }
        let strides = strides(whole);
        let positions = |dim: usize| (0..sizes[dim]).map(|position| (offsets[dim] + position) * strides[dim]).collect();
        Ok(Self::Sums((0..whole.len()).map(positions).collect()))
    }

    /// Walks over a tensor of shape `shape` as one of shape `to`, broadcasting dimensions of size 1.
    pub(super) fn repeating(shape: &[usize], to: &[usize]) -> Result<Self, Fault> {
        let fits = shape.len() == to.len() && shape.iter().zip(to).all(|(own, size)| own == size || *own == 1);
        if !fits {
            return Err(Fault::Outside { shape: shape.to_vec() });
        }
        let strides = strides(shape);
        let positions = |dim: usize| (0..to[dim]).map(|position| if shape[dim] == 1 { 0 } else { position * strides[dim] }).collect();
        Ok(Self::Sums((0..to.len()).map(positions).collect()))
    }

    /// Walks over a view: `map` expresses the indices of a tensor of shape `from` in terms of those of a tensor of shape `to`.
    pub(super) fn view(from: &[usize], map: &[Expr], to: &[usize]) -> Result<Self, Fault> {
        if map.len() != from.len() {
            return Err(Fault::Outside { shape: from.to_vec() });
        }
        let sums: Option<Vec<Sum>> = map.iter().map(|expr| Sum::of(expr, to)).collect();
        match sums {
            Some(sums) => Self::of_sums(from, &sums, to),
            None => Self::of_points(from, map, to),
        }
    }

    fn of_sums(from: &[usize], sums: &[Sum], to: &[usize]) -> Result<Self, Fault> {
        let mut places: Vec<Vec<i64>> = to.iter().map(|size| vec![0; *size]).collect();
        let mut start = 0;
        for ((sum, size), stride) in sums.iter().zip(from).zip(strides(from)) {
            if !sum.stays_below(*size) {
                return Err(Fault::Outside { shape: from.to_vec() });
            }
            let stride = stride as i64;
            start += sum.constant * stride;
            for (places, terms) in places.iter_mut().zip(&sum.terms) {
                places.iter_mut().zip(terms).for_each(|(place, term)| *place += term * stride);
            }
        }
        // Every index is in bounds, so their sum is; a single term may be negative.
        let least = |places: &Vec<i64>| places.iter().copied().min().unwrap_or(0);
        let shift: i64 = places.iter().map(least).sum();
        let mut tables: Vec<Vec<usize>> = Vec::with_capacity(places.len() + 1);
        for places in &places {
            let least = least(places);
            tables.push(places.iter().map(|place| place.abs_diff(least) as usize).collect());
        }
        tables.insert(0, vec![usize::try_from(start + shift).map_err(|_| Fault::Outside { shape: from.to_vec() })?]);
        Ok(Self::Sums(tables))
    }

    fn of_points(from: &[usize], map: &[Expr], to: &[usize]) -> Result<Self, Fault> {
        let strides = strides(from);
        let mut places = Vec::with_capacity(to.iter().product());
        let mut point = vec![0_i64; to.len()];
        for _ in 0..to.iter().product() {
            let mut place = 0;
            for ((expr, size), stride) in map.iter().zip(from).zip(&strides) {
                let index = usize::try_from(expr.evaluate(&point)).ok().filter(|index| index < size);
                place += index.ok_or_else(|| Fault::Outside { shape: from.to_vec() })? * stride;
            }
            places.push(place);
            advance(&mut point, to);
        }
        Ok(Self::Places(places))
    }

    pub(super) fn gather<T: Copy>(&self, from: &[T]) -> Vec<T> {
        let mut found = Vec::with_capacity(self.length());
        self.each_row(|row, start| match row {
            Row::Straight(length) => found.extend_from_slice(&from[start..start + length]),
            Row::Places(places) => found.extend(places.iter().map(|place| from[start + place])),
        });
        found
    }

    pub(super) fn scatter<T: Copy>(&self, part: &[T], whole: &mut [T]) {
        let mut next = part.iter();
        self.each_row(|row, start| match row {
            Row::Straight(length) => whole[start..start + length].iter_mut().zip(&mut next).for_each(|(to, from)| *to = *from),
            Row::Places(places) => places.iter().zip(&mut next).for_each(|(place, from)| whole[start + place] = *from),
        });
    }

    /// All places, in order.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.length());
        self.each_row(|row, start| match row {
            Row::Straight(length) => places.extend(start..start + length),
            Row::Places(from) => places.extend(from.iter().map(|place| start + place)),
        });
        places
    }

    fn length(&self) -> usize {
        match self {
            Self::Sums(tables) => tables.iter().map(Vec::len).product(),
            Self::Places(places) => places.len(),
        }
    }

    /// Visits the elements row by row, with the start of the row and its elements relative to that start.
    pub(super) fn each_row(&self, mut visit: impl FnMut(Row<'_>, usize)) {
        let tables = match self {
            Self::Places(places) => return visit(Row::Places(places), 0),
            Self::Sums(tables) => tables,
        };
        let Some((inner, outer)) = tables.split_last() else { return visit(Row::Straight(1), 0) };
        let Some(&first) = inner.first() else { return };
        let is_straight = inner.iter().enumerate().all(|(position, place)| *place == first + position);
        let sizes: Vec<usize> = outer.iter().map(Vec::len).collect();
        let mut point = vec![0_usize; outer.len()];
        for _ in 0..sizes.iter().product() {
            let start: usize = outer.iter().zip(&point).map(|(table, position)| table[*position]).sum();
            if is_straight {
                visit(Row::Straight(inner.len()), start + first);
            } else {
                visit(Row::Places(inner), start);
            }
            for (position, size) in point.iter_mut().zip(&sizes).rev() {
                *position += 1;
                if *position < *size {
                    break;
                }
                *position = 0;
            }
        }
    }
}

/// The elements of a row from its start.
pub(super) enum Row<'a> {
    /// Number of contiguous elements.
    Straight(usize),
    /// Explicit offsets.
    Places(&'a [usize]),
}

/// An index as a constant plus one term per dimension.
struct Sum {
    constant: i64,
    /// Terms per dimension and position.
    terms: Vec<Vec<i64>>,
}

impl Sum {
    /// Converts an expression; `None` if a subexpression depends on two dimensions.
    fn of(expr: &Expr, to: &[usize]) -> Option<Self> {
        let mut sum = Self { constant: 0, terms: to.iter().map(|size| vec![0; *size]).collect() };
        sum.add(expr, 1, to)?;
        Some(sum)
    }

    fn add(&mut self, expr: &Expr, factor: i64, to: &[usize]) -> Option<()> {
        match expr {
            Expr::Add(lhs, rhs) => {
                self.add(lhs, factor, to)?;
                self.add(rhs, factor, to)
            }
            Expr::Mul(inner, number) if matches!(**number, Expr::Constant(_)) => self.add(inner, factor * number.evaluate(&[]), to),
            _ => {
                let mut point = vec![0; to.len()];
                match expr.dims().as_slice() {
                    [] => self.constant += factor * expr.evaluate(&point),
                    [dim] => {
                        for (position, term) in (0_i64..).zip(self.terms.get_mut(*dim)?) {
                            point[*dim] = position;
                            *term += factor * expr.evaluate(&point);
                        }
                    }
                    _ => return None,
                }
                Some(())
            }
        }
    }

    fn stays_below(&self, size: usize) -> bool {
        let least: i64 = self.terms.iter().filter_map(|terms| terms.iter().min()).sum();
        let most: i64 = self.terms.iter().filter_map(|terms| terms.iter().max()).sum();
        let is_empty = self.terms.iter().any(Vec::is_empty);
        is_empty || (self.constant + least >= 0 && self.constant + most < size as i64)
    }
}

/// Returns the row-major strides of a shape.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

fn advance(point: &mut [i64], sizes: &[usize]) {
    for (position, size) in point.iter_mut().zip(sizes).rev() {
        *position += 1;
        if *position < *size as i64 {
            return;
        }
        *position = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(dim: usize) -> Expr {
        Expr::Dim(dim)
    }

    fn with(build: impl Fn(Box<Expr>, Box<Expr>) -> Expr, lhs: Expr, rhs: i64) -> Expr {
        build(Box::new(lhs), Box::new(Expr::Constant(rhs)))
    }

    fn seen(from: &[usize], map: &[Expr], to: &[usize]) -> Vec<usize> {
        let elements: Vec<usize> = (0..from.iter().product()).collect();
        Walk::view(from, map, to).unwrap().gather(&elements)
    }

    #[test]
    fn a_view_permutes_shifts_and_repeats() {
        assert_eq!(seen(&[2, 3], &[dim(1), dim(0)], &[3, 2]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(seen(&[2, 3], &[dim(0), with(Expr::Add, dim(1), 1)], &[2, 2]), [1, 2, 4, 5]);
        assert_eq!(seen(&[2, 3], &[Expr::Constant(1), dim(1)], &[2, 3]), [3, 4, 5, 3, 4, 5]);
        assert_eq!(seen(&[4], &[with(Expr::Add, with(Expr::Mul, dim(0), -1), 3)], &[4]), [3, 2, 1, 0]);
    }

    #[test]
    fn a_view_takes_dimensions_apart_and_puts_them_together() {
        assert_eq!(seen(&[2, 3], &[with(Expr::FloorDiv, dim(0), 3), with(Expr::Mod, dim(0), 3)], &[6]), [0, 1, 2, 3, 4, 5]);
        let flat = Expr::Add(Box::new(with(Expr::Mul, dim(0), 2)), Box::new(dim(1)));
        assert_eq!(seen(&[6], std::slice::from_ref(&flat), &[3, 2]), [0, 1, 2, 3, 4, 5]);
        // Both dimensions move both indices.
        assert_eq!(seen(&[2, 3], &[with(Expr::FloorDiv, flat.clone(), 3), with(Expr::Mod, flat, 3)], &[3, 2]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_view_beyond_its_tensor_is_no_walk() {
        assert!(Walk::view(&[2, 3], &[dim(0), with(Expr::Add, dim(1), 1)], &[2, 3]).is_err());
        assert!(Walk::view(&[2, 3], &[dim(0)], &[2]).is_err());
        assert!(Walk::window(&[4, 4], &[1, 2], &[2, 3]).is_err());
    }

    #[test]
    fn a_window_is_read_and_written() {
        let walk = Walk::window(&[3, 4], &[1, 2], &[2, 2]).unwrap();
        let elements: Vec<usize> = (0..12).collect();
        assert_eq!(walk.gather(&elements), [6, 7, 10, 11]);
        let mut whole = vec![0; 12];
        walk.scatter(&[1, 2, 3, 4], &mut whole);
        assert_eq!(whole, [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4]);
    }

    #[test]
    fn dimensions_of_one_element_repeat_it() {
        let walk = Walk::repeating(&[2, 1], &[2, 3]).unwrap();
        assert_eq!(walk.gather(&[7, 8]), [7, 7, 7, 8, 8, 8]);
        assert_eq!(Walk::repeating(&[], &[]).unwrap().gather(&[5]), [5]);
        assert!(Walk::repeating(&[2], &[3]).is_err());
    }
}
