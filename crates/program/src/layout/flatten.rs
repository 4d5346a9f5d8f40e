//! Copies for readers that index a buffer with quotients and remainders of a number that is a sum of dimensions, as where rows of 10 are
//! read as rows of 9: the number becomes a dimension of the copy.

use super::{Index, Regrouped};
use crate::affine::{Expr, are_inside, gcd};
use std::cmp::Reverse;

/// Copy of a buffer in which a number that the reader divides is the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// The copy, in whole rows of the number.
    pub copy: Regrouped,
    /// Copy of that copy with only the elements that are read, if the reader's rows do not divide the size.
    pub part: Option<Regrouped>,
}

/// Returns a copy for a reader of a buffer of these sizes with the indices `exprs` over dimensions of sizes `space`. None if all indices
/// are sums of digits, or if no number in them is one. The indices of the copy may divide sums again, fewer than before.
#[must_use]
pub fn flattened(exprs: &[Expr], sizes: &[i64], space: &[i64]) -> Option<Flattened> {
    let unread: Vec<usize> = (0..exprs.len()).filter(|&dim| Index::of(&exprs[dim], space).is_err()).collect();
    let (&first, &last) = (unread.first()?, unread.last()?);
    flattened_neighbours([first, last], exprs, sizes, space).or_else(|| flattened_number(exprs, sizes, space))
}

/// Returns a copy in which the first two dimensions are one, for a reader with the indices `exprs`.
///
/// # Panics
/// If there are fewer than two dimensions.
#[must_use]
pub fn first_two_merged(exprs: &[Expr], sizes: &[i64]) -> Regrouped {
    let [first, second, others @ ..] = sizes else { panic!("a tensor of two dimensions") };
    let (number, inner) = (Box::new(Expr::Dim(0)), Box::new(Expr::Constant(*second)));
    let digits = [Expr::FloorDiv(number.clone(), inner.clone()), Expr::Mod(number, inner)];
    let both = exprs[0].clone().times(*second).plus(exprs[1].clone()).with_whole_quotients();
    Regrouped {
        from: digits.into_iter().chain((1..=others.len()).map(Expr::Dim)).collect(),
        shape: [&[first * second], others].concat(),
        read: [both].into_iter().chain(exprs[2..].iter().cloned()).collect(),
    }
}

/// Returns the copy with the number that leaves the fewest divided sums, then the fewest elements, as a dimension.
fn flattened_number(exprs: &[Expr], sizes: &[i64], space: &[i64]) -> Option<Flattened> {
    let mut numbers = Vec::new();
    exprs.iter().for_each(|expr| note_numbers(expr, space, &mut numbers));
    let before = n_carries(exprs, space);
    let candidates = numbers.into_iter().filter_map(|number| Candidate::new(&number, exprs, sizes, space));
    let order = |found: &Candidate| (found.n_carries, found.n_elements, Reverse(found.found.copy.shape.len()));
    let best = candidates.filter(|candidate| candidate.n_carries < before).min_by_key(order);
    best.map(|best| best.found)
}

/// Returns the copy for the shortest run of neighboring dimensions that contains `first` to `last` and whose element number is a sum of
/// digits: that number becomes a dimension.
fn flattened_neighbours([first, last]: [usize; 2], exprs: &[Expr], sizes: &[i64], space: &[i64]) -> Option<Flattened> {
    let mut runs: Vec<(usize, usize)> = (0..=first).flat_map(|first| (last..exprs.len()).map(move |last| (first, last))).collect();
    runs.sort_by_key(|(first, last)| (last - first, *first));
    runs.into_iter().find_map(|(first, last)| {
        let stride = |dim: usize| sizes[dim + 1..=last].iter().product::<i64>();
        let sum = (first..=last).map(|dim| exprs[dim].clone().times(stride(dim))).reduce(Expr::plus)?;
        let flat = sum.with_whole_quotients();
        // Whole rows only: a part of a row cannot be split.
        let (row, end) = (stride(first), Index::of(&flat, space).ok()?.last() + 1);
        let size = next_multiple(end, row)?;
        let others: Vec<usize> = (0..exprs.len()).filter(|dim| !(first..=last).contains(dim)).collect();
        let number = Expr::Dim(others.len());
        let digit = |dim: usize| {
            let rows = Expr::FloorDiv(Box::new(number.clone()), Box::new(Expr::Constant(stride(dim))));
            if dim == first { rows } else { Expr::Mod(Box::new(rows), Box::new(Expr::Constant(sizes[dim]))) }
        };
        let index = |dim: usize| others.iter().position(|&other| other == dim).map_or_else(|| digit(dim), Expr::Dim);
        let from = (0..exprs.len()).map(index).collect();
        let shape: Vec<i64> = others.iter().map(|&dim| sizes[dim]).chain([size]).collect();
        let read: Vec<Expr> = others.iter().map(|&dim| exprs[dim].clone()).chain([flat.clone()]).collect();
        let part = part_read(&flat, size, &shape, &read, space);
        Some(Flattened { copy: Regrouped { from, shape, read }, part })
    })
}

