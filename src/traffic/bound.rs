//! Lower bound on the elements of a tensor that a program moves: the distinct elements that its ops access.

use machine::STICK_BYTES;
use program::layout::{IndexDigit, TensorIndex};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Assumption about the contents of index tensors, which are unknown at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexAssumption {
    /// Indices select different rows, as far as the table has enough. Plans are compared under this assumption.
    Differ,
    /// Indices select any rows, and may all be equal.
    Any,
}

/// Elements of a tensor that an op accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFootprint {
    /// Minimum number of elements: if indices differ, and if all indices are equal.
    elements: [i64; 2],
    /// Range of positions along each dimension; `None` if an index tensor selects them.
    within: Option<Vec<Range<i64>>>,
}

impl AccessFootprint {
    /// Returns the elements that an op touches at `indices`, one per dimension of the tensor. `space` has the sizes of
    /// the iteration space.
    #[must_use]
    pub fn from_indices(indices: &[TensorIndex], space: &[i64]) -> Self {
        let reach = |index: &TensorIndex| index.digits.iter().map(|digit| digit.factor * (digit.size - 1)).sum::<i64>();
        let within = indices.iter().map(|index| index.offset..index.offset + reach(index) + 1).collect();
        let elements = count_distinct_elements(indices, space);
        Self { elements: [elements; 2], within: Some(within) }
    }

    /// Returns the elements accessed in a table from which an index tensor selects at most `n_rows` rows. The receiver
    /// describes the access to one row.
    #[must_use]
    pub fn select_rows(self, n_rows: i64) -> Self {
        let [elements, any] = self.elements;
        Self { elements: [elements.saturating_mul(n_rows), any], within: None }
    }

    fn num_elements(&self, indices: IndexAssumption) -> i64 {
        self.elements[usize::from(indices == IndexAssumption::Any)]
    }
}

/// Returns the minimum number of distinct elements that an op accesses.
fn count_distinct_elements(indices: &[TensorIndex], space: &[i64]) -> i64 {
    let mut by_dim: BTreeMap<usize, Vec<IndexDigit>> = BTreeMap::new();
    for digit in indices.iter().flat_map(|index| &index.digits) {
        let known = by_dim.entry(digit.dim).or_default();
        if known.iter().all(|other| (other.divisor, other.size) != (digit.divisor, digit.size)) {
            known.push(*digit);
        }
    }
    let most = |digits: &Vec<IndexDigit>| digits.iter().map(|digit| digit.size).max().unwrap_or(1);
    if !indices.iter().all(is_unique) {
        return by_dim.values().map(most).max().unwrap_or(1);
    }
    let of_dim = |(dim, digits): (&usize, &Vec<IndexDigit>)| {
        let overlap =
            |one: &IndexDigit, other: &IndexDigit| one.divisor < digit_end(other) && other.divisor < digit_end(one);
        let are_apart =
            digits.iter().enumerate().all(|(number, one)| digits[..number].iter().all(|other| !overlap(one, other)));
        // Digits may have more combinations than the dimension has points.
        if are_apart { digits.iter().map(|digit| digit.size).product::<i64>().min(space[*dim]) } else { most(digits) }
    };
    by_dim.iter().map(of_dim).product()
}

/// Returns the number of positions after which a digit repeats.
const fn digit_end(digit: &IndexDigit) -> i64 {
    digit.divisor.saturating_mul(digit.size)
}

/// Returns whether different digits give different indices.
fn is_unique(index: &TensorIndex) -> bool {
    let mut reach = 0;
    index.digits.iter().rev().all(|digit| {
        let is_above = digit.factor > reach;
        reach += digit.factor * (digit.size - 1);
        is_above
    })
}

/// Returns the minimum number of elements that accesses to one tensor touch together. Accesses in disjoint ranges add
/// up, the larger ones first. An indexed access counts if it alone exceeds that sum.
#[must_use]
pub fn min_distinct_elements(accesses: &[AccessFootprint], indices: IndexAssumption) -> i64 {
    let mut placed: Vec<&AccessFootprint> = accesses.iter().filter(|access| access.within.is_some()).collect();
    placed.sort_by_key(|access| Reverse(access.num_elements(indices)));
    let mut counted: Vec<&AccessFootprint> = Vec::new();
    for access in placed {
        if counted.iter().all(|other| are_disjoint(access, other)) {
            counted.push(access);
        }
    }
    let together = counted.iter().map(|access| access.num_elements(indices)).sum();
    accesses.iter().map(|access| access.num_elements(indices)).max().unwrap_or(0).max(together)
}

