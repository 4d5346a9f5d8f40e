//! Integers beyond the exact integers of the 16-bit format, as digits.
//!
//! A format of ten significant bits is exact up to 1,024, but a long cache has more rows. An index is looked up, and so
//! are its digits in base 1,024. The upper digit is multiplied by 2,048, of which every multiple up to 65,536 is exact.
//! The sum of the digit differences has the sign of the difference: lower digits differ by less than 1,024, upper ones
//! by 0 or at least 2,048.

use super::{recognize, rule_helpers::NodeResult};
use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, ValueGraph, constant_tensor::ConstantTensor, table_lookup},
};

/// Base of the digits: the 16-bit format is exact up to this integer.
const DIGIT_BASE: i64 = 1024;
/// Weight of an upper digit.
pub(super) const UPPER_WEIGHT: i64 = 2 * DIGIT_BASE;
/// Exclusive upper bound of integers that two digits represent: up to here, the format represents the weighted upper
/// digits exactly.
pub(in crate::import) const MAX_VALUES: i64 = 32 * DIGIT_BASE;

/// Base of the digits of results, which the host combines to integers: the format is exact up to it.
pub(in crate::import) const RESULT_BASE: i64 = DIGIT_BASE;

/// Returns whether integers below `end` can be returned only as two digits: the device format is exact for their
/// digits, but not for all of them.
pub(in crate::import) fn needs_digits(graph: &mut ValueGraph, end: i64) -> bool {
    let is_coarse = graph.integers.element() != NodeElementType::F32 || !graph.has_single_precision();
    is_coarse && end > DIGIT_BASE + 1 && end <= DIGIT_BASE * DIGIT_BASE
}

/// Returns the upper and the lower digit of constants in base [`RESULT_BASE`].
pub(in crate::import) fn split_constant_digits(graph: &mut ValueGraph, number: NodeId) -> Option<[NodeId; 2]> {
    let (known, shape) = (graph.as_constant(number)?.clone(), graph.node(number).shape.clone());
    let element = graph.integers.element();
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let base = RESULT_BASE as f64;
    let parts: [fn(f64, f64) -> f64; 2] = [|number, base| (number / base).floor(), f64::rem_euclid];
    Some(parts.map(|part| {
        let digit = ConstantTensor::map_elementwise(&[(&known, &shape)], &shape, |number| part(number[0], base));
        graph.add_constant(digit, shape.clone(), element)
    }))
}

/// Returns whether integers below `end` exceed the exact range of the format in which the program's integers are
/// computed.
pub(in crate::import) fn exceeds_exact_range(graph: &ValueGraph, end: i64) -> bool {
    graph.integers.element() != NodeElementType::F32 && end > DIGIT_BASE + 1
}

/// Returns the device function of an integer comparison, by its predicate. The operands of an unsigned comparison are
/// nonnegative.
pub(super) fn comparison_function(predicate: &str) -> &'static str {
    match predicate {
        "eq" => "equal",
        "ne" => "notequal",
        "slt" | "ult" => "lesserthan",
        "sle" | "ule" => "lesserequal",
        "sgt" | "ugt" => "greaterthan",
        _ => "greaterequal",
    }
}

/// Builds a comparison of integers of which some are too large for the format, on their digits. Returns None if all are
/// small, or if an operand depends on more than one index. Records operands that can be an index as such.
pub(in crate::import) fn compare_by_digits(graph: &mut ValueGraph, name: &str, numbers: &[NodeId]) -> Option<NodeId> {
    compare_by_digits_within(graph, name, numbers, None)
}

/// Builds a comparison as [`compare_by_digits`] does. `n_rows` is the number of values that the integers may have. If
/// it is unknown, an argument has the values of its range, or twice as many as the compared integers require.
fn compare_by_digits_within(
    graph: &mut ValueGraph,
    name: &str,
    numbers: &[NodeId],
    n_rows: Option<i64>,
) -> Option<NodeId> {
    let predicate = name.strip_prefix("arith.cmpi ").filter(|predicate| !predicate.starts_with('u'))?;
    let function = comparison_function(predicate);
    let &[one, other] = numbers else { return None };
    let ends: Vec<Option<i64>> = [one, other].map(|number| find_magnitude_end(graph, number)).to_vec();
    let most =
        ends.iter().flatten().copied().max().filter(|&most| exceeds_exact_range(graph, most) && most <= MAX_VALUES)?;
    for (number, _) in [one, other].into_iter().zip(&ends).filter(|(_, end)| end.is_none()) {
        let n_rows = n_rows.unwrap_or_else(|| graph.num_source_values(number, most.saturating_mul(2)).min(MAX_VALUES));
        graph.record_numeric_index(number, n_rows);
    }
    let difference = build_signed_difference(graph, one, other)?;
    let zero = graph.add_scalar(0.0);
    Some(graph.add_pointwise(function, &[difference, zero], NodeElementType::Bool))
}

