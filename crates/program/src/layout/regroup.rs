//! Copies that merge or split dimensions of a buffer where no stick ends; readers use these copies instead of the
//! buffer.
//!
//! A stick of 64 columns holds four heads of 16, and no op reads a quarter of a stick. A copy whose sticks run along
//! one dimension can split all others: columns while rows are in the sticks, and rows while columns are.

use super::{IndexDigit, TensorIndex};
use crate::affine::{AffineExpression, are_in_bounds};

/// Copy of a buffer with other dimensions, and the indices at which it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegroupedCopy {
    /// For each dimension of the buffer, its index in terms of the copy's dimensions.
    pub from: Vec<AffineExpression>,
    /// Sizes of the copy.
    pub shape: Vec<i64>,
    /// For each dimension of the copy, its index in terms of the reader's dimensions.
    pub read: Vec<AffineExpression>,
}

/// Returns a copy of a buffer of these sizes that has a dimension for each digit of the indices with which it is read
/// over dimensions of sizes `space`; dimension `kept` is not split.
///
/// # Panics
/// If an index names a dimension that `space` does not have.
#[must_use]
pub fn split_into_digits(indices: &[TensorIndex], sizes: &[i64], kept: usize, space: &[i64]) -> RegroupedCopy {
    let mut found = RegroupedCopy { from: Vec::new(), shape: Vec::new(), read: Vec::new() };
    let viewed = |index: &TensorIndex| index.to_expr(space).expect("a digit is of a dimension of the space");
    for (dim, index) in indices.iter().enumerate() {
        if dim == kept {
            found.from.push(AffineExpression::Dim(found.shape.len()));
            found.shape.push(sizes[dim]);
            found.read.push(viewed(index));
            continue;
        }
        let mut sum = AffineExpression::Constant(index.offset);
        for digit in &index.digits {
            let own = AffineExpression::Mul(
                Box::new(AffineExpression::Dim(found.shape.len())),
                Box::new(AffineExpression::Constant(digit.factor)),
            );
            sum = AffineExpression::Add(Box::new(sum), Box::new(own));
            found.shape.push(digit.size);
            found.read.push(viewed(&unit_step_index(*digit)));
        }
        found.from.push(sum);
    }
    found
}

/// Returns whether a reader moves along a dimension of size `size` in unit steps, by one of its dimensions or a part of
/// one, or not at all.
#[must_use]
pub fn has_unit_step(index: &TensorIndex, size: i64) -> bool {
    size == 1 || matches!(index.digits.as_slice(), [] | [IndexDigit { factor: 1, .. }])
}

/// Returns the dimension to keep unsplit while others are split: an unsplit one, or else one that does not move along
/// the last dimension of the space, which matmuls need in their sticks. `None` if the buffer has only one dimension, or
/// if nothing is to be split.
#[must_use]
pub fn choose_unsplit_dim(indices: &[TensorIndex], sizes: &[i64], space: &[i64]) -> Option<usize> {
    let large: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
    if large.iter().all(|&dim| has_unit_step(&indices[dim], sizes[dim])) {
        return None;
    }
    let last = (0..space.len()).rev().find(|&dim| space[dim] > 1);
    let moves_along_last = |dim: usize| indices[dim].digits.iter().any(|digit| Some(digit.dim) == last);
    let is_single = large.len() == 1;
    large
        .iter()
        .copied()
        .filter(|_| !is_single)
        .min_by_key(|&dim| (!has_unit_step(&indices[dim], sizes[dim]), moves_along_last(dim), dim))
}

