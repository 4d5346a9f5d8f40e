//! Walks over tensors: windows, broadcasts and views as sequences of element positions.

use crate::interpret::EvaluationError;
use program::affine::AffineExpression;

/// Sequence of positions in a row-major tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PositionSequence {
    /// Each position is a sum of one term per dimension of the walk.
    Sums(Vec<Vec<usize>>),
    /// Explicit positions.
    Positions(Vec<usize>),
}

impl PositionSequence {
    /// Walks over the window that begins at `offsets` in a tensor of shape `whole`.
    pub(super) fn window(whole: &[usize], offsets: &[usize], sizes: &[usize]) -> Result<Self, EvaluationError> {
        let fits = whole.iter().zip(offsets).zip(sizes).all(|((whole, offset), size)| offset + size <= *whole);
        if !fits || offsets.len() != whole.len() || sizes.len() != whole.len() {
            return Err(EvaluationError::OutOfBounds { shape: whole.to_vec() });
        }
        let strides = compute_strides(whole);
        let positions = |dim: usize| (0..sizes[dim]).map(|position| (offsets[dim] + position) * strides[dim]).collect();
        Ok(Self::Sums((0..whole.len()).map(positions).collect()))
    }

    /// Walks over a tensor of shape `shape` as one of shape `to`, broadcasting dimensions of size 1.
    pub(super) fn broadcast(shape: &[usize], to: &[usize]) -> Result<Self, EvaluationError> {
        let fits = shape.len() == to.len() && shape.iter().zip(to).all(|(own, size)| own == size || *own == 1);
        if !fits {
            return Err(EvaluationError::OutOfBounds { shape: shape.to_vec() });
        }
        let strides = compute_strides(shape);
        let positions = |dim: usize| {
            (0..to[dim]).map(|position| if shape[dim] == 1 { 0 } else { position * strides[dim] }).collect()
        };
        Ok(Self::Sums((0..to.len()).map(positions).collect()))
    }

    /// Walks over a view: `map` expresses the indices of a tensor of shape `from` in terms of those of a tensor of
    /// shape `to`.
    pub(super) fn view(from: &[usize], map: &[AffineExpression], to: &[usize]) -> Result<Self, EvaluationError> {
        if map.len() != from.len() {
            return Err(EvaluationError::OutOfBounds { shape: from.to_vec() });
        }
        let sums: Option<Vec<SeparableIndex>> = map.iter().map(|expr| SeparableIndex::from_expr(expr, to)).collect();
        match sums {
            Some(sums) => Self::from_sums(from, &sums, to),
            None => Self::from_points(from, map, to),
        }
    }

    fn from_sums(from: &[usize], sums: &[SeparableIndex], to: &[usize]) -> Result<Self, EvaluationError> {
        let mut places: Vec<Vec<i64>> = to.iter().map(|size| vec![0; *size]).collect();
        let mut start = 0;
        for ((sum, size), stride) in sums.iter().zip(from).zip(compute_strides(from)) {
            if !sum.is_below(*size) {
                return Err(EvaluationError::OutOfBounds { shape: from.to_vec() });
            }
            let stride = stride as i64;
            start += sum.constant * stride;
            for (places, terms) in places.iter_mut().zip(&sum.terms) {
                places.iter_mut().zip(terms).for_each(|(place, term)| *place += term * stride);
            }
        }
        // Every index is in bounds, so the sum of all terms is; a single term may be negative.
        let least = |places: &Vec<i64>| places.iter().copied().min().unwrap_or(0);
        let shift: i64 = places.iter().map(least).sum();
        let mut tables: Vec<Vec<usize>> = Vec::with_capacity(places.len() + 1);
        for places in &places {
            let least = least(places);
            tables.push(places.iter().map(|place| place.abs_diff(least) as usize).collect());
        }
        tables.insert(
            0,
            vec![usize::try_from(start + shift).map_err(|_| EvaluationError::OutOfBounds { shape: from.to_vec() })?],
        );
        Ok(Self::Sums(tables))
    }

