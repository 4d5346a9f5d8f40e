//! Splits iteration dimensions into sub-dimensions (*parts*) and buffer dimensions into *factors*, so that each factor
//! is moved by at most one part.

use super::{Coordinate, DiagonalAccess, IndexDigit, IndexError, TensorIndex, find_diagonal};
use std::collections::BTreeSet;

/// Buffer and indices of one operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandView<'a> {
    /// Sizes of the buffer's dimensions.
    pub sizes: &'a [i64],
    /// One index per buffer dimension, in terms of the iteration dimensions.
    pub indices: &'a [TensorIndex],
}

/// Iteration dimensions of an op, split into parts. Parts are numbered over all dimensions: first those of dimension 0,
/// outer to inner, then those of dimension 1, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationSplit {
    /// For each iteration dimension, the sizes of its parts, outer to inner; their product is the size of the
    /// dimension.
    pub parts: Vec<Vec<i64>>,
    /// The operands, in the order given.
    pub operands: Vec<SplitOperand>,
}

/// Buffer of an operand with its dimensions split into factors, and the parts of the iteration that move each factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitOperand {
    /// For each buffer dimension, its factors, outer to inner; their product is the size of the dimension.
    pub factors: Vec<Vec<i64>>,
    /// One position per factor of all dimensions, in order. Terms are plain parts: `CoordinateTerm::from_dim(part)`.
    pub indices: Vec<Coordinate>,
}

/// Part of an iteration dimension: the values of `(c floordiv divisor) mod size`.
#[derive(Clone, Copy)]
struct IterationSubDim {
    number: usize,
    divisor: i64,
    size: i64,
}

/// Part that moves a buffer dimension by `factor` per step.
#[derive(Clone, Copy)]
struct StridedSubDim {
    part: IterationSubDim,
    factor: i64,
}

