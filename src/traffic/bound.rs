//! The elements of a tensor that a program must move, whatever is decided: those that its ops touch, each once.

use machine::STICK_BYTES;
use program::layout::{Digit, Index};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Assumption about the contents of index tensors, which are unknown at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indices {
    /// Rows that differ, as far as the table has them: what a plan is priced for.
    Differ,
    /// Any rows: all indices may be equal.
    Any,
}

/// The elements of a tensor that an op touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// How many, at least; the second number if all indices are equal.
    elements: [i64; 2],
    /// Within which positions along each dimension; none where an index chooses.
    within: Option<Vec<Range<i64>>>,
}

impl Touched {
    /// Returns the elements that an op touches at `indices`, one per dimension of the tensor. `space` has the sizes of
    /// the iteration space.
    #[must_use]
    pub fn of(indices: &[Index], space: &[i64]) -> Self {
        let reach = |index: &Index| index.digits.iter().map(|digit| digit.factor * (digit.size - 1)).sum::<i64>();
        let within = indices.iter().map(|index| index.offset..index.offset + reach(index) + 1).collect();
        let elements = distinct(indices, space);
        Self { elements: [elements; 2], within: Some(within) }
    }

    /// Returns the elements touched in a table from which an index tensor selects at most `n_rows` rows. The receiver
    /// describes the access to one row.
    #[must_use]
    pub fn chosen(self, n_rows: i64) -> Self {
        let [elements, any] = self.elements;
        Self { elements: [elements.saturating_mul(n_rows), any], within: None }
    }

    fn elements(&self, indices: Indices) -> i64 {
        self.elements[usize::from(indices == Indices::Any)]
    }
}

/// How many different elements an op reaches, at least.
fn distinct(indices: &[Index], space: &[i64]) -> i64 {
    let mut by_dim: BTreeMap<usize, Vec<Digit>> = BTreeMap::new();
    for digit in indices.iter().flat_map(|index| &index.digits) {
        let known = by_dim.entry(digit.dim).or_default();
        if known.iter().all(|other| (other.divisor, other.size) != (digit.divisor, digit.size)) {
            known.push(*digit);
        }
    }
    let most = |digits: &Vec<Digit>| digits.iter().map(|digit| digit.size).max().unwrap_or(1);
    if !indices.iter().all(is_unique) {
        return by_dim.values().map(most).max().unwrap_or(1);
    }
    let of_dim = |(dim, digits): (&usize, &Vec<Digit>)| {
        let overlap = |one: &Digit, other: &Digit| one.divisor < end(other) && other.divisor < end(one);
        let are_apart = digits.iter().enumerate().all(|(number, one)| digits[..number].iter().all(|other| !overlap(one, other)));
        // Digits can say more than there are points.
        if are_apart { digits.iter().map(|digit| digit.size).product::<i64>().min(space[*dim]) } else { most(digits) }
    };
    by_dim.iter().map(of_dim).product()
}

/// Positions after which a digit starts again.
const fn end(digit: &Digit) -> i64 {
    digit.divisor.saturating_mul(digit.size)
}

/// Whether no two values of its digits give the same index.
fn is_unique(index: &Index) -> bool {
    let mut reach = 0;
    index.digits.iter().rev().all(|digit| {
        let is_above = digit.factor > reach;
        reach += digit.factor * (digit.size - 1);
        is_above
    })
}

/// The fewest elements that accesses to one tensor touch together: those in places that share none count each, the larger ones first, and
/// what an index chooses counts if it alone is more.
#[must_use]
pub fn least_touched(accesses: &[Touched], indices: Indices) -> i64 {
    let mut placed: Vec<&Touched> = accesses.iter().filter(|access| access.within.is_some()).collect();
    placed.sort_by_key(|access| Reverse(access.elements(indices)));
    let mut counted: Vec<&Touched> = Vec::new();
    for access in placed {
        if counted.iter().all(|other| are_apart(access, other)) {
            counted.push(access);
        }
    }
    let together = counted.iter().map(|access| access.elements(indices)).sum();
    accesses.iter().map(|access| access.elements(indices)).max().unwrap_or(0).max(together)
}