    fn from_points(from: &[usize], map: &[AffineExpression], to: &[usize]) -> Result<Self, EvaluationError> {
        let strides = compute_strides(from);
        let mut places = Vec::with_capacity(to.iter().product());
        let mut point = vec![0_i64; to.len()];
        for _ in 0..to.iter().product() {
            let mut place = 0;
            for ((expr, size), stride) in map.iter().zip(from).zip(&strides) {
                let index = usize::try_from(expr.evaluate(&point)).ok().filter(|index| index < size);
                place += index.ok_or_else(|| EvaluationError::OutOfBounds { shape: from.to_vec() })? * stride;
            }
            places.push(place);
            advance_point(&mut point, to);
        }
        Ok(Self::Positions(places))
    }

    pub(super) fn gather<T: Copy>(&self, from: &[T]) -> Vec<T> {
        let mut found = Vec::with_capacity(self.length());
        self.for_each_run(|row, start| match row {
            PositionRun::Contiguous(length) => found.extend_from_slice(&from[start..start + length]),
            PositionRun::Offsets(places) => found.extend(places.iter().map(|place| from[start + place])),
        });
        found
    }

    pub(super) fn scatter<T: Copy>(&self, part: &[T], whole: &mut [T]) {
        let mut next = part.iter();
        self.for_each_run(|row, start| match row {
            PositionRun::Contiguous(length) => {
                whole[start..start + length].iter_mut().zip(&mut next).for_each(|(to, from)| *to = *from)
            }
            PositionRun::Offsets(places) => {
                places.iter().zip(&mut next).for_each(|(place, from)| whole[start + place] = *from)
            }
        });
    }

