//! Copies for readers that divide a sum of dimensions, such as a reader of rows of 10 as rows of 9. The sum (the
//! *number*) becomes a dimension of the copy.

use super::{RegroupedCopy, TensorIndex};
use crate::affine::{AffineExpression, are_in_bounds, gcd};
use std::cmp::Reverse;

/// Copy of a buffer in which a number that the reader divides is the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlattenedCopy {
    /// The copy, in complete rows of the number.
    pub copy: RegroupedCopy,
    /// Copy of that copy with only the elements that are read, if the reader's rows do not divide the size.
    pub part: Option<RegroupedCopy>,
}

/// Returns a copy for a reader of a buffer of these sizes with the indices `exprs` over dimensions of sizes `space`.
/// `None` if all indices are sums of digits, or if no number in them is a sum of digits. The indices of the copy may
/// still divide sums, but fewer than before.
#[must_use]
pub fn build_flattened_copy(exprs: &[AffineExpression], sizes: &[i64], space: &[i64]) -> Option<FlattenedCopy> {
    let unread: Vec<usize> =
        (0..exprs.len()).filter(|&dim| TensorIndex::from_expr(&exprs[dim], space).is_err()).collect();
    let (&first, &last) = (unread.first()?, unread.last()?);
    flatten_neighboring_dims([first, last], exprs, sizes, space).or_else(|| flatten_best_number(exprs, sizes, space))
}

/// Returns a copy in which the first two dimensions are one, for a reader with the indices `exprs`.
///
/// # Panics
/// If there are fewer than two dimensions.
#[must_use]
pub fn merge_first_two_dims(exprs: &[AffineExpression], sizes: &[i64]) -> RegroupedCopy {
    let [first, second, others @ ..] = sizes else { panic!("a tensor of two dimensions") };
    let (number, inner) = (Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Constant(*second)));
    let digits = [AffineExpression::FloorDiv(number.clone(), inner.clone()), AffineExpression::Mod(number, inner)];
    let both = exprs[0].clone().times(*second).plus(exprs[1].clone()).fold_quotients();
    RegroupedCopy {
        from: digits.into_iter().chain((1..=others.len()).map(AffineExpression::Dim)).collect(),
        shape: [&[first * second], others].concat(),
        read: [both].into_iter().chain(exprs[2..].iter().cloned()).collect(),
    }
}

/// Returns the copy with the best number as a dimension: the number that leaves the fewest divided sums, then the
/// fewest elements.
fn flatten_best_number(exprs: &[AffineExpression], sizes: &[i64], space: &[i64]) -> Option<FlattenedCopy> {
    let mut numbers = Vec::new();
    exprs.iter().for_each(|expr| collect_divided_sums(expr, space, &mut numbers));
    let before = count_carries(exprs, space);
    let candidates = numbers.into_iter().filter_map(|number| FlatteningCandidate::new(&number, exprs, sizes, space));
    let order =
        |found: &FlatteningCandidate| (found.num_carries, found.num_elements, Reverse(found.found.copy.shape.len()));
    let best = candidates.filter(|candidate| candidate.num_carries < before).min_by_key(order);
    best.map(|best| best.found)
}