fn are_apart(one: &Touched, other: &Touched) -> bool {
    let (Some(one), Some(other)) = (&one.within, &other.within) else { return false };
    one.iter().zip(other).any(|(one, other)| one.end <= other.start || other.end <= one.start)
}

/// Bytes of the sticks that so many elements need, in whatever layout: a stick holds no more than it has places.
#[must_use]
pub fn stick_bytes_of(elements: i64, element_bytes: i64) -> i64 {
    let bytes = elements.saturating_mul(element_bytes);
    bytes / STICK_BYTES * STICK_BYTES + if bytes % STICK_BYTES > 0 { STICK_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(of: &[Index], space: &[i64]) -> i64 {
        least_touched(&[Touched::of(of, space)], Indices::Differ)
    }

    fn index(dim: usize, space: &[i64]) -> Index {
        Index::dim(dim, space).unwrap()
    }

    /// Rows `first..first + rows` of 128 columns.
    fn rows(first: i64, rows: i64) -> Touched {
        let space = [rows, 128];
        Touched::of(&[Index { offset: first, ..index(0, &space) }, index(1, &space)], &space)
    }

    #[test]
    fn an_element_counts_once() {
        let all = |accesses: &[Touched]| least_touched(accesses, Indices::Differ);
        assert_eq!(all(&[]), 0);
        assert_eq!(all(&[rows(16, 8)]), 8 * 128);
        assert_eq!(all(&[rows(0, 8), rows(0, 8), rows(8, 8)]), 16 * 128, "the same part twice");
        assert_eq!(all(&[rows(0, 64), rows(8, 8)]), 64 * 128, "a part of the whole");
        assert_eq!(all(&[rows(0, 8), rows(4, 8)]), 8 * 128, "parts that overlap: the larger one is a bound");
    }

    #[test]
    fn what_repeats_or_meets_is_not_counted_twice() {
        let space = [8, 12];
        let digit = |dim, divisor, size, factor| Digit { dim, divisor, size, factor };
        let of = |digits: &[Digit]| Index::new(digits, 0, &space).unwrap();
        assert_eq!(touched(&[index(1, &space)], &space), 12, "dimension 0 repeats");
        assert_eq!(touched(&[index(0, &space), index(0, &space)], &space), 8, "a diagonal");
        assert_eq!(touched(&[of(&[digit(0, 1, 8, 1), digit(1, 1, 12, 1)])], &space), 12, "a window: 19 positions, 12 of them are sure");
        assert_eq!(touched(&[of(&[digit(0, 1, 8, 2)])], &space), 8, "every other one");
        assert_eq!(touched(&[of(&[digit(1, 8, 2, 1)]), of(&[digit(1, 1, 8, 1)])], &space), 12, "rows of 8, the last one of 4");
        assert_eq!(touched(&[of(&[digit(1, 4, 3, 1)]), of(&[digit(1, 1, 8, 1)])], &space), 8, "digits that overlap");
    }

    #[test]
    fn rows_that_an_index_chooses_may_be_the_same_one() {
        let row = rows(0, 1).chosen(8);
        let both = [Indices::Differ, Indices::Any].map(|indices| least_touched(std::slice::from_ref(&row), indices));
        assert_eq!(both, [8 * 128, 128]);
        assert_eq!(least_touched(&[row.clone(), rows(0, 4)], Indices::Differ), 8 * 128);
        assert_eq!(least_touched(&[row, rows(0, 16)], Indices::Differ), 16 * 128);
    }

    #[test]
    fn sticks_are_whole() {
        assert_eq!([0, 1, 64, 65].map(|elements| stick_bytes_of(elements, 2)), [0, 128, 128, 256]);
    }
}