/// Returns a copy of a buffer in which the dimensions that make up one dimension of the reader are merged into a last
/// dimension, for a buffer with more dimensions than an op can iterate over including that last one. If one reader
/// dimension consists of all, the innermost one is not merged. `None` if no reader dimension consists of several, each
/// moved in unit steps.
#[must_use]
pub fn merge_dims(indices: &[TensorIndex], sizes: &[i64], space: &[i64]) -> Option<RegroupedCopy> {
    let large = || (0..sizes.len()).filter(|&dim| sizes[dim] > 1);
    let whole = |dim: usize| match indices[dim].digits.as_slice() {
        [digit] if digit.factor == 1 && digit.size == sizes[dim] && indices[dim].offset == 0 => Some(*digit),
        _ => None,
    };
    let parts_of = |seen: usize| {
        let mut parts: Vec<(usize, IndexDigit)> =
            large().filter_map(|dim| Some((dim, whole(dim)?))).filter(|(_, digit)| digit.dim == seen).collect();
        parts.sort_by_key(|(_, digit)| digit.divisor);
        let are_neighbours = parts.windows(2).all(|pair| pair[0].1.divisor * pair[0].1.size == pair[1].1.divisor);
        if parts.len() > 1 && parts.len() == large().count() {
            // The innermost dimension may be in the sticks.
            parts.remove(0);
        }
        (are_neighbours && parts.len() > 1).then_some(parts)
    };
    let parts = (0..space.len()).filter_map(parts_of).max_by_key(Vec::len)?;
    let others: Vec<usize> = (0..sizes.len()).filter(|dim| parts.iter().all(|(part, _)| part != dim)).collect();
    let lowest = parts[0].1;
    let size = parts.iter().map(|(_, digit)| digit.size).product();
    let together = unit_step_index(IndexDigit { size, ..lowest });
    let viewed = |index: &TensorIndex| index.to_expr(space).ok();
    let part = |dim: usize| {
        let (_, digit) = parts.iter().find(|(part, _)| *part == dim)?;
        express_in_merged_dim(digit, &IndexDigit { dim: others.len(), size, ..lowest })
    };
    let from = |dim: usize| {
        others
            .iter()
            .position(|&other| other == dim)
            .map_or_else(|| part(dim), |position| Some(AffineExpression::Dim(position)))
    };
    Some(RegroupedCopy {
        from: (0..sizes.len()).map(from).collect::<Option<_>>()?,
        shape: others.iter().map(|&dim| sizes[dim]).chain([size]).collect(),
        read: others.iter().map(|&dim| viewed(&indices[dim])).chain([viewed(&together)]).collect::<Option<_>>()?,
    })
}

/// Returns a copy of a buffer that has only the read elements along one dimension, for a reader with more strides than
/// an op can iterate over: to the device, a dimension that is read with a stride counts as two. Selects the dimension
/// with the largest stride. `None` if the buffer has at most `max_dims` dimensions, strided ones counted twice, or if
/// no dimension is read with only a stride.
#[must_use]
pub fn drop_largest_stride(
    indices: &[TensorIndex],
    sizes: &[i64],
    space: &[i64],
    max_dims: usize,
) -> Option<RegroupedCopy> {
    let stride_of = |dim: usize| match indices[dim].digits.as_slice() {
        [digit] if digit.factor > 1 => Some(*digit),
        _ => None,
    };
    let strided: Vec<(usize, IndexDigit)> = (0..sizes.len()).filter_map(|dim| Some((dim, stride_of(dim)?))).collect();
    let num_large = sizes.iter().filter(|&&size| size > 1).count();
    if strided.len() < 2 || num_large + strided.len() <= max_dims {
        return None;
    }
    let (dim, digit) = strided.into_iter().max_by_key(|(_, digit)| digit.factor)?;
    let (mut shape, mut from) = (sizes.to_vec(), (0..sizes.len()).map(AffineExpression::Dim).collect::<Vec<_>>());
    shape[dim] = digit.size;
    from[dim] = AffineExpression::Dim(dim).times(digit.factor).plus(AffineExpression::Constant(indices[dim].offset));
    let mut read = indices.iter().map(|index| index.to_expr(space).ok()).collect::<Option<Vec<_>>>()?;
    read[dim] = unit_step_index(digit).to_expr(space).ok()?;
    Some(RegroupedCopy { from, shape, read })
}

/// Returns the index that is one digit, in unit steps.
fn unit_step_index(digit: IndexDigit) -> TensorIndex {
    TensorIndex { digits: vec![IndexDigit { factor: 1, ..digit }], offset: 0 }
}

/// Returns a digit in terms of a dimension in which it is merged with its neighbors, in unit steps; `merged` has the
/// number and the size of that dimension, and the divisor of its lowest digit. `None` if it is no index.
fn express_in_merged_dim(digit: &IndexDigit, merged: &IndexDigit) -> Option<AffineExpression> {
    let own = IndexDigit { dim: merged.dim, divisor: digit.divisor / merged.divisor, ..*digit };
    unit_step_index(own).to_expr(&[vec![1; merged.dim], vec![merged.size]].concat()).ok()
}

/// Digit with which a dimension of a buffer is read.
type BufferDigit = (usize, IndexDigit);

