//! First difference between two executions of a program.

use crate::interpret::Array;
use element::{Arithmetic, Field, FieldElement};
use std::fmt;

/// Element in which two executions differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the draw.
    pub draw: u64,
    /// The position of the result.
    pub result: usize,
    /// The element's indices.
    pub index: Vec<usize>,
    /// Number of elements of the result that differ.
    pub count: usize,
    /// Number of elements of the result.
    pub length: usize,
    /// Whether only samples of the elements were compared.
    pub is_sampled: bool,
    /// Whether it depends on unwritten data.
    pub is_unwritten: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draw, result, index, count, length, is_sampled, is_unwritten } = self;
        let elements = if *is_sampled { "sampled elements" } else { "elements" };
        let what = if *is_unwritten { "depends on unwritten memory" } else { "differs" };
        write!(formatter, "element {index:?} of result {result} {what} ({count} of {length} {elements} in draw {draw})")
    }
}

/// Returns the first result in which two executions differ. Unwritten elements never compare equal.
#[must_use]
pub fn difference(expected: &[Array<FieldElement>], found: &[Array<FieldElement>], shapes: &[&[usize]], draw: u64) -> Option<Difference> {
    let field = Field::new(draw);
    expected.iter().zip(found).zip(shapes).enumerate().find_map(|(result, ((expected, found), shape))| {
        let verdicts = verdicts(expected, found, &field);
        let first = verdicts.iter().position(|verdict| *verdict != Verdict::Same)?;
        Some(Difference {
            draw,
            result,
            index: indices(first, shape),
            count: verdicts.iter().filter(|verdict| **verdict != Verdict::Same).count(),
            length: verdicts.len(),
            is_sampled: false,
            is_unwritten: verdicts[first] == Verdict::Unwritten,
        })
    })
}

/// Returns the number of undefined result elements.
pub(super) fn undefined(results: &[Array<FieldElement>]) -> u64 {
    let of = |result: &Array<FieldElement>| match result {
        Array::Numbers(elements) => elements.iter().filter(|element| element.is_undefined()).count() as u64,
        Array::Positions(_) => 0,
    };
    results.iter().map(of).sum()
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Same,
    Differs,
    Unwritten,
}

fn verdicts(expected: &Array<FieldElement>, found: &Array<FieldElement>, field: &Field) -> Vec<Verdict> {
    match (expected, found) {
        (Array::Numbers(expected), Array::Numbers(found)) if expected.len() == found.len() => {
            let both = expected.iter().zip(found.iter());
            both.map(|(expected, found)| of(field.is_poison(*found), expected.agrees(*found))).collect()
        }
        (Array::Positions(expected), Array::Positions(found)) if expected.len() == found.len() => {
            expected.iter().zip(found.iter()).map(|(expected, found)| of(found.is_none(), expected == found)).collect()
        }
        // Integers that the device holds in a floating-point format.
        (Array::Positions(expected), Array::Numbers(found)) if expected.len() == found.len() => {
            #[expect(clippy::cast_precision_loss, reason = "such integers keep to a range in which the format is exact")]
            let number = |position: i64| field.number(position as f64);
            let both = expected.iter().zip(found.iter());
            both.map(|(expected, found)| of(field.is_poison(*found), expected.is_some_and(|at| number(at).agrees(*found)))).collect()
        }
        _ => vec![Verdict::Differs],
    }
}

const fn of(is_unwritten: bool, agrees: bool) -> Verdict {
    match (is_unwritten, agrees) {
        (true, _) => Verdict::Unwritten,
        (_, true) => Verdict::Same,
        _ => Verdict::Differs,
    }
}

fn indices(flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = flat;
    let mut indices = vec![0; shape.len()];
    for (index, size) in indices.iter_mut().zip(shape).rev() {
        *index = rest % size.max(&1);
        rest /= size.max(&1);
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_named_and_all_are_counted() {
        let field = Field::new(0);
        let elements = |numbers: [f64; 6]| vec![Array::numbers(numbers.map(|number| field.number(number)).to_vec())];
        let expected = elements([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let of = |found: &[Array<FieldElement>]| difference(&expected, found, &[&[2, 3]], 7);
        assert_eq!(of(&expected), None);
        let found = of(&elements([1.0, 2.0, 3.0, 4.0, 0.0, 0.0])).unwrap();
        assert_eq!(found.to_string(), "element [1, 1] of result 0 differs (2 of 6 elements in draw 7)");
    }

    #[test]
    fn integers_are_compared_with_numbers_of_the_device() {
        let field = Field::new(0);
        let found = |numbers: [f64; 2]| [Array::numbers(numbers.map(|number| field.number(number)).to_vec())];
        let expected = [Array::positions([-3, 200])];
        assert_eq!(difference(&expected, &found([-3.0, 200.0]), &[&[2]], 0), None);
        assert!(difference(&expected, &found([-3.0, 199.0]), &[&[2]], 0).is_some_and(|found| found.index == [1]));
    }

    #[test]
    fn what_nothing_has_written_agrees_with_nothing() {
        let field = Field::new(0);
        let poison = vec![Array::numbers(vec![field.poison()])];
        assert!(difference(&poison, &poison, &[&[1]], 0).is_some_and(|found| found.is_unwritten));
        let unwritten = vec![Array::<FieldElement>::Positions(std::sync::Arc::new(vec![None]))];
        assert!(difference(&unwritten, &unwritten, &[&[1]], 0).is_some_and(|found| found.is_unwritten));
    }
}