/// Builds a number with the sign of the difference of two integers, each constant or looked up, with a magnitude below
/// [`MAX_VALUES`].
pub(in crate::import) fn build_signed_difference(graph: &mut ValueGraph, one: NodeId, other: NodeId) -> Option<NodeId> {
    let element = graph.integers.element();
    let ([upper, lower], [other_upper, other_lower]) =
        (split_weighted_digits(graph, one)?, split_weighted_digits(graph, other)?);
    let upper = recognize::sub(graph, &[upper, other_upper], element).ok()?;
    let lower = recognize::sub(graph, &[lower, other_lower], element).ok()?;
    recognize::add(graph, &[upper, lower], element).ok()
}

/// Returns the exclusive upper bound of the magnitudes of a node's integers: constants, or the table of a lookup.
fn find_magnitude_end(graph: &ValueGraph, number: NodeId) -> Option<i64> {
    let table = table_lookup::as_lookup(graph, number).map_or(number, |(table, _)| table);
    let known = graph.as_constant(table)?;
    let is_whole = known.numbers().all(|number| number.fract() == 0.0);
    let most = known.numbers().map(f64::abs).fold(0.0, f64::max);
    #[allow(clippy::cast_possible_truncation, reason = "a far larger number is above every limit")]
    is_whole.then_some((most as i64).saturating_add(1))
}

/// Returns the upper digit, multiplied by its weight, and the lower digit.
fn split_weighted_digits(graph: &mut ValueGraph, number: NodeId) -> Option<[NodeId; 2]> {
    find_magnitude_end(graph, number).filter(|&end| end <= MAX_VALUES)?;
    let element = graph.integers.element();
    #[allow(clippy::cast_precision_loss, reason = "both are small")]
    let (base, step) = (DIGIT_BASE as f64, UPPER_WEIGHT as f64);
    let parts: [fn(f64, f64, f64) -> f64; 2] =
        [|number, base, step| (number / base).floor() * step, |number, base, _| number.rem_euclid(base)];
    let mut found = Vec::new();
    for part in parts {
        let of_known = |graph: &mut ValueGraph, node: NodeId| {
            let shape = graph.node(node).shape.clone();
            let known = ConstantTensor::map_elementwise(&[(graph.as_constant(node)?, &shape)], &shape, |number| {
                part(number[0], base, step)
            });
            Some(graph.add_constant(known, shape, element))
        };
        let digit = match graph.as_constant(number) {
            Some(_) => of_known(graph, number),
            None => table_lookup::apply_to_tables(graph, &[number], element, |graph, tables| {
                of_known(graph, tables[0]).ok_or_else(|| "has a table that is not known".to_owned())
            }),
        };
        found.push(digit?);
    }
    found.try_into().ok()
}