/// Returns a copy of a buffer in which neighboring digits of one dimension of the reader are merged into a last
/// dimension, and which iterates over at most `max_dims` dimensions: a first step for a reader that splits more
/// dimensions than an op can iterate over. The buffer's last dimension is not split, because it is in the sticks.
/// `None` if no dimension of the reader has such neighbors.
#[must_use]
pub fn merge_neighboring_digits(
    indices: &[TensorIndex],
    sizes: &[i64],
    space: &[i64],
    max_dims: usize,
) -> Option<RegroupedCopy> {
    let large: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect();
    let is_all_read = |dim: usize| {
        let index = &indices[dim];
        index.offset == 0 && index.digits.iter().map(|digit| digit.size).product::<i64>() == sizes[dim]
    };
    let last = *large.last()?;
    let num_digits = |dim: usize| indices[dim].digits.len();
    let pieces_of = |seen: usize| {
        let digits = large
            .iter()
            .filter(|&&dim| dim != last && is_all_read(dim))
            .flat_map(|&dim| indices[dim].digits.iter().map(move |digit| (dim, *digit)));
        let mut pieces: Vec<BufferDigit> = digits.filter(|(_, digit)| digit.dim == seen).collect();
        pieces.sort_by_key(|(_, digit)| digit.divisor);
        pieces
    };
    let num_walked = |run: &[BufferDigit]| {
        let is_apart = |dim: usize| run.iter().any(|(own, _)| *own == dim);
        large.iter().map(|&dim| if is_apart(dim) { num_digits(dim) } else { 1 }).sum::<usize>()
    };
    let runs = (0..space.len()).flat_map(|seen| {
        let pieces = pieces_of(seen);
        let ends = (0..pieces.len())
            .flat_map(|first| (first + 2..=pieces.len()).map(move |end| (first, end)))
            .collect::<Vec<_>>();
        ends.into_iter().map(move |(first, end)| pieces[first..end].to_vec()).collect::<Vec<_>>()
    });
    let are_neighbours = |run: &[BufferDigit]| run.windows(2).all(|pair| pair[0].1.period() == pair[1].1.divisor);
    let run = runs.filter(|run| are_neighbours(run) && num_walked(run) <= max_dims).max_by_key(Vec::len)?;
    let (lowest, size) = (run[0].1, run.iter().map(|(_, digit)| digit.size).product::<i64>());

    let mut found =
        RegroupedCopy { from: vec![AffineExpression::Constant(0); sizes.len()], shape: Vec::new(), read: Vec::new() };
    let merged = IndexDigit { size, ..lowest };
    let add = |from: &mut AffineExpression, expr: AffineExpression| *from = from.clone().plus(expr);
    for &dim in &large {
        if run.iter().all(|(own, _)| *own != dim) {
            found.from[dim] = AffineExpression::Dim(found.shape.len());
            found.shape.push(sizes[dim]);
            found.read.push(indices[dim].to_expr(space).ok()?);
            continue;
        }
        for digit in indices[dim].digits.iter().filter(|digit| !run.contains(&(dim, **digit))) {
            add(&mut found.from[dim], AffineExpression::Dim(found.shape.len()).times(digit.factor));
            found.shape.push(digit.size);
            found.read.push(unit_step_index(*digit).to_expr(space).ok()?);
        }
    }
    for (dim, digit) in &run {
        let own = express_in_merged_dim(digit, &IndexDigit { dim: found.shape.len(), ..merged })?;
        add(&mut found.from[*dim], own.times(digit.factor));
    }
    found.shape.push(size);
    found.read.push(unit_step_index(merged).to_expr(space).ok()?);
    Some(found)
}

/// Returns a copy in complete rows, of which the reader accesses some, if its indices split a dimension that they do
/// not divide: six rows of windows of four are six of eight rows. `None` if no dimension is split unevenly.
#[must_use]
pub fn pad_to_complete_rows(exprs: &[AffineExpression], sizes: &[i64], space: &[i64]) -> Option<RegroupedCopy> {
    let indices: Vec<TensorIndex> =
        exprs.iter().map(|expr| TensorIndex::from_expr(expr, space)).collect::<Result<_, _>>().ok()?;
    let digits = || indices.iter().flat_map(|index| &index.digits);
    let whole = |(dim, &size): (usize, &i64)| {
        let cuts =
            digits().filter(|digit| digit.dim == dim).flat_map(|digit| [digit.divisor, digit.divisor * digit.size]);
        let row = cuts.filter(|&cut| cut < size).max().unwrap_or(1);
        (size + row - 1) / row * row
    };
    let shape: Vec<i64> = space.iter().enumerate().map(whole).collect();
    if shape == space {
        return None;
    }
    let is_inside = are_in_bounds(exprs, sizes, &shape);
    is_inside.then(|| RegroupedCopy {
        from: exprs.to_vec(),
        shape,
        read: (0..space.len()).map(AffineExpression::Dim).collect(),
    })
}