    /// Returns all positions, in order.
    pub(super) fn positions(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.length());
        self.for_each_run(|row, start| match row {
            PositionRun::Contiguous(length) => places.extend(start..start + length),
            PositionRun::Offsets(from) => places.extend(from.iter().map(|place| start + place)),
        });
        places
    }

    fn length(&self) -> usize {
        match self {
            Self::Sums(tables) => tables.iter().map(Vec::len).product(),
            Self::Positions(places) => places.len(),
        }
    }

    /// Visits the elements run by run, with the start of the run and its elements relative to that start.
    pub(super) fn for_each_run(&self, mut visit: impl FnMut(PositionRun<'_>, usize)) {
        let tables = match self {
            Self::Positions(places) => return visit(PositionRun::Offsets(places), 0),
            Self::Sums(tables) => tables,
        };
        let Some((inner, outer)) = tables.split_last() else { return visit(PositionRun::Contiguous(1), 0) };
        let Some(&first) = inner.first() else { return };
        let is_straight = inner.iter().enumerate().all(|(position, place)| *place == first + position);
        let sizes: Vec<usize> = outer.iter().map(Vec::len).collect();
        let mut point = vec![0_usize; outer.len()];
        for _ in 0..sizes.iter().product() {
            let start: usize = outer.iter().zip(&point).map(|(table, position)| table[*position]).sum();
            if is_straight {
                visit(PositionRun::Contiguous(inner.len()), start + first);
            } else {
                visit(PositionRun::Offsets(inner), start);
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

/// Elements of a run, relative to its start.
pub(super) enum PositionRun<'a> {
    /// Number of contiguous elements.
    Contiguous(usize),
    /// Explicit offsets.
    Offsets(&'a [usize]),
}

/// An index as a constant plus one term per dimension.
struct SeparableIndex {
    constant: i64,
    /// Terms per dimension and position.
    terms: Vec<Vec<i64>>,
}

impl SeparableIndex {
    /// Converts an expression; `None` if a subexpression depends on two dimensions.
    fn from_expr(expr: &AffineExpression, to: &[usize]) -> Option<Self> {
        let mut sum = Self { constant: 0, terms: to.iter().map(|size| vec![0; *size]).collect() };
        sum.add(expr, 1, to)?;
        Some(sum)
    }

    fn add(&mut self, expr: &AffineExpression, factor: i64, to: &[usize]) -> Option<()> {
        match expr {
            AffineExpression::Add(lhs, rhs) => {
                self.add(lhs, factor, to)?;
                self.add(rhs, factor, to)
            }
            AffineExpression::Mul(inner, number) if matches!(**number, AffineExpression::Constant(_)) => {
                self.add(inner, factor * number.evaluate(&[]), to)
            }
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

    fn is_below(&self, size: usize) -> bool {
        let least: i64 = self.terms.iter().filter_map(|terms| terms.iter().min()).sum();
        let most: i64 = self.terms.iter().filter_map(|terms| terms.iter().max()).sum();
        let is_empty = self.terms.iter().any(Vec::is_empty);
        is_empty || (self.constant + least >= 0 && self.constant + most < size as i64)
    }
}

/// Returns the row-major strides of a shape.
pub(super) fn compute_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

fn advance_point(point: &mut [i64], sizes: &[usize]) {
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

    fn dim(dim: usize) -> AffineExpression {
        AffineExpression::Dim(dim)
    }

    fn build_binary_expr(
        build: impl Fn(Box<AffineExpression>, Box<AffineExpression>) -> AffineExpression,
        lhs: AffineExpression,
        rhs: i64,
    ) -> AffineExpression {
        build(Box::new(lhs), Box::new(AffineExpression::Constant(rhs)))
    }

    fn view_positions(from: &[usize], map: &[AffineExpression], to: &[usize]) -> Vec<usize> {
        let elements: Vec<usize> = (0..from.iter().product()).collect();
        PositionSequence::view(from, map, to).unwrap().gather(&elements)
    }

    #[test]
    fn permutes_shifts_and_broadcasts_in_views() {
        assert_eq!(view_positions(&[2, 3], &[dim(1), dim(0)], &[3, 2]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(
            view_positions(&[2, 3], &[dim(0), build_binary_expr(AffineExpression::Add, dim(1), 1)], &[2, 2]),
            [1, 2, 4, 5]
        );
        assert_eq!(view_positions(&[2, 3], &[AffineExpression::Constant(1), dim(1)], &[2, 3]), [3, 4, 5, 3, 4, 5]);
        assert_eq!(
            view_positions(
                &[4],
                &[build_binary_expr(AffineExpression::Add, build_binary_expr(AffineExpression::Mul, dim(0), -1), 3)],
                &[4]
            ),
            [3, 2, 1, 0]
        );
    }

    #[test]
    fn splits_and_merges_dimensions_in_views() {
        assert_eq!(
            view_positions(
                &[2, 3],
                &[
                    build_binary_expr(AffineExpression::FloorDiv, dim(0), 3),
                    build_binary_expr(AffineExpression::Mod, dim(0), 3)
                ],
                &[6]
            ),
            [0, 1, 2, 3, 4, 5]
        );
        let flat =
            AffineExpression::Add(Box::new(build_binary_expr(AffineExpression::Mul, dim(0), 2)), Box::new(dim(1)));
        assert_eq!(view_positions(&[6], std::slice::from_ref(&flat), &[3, 2]), [0, 1, 2, 3, 4, 5]);
        // Both dimensions move both indices.
        assert_eq!(
            view_positions(
                &[2, 3],
                &[
                    build_binary_expr(AffineExpression::FloorDiv, flat.clone(), 3),
                    build_binary_expr(AffineExpression::Mod, flat, 3)
                ],
                &[3, 2]
            ),
            [0, 1, 2, 3, 4, 5]
        );
    }

    #[test]
    fn rejects_out_of_bounds_views() {
        assert!(
            PositionSequence::view(&[2, 3], &[dim(0), build_binary_expr(AffineExpression::Add, dim(1), 1)], &[2, 3])
                .is_err()
        );
        assert!(PositionSequence::view(&[2, 3], &[dim(0)], &[2]).is_err());
        assert!(PositionSequence::window(&[4, 4], &[1, 2], &[2, 3]).is_err());
    }

    #[test]
    fn gathers_and_scatters_windows() {
        let walk = PositionSequence::window(&[3, 4], &[1, 2], &[2, 2]).unwrap();
        let elements: Vec<usize> = (0..12).collect();
        assert_eq!(walk.gather(&elements), [6, 7, 10, 11]);
        let mut whole = vec![0; 12];
        walk.scatter(&[1, 2, 3, 4], &mut whole);
        assert_eq!(whole, [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4]);
    }

    #[test]
    fn broadcasts_unit_dimensions() {
        let walk = PositionSequence::broadcast(&[2, 1], &[2, 3]).unwrap();
        assert_eq!(walk.gather(&[7, 8]), [7, 7, 7, 8, 8, 8]);
        assert_eq!(PositionSequence::broadcast(&[], &[]).unwrap().gather(&[5]), [5]);
        assert!(PositionSequence::broadcast(&[2], &[3]).is_err());
    }
}