/// Returns the copy for the shortest run of neighboring dimensions that contains `first` to `last` and whose element
/// number is a sum of digits: that number becomes a dimension.
fn flatten_neighboring_dims(
    [first, last]: [usize; 2],
    exprs: &[AffineExpression],
    sizes: &[i64],
    space: &[i64],
) -> Option<FlattenedCopy> {
    let mut runs: Vec<(usize, usize)> =
        (0..=first).flat_map(|first| (last..exprs.len()).map(move |last| (first, last))).collect();
    runs.sort_by_key(|(first, last)| (last - first, *first));
    runs.into_iter().find_map(|(first, last)| {
        let stride = |dim: usize| sizes[dim + 1..=last].iter().product::<i64>();
        let sum = (first..=last).map(|dim| exprs[dim].clone().times(stride(dim))).reduce(AffineExpression::plus)?;
        let flat = sum.fold_quotients();
        // Only complete rows, since an incomplete row cannot be split.
        let (row, end) = (stride(first), TensorIndex::from_expr(&flat, space).ok()?.max_value() + 1);
        let size = round_up_to_multiple(end, row)?;
        let others: Vec<usize> = (0..exprs.len()).filter(|dim| !(first..=last).contains(dim)).collect();
        let number = AffineExpression::Dim(others.len());
        let digit = |dim: usize| {
            let rows =
                AffineExpression::FloorDiv(Box::new(number.clone()), Box::new(AffineExpression::Constant(stride(dim))));
            if dim == first {
                rows
            } else {
                AffineExpression::Mod(Box::new(rows), Box::new(AffineExpression::Constant(sizes[dim])))
            }
        };
        let index = |dim: usize| {
            others.iter().position(|&other| other == dim).map_or_else(|| digit(dim), AffineExpression::Dim)
        };
        let from = (0..exprs.len()).map(index).collect();
        let shape: Vec<i64> = others.iter().map(|&dim| sizes[dim]).chain([size]).collect();
        let read: Vec<AffineExpression> = others.iter().map(|&dim| exprs[dim].clone()).chain([flat.clone()]).collect();
        let part = build_partial_copy(&flat, size, &shape, &read, space);
        Some(FlattenedCopy { copy: RegroupedCopy { from, shape, read }, part })
    })
}

/// Candidate copy with one number as a dimension, and its quality.
struct FlatteningCandidate {
    found: FlattenedCopy,
    /// Divisions of sums that remain, in the copy and in its reader.
    num_carries: usize,
    /// Elements of the copy.
    num_elements: i64,
}

impl FlatteningCandidate {
    /// Maximum ratio of the elements of the copy to those of the buffer and of the reader.
    const MAX_GROWTH: i64 = 8;

    /// Returns the copy with `flat` as a dimension. Indices that do not depend on the number keep the dimension of the
    /// buffer; dimensions of the reader that move an index in addition to the number are dimensions of the copy.
    fn new(flat: &AffineExpression, exprs: &[AffineExpression], sizes: &[i64], space: &[i64]) -> Option<Self> {
        let number = space.len();
        let own: Vec<AffineExpression> =
            exprs.iter().map(|expr| substitute_number(expr, flat, number, space)).collect();
        let end = TensorIndex::from_expr(flat, space).ok()?.max_value() + 1;
        let size = round_up_to_multiple(end, find_row_length(&own, number, end)?)?;
        let (mut shape, mut read, mut from) = (Vec::new(), Vec::new(), own.clone());
        let mut add = |size: i64, index: AffineExpression| {
            shape.push(size);
            read.push(index);
            shape.len() - 1
        };
        let moves = |expr: &AffineExpression| expr.dims().contains(&number);
        for dim in (0..exprs.len()).filter(|&dim| !moves(&own[dim])) {
            from[dim] = if sizes[dim] == 1 {
                AffineExpression::Constant(0)
            } else {
                AffineExpression::Dim(add(sizes[dim], exprs[dim].clone()))
            };
        }
        let mut places = vec![None; number + 1];
        for dim in own.iter().filter(|expr| moves(expr)).flat_map(AffineExpression::dims).filter(|&dim| dim != number) {
            if places[dim].is_none() {
                places[dim] = Some(add(space[dim], AffineExpression::Dim(dim)));
            }
        }
        places[number] = Some(add(size, flat.clone()));
        for dim in (0..exprs.len()).filter(|&dim| moves(&own[dim])) {
            from[dim] = own[dim]
                .with_dims(&|dim| AffineExpression::Dim(places[dim].expect("dimensions of moved indices are placed")));
        }
        let elements = |sizes: &[i64]| sizes.iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
        let num_elements = elements(&shape)?;
        let most = elements(sizes)?.checked_add(elements(space)?)?.checked_mul(Self::MAX_GROWTH)?;
        if !are_in_bounds(&from, sizes, &shape) || num_elements > most {
            return None;
        }
        let num_carries = count_carries(&from, &shape) + count_carries(&read, space);
        let part = build_partial_copy(flat, size, &shape, &read, space);
        Some(Self {
            found: FlattenedCopy { copy: RegroupedCopy { from, shape, read }, part },
            num_carries,
            num_elements,
        })
    }
}