/// Returns a copy of a buffer in which the smaller steps of a dimension, which do not divide the next larger one,
/// become a separate dimension: for example, 9 elements of each row of 49, read in steps of 3. `None` if the steps of
/// each dimension divide each other.
#[must_use]
pub fn split_uneven_runs(indices: &[TensorIndex], sizes: &[i64], space: &[i64]) -> Option<RegroupedCopy> {
    let uneven = |index: &TensorIndex| index.digits.windows(2).position(|pair| pair[0].factor % pair[1].factor != 0);
    let mut found = RegroupedCopy { from: Vec::new(), shape: Vec::new(), read: Vec::new() };
    for index in indices {
        let mut from = AffineExpression::Constant(index.offset);
        let num_large = uneven(index).map_or(0, |last| last + 1);
        for digit in &index.digits[..num_large] {
            from = from.plus(AffineExpression::Dim(found.shape.len()).times(digit.factor));
            found.shape.push(digit.size);
            found.read.push(unit_step_index(*digit).to_expr(space).ok()?);
        }
        let (dim, size) = (found.shape.len(), sizes[found.from.len()]);
        if num_large == 0 {
            found.from.push(AffineExpression::Dim(dim));
            found.shape.push(size);
            found.read.push(index.to_expr(space).ok()?);
            continue;
        }
        let run = TensorIndex { digits: index.digits[num_large..].to_vec(), offset: 0 };
        let step = run.digits[0].factor;
        found.from.push(from.plus(AffineExpression::Dim(dim)));
        found.shape.push((run.max_value() + step) / step * step);
        found.read.push(run.to_expr(space).ok()?);
    }
    (indices.iter().any(|index| uneven(index).is_some()) && are_in_bounds(&found.from, sizes, &found.shape))
        .then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{TestExpr, assert_same_elements, d, to_exprs};

    fn index(expr: &AffineExpression, space: &[i64]) -> TensorIndex {
        TensorIndex::from_expr(expr, space).unwrap()
    }

    #[test]
    fn splits_heads_and_batches_in_two_copies() {
        // 2 x 9 rows of 3 heads of 16.
        let space = [2, 3, 9, 16];
        let exprs = to_exprs(&[d(0) * 9 + d(2), d(1) * 16 + d(3)]);
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| index(expr, &space)).collect();
        let kept = choose_unsplit_dim(&indices, &[18, 48], &space);
        assert_eq!(kept, Some(0), "heads are wanted in the sticks");
        let found = split_into_digits(&indices, &[18, 48], 0, &space);
        assert_eq!(found.shape, [18, 3, 16]);
        assert_same_elements(&found, &exprs, &space);
        // In the remaining dimensions, a head is complete.
        let indices: Vec<TensorIndex> = found.read.iter().map(|expr| index(expr, &space)).collect();
        let kept = choose_unsplit_dim(&indices, &found.shape, &space);
        assert_eq!(kept, Some(1));
        let apart = split_into_digits(&indices, &found.shape, 1, &space);
        assert_eq!(apart.shape, [2, 9, 3, 16]);
        assert_same_elements(&apart, &found.read, &space);
    }

    #[test]
    fn keeps_no_dim_of_single_row() {
        let space = [3, 8];
        let indices = [TensorIndex::constant(0), index(&(d(0) * 8 + d(1)).0, &space)];
        assert_eq!(choose_unsplit_dim(&indices, &[1, 24], &space), None);
        let indices: Vec<TensorIndex> = to_exprs(&[d(0), d(1)]).iter().map(|expr| index(expr, &space)).collect();
        assert_eq!(choose_unsplit_dim(&indices, &[3, 8], &space), None, "nothing is to be taken apart");
    }

    #[test]
    fn copies_largest_of_many_strides_first() {
        let space = [2, 3, 2];
        let exprs = to_exprs(&[d(0) * 2, d(1) * 2, d(2) * 5 + 59, TestExpr(AffineExpression::Constant(2))]);
        let sizes = [12, 6, 70, 5];
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| index(expr, &space)).collect();
        let found = drop_largest_stride(&indices, &sizes, &space, 6).unwrap();
        assert_eq!(found.shape, [12, 6, 2, 5]);
        assert_same_elements(&found, &exprs, &space);
        let indices: Vec<TensorIndex> = found.read.iter().map(|expr| index(expr, &space)).collect();
        assert_eq!(drop_largest_stride(&indices, &found.shape, &space, 6), None, "four dimensions, two of them twice");
    }

    #[test]
    fn merges_channels_and_frames_before_patches() {
        // [3, 4, 32, 32] as patches of 2 x 8 x 8 of 3 channels: an op iterates over six dimensions.
        let space = [8, 4, 384];
        let exprs = to_exprs(&[
            d(2).floordiv(128),
            d(0).floordiv(4) * 2 + d(2).floordiv(64).modulo(2),
            d(0).modulo(4) * 8 + d(2).floordiv(8).modulo(8),
            d(1) * 8 + d(2).modulo(8),
        ]);
        let sizes = [3, 4, 32, 32];
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| index(expr, &space)).collect();
        let found = merge_neighboring_digits(&indices, &sizes, &space, 6).unwrap();
        assert_eq!(found.shape, [2, 4, 32, 48], "channels, frames and lines of a patch");
        assert_same_elements(&found, &exprs, &space);
        assert_eq!(merge_neighboring_digits(&indices, &sizes, &space, 4), None, "the copy walks along five dimensions");
    }

    #[test]
    fn merges_outer_dimensions_of_flat_buffer() {
        let (sizes, space) = ([2, 4, 3, 5], [120]);
        let indices = [60, 15, 5, 1].iter().zip(sizes).map(|(&divisor, size)| {
            TensorIndex::new(&[IndexDigit { dim: 0, divisor, size, factor: 1 }], 0, &space).unwrap()
        });
        let indices: Vec<TensorIndex> = indices.collect();
        let found = merge_dims(&indices, &sizes, &space).unwrap();
        assert_eq!(found.shape, [5, 24]);
        let exprs: Vec<AffineExpression> = indices.iter().map(|index| index.to_expr(&space).unwrap()).collect();
        assert_same_elements(&found, &exprs, &space);
    }

    #[test]
    fn merges_factors_of_one_dimension() {
        // [2, 4, 5, 8, 16] as 80 rows of 64: batch, block and row, head and column.
        let space = [80, 64];
        let exprs = to_exprs(&[
            d(0).floordiv(40),
            d(1).floordiv(16),
            d(0).floordiv(8).modulo(5),
            d(0).modulo(8),
            d(1).modulo(16),
        ]);
        let sizes = [2, 4, 5, 8, 16];
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| index(expr, &space)).collect();
        let found = merge_dims(&indices, &sizes, &space).unwrap();
        assert_eq!(found.shape, [4, 16, 80]);
        assert_same_elements(&found, &exprs, &space);
        let indices: Vec<TensorIndex> = found.read.iter().map(|expr| index(expr, &space)).collect();
        let again = merge_dims(&indices, &found.shape, &space).unwrap();
        assert_eq!(again.shape, [80, 64]);
        let indices: Vec<TensorIndex> = again.read.iter().map(|expr| index(expr, &space)).collect();
        assert_eq!(merge_dims(&indices, &again.shape, &space), None, "nothing is left");
    }

    #[test]
    fn pads_ragged_rows_of_windows() {
        // Six of eight rows of eight or seven, in windows of four by four.
        let space = [6, 8, 16];
        let exprs = to_exprs(&[d(0).floordiv(4) * 2 + d(1).floordiv(4), d(0).modulo(4) * 4 + d(1).modulo(4), d(2)]);
        let found = pad_to_complete_rows(&exprs, &[4, 16, 16], &space).unwrap();
        assert_eq!(found.shape, [8, 8, 16]);
        assert_same_elements(&found, &exprs, &space);
        let both = pad_to_complete_rows(&exprs, &[4, 16, 16], &[6, 7, 16]).unwrap();
        assert_eq!(both.shape, [8, 8, 16]);
        assert_eq!(pad_to_complete_rows(&exprs, &[4, 16, 16], &[8, 8, 16]), None, "whole windows");
        assert_eq!(pad_to_complete_rows(&exprs, &[3, 16, 16], &space), None, "there are no more rows");
    }

    #[test]
    fn splits_runs_inside_rows() {
        // 18 elements, 9 of each of two rows of 49, as six rows of 3.
        let space = [6, 3];
        let exprs = to_exprs(&[d(0).floordiv(3) * 49 + d(0).modulo(3) * 3 + d(1) + 20]);
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| index(expr, &space)).collect();
        let found = split_uneven_runs(&indices, &[98], &space).unwrap();
        assert_eq!(found.shape, [2, 9]);
        assert_same_elements(&found, &exprs, &space);
        let indices: Vec<TensorIndex> = found.read.iter().map(|expr| index(expr, &space)).collect();
        assert_eq!(split_uneven_runs(&indices, &found.shape, &space), None, "3 divides 9");
    }
}