/// Builds a comparison of positions with the row numbers `counted` of a dimension of `size`.
///
/// # Errors
/// Returns an error if the positions are not indices, and the format is not exact for all row numbers.
pub(in crate::import) fn build_row_test(
    graph: &mut ValueGraph,
    counted: NodeId,
    place: NodeId,
    size: i64,
) -> NodeResult {
    if !exceeds_exact_range(graph, size) {
        return Ok(graph.add_pointwise("equal", &[counted, place], NodeElementType::Bool));
    }
    if let Some(found) = compare_by_digits_within(graph, "arith.cmpi eq", &[counted, place], Some(size)) {
        return Ok(found);
    }
    graph.require_table(place);
    Err(codes::INDEX_COMPUTED.format(format_args!(
        "requires indices above {DIGIT_BASE} to be arguments, found computed indices; pass them as arguments"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{NodeKind, integers::IntegerFacts};
    use std::collections::BTreeMap;

    /// Builds a graph in which tensor 0 is an index of `n_rows` values, and the numeric form of the index.
    fn build_index_graph(n_rows: i64, element: NodeElementType) -> (ValueGraph, NodeId) {
        let mut graph = ValueGraph::with_integers(
            IntegerFacts::new(element, BTreeMap::from([(0, n_rows)])),
            false,
            BTreeMap::new(),
        );
        let index = graph.add_tensor(0, vec![1], NodeElementType::Int);
        let numbers = graph.convert_to_numbers(index).unwrap();
        (graph, numbers)
    }

    #[test]
    fn splits_constants_into_two_digits() {
        let mut graph =
            ValueGraph::with_integers(IntegerFacts::new(NodeElementType::F16, BTreeMap::new()), false, BTreeMap::new());
        let places = graph.add_constant(ConstantTensor::iota(0, 3000), vec![3000], NodeElementType::F16);
        let [upper, lower] =
            split_constant_digits(&mut graph, places).unwrap().map(|digit| graph.as_constant(digit).unwrap().clone());
        let found: Vec<f64> =
            upper.numbers().zip(lower.numbers()).map(|(upper, lower)| upper.mul_add(1024.0, lower)).collect();
        assert!(found.into_iter().eq((0..3000).map(f64::from)));
        assert!(lower.numbers().all(|digit| digit < 1024.0));
        assert_eq!(
            [1025, 1026, 1 << 20, (1 << 20) + 1].map(|end| needs_digits(&mut graph, end)),
            [false, true, true, false]
        );
    }

    #[test]
    fn preserves_sign_of_difference() {
        let digits = |number: i64| [number.div_euclid(DIGIT_BASE) * UPPER_WEIGHT, number.rem_euclid(DIGIT_BASE)];
        for one in (-MAX_VALUES..MAX_VALUES).step_by(511).chain([1023, 1024, 1025, 2047, 2048, MAX_VALUES - 1]) {
            for other in (-MAX_VALUES..MAX_VALUES).step_by(257).chain([0, 1, 1023, 1024, 1025, 2048, MAX_VALUES - 1]) {
                let ([upper, lower], [other_upper, other_lower]) = (digits(one), digits(other));
                assert_eq!(
                    (upper - other_upper + (lower - other_lower)).signum(),
                    (one - other).signum(),
                    "{one} and {other}"
                );
            }
        }
    }

    #[test]
    fn leaves_exact_comparisons_alone() {
        let (mut graph, index) = build_index_graph(1000, NodeElementType::F16);
        let counted = graph.add_constant(ConstantTensor::iota(0, 1000), vec![1000], NodeElementType::Int);
        assert_eq!(compare_by_digits(&mut graph, "arith.cmpi sle", &[counted, index]), None);
        let (mut graph, index) = build_index_graph(4096, NodeElementType::F32);
        let counted = graph.add_constant(ConstantTensor::iota(0, 4096), vec![4096], NodeElementType::Int);
        assert_eq!(compare_by_digits(&mut graph, "arith.cmpi sle", &[counted, index]), None);
    }

    #[test]
    fn compares_large_integers_by_difference() {
        let (mut graph, index) = build_index_graph(4096, NodeElementType::F16);
        let counted = graph.add_constant(ConstantTensor::iota(0, 4096), vec![4096], NodeElementType::Int);
        let found = compare_by_digits(&mut graph, "arith.cmpi sle", &[counted, index]).unwrap();
        assert!(matches!(graph.node(found).kind, NodeKind::Pointwise("lesserequal", _)));
        assert_eq!(compare_by_digits(&mut graph, "arith.addi", &[counted, index]), None, "no comparison");
        let negative = graph.add_constant(ConstantTensor::iota(-3000, 4096), vec![4096], NodeElementType::Int);
        assert!(
            compare_by_digits(&mut graph, "arith.cmpi sle", &[negative, index]).is_some(),
            "a window begins before the first row"
        );
        let far =
            graph.add_constant(ConstantTensor::iota(0, MAX_VALUES + 1), vec![MAX_VALUES + 1], NodeElementType::Int);
        assert_eq!(compare_by_digits(&mut graph, "arith.cmpi sle", &[far, index]), None);
    }
}
