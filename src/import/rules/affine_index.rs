//! Constant indices as affine expressions of iteration dimensions: exporters compute positions from tables.

use crate::import::graph::{NodeId, ValueGraph};
use program::affine::AffineExpression;
use std::collections::BTreeMap;

/// Returns the numbers of a table of shape `shape` as an expression of its dimensions: a constant and, for each
/// dimension, digits of it with a factor. Returns None for numbers in another order, and if a digit has a negative
/// factor.
pub(in crate::import) fn find_affine_index(numbers: &[i64], shape: &[i64]) -> Option<AffineExpression> {
    let &first = numbers.first()?;
    let mut stride = numbers.len();
    let mut terms = Vec::new();
    for (dim, &size) in shape.iter().enumerate() {
        let size = usize::try_from(size).ok()?;
        stride = stride.checked_div(size)?;
        let along: Vec<i64> = (0..size).map(|index| numbers[index * stride] - first).collect();
        terms.extend(find_dim_digits(&along, dim)?);
    }
    let constant = (first != 0 || terms.is_empty()).then_some(AffineExpression::Constant(first));
    let sum = terms.into_iter().chain(constant).reduce(AffineExpression::plus)?;
    let mut point = vec![0; shape.len()];
    let is_right = numbers.iter().all(|&number| {
        let is_right = sum.evaluate(&point) == number;
        for (index, &size) in point.iter_mut().zip(shape).rev() {
            *index = (*index + 1) % size;
            if *index > 0 {
                break;
            }
        }
        is_right
    });
    is_right.then_some(sum)
}

/// Returns numbers along dimension `dim`, from 0 on, as a digit of the dimension with a factor. Each number repeats for
/// a run of positions, and the numbers restart after a period. Returns `Some(None)` if all are 0.
fn find_dim_digits(along: &[i64], dim: usize) -> Option<Option<AffineExpression>> {
    let Some(run) = along.iter().position(|&number| number != 0) else { return Some(None) };
    let step = along[run];
    if step < 0 {
        return None;
    }
    let again = (2 * run..along.len()).step_by(run).find(|&position| along[position] == 0);
    let number = |number: usize| Some(Box::new(AffineExpression::Constant(i64::try_from(number).ok()?)));
    let mut digit = AffineExpression::Dim(dim);
    if run > 1 {
        digit = AffineExpression::FloorDiv(Box::new(digit), number(run)?);
    }
    if let Some(again) = again {
        digit = AffineExpression::Mod(Box::new(digit), number(again / run)?);
    }
    Some(Some(digit.times(step)))
}