fn are_disjoint(one: &AccessFootprint, other: &AccessFootprint) -> bool {
    let (Some(one), Some(other)) = (&one.within, &other.within) else { return false };
    one.iter().zip(other).any(|(one, other)| one.end <= other.start || other.end <= one.start)
}

/// Returns the bytes of the fewest sticks that hold these elements, in any layout.
#[must_use]
pub fn stick_bytes(elements: i64, element_bytes: i64) -> i64 {
    let bytes = elements.saturating_mul(element_bytes);
    bytes / STICK_BYTES * STICK_BYTES + if bytes % STICK_BYTES > 0 { STICK_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(of: &[TensorIndex], space: &[i64]) -> i64 {
        min_distinct_elements(&[AccessFootprint::from_indices(of, space)], IndexAssumption::Differ)
    }

    fn index(dim: usize, space: &[i64]) -> TensorIndex {
        TensorIndex::from_dim(dim, space).unwrap()
    }

    /// Builds the access to rows `first..first + rows` of 128 columns.
    fn rows(first: i64, rows: i64) -> AccessFootprint {
        let space = [rows, 128];
        AccessFootprint::from_indices(&[TensorIndex { offset: first, ..index(0, &space) }, index(1, &space)], &space)
    }

    #[test]
    fn counts_each_element_once() {
        let all = |accesses: &[AccessFootprint]| min_distinct_elements(accesses, IndexAssumption::Differ);
        assert_eq!(all(&[]), 0);
        assert_eq!(all(&[rows(16, 8)]), 8 * 128);
        assert_eq!(all(&[rows(0, 8), rows(0, 8), rows(8, 8)]), 16 * 128, "the same part twice");
        assert_eq!(all(&[rows(0, 64), rows(8, 8)]), 64 * 128, "a part of the whole");
        assert_eq!(all(&[rows(0, 8), rows(4, 8)]), 8 * 128, "parts that overlap: the larger one is a bound");
    }

    #[test]
    fn counts_repeated_positions_once() {
        let space = [8, 12];
        let digit = |dim, divisor, size, factor| IndexDigit { dim, divisor, size, factor };
        let of = |digits: &[IndexDigit]| TensorIndex::new(digits, 0, &space).unwrap();
        assert_eq!(touched(&[index(1, &space)], &space), 12, "dimension 0 repeats");
        assert_eq!(touched(&[index(0, &space), index(0, &space)], &space), 8, "a diagonal");
        assert_eq!(
            touched(&[of(&[digit(0, 1, 8, 1), digit(1, 1, 12, 1)])], &space),
            12,
            "a window: 19 positions, 12 of them are sure"
        );
        assert_eq!(touched(&[of(&[digit(0, 1, 8, 2)])], &space), 8, "every other one");
        assert_eq!(
            touched(&[of(&[digit(1, 8, 2, 1)]), of(&[digit(1, 1, 8, 1)])], &space),
            12,
            "rows of 8, the last one of 4"
        );
        assert_eq!(touched(&[of(&[digit(1, 4, 3, 1)]), of(&[digit(1, 1, 8, 1)])], &space), 8, "digits that overlap");
    }

    #[test]
    fn counts_one_row_if_indices_may_be_equal() {
        let row = rows(0, 1).select_rows(8);
        let both = [IndexAssumption::Differ, IndexAssumption::Any]
            .map(|indices| min_distinct_elements(std::slice::from_ref(&row), indices));
        assert_eq!(both, [8 * 128, 128]);
        assert_eq!(min_distinct_elements(&[row.clone(), rows(0, 4)], IndexAssumption::Differ), 8 * 128);
        assert_eq!(min_distinct_elements(&[row, rows(0, 16)], IndexAssumption::Differ), 16 * 128);
    }

    #[test]
    fn rounds_up_to_sticks() {
        assert_eq!([0, 1, 64, 65].map(|elements| stick_bytes(elements, 2)), [0, 128, 128, 256]);
    }
}