/// Copy with one number as a dimension, and what it leaves.
struct Candidate {
    found: Flattened,
    /// Divisions of sums that remain, in the copy and in its reader.
    n_carries: usize,
    /// Elements of the copy.
    n_elements: i64,
}

impl Candidate {
    /// Elements of the copy per element of the buffer and of the reader that are worth it.
    const MOST_GROWTH: i64 = 8;

    /// Returns the copy with `flat` as a dimension. Indices that do not depend on the number keep the dimension of the buffer; dimensions
    /// of the reader that move an index beside the number are dimensions of the copy.
    fn new(flat: &Expr, exprs: &[Expr], sizes: &[i64], space: &[i64]) -> Option<Self> {
        let number = space.len();
        let own: Vec<Expr> = exprs.iter().map(|expr| in_terms_of(expr, flat, number, space)).collect();
        let end = Index::of(flat, space).ok()?.last() + 1;
        let size = next_multiple(end, row_of(&own, number, end)?)?;
        let (mut shape, mut read, mut from) = (Vec::new(), Vec::new(), own.clone());
        let mut add = |size: i64, index: Expr| {
            shape.push(size);
            read.push(index);
            shape.len() - 1
        };
        let moves = |expr: &Expr| expr.dims().contains(&number);
        for dim in (0..exprs.len()).filter(|&dim| !moves(&own[dim])) {
            from[dim] = if sizes[dim] == 1 { Expr::Constant(0) } else { Expr::Dim(add(sizes[dim], exprs[dim].clone())) };
        }
        let mut places = vec![None; number + 1];
        for dim in own.iter().filter(|expr| moves(expr)).flat_map(Expr::dims).filter(|&dim| dim != number) {
            if places[dim].is_none() {
                places[dim] = Some(add(space[dim], Expr::Dim(dim)));
            }
        }
        places[number] = Some(add(size, flat.clone()));
        for dim in (0..exprs.len()).filter(|&dim| moves(&own[dim])) {
            from[dim] = own[dim].with_dims(&|dim| Expr::Dim(places[dim].expect("dimensions of moved indices are placed")));
        }
        let elements = |sizes: &[i64]| sizes.iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
        let n_elements = elements(&shape)?;
        let most = elements(sizes)?.checked_add(elements(space)?)?.checked_mul(Self::MOST_GROWTH)?;
        if !are_inside(&from, sizes, &shape) || n_elements > most {
            return None;
        }
        let n_carries = n_carries(&from, &shape) + n_carries(&read, space);
        let part = part_read(flat, size, &shape, &read, space);
        Some(Self { found: Flattened { copy: Regrouped { from, shape, read }, part }, n_carries, n_elements })
    }
}

/// Adds the sums of digits in an expression whose quotient or remainder is no sum of digits.
fn note_numbers(expr: &Expr, space: &[i64], numbers: &mut Vec<Expr>) {
    match expr {
        Expr::FloorDiv(of, _) | Expr::Mod(of, _) => {
            note_numbers(of, space, numbers);
            if Index::of(of, space).is_ok() && Index::of(expr, space).is_err() && !numbers.contains(of) {
                numbers.push(of.as_ref().clone());
            }
        }
        Expr::Add(one, other) | Expr::Mul(one, other) => [one, other].into_iter().for_each(|of| note_numbers(of, space, numbers)),
        _ => {}
    }
}

/// Returns the number of quotients and remainders that are no sums of digits.
fn n_carries(exprs: &[Expr], space: &[i64]) -> usize {
    exprs.iter().map(|expr| n_carries_of(expr, space)).sum()
}