/// Splits the iteration dimensions, of sizes `ranges`, and the dimensions of the operands' buffers, so that every
/// factor of a buffer dimension is moved by at most one part.
///
/// Nothing is split more than needed: an iteration dimension is split where a digit of some operand begins or ends, a
/// buffer dimension where a step of a part does. A step of `f > 1` with nothing below it leaves a last factor `f` that
/// does not move.
///
/// Worked example: 8 heads of 32 columns form a row of 256. The op iterates over (s, c) with c in `0..256`, writes
/// `[64, 256]` at `(s, c)`, and reads `[8, 64, 32]` at `(c floordiv 32, s, c mod 32)`. The parts are `[[64], [8, 32]]`,
/// numbered 0, 1, 2. The written buffer has factors `[[64], [8, 32]]` and is accessed at `c0, c1, c2`; the buffer of
/// heads keeps its dimensions and is read at `c1, c0, c2`.
///
/// # Errors
/// If the split points of a dimension do not divide each other and the dimension, the steps of a buffer dimension
/// overlap or do not divide it, or a window leaves its factor.
pub fn split_iteration(ranges: &[i64], operands: &[OperandView<'_>]) -> Result<IterationSplit, IndexError> {
    let indices = operands.iter().enumerate().map(|(operand, view)| normalize_indices(operand, view, ranges));
    let indices: Vec<Vec<TensorIndex>> = indices.collect::<Result<_, _>>()?;
    let parts = split_into_sub_dims(ranges, &indices)?;
    let operands = operands.iter().zip(&indices).enumerate();
    let operands = operands.map(|(operand, (view, indices))| split_operand(operand, view.sizes, indices, &parts));
    let operands = operands.collect::<Result<_, _>>()?;
    let sizes = |parts: Vec<IterationSubDim>| parts.iter().map(|part| part.size).collect();
    Ok(IterationSplit { parts: parts.into_iter().map(sizes).collect(), operands })
}

/// Returns the operand's indices in their shortest form, checked.
fn normalize_indices(operand: usize, view: &OperandView<'_>, ranges: &[i64]) -> Result<Vec<TensorIndex>, IndexError> {
    if view.sizes.len() != view.indices.len() {
        return Err(IndexError::Length { operand, sizes: view.sizes.len(), indices: view.indices.len() });
    }
    if let Some(dim) = view.sizes.iter().position(|&size| size < 1) {
        return Err(IndexError::Size { dim, size: view.sizes[dim] });
    }
    view.indices.iter().map(|index| TensorIndex::new(&index.digits, index.offset, ranges)).collect()
}

/// Returns the parts of each iteration dimension, outer to inner.
fn split_into_sub_dims(ranges: &[i64], operands: &[Vec<TensorIndex>]) -> Result<Vec<Vec<IterationSubDim>>, IndexError> {
    let mut cuts = vec![BTreeSet::from([1]); ranges.len()];
    for digit in operands.iter().flatten().flat_map(|index| &index.digits) {
        cuts[digit.dim].extend([digit.divisor, digit.period()]);
    }
    let mut number = 0;
    let mut parts = Vec::with_capacity(ranges.len());
    for (dim, (cuts, &range)) in cuts.into_iter().zip(ranges).enumerate() {
        if range < 1 {
            return Err(IndexError::Size { dim, size: range });
        }
        let mut cuts: Vec<i64> = cuts.into_iter().filter(|&cut| cut < range).collect();
        if let Some(pair) = cuts.windows(2).find(|pair| pair[1] % pair[0] != 0) {
            return Err(IndexError::Cuts { dim, first: pair[0], second: pair[1] });
        }
        if let Some(&cut) = cuts.last().filter(|&&cut| range % cut != 0) {
            return Err(IndexError::CutRange { dim, range, cut });
        }
        // A dimension of size 1 has one part, which ends where it begins.
        cuts.extend((range == 1).then_some(1));
        cuts.push(range);
        let outer_to_inner = cuts.windows(2).rev().zip(number..);
        let own: Vec<IterationSubDim> = outer_to_inner
            .map(|(pair, number)| IterationSubDim { number, divisor: pair[0], size: pair[1] / pair[0] })
            .collect();
        number += own.len();
        parts.push(own);
    }
    Ok(parts)
}

fn split_operand(
    operand: usize,
    sizes: &[i64],
    indices: &[TensorIndex],
    parts: &[Vec<IterationSubDim>],
) -> Result<SplitOperand, IndexError> {
    if let Some(DiagonalAccess { dim, first, second }) = find_diagonal(indices) {
        return Err(IndexError::Diagonal { operand, dim, first, second });
    }
    let mut split = SplitOperand { factors: Vec::with_capacity(sizes.len()), indices: Vec::new() };
    for (dim, (&size, index)) in sizes.iter().zip(indices).enumerate() {
        let (factors, coordinates) =
            split_dim((operand, dim), size, index.offset, &collect_strided_sub_dims(index, parts))?;
        split.factors.push(factors);
        split.indices.extend(coordinates);
    }
    Ok(split)
}

/// Returns the parts that the digits of an index consist of, largest factor first.
fn collect_strided_sub_dims(index: &TensorIndex, parts: &[Vec<IterationSubDim>]) -> Vec<StridedSubDim> {
    let of_digit = |digit: &IndexDigit| {
        let &IndexDigit { dim, divisor, factor, .. } = digit;
        let inside = divisor..digit.period();
        let own = parts[dim].iter().filter(move |part| inside.contains(&part.divisor));
        own.map(move |&part| StridedSubDim { part, factor: factor * (part.divisor / divisor) })
    };
    let mut pieces: Vec<StridedSubDim> = index.digits.iter().flat_map(of_digit).collect();
    pieces.sort_by_key(|piece| (-piece.factor, piece.part.number));
    pieces
}

/// Splits a buffer dimension at the factors of its parts, and distributes the offset over the factors.
fn split_dim(
    (operand, dim): (usize, usize),
    size: i64,
    offset: i64,
    pieces: &[StridedSubDim],
) -> Result<(Vec<i64>, Vec<Coordinate>), IndexError> {
    let (mut factors, mut coordinates) = (Vec::new(), Vec::new());
    let (mut whole, mut rest) = (size, offset);
    for &StridedSubDim { part, factor } in pieces {
        if whole % factor != 0 {
            return Err(IndexError::Factor { operand, dim, factor, whole });
        }
        let steps = whole / factor;
        if steps < part.size && !factors.is_empty() {
            return Err(IndexError::Overlap { operand, dim, factor, size: part.size, whole });
        }
        let first = rest.div_euclid(factor);
        let last = first.saturating_add(part.size - 1);
        if first < 0 || last >= steps {
            return Err(IndexError::Window { operand, dim, first, last, size: steps });
        }
        factors.push(steps);
        coordinates.push(Coordinate { offset: first, ..Coordinate::from_dim(part.number) });
        (whole, rest) = (factor, rest.rem_euclid(factor));
    }
    if whole > 1 || factors.is_empty() {
        if !(0..whole).contains(&rest) {
            return Err(IndexError::Window { operand, dim, first: rest, last: rest, size: whole });
        }
        factors.push(whole);
        coordinates.push(Coordinate::constant(rest));
    }
    Ok((factors, coordinates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affine::AffineExpression;
    use crate::layout::testing::{TestExpr, checked_index, d};

    /// Operand: the sizes of its buffer, and its indices.
    type TestOperandView<'a> = (&'a [i64], &'a [TestExpr]);

    fn try_split(ranges: &[i64], views: &[TestOperandView<'_>]) -> Result<IterationSplit, IndexError> {
        let indices: Vec<Vec<TensorIndex>> =
            views.iter().map(|(_, exprs)| exprs.iter().map(|expr| checked_index(expr, ranges)).collect()).collect();
        let views = views.iter().zip(&indices).map(|((sizes, _), indices)| OperandView { sizes, indices });
        split_iteration(ranges, &views.collect::<Vec<_>>())
    }

    fn split_or_panic(ranges: &[i64], views: &[TestOperandView<'_>]) -> IterationSplit {
        try_split(ranges, views).unwrap()
    }

    fn expect_split_error(ranges: &[i64], sizes: &[i64], exprs: &[TestExpr]) -> String {
        try_split(ranges, &[(sizes, exprs)]).unwrap_err().to_string()
    }

    fn format_operand(operand: &SplitOperand) -> String {
        let indices: Vec<String> = operand.indices.iter().map(ToString::to_string).collect();
        format!("{:?} at {}", operand.factors, indices.join(", "))
    }

    fn constant_expr(number: i64) -> TestExpr {
        TestExpr(AffineExpression::Constant(number))
    }

    #[test]
    fn splits_nothing_for_plain_indices() {
        let plain = split_or_panic(
            &[8, 1, 64],
            &[(&[8, 64], &[d(0), d(2)]), (&[64, 16], &[d(2), d(0) + 8]), (&[1, 64], &[constant_expr(0), d(2)])],
        );
        assert_eq!(plain.parts, [vec![8], vec![1], vec![64]]);
        let views: Vec<String> = plain.operands.iter().map(format_operand).collect();
        assert_eq!(views, ["[[8], [64]] at c0, c2", "[[64], [16]] at c2, c0 + 8", "[[1], [64]] at 0, c2"]);
    }

    #[test]
    fn splits_heads_from_row() {
        let row: TestOperandView<'_> = (&[64, 256], &[d(0), d(1)]);
        let heads = split_or_panic(&[64, 256], &[(&[8, 64, 32], &[d(1).floordiv(32), d(0), d(1).modulo(32)]), row]);
        assert_eq!(heads.parts, [vec![64], vec![8, 32]]);
        assert_eq!(format_operand(&heads.operands[0]), "[[8], [64], [32]] at c1, c0, c2");
        assert_eq!(format_operand(&heads.operands[1]), "[[64], [8, 32]] at c0, c1, c2");
    }

    #[test]
    fn merges_heads_into_row() {
        let row: TestOperandView<'_> = (&[64, 256], &[d(1), d(0) * 32 + d(2)]);
        let merged = split_or_panic(&[8, 64, 32], &[row, (&[8, 64, 32], &[d(0), d(1), d(2)])]);
        assert_eq!(merged.parts, [vec![8], vec![64], vec![32]]);
        assert_eq!(format_operand(&merged.operands[0]), "[[64], [8, 32]] at c1, c0, c2");
        assert_eq!(format_operand(&merged.operands[1]), "[[8], [64], [32]] at c0, c1, c2");
    }

    #[test]
    fn splits_query_heads_that_share_a_key_head() {
        let shared = split_or_panic(&[8, 64, 32], &[(&[64, 64], &[d(1), d(0).floordiv(4) * 32 + d(2)])]);
        assert_eq!(shared.parts, [vec![2, 4], vec![64], vec![32]]);
        assert_eq!(format_operand(&shared.operands[0]), "[[64], [2, 32]] at c2, c0, c3");
    }

    #[test]
    fn splits_window_of_half_of_each_head() {
        let upper = split_or_panic(&[8, 64, 16], &[(&[64, 256], &[d(1), d(0) * 32 + d(2) + 16])]);
        assert_eq!(upper.parts, [vec![8], vec![64], vec![16]]);
        assert_eq!(format_operand(&upper.operands[0]), "[[64], [8, 32]] at c1, c0, c2 + 16");
        let second_half_of_heads = split_or_panic(&[4, 64, 16], &[(&[64, 256], &[d(1), d(0) * 32 + d(2) + 128 + 16])]);
        assert_eq!(format_operand(&second_half_of_heads.operands[0]), "[[64], [8, 32]] at c1, c0 + 4, c2 + 16");
    }

    #[test]
    fn leaves_fixed_factor_below_a_stride() {
        assert_eq!(format_operand(&split_or_panic(&[8], &[(&[256], &[d(0) * 32])]).operands[0]), "[[8, 32]] at c0, 0");
        assert_eq!(
            format_operand(&split_or_panic(&[4], &[(&[256], &[d(0) * 32 + 69])]).operands[0]),
            "[[8, 32]] at c0 + 2, 5"
        );
        assert_eq!(
            format_operand(&split_or_panic(&[2], &[(&[256], &[constant_expr(69)])]).operands[0]),
            "[[256]] at 69"
        );
    }

    #[test]
    fn splits_dims_of_one_operand_for_another() {
        let both =
            split_or_panic(&[64], &[(&[128], &[d(0) + 64]), (&[16], &[d(0).floordiv(4)]), (&[8], &[d(0).modulo(8)])]);
        assert_eq!(both.parts, [[8, 2, 4]]);
        let views: Vec<String> = both.operands.iter().map(format_operand).collect();
        assert_eq!(views, ["[[16, 2, 4]] at c0 + 8, c1, c2", "[[8, 2]] at c0, c1", "[[2, 4]] at c1, c2"]);
    }

    #[test]
    fn accepts_swapped_digits_of_one_dim() {
        let swapped = split_or_panic(&[32], &[(&[32], &[d(0).floordiv(4) + d(0).modulo(4) * 8])]);
        assert_eq!(
            (swapped.parts.clone(), format_operand(&swapped.operands[0])),
            (vec![vec![8, 4]], "[[4, 8]] at c1, c0".to_owned())
        );
    }

    #[test]
    fn rejects_cuts_that_do_not_divide_each_other() {
        let error = expect_split_error(&[192], &[6, 4], &[d(0).floordiv(32), d(0).floordiv(48)]);
        assert_eq!(error, "iteration dimension 0 would be split at 32 and at 48, but 32 does not divide 48");
        let error = expect_split_error(&[200], &[4, 64], &[d(0).floordiv(64), d(0).modulo(64)]);
        assert_eq!(error, "iteration dimension 0 of size 200 would be split at 64, which does not divide 200");
    }

    #[test]
    fn rejects_steps_that_do_not_divide_the_buffer() {
        assert_eq!(
            expect_split_error(&[4], &[100], &[d(0) * 8]),
            "operand 0, dimension 0: factor 8 does not divide 100"
        );
        assert_eq!(
            expect_split_error(&[2, 2], &[48], &[d(0) * 12 + d(1) * 8]),
            "operand 0, dimension 0: factor 8 does not divide 12"
        );
        let convolution = expect_split_error(&[8, 3], &[5, 10], &[constant_expr(0), d(0) + d(1)]);
        assert_eq!(convolution, "operand 0, dimension 1: 3 steps of 1 overlap with steps of 1");
        assert_eq!(
            expect_split_error(&[4, 12], &[32], &[d(0) * 8 + d(1)]),
            "operand 0, dimension 0: 12 steps of 1 overlap with steps of 8"
        );
    }

    #[test]
    fn rejects_diagonal() {
        let error = expect_split_error(&[8, 4], &[8, 4, 9], &[d(0), d(1), d(0) + 1]);
        assert_eq!(
            error,
            "operand 0: iteration dimension 0 indexes dimensions 0 and 2, which is a diagonal; run spyre-materialize-views first"
        );
    }

    #[test]
    fn rejects_window_outside_its_factor() {
        assert_eq!(
            expect_split_error(&[8], &[8], &[d(0) + 1]),
            "operand 0, dimension 0: positions 1 to 8 are not within a factor of size 8"
        );
        assert_eq!(
            expect_split_error(&[8], &[16], &[d(0) + -1]),
            "operand 0, dimension 0: positions -1 to 6 are not within a factor of size 16"
        );
        assert_eq!(
            expect_split_error(&[8], &[16], &[constant_expr(16)]),
            "operand 0, dimension 0: positions 16 to 16 are not within a factor of size 16"
        );
        let carries = expect_split_error(&[4, 24], &[256], &[d(0) * 32 + d(1) + 16]);
        assert_eq!(carries, "operand 0, dimension 0: positions 16 to 39 are not within a factor of size 32");
        assert_eq!(
            expect_split_error(&[2], &[8], &[d(0) * 8]),
            "operand 0, dimension 0: positions 0 to 1 are not within a factor of size 1"
        );
    }

    #[test]
    fn rejects_lists_of_wrong_length() {
        let view = OperandView { sizes: &[8, 8], indices: &[TensorIndex::constant(0)] };
        assert_eq!(split_iteration(&[8], &[view]), Err(IndexError::Length { operand: 0, sizes: 2, indices: 1 }));
        let view = OperandView { sizes: &[0], indices: &[TensorIndex::constant(0)] };
        assert_eq!(split_iteration(&[8], &[view]), Err(IndexError::Size { dim: 0, size: 0 }));
        assert_eq!(split_iteration(&[8, 0], &[]), Err(IndexError::Size { dim: 1, size: 0 }));
        let row = [TensorIndex::from_dim(1, &[8, 8]).unwrap()];
        let view = OperandView { sizes: &[8], indices: &row };
        assert_eq!(split_iteration(&[8], &[view]), Err(IndexError::NoDim { dim: 1, rank: 1 }));
    }
}