/// Returns whether constants over an iteration space never decrease along its reduced dimensions, in iteration order.
/// The smallest of several is then the first of them, and the largest the last.
pub(in crate::import) fn is_nondecreasing(
    graph: &ValueGraph,
    index: NodeId,
    sizes: &[i64],
    is_reduction: &[bool],
) -> bool {
    let Some(known) = graph.as_constant(index) else { return false };
    let shape = &graph.node(index).shape;
    if known.splat_value().is_some() {
        return true;
    }
    let walked: Vec<usize> = (0..sizes.len()).filter(|&dim| is_reduction[dim] && sizes[dim] > 1).collect();
    let moves = |dim: usize| shape.get(dim).is_some_and(|&size| size > 1);
    // If an outer dimension changes nothing, the numbers restart.
    if walked.iter().skip_while(|&&dim| moves(dim)).any(|&dim| moves(dim)) {
        return false;
    }
    let numbers: Vec<f64> = known.numbers().collect();
    let mut before: BTreeMap<usize, f64> = BTreeMap::new();
    numbers.iter().enumerate().all(|(place, &number)| {
        // Position among the dimensions that are not reduced.
        let (mut rest, mut kept, mut scale) = (place, 0, 1);
        for (dim, &size) in shape.iter().enumerate().rev() {
            let size = usize::try_from(size).unwrap_or(1);
            if !is_reduction[dim] {
                kept += rest % size * scale;
                scale *= size;
            }
            rest /= size;
        }
        before.insert(kept, number).is_none_or(|before| before <= number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_table(shape: &[i64], of: impl Fn(&[i64]) -> i64) -> Vec<i64> {
        let mut points = vec![Vec::new()];
        for &size in shape {
            points = points
                .iter()
                .flat_map(|point: &Vec<i64>| (0..size).map(move |index| [point.as_slice(), &[index]].concat()))
                .collect();
        }
        points.iter().map(|point| of(point)).collect()
    }

    fn has_affine_index(shape: &[i64], of: impl Fn(&[i64]) -> i64) -> bool {
        let numbers = fill_table(shape, of);
        find_affine_index(&numbers, shape)
            .is_some_and(|expr| fill_table(shape, |point| expr.evaluate(point)) == numbers)
    }

    #[test]
    fn detects_nondecreasing_reduced_dims() {
        use crate::import::graph::{NodeElementType, constant_tensor::ConstantTensor};
        let grows = |shape: &[i64], sizes: &[i64], is_reduction: &[bool], of: fn(&[i64]) -> i64| {
            let mut graph = ValueGraph::default();
            let numbers: Vec<f64> =
                fill_table(shape, of).into_iter().map(|number| f64::from(i32::try_from(number).unwrap())).collect();
            let index =
                graph.add_constant(ConstantTensor::from_numbers(&numbers), shape.to_vec(), NodeElementType::Int);
            is_nondecreasing(&graph, index, sizes, is_reduction)
        };
        assert!(grows(&[1, 9], &[3, 9], &[false, true], |point| point[1]));
        assert!(!grows(&[1, 9], &[3, 9], &[false, true], |point| 8 - point[1]));
        assert!(grows(&[3, 9], &[3, 9], &[false, true], |point| point[1] - 4 * point[0]), "each row for itself");
        assert!(!grows(&[3, 9], &[3, 9], &[true, true], |point| point[1]), "again and again");
        assert!(!grows(&[1, 9], &[3, 9], &[true, true], |point| point[1]), "again and again, under one row of numbers");
        assert!(grows(&[3, 1], &[3, 9], &[true, true], |point| point[0]), "of equal ones any is the first");
        assert!(grows(&[3, 9], &[3, 9], &[true, true], |point| 9 * point[0] + point[1]));
        let mut graph = ValueGraph::default();
        let given = graph.add_tensor(0, vec![9], NodeElementType::Int);
        assert!(!is_nondecreasing(&graph, given, &[9], &[true]));
    }

    #[test]
    fn finds_groups_repeats_and_steps() {
        assert!(has_affine_index(&[2, 32], |point| point[1] / 8), "groups of 8");
        assert!(has_affine_index(&[2, 32], |point| point[1] % 8), "within a group");
        assert!(has_affine_index(&[12], |point| point[0] / 2 % 3 * 5 + 7));
        assert!(has_affine_index(&[3, 4], |point| 2 * point[0] + point[1]), "windows");
        assert!(has_affine_index(&[1, 7], |point| point[1] / 3), "a last run that is shorter");
        assert!(has_affine_index(&[5], |_| 4));
    }

    #[test]
    fn rejects_other_orders() {
        assert!(!has_affine_index(&[4], |point| 3 - point[0]));
        assert!(!has_affine_index(&[4], |point| [0, 1, 3, 4][usize::try_from(point[0]).unwrap()]));
        assert!(!has_affine_index(&[3, 3], |point| point[0] * point[1]), "a product");
    }

    #[test]
    fn finds_scaled_dim_plus_constant() {
        let expr = AffineExpression::Add(
            Box::new(AffineExpression::Mul(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(2)),
            )),
            Box::new(AffineExpression::Constant(3)),
        );
        assert_eq!(find_affine_index(&[3, 5, 7], &[3]), Some(expr));
        assert_eq!(find_affine_index(&[0, 1, 2], &[3]), Some(AffineExpression::Dim(0)));
    }
}
