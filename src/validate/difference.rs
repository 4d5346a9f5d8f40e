//! First difference between two executions of a program.

use crate::interpret::EvalArray;
use element::{Arithmetic, FieldElement, FiniteField};
use std::fmt;

/// Element in which two executions differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementDifference {
    /// Number of the draw.
    pub draw: u64,
    /// Position of the result.
    pub result: usize,
    /// Indices of the element.
    pub index: Vec<usize>,
    /// Number of elements of the result that differ.
    pub count: usize,
    /// Number of elements of the result.
    pub length: usize,
    /// Whether only samples of the elements were compared.
    pub is_sampled: bool,
    /// Whether the element depends on unwritten data.
    pub is_unwritten: bool,
}

impl fmt::Display for ElementDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draw, result, index, count, length, is_sampled, is_unwritten } = self;
        let elements = if *is_sampled { "sampled elements" } else { "elements" };
        let what = if *is_unwritten { "depends on unwritten memory" } else { "differs" };
        write!(formatter, "element {index:?} of result {result} {what} ({count} of {length} {elements} in draw {draw})")
    }
}

/// Returns the first result in which two executions differ. Unwritten elements never compare equal.
#[must_use]
pub fn find_difference(
    expected: &[EvalArray<FieldElement>],
    found: &[EvalArray<FieldElement>],
    shapes: &[&[usize]],
    draw: u64,
) -> Option<ElementDifference> {
    let field = FiniteField::new(draw);
    expected.iter().zip(found).zip(shapes).enumerate().find_map(|(result, ((expected, found), shape))| {
        let verdicts = compare_elements(expected, found, &field);
        let first = verdicts.iter().position(|verdict| *verdict != ElementVerdict::Same)?;
        Some(ElementDifference {
            draw,
            result,
            index: unflatten_index(first, shape),
            count: verdicts.iter().filter(|verdict| **verdict != ElementVerdict::Same).count(),
            length: verdicts.len(),
            is_sampled: false,
            is_unwritten: verdicts[first] == ElementVerdict::Unwritten,
        })
    })
}

/// Returns the number of undefined result elements.
pub(super) fn count_undefined(results: &[EvalArray<FieldElement>]) -> u64 {
    let of = |result: &EvalArray<FieldElement>| match result {
        EvalArray::Numbers(elements) => elements.iter().filter(|element| element.is_undefined()).count() as u64,
        EvalArray::Positions(_) => 0,
    };
    results.iter().map(of).sum()
}

#[derive(Clone, Copy, PartialEq)]
enum ElementVerdict {
    Same,
    Differs,
    Unwritten,
}

fn compare_elements(
    expected: &EvalArray<FieldElement>,
    found: &EvalArray<FieldElement>,
    field: &FiniteField,
) -> Vec<ElementVerdict> {
    match (expected, found) {
        (EvalArray::Numbers(expected), EvalArray::Numbers(found)) if expected.len() == found.len() => {
            let both = expected.iter().zip(found.iter());
            both.map(|(expected, found)| classify(field.is_poison(*found), expected.agrees_with(*found))).collect()
        }
        (EvalArray::Positions(expected), EvalArray::Positions(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found.iter())
            .map(|(expected, found)| classify(found.is_none(), expected == found))
            .collect(),
        // Integers that the device holds in a floating-point format.
        (EvalArray::Positions(expected), EvalArray::Numbers(found)) if expected.len() == found.len() => {
            let both = expected.iter().zip(found.iter());
            both.map(|(expected, found)| classify(field.is_poison(*found), is_position(*expected, *found, field)))
                .collect()
        }
        // Integers that were held in such a format before a later phase found that they are only moved.
        (EvalArray::Numbers(expected), EvalArray::Positions(found)) if expected.len() == found.len() => {
            let both = expected.iter().zip(found.iter());
            both.map(|(expected, found)| classify(found.is_none(), is_position(*found, *expected, field))).collect()
        }
        _ => vec![ElementVerdict::Differs],
    }
}

/// Returns whether an element is a position as a number.
#[expect(clippy::cast_precision_loss, reason = "such integers keep to a range in which the format is exact")]
fn is_position(position: Option<i64>, number: FieldElement, field: &FiniteField) -> bool {
    position.is_some_and(|position| field.constant(position as f64).agrees_with(number))
}

const fn classify(is_unwritten: bool, agrees: bool) -> ElementVerdict {
    match (is_unwritten, agrees) {
        (true, _) => ElementVerdict::Unwritten,
        (_, true) => ElementVerdict::Same,
        _ => ElementVerdict::Differs,
    }
}

fn unflatten_index(flat: usize, shape: &[usize]) -> Vec<usize> {
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
    fn compares_integers_as_positions_and_as_numbers() {
        let field = FiniteField::new(0);
        let positions = EvalArray::positions([3, -7]);
        let numbers = |values: [f64; 2]| EvalArray::numbers(values.map(|value| field.constant(value)).to_vec());
        for [one, other] in [[&positions, &numbers([3.0, -7.0])], [&numbers([3.0, -7.0]), &positions]] {
            let verdicts = compare_elements(one, other, &field);
            assert!(verdicts.iter().all(|verdict| *verdict == ElementVerdict::Same));
        }
        for [one, other] in [[&positions, &numbers([3.0, 7.0])], [&numbers([3.0, 7.0]), &positions]] {
            let verdicts = compare_elements(one, other, &field);
            assert!(verdicts == [ElementVerdict::Same, ElementVerdict::Differs]);
        }
    }

    #[test]
    fn names_first_different_element_and_counts_all() {
        let field = FiniteField::new(0);
        let elements =
            |numbers: [f64; 6]| vec![EvalArray::numbers(numbers.map(|number| field.constant(number)).to_vec())];
        let expected = elements([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let of = |found: &[EvalArray<FieldElement>]| find_difference(&expected, found, &[&[2, 3]], 7);
        assert_eq!(of(&expected), None);
        let found = of(&elements([1.0, 2.0, 3.0, 4.0, 0.0, 0.0])).unwrap();
        assert_eq!(found.to_string(), "element [1, 1] of result 0 differs (2 of 6 elements in draw 7)");
    }

    #[test]
    fn compares_integers_with_device_numbers() {
        let field = FiniteField::new(0);
        let found = |numbers: [f64; 2]| [EvalArray::numbers(numbers.map(|number| field.constant(number)).to_vec())];
        let expected = [EvalArray::positions([-3, 200])];
        assert_eq!(find_difference(&expected, &found([-3.0, 200.0]), &[&[2]], 0), None);
        assert!(find_difference(&expected, &found([-3.0, 199.0]), &[&[2]], 0).is_some_and(|found| found.index == [1]));
    }

    #[test]
    fn treats_unwritten_elements_as_different() {
        let field = FiniteField::new(0);
        let poison = vec![EvalArray::numbers(vec![field.poison()])];
        assert!(find_difference(&poison, &poison, &[&[1]], 0).is_some_and(|found| found.is_unwritten));
        let unwritten = vec![EvalArray::<FieldElement>::Positions(std::sync::Arc::new(vec![None]))];
        assert!(find_difference(&unwritten, &unwritten, &[&[1]], 0).is_some_and(|found| found.is_unwritten));
    }
}