fn n_carries_of(expr: &Expr, space: &[i64]) -> usize {
    match expr {
        Expr::FloorDiv(of, _) | Expr::Mod(of, _) => usize::from(Index::of(expr, space).is_err()) + n_carries_of(of, space),
        Expr::Add(one, other) | Expr::Mul(one, other) => n_carries_of(one, space) + n_carries_of(other, space),
        _ => 0,
    }
}

/// Returns the expression with the quotients and remainders of `flat` in terms of dimension `number`, which stands for it.
fn in_terms_of(expr: &Expr, flat: &Expr, number: usize, space: &[i64]) -> Expr {
    let is_same = |one: &Expr, other: &Expr| one.with_whole_quotients() == other.with_whole_quotients();
    let inner = |of: &Expr| Box::new(in_terms_of(of, flat, number, space));
    match expr {
        Expr::Add(..) | Expr::Mul(..) if is_same(expr, flat) => Expr::Dim(number),
        Expr::Add(one, other) => Expr::Add(inner(one), inner(other)),
        Expr::Mul(one, other) => Expr::Mul(inner(one), inner(other)),
        Expr::FloorDiv(of, by) => match (quotient_of(of, flat, number, space), by.as_ref()) {
            (Some(quotient), _) => Expr::FloorDiv(Box::new(quotient), by.clone()),
            (None, &Expr::Constant(divisor)) if let Some(part) = divisor_of(flat, of, space).filter(|part| divisor % part == 0) => {
                Expr::FloorDiv(Box::new(Expr::Dim(number)), Box::new(Expr::Constant(divisor / part)))
            }
            (None, _) => Expr::FloorDiv(inner(of), by.clone()),
        },
        Expr::Mod(_, by) if is_same(expr, &Expr::Mod(Box::new(flat.clone()), by.clone())) => {
            Expr::Mod(Box::new(Expr::Dim(number)), by.clone())
        }
        Expr::Mod(of, by) => Expr::Mod(quotient_of(of, flat, number, space).map_or_else(|| inner(of), Box::new), by.clone()),
        other => other.clone(),
    }
}

/// Returns `expr` as a quotient of `flat`, for which dimension `number` stands; None if it is not one.
fn quotient_of(expr: &Expr, flat: &Expr, number: usize, space: &[i64]) -> Option<Expr> {
    Some(match divisor_of(expr, flat, space)? {
        1 => Expr::Dim(number),
        by => Expr::FloorDiv(Box::new(Expr::Dim(number)), Box::new(Expr::Constant(by))),
    })
}

/// Returns the number by which `whole` is divided to give `expr`; None if `expr` is not such a quotient.
fn divisor_of(expr: &Expr, whole: &Expr, space: &[i64]) -> Option<i64> {
    let (of, to) = (Index::of(whole, space).ok()?, Index::of(expr, space).ok()?);
    let (of, to) = (of.digits.first()?, to.digits.first()?);
    let (step, by) = (of.factor.checked_mul(to.divisor)?, to.factor.checked_mul(of.divisor)?);
    if of.dim != to.dim || step % by != 0 {
        return None;
    }
    let quotient = Expr::FloorDiv(Box::new(whole.clone()), Box::new(Expr::Constant(step / by)));
    (quotient.with_whole_quotients() == expr.with_whole_quotients()).then_some(step / by)
}

/// Returns the length of a row that every quotient and remainder of dimension `number`, below `end`, divides. None if it exceeds four times
/// `end`.
fn row_of(exprs: &[Expr], number: usize, end: i64) -> Option<i64> {
    let mut cuts = Vec::new();
    exprs.iter().for_each(|expr| _ = note_cuts(expr, number, &mut cuts));
    let common = |row: i64, cut: i64| row.checked_mul(cut / gcd(row, cut)).filter(|row| *row <= end.saturating_mul(4));
    cuts.into_iter().filter(|&cut| cut < end).try_fold(1, common)
}