/// Adds the sums of digits in an expression whose quotient or remainder is no sum of digits.
fn collect_divided_sums(expr: &AffineExpression, space: &[i64], numbers: &mut Vec<AffineExpression>) {
    match expr {
        AffineExpression::FloorDiv(of, _) | AffineExpression::Mod(of, _) => {
            collect_divided_sums(of, space, numbers);
            if TensorIndex::from_expr(of, space).is_ok()
                && TensorIndex::from_expr(expr, space).is_err()
                && !numbers.contains(of)
            {
                numbers.push(of.as_ref().clone());
            }
        }
        AffineExpression::Add(one, other) | AffineExpression::Mul(one, other) => {
            [one, other].into_iter().for_each(|of| collect_divided_sums(of, space, numbers))
        }
        _ => {}
    }
}

/// Returns the number of quotients and remainders that are no sums of digits.
fn count_carries(exprs: &[AffineExpression], space: &[i64]) -> usize {
    exprs.iter().map(|expr| count_expr_carries(expr, space)).sum()
}

fn count_expr_carries(expr: &AffineExpression, space: &[i64]) -> usize {
    match expr {
        AffineExpression::FloorDiv(of, _) | AffineExpression::Mod(of, _) => {
            usize::from(TensorIndex::from_expr(expr, space).is_err()) + count_expr_carries(of, space)
        }
        AffineExpression::Add(one, other) | AffineExpression::Mul(one, other) => {
            count_expr_carries(one, space) + count_expr_carries(other, space)
        }
        _ => 0,
    }
}

/// Returns the expression with the quotients and remainders of `flat` in terms of dimension `number`, which stands for
/// it.
fn substitute_number(
    expr: &AffineExpression,
    flat: &AffineExpression,
    number: usize,
    space: &[i64],
) -> AffineExpression {
    let is_same = |one: &AffineExpression, other: &AffineExpression| one.fold_quotients() == other.fold_quotients();
    let inner = |of: &AffineExpression| Box::new(substitute_number(of, flat, number, space));
    match expr {
        AffineExpression::Add(..) | AffineExpression::Mul(..) if is_same(expr, flat) => AffineExpression::Dim(number),
        AffineExpression::Add(one, other) => AffineExpression::Add(inner(one), inner(other)),
        AffineExpression::Mul(one, other) => AffineExpression::Mul(inner(one), inner(other)),
        AffineExpression::FloorDiv(of, by) => match (express_as_quotient(of, flat, number, space), by.as_ref()) {
            (Some(quotient), _) => AffineExpression::FloorDiv(Box::new(quotient), by.clone()),
            (None, &AffineExpression::Constant(divisor))
                if let Some(part) = find_divisor(flat, of, space).filter(|part| divisor % part == 0) =>
            {
                AffineExpression::FloorDiv(
                    Box::new(AffineExpression::Dim(number)),
                    Box::new(AffineExpression::Constant(divisor / part)),
                )
            }
            (None, _) => AffineExpression::FloorDiv(inner(of), by.clone()),
        },
        AffineExpression::Mod(_, by) if is_same(expr, &AffineExpression::Mod(Box::new(flat.clone()), by.clone())) => {
            AffineExpression::Mod(Box::new(AffineExpression::Dim(number)), by.clone())
        }
        AffineExpression::Mod(of, by) => AffineExpression::Mod(
            express_as_quotient(of, flat, number, space).map_or_else(|| inner(of), Box::new),
            by.clone(),
        ),
        other => other.clone(),
    }
}