/// Adds the numbers of neighboring values of dimension `number` that share a quotient, and that a remainder takes. Returns the divisor if
/// the expression is a chain of quotients and remainders of that dimension.
fn note_cuts(expr: &Expr, number: usize, cuts: &mut Vec<i64>) -> Option<i64> {
    match expr {
        Expr::Dim(dim) => (*dim == number).then_some(1),
        Expr::FloorDiv(of, by) | Expr::Mod(of, by) => {
            let divisor = note_cuts(of, number, cuts)?;
            let Expr::Constant(by) = by.as_ref() else { return None };
            let cut = divisor.checked_mul(*by)?;
            cuts.extend([divisor, cut]);
            Some(if matches!(expr, Expr::FloorDiv(..)) { cut } else { divisor })
        }
        Expr::Add(one, other) | Expr::Mul(one, other) => {
            _ = (note_cuts(one, number, cuts), note_cuts(other, number, cuts));
            None
        }
        _ => None,
    }
}

/// Returns the smallest multiple of `row` that is at least `end`; None if it leaves 64 bits.
fn next_multiple(end: i64, row: i64) -> Option<i64> {
    Some(end.checked_add(row - 1)? / row * row)
}

/// Returns the copy of the elements that `flat` reads of a last dimension; `None` if the reader's rows divide it anyway.
fn part_read(flat: &Expr, size: i64, shape: &[i64], read: &[Expr], space: &[i64]) -> Option<Regrouped> {
    let index = Index::of(flat, space).ok()?;
    if index.digits.iter().all(|digit| size % digit.factor == 0 && index.offset % digit.factor == 0) {
        return None;
    }
    let last = shape.len() - 1;
    let shifted = Expr::Add(Box::new(Expr::Dim(last)), Box::new(Expr::Constant(index.offset)));
    let n_read = index.last() + 1 - index.offset;
    let own = Index { offset: 0, ..index }.to_expr(space).ok()?;
    Some(Regrouped {
        from: (0..last).map(Expr::Dim).chain([shifted]).collect(),
        shape: shape[..last].iter().copied().chain([n_read]).collect(),
        read: read[..last].iter().cloned().chain([own]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{d, exprs, shows_the_same};
    use proptest::prelude::*;

    #[test]
    fn rows_of_another_length_are_flat_between() {
        let space = [2, 9, 9];
        let flat = || (d(1) + 1) * 9 + d(2);
        let exprs = exprs(&[d(0), flat().floordiv(10), flat().modulo(10)]);
        let found = flattened(&exprs, &[2, 9, 10], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 90]);
        shows_the_same(&found.copy, &exprs, &space);
    }

    #[test]
    fn rows_of_several_dimensions_are_flat_between() {
        // 3 x 7 rows of 11 as 7 rows of 33, and these as 11 rows of 21, as MLIR writes it.
        let space = [7, 33];
        let exprs = exprs(&[(d(0) * 33 + d(1)).floordiv(77), (d(0) * 3 + d(1).floordiv(11)).modulo(7), d(1).modulo(11)]);
        let found = flattened(&exprs, &[3, 7, 11], &space).unwrap();
        assert_eq!((found.copy.shape.as_slice(), &found.part), (&[11, 21][..], &None), "the innermost one is read as it is");
        shows_the_same(&found.copy, &exprs, &space);
    }

    #[test]
    fn windows_of_rows_are_flat_between() {
        // Columns 1 to 8 of 9, as rows of 10.
        let space = [2, 8, 10];
        let flat = || d(1) * 10 + d(2);
        let exprs = exprs(&[d(0), flat().floordiv(8), flat().modulo(8) + 1]);
        let found = flattened(&exprs, &[2, 10, 9], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 80]);
        shows_the_same(&found.copy, &exprs, &space);
    }

    #[test]
    fn what_rows_do_not_divide_is_read_in_part() {
        // Of 6 rows of 33, without 6 elements: rows of 32.
        let space = [2, 6, 32];
        let flat = || d(1) * 32 + d(2) + 6;
        let exprs = exprs(&[d(0), flat().floordiv(33), flat().modulo(33)]);
        let found = flattened(&exprs, &[2, 6, 33], &space).unwrap();
        assert_eq!(found.copy.shape, [2, 198]);
        shows_the_same(&found.copy, &exprs, &space);
        let part = found.part.unwrap();
        assert_eq!(part.shape, [2, 192]);
        shows_the_same(&part, &found.copy.read, &space);
    }

    #[test]
    fn digits_need_no_copy() {
        let heads = exprs(&[d(0).floordiv(4), d(1), d(0).modulo(4)]);
        assert_eq!(flattened(&heads, &[2, 3, 4], &[8, 3]), None);
    }

    #[test]
    fn numbers_are_found_behind_their_quotients() {
        // Rows of 99 of a buffer of 3 x 11 rows, of which two of three rows of 3 are read, as MLIR writes it.
        let space = [2, 99];
        let flat = || d(0) * 99 + d(1);
        let thirds = d(0) * 33 + d(1).floordiv(3);
        let exprs = exprs(&[flat().floordiv(66), flat().floordiv(6).modulo(11), thirds.modulo(2), d(1).modulo(3)]);
        let found = flattened(&exprs, &[3, 11, 3, 3], &space).unwrap();
        assert_eq!(found.copy.shape, [3, 66]);
        shows_the_same(&found.copy, &exprs, &space);
    }

    #[test]
    fn a_dimension_beside_the_number_is_one_of_the_copy() {
        // Columns and rows change places, of which four of six are read, in rows of 64 within each of three batches.
        let space = [3, 2, 64];
        let flat = || d(1) * 64 + d(2);
        let exprs = exprs(&[d(0) * 32 + flat().floordiv(28), flat().modulo(7), flat().floordiv(7).modulo(4) + 1]);
        let found = flattened(&exprs, &[96, 7, 6], &space).unwrap();
        assert_eq!(found.copy.shape, [3, 140]);
        shows_the_same(&found.copy, &exprs, &space);
    }

    /// Indices of a buffer through a step: rows of another length, a slice, or dimensions that change places.
    fn step(kind: u8, pick: usize, shape: &[i64]) -> (Vec<i64>, Vec<Expr>) {
        let whole = |shape: &[i64]| (0..shape.len()).map(Expr::Dim).collect::<Vec<_>>();
        let dim = pick % shape.len();
        match kind % 3 {
            0 => {
                let total: i64 = shape.iter().product();
                let divisors: Vec<i64> = (1..=total).filter(|divisor| total % divisor == 0).collect();
                let inner = divisors[pick % divisors.len()];
                let flat = Expr::Dim(0).times(inner).plus(Expr::Dim(1));
                let index = |dim: usize| {
                    let stride: i64 = shape[dim + 1..].iter().product();
                    let rows = Expr::FloorDiv(Box::new(flat.clone()), Box::new(Expr::Constant(stride)));
                    Expr::Mod(Box::new(rows), Box::new(Expr::Constant(shape[dim])))
                };
                (vec![total / inner, inner], (0..shape.len()).map(index).collect())
            }
            1 if shape[dim] > 1 => {
                let (mut sizes, mut exprs) = (shape.to_vec(), whole(shape));
                let offset = i64::try_from(pick).unwrap() % (shape[dim] - 1);
                sizes[dim] -= 1 + offset / 2;
                exprs[dim] = Expr::Dim(dim).plus(Expr::Constant(offset.min(shape[dim] - sizes[dim])));
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

        /// Copies lead to indices that are sums of digits, in at most as many rounds as sums are divided.
        #[test]
        fn chains_of_views_become_copies(
            sizes in prop::collection::vec(1_i64..7, 2..5),
            steps in prop::collection::vec((0_u8..3, 0_usize..50), 1..6),
        ) {
            let (mut space, mut exprs) = (sizes.clone(), (0..sizes.len()).map(Expr::Dim).collect::<Vec<_>>());
            for (kind, pick) in steps {
                let (shown, through) = step(kind, pick, &space);
                exprs = exprs.iter().map(|expr| expr.with_dims(&|dim| through[dim].clone())).collect();
                space = shown;
            }
            let mut open = vec![(exprs, sizes, space)];
            while let Some((exprs, sizes, space)) = open.pop() {
                let n_before = n_carries(&exprs, &space);
                if let Some(Flattened { copy, part }) = flattened(&exprs, &sizes, &space) {
                    shows_the_same(&copy, &exprs, &space);
                    if let Some(part) = part {
                        shows_the_same(&part, &copy.read, &space);
                    }
                    prop_assert!(n_carries(&copy.from, &copy.shape) + n_carries(&copy.read, &space) < n_before);
                    open.push((copy.from, sizes, copy.shape.clone()));
                    open.push((copy.read, copy.shape, space));
                } else {
                    prop_assert_eq!(n_before, 0, "{:?} of {:?} over {:?}", exprs, sizes, space);
                }
            }
        }
    }
}