/// Returns `expr` as a quotient of `flat`, for which dimension `number` stands; `None` if it is not one.
fn express_as_quotient(
    expr: &AffineExpression,
    flat: &AffineExpression,
    number: usize,
    space: &[i64],
) -> Option<AffineExpression> {
    Some(match find_divisor(expr, flat, space)? {
        1 => AffineExpression::Dim(number),
        by => AffineExpression::FloorDiv(
            Box::new(AffineExpression::Dim(number)),
            Box::new(AffineExpression::Constant(by)),
        ),
    })
}

/// Returns the divisor that turns `whole` into the quotient `expr`; `None` if `expr` is no quotient of `whole`.
fn find_divisor(expr: &AffineExpression, whole: &AffineExpression, space: &[i64]) -> Option<i64> {
    let (of, to) = (TensorIndex::from_expr(whole, space).ok()?, TensorIndex::from_expr(expr, space).ok()?);
    let (of, to) = (of.digits.first()?, to.digits.first()?);
    let (step, by) = (of.factor.checked_mul(to.divisor)?, to.factor.checked_mul(of.divisor)?);
    if of.dim != to.dim || step % by != 0 {
        return None;
    }
    let quotient = AffineExpression::FloorDiv(Box::new(whole.clone()), Box::new(AffineExpression::Constant(step / by)));
    (quotient.fold_quotients() == expr.fold_quotients()).then_some(step / by)
}

/// Returns the length of a row that every quotient and remainder of dimension `number`, below `end`, divides. `None` if
/// it exceeds four times `end`.
fn find_row_length(exprs: &[AffineExpression], number: usize, end: i64) -> Option<i64> {
    let mut cuts = Vec::new();
    exprs.iter().for_each(|expr| _ = collect_divisors(expr, number, &mut cuts));
    let common = |row: i64, cut: i64| row.checked_mul(cut / gcd(row, cut)).filter(|row| *row <= end.saturating_mul(4));
    cuts.into_iter().filter(|&cut| cut < end).try_fold(1, common)
}

/// Adds the divisors of quotients of dimension `number`, and the moduli of its remainders. Returns the divisor if the
/// expression is a chain of quotients and remainders of that dimension.
fn collect_divisors(expr: &AffineExpression, number: usize, cuts: &mut Vec<i64>) -> Option<i64> {
    match expr {
        AffineExpression::Dim(dim) => (*dim == number).then_some(1),
        AffineExpression::FloorDiv(of, by) | AffineExpression::Mod(of, by) => {
            let divisor = collect_divisors(of, number, cuts)?;
            let AffineExpression::Constant(by) = by.as_ref() else { return None };
            let cut = divisor.checked_mul(*by)?;
            cuts.extend([divisor, cut]);
            Some(if matches!(expr, AffineExpression::FloorDiv(..)) { cut } else { divisor })
        }
        AffineExpression::Add(one, other) | AffineExpression::Mul(one, other) => {
            _ = (collect_divisors(one, number, cuts), collect_divisors(other, number, cuts));
            None
        }
        _ => None,
    }
}

/// Returns the smallest multiple of `row` that is at least `end`; `None` if it exceeds 64 bits.
fn round_up_to_multiple(end: i64, row: i64) -> Option<i64> {
    Some(end.checked_add(row - 1)? / row * row)
}

/// Returns the copy of the elements that `flat` reads of a last dimension; `None` if the reader's rows divide the
/// dimension.
fn build_partial_copy(
    flat: &AffineExpression,
    size: i64,
    shape: &[i64],
    read: &[AffineExpression],
    space: &[i64],
) -> Option<RegroupedCopy> {
    let index = TensorIndex::from_expr(flat, space).ok()?;
    if index.digits.iter().all(|digit| size % digit.factor == 0 && index.offset % digit.factor == 0) {
        return None;
    }
    let last = shape.len() - 1;
    let shifted = AffineExpression::Add(
        Box::new(AffineExpression::Dim(last)),
        Box::new(AffineExpression::Constant(index.offset)),
    );
    let num_read = index.max_value() + 1 - index.offset;
    let own = TensorIndex { offset: 0, ..index }.to_expr(space).ok()?;
    Some(RegroupedCopy {
        from: (0..last).map(AffineExpression::Dim).chain([shifted]).collect(),
        shape: shape[..last].iter().copied().chain([num_read]).collect(),
        read: read[..last].iter().cloned().chain([own]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{assert_same_elements, d, to_exprs};
    use proptest::prelude::*;

    #[test]
    fn flattens_rows_of_another_length() {
        let space = [2, 9, 9];
        let flat = || (d(1) + 1) * 9 + d(2);
        let exprs = to_exprs(&[d(0), flat().floordiv(10), flat().modulo(10)]);
        let found = build_flattened_copy(&exprs, &[2, 9, 10], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 90]);
        assert_same_elements(&found.copy, &exprs, &space);
    }

    #[test]
    fn flattens_rows_of_several_dimensions() {
        // 3 x 7 rows of 11 as 7 rows of 33, and these as 11 rows of 21, as MLIR writes it.
        let space = [7, 33];
        let exprs =
            to_exprs(&[(d(0) * 33 + d(1)).floordiv(77), (d(0) * 3 + d(1).floordiv(11)).modulo(7), d(1).modulo(11)]);
        let found = build_flattened_copy(&exprs, &[3, 7, 11], &space).unwrap();
        assert_eq!(
            (found.copy.shape.as_slice(), &found.part),
            (&[11, 21][..], &None),
            "the innermost one is read as it is"
        );
        assert_same_elements(&found.copy, &exprs, &space);
    }

    #[test]
    fn flattens_windows_of_rows() {
        // Columns 1 to 8 of 9, as rows of 10.
        let space = [2, 8, 10];
        let flat = || d(1) * 10 + d(2);
        let exprs = to_exprs(&[d(0), flat().floordiv(8), flat().modulo(8) + 1]);
        let found = build_flattened_copy(&exprs, &[2, 10, 9], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 80]);
        assert_same_elements(&found.copy, &exprs, &space);
    }

    #[test]
    fn copies_read_elements_that_rows_do_not_divide() {
        // 6 rows of 33 without 6 elements, as rows of 32.
        let space = [2, 6, 32];
        let flat = || d(1) * 32 + d(2) + 6;
        let exprs = to_exprs(&[d(0), flat().floordiv(33), flat().modulo(33)]);
        let found = build_flattened_copy(&exprs, &[2, 6, 33], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 198]);
        assert_same_elements(&found.copy, &exprs, &space);
        let part = found.part.unwrap();
        assert_eq!(part.shape, [2, 192]);
        assert_same_elements(&part, &found.copy.read, &space);
    }

    #[test]
    fn makes_no_copy_for_sums_of_digits() {
        let heads = to_exprs(&[d(0).floordiv(4), d(1), d(0).modulo(4)]);
        assert_eq!(build_flattened_copy(&heads, &[2, 3, 4], &[8, 3]), None);
    }

    #[test]
    fn finds_number_from_its_quotients() {
        // Rows of 99 of a buffer of 3 x 11 rows, of which two of three rows of 3 are read, as MLIR writes it.
        let space = [2, 99];
        let flat = || d(0) * 99 + d(1);
        let thirds = d(0) * 33 + d(1).floordiv(3);
        let exprs = to_exprs(&[flat().floordiv(66), flat().floordiv(6).modulo(11), thirds.modulo(2), d(1).modulo(3)]);
        let found = build_flattened_copy(&exprs, &[3, 11, 3, 3], &space).unwrap();
        assert_eq!(found.copy.shape, [3, 66]);
        assert_same_elements(&found.copy, &exprs, &space);
    }

    #[test]
    fn keeps_dimension_next_to_the_number_in_the_copy() {
        // Columns and rows are swapped; four of six are read, in rows of 64 within each of three batches.
        let space = [3, 2, 64];
        let flat = || d(1) * 64 + d(2);
        let exprs = to_exprs(&[d(0) * 32 + flat().floordiv(28), flat().modulo(7), flat().floordiv(7).modulo(4) + 1]);
        let found = build_flattened_copy(&exprs, &[96, 7, 6], &space).unwrap();
        assert_eq!(found.copy.shape, [3, 140]);
        assert_same_elements(&found.copy, &exprs, &space);
    }

    /// Returns the indices of a buffer through a view: rows of another length, a slice, or swapped dimensions.
    fn draw_view(kind: u8, pick: usize, shape: &[i64]) -> (Vec<i64>, Vec<AffineExpression>) {
        let whole = |shape: &[i64]| (0..shape.len()).map(AffineExpression::Dim).collect::<Vec<_>>();
        let dim = pick % shape.len();
        match kind % 3 {
            0 => {
                let total: i64 = shape.iter().product();
                let divisors: Vec<i64> = (1..=total).filter(|divisor| total % divisor == 0).collect();
                let inner = divisors[pick % divisors.len()];
                let flat = AffineExpression::Dim(0).times(inner).plus(AffineExpression::Dim(1));
                let index = |dim: usize| {
                    let stride: i64 = shape[dim + 1..].iter().product();
                    let rows = AffineExpression::FloorDiv(
                        Box::new(flat.clone()),
                        Box::new(AffineExpression::Constant(stride)),
                    );
                    AffineExpression::Mod(Box::new(rows), Box::new(AffineExpression::Constant(shape[dim])))
                };
                (vec![total / inner, inner], (0..shape.len()).map(index).collect())
            }
            1 if shape[dim] > 1 => {
                let (mut sizes, mut exprs) = (shape.to_vec(), whole(shape));
                let offset = i64::try_from(pick).unwrap() % (shape[dim] - 1);
                sizes[dim] -= 1 + offset / 2;
                exprs[dim] =
                    AffineExpression::Dim(dim).plus(AffineExpression::Constant(offset.min(shape[dim] - sizes[dim])));
                (sizes, exprs)
            }
            _ => {
                let (mut sizes, mut exprs) = (shape.to_vec(), whole(shape));
                let other = (dim + 1) % shape.len();
                sizes.swap(dim, other);
                exprs.swap(dim, other);
                (sizes, exprs)
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

        /// Copies lead to indices that are sums of digits, in at most as many rounds as there are divided sums.
        #[test]
        fn chains_of_views_become_copies(
            sizes in prop::collection::vec(1_i64..7, 2..5),
            steps in prop::collection::vec((0_u8..3, 0_usize..50), 1..6),
        ) {
            let (mut space, mut exprs) = (sizes.clone(), (0..sizes.len()).map(AffineExpression::Dim).collect::<Vec<_>>());
            for (kind, pick) in steps {
                let (viewed, through) = draw_view(kind, pick, &space);
                exprs = exprs.iter().map(|expr| expr.with_dims(&|dim| through[dim].clone())).collect();
                space = viewed;
            }
            let mut open = vec![(exprs, sizes, space)];
            while let Some((exprs, sizes, space)) = open.pop() {
                let num_before = count_carries(&exprs, &space);
                if let Some(FlattenedCopy { copy, part }) = build_flattened_copy(&exprs, &sizes, &space) {
                    assert_same_elements(&copy, &exprs, &space);
                    if let Some(part) = part {
                        assert_same_elements(&part, &copy.read, &space);
                    }
                    prop_assert!(count_carries(&copy.from, &copy.shape) + count_carries(&copy.read, &space) < num_before);
                    open.push((copy.from, sizes, copy.shape.clone()));
                    open.push((copy.read, copy.shape, space));
                } else {
                    prop_assert_eq!(num_before, 0, "{:?} of {:?} over {:?}", exprs, sizes, space);
                }
            }
        }
    }
}
