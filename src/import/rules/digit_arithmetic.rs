//! Arithmetic on integers that are represented by digits: sums, differences, comparisons, selects, and sums over a
//! dimension.
//!
//! The 16-bit format is exact up to 1,024, the base of the digits. The sum of two lower digits can be larger, so the
//! device computes `a - (1024 - b)`, in which every operation is exact. The sign of the result is the carry.

use super::{
    body::Combiner,
    digits::{RESULT_BASE, UPPER_WEIGHT, comparison_function, needs_digits, split_constant_digits},
    index::decide_comparison,
    recognize, scan,
};
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor, digit_pair::DigitPair, table_lookup,
};

/// Exclusive bound of the magnitudes of integers with two digits: the format is exact for upper digits up to the base.
const MAGNITUDE_LIMIT: i64 = RESULT_BASE * RESULT_BASE;

/// Maximum number of elements of which a running sum is computed as one matmul.
const MAX_BLOCK_ELEMENTS: i64 = 512;
/// Maximum number of blocks: each takes about ten ops.
const MAX_BLOCKS: i64 = 64;

/// Builds an operation on integers of which some are represented by digits. The result has an element type, or is
/// integers of `width` bits. `exact` builds the operation on the integers themselves, only to determine their ranges;
/// other uses of the result read `refused`. Returns None if digits do not represent the result.
pub(super) fn build_digit_op(
    graph: &mut ValueGraph,
    name: &str,
    inputs: &[NodeId],
    (element, width): (NodeElementType, u32),
    rejected: NodeId,
    exact: impl Fn(&mut ValueGraph, &[NodeId]) -> Option<NodeId>,
) -> Option<NodeId> {
    if let Some(truth) = decide_comparison(graph, name, inputs) {
        return Some(graph.add_constant(
            ConstantTensor::from_numbers(&[f64::from(u8::from(truth))]),
            Vec::new(),
            NodeElementType::Bool,
        ));
    }
    match (name, inputs) {
        ("arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci", &[integer]) => {
            let range = graph.find_digits(integer)?.range;
            let keeps_sign = range[0] >= 0 || matches!(name, "arith.index_cast" | "arith.extsi" | "arith.trunci");
            return (element == NodeElementType::Int && keeps_sign && is_representable(range, width))
                .then_some(integer);
        }
        ("arith.sitofp" | "arith.uitofp", &[integer]) if element == graph.integers.element() => {
            let DigitPair { parts: [upper, lower], range, .. } = graph.find_digits(integer)?;
            if name == "arith.uitofp" && range[0] < 0 {
                return None;
            }
            let base = add_base(graph);
            let scaled = graph.add_pointwise("mul", &[upper, base], element);
            return Some(graph.add_pointwise("add", &[scaled, lower], element));
        }
        _ => {}
    }
    let is_choice = name == "arith.select";
    if let (true, Some(truth)) = (is_choice, graph.as_scalar(inputs[0])) {
        return Some(inputs[if truth == 1.0 { 1 } else { 2 }]);
    }
    let operands = inputs
        .iter()
        .skip(usize::from(is_choice))
        .map(|&input| read_digits(graph, input))
        .collect::<Option<Vec<_>>>()?;
    let &[one, other] = operands.as_slice() else { return None };
    let of_integers = |graph: &mut ValueGraph| {
        let numbers = [one.exact?, other.exact?].map(|exact| graph.add_integers(exact));
        let condition = is_choice.then(|| find_exact_condition(graph, inputs[0]));
        let inputs: Vec<NodeId> = condition.into_iter().chain(numbers).collect();
        exact(graph, &inputs)
    };
    if let Some(predicate) = name.strip_prefix("arith.cmpi ") {
        let truth = compare_digits(graph, predicate, one, other)?;
        if let Some(exact) = of_integers(graph) {
            graph.record_exact_node(truth, exact);
        }
        return Some(truth);
    }
    let found = match name {
        "arith.addi" => add_digit_pairs(graph, one, other)?,
        "arith.subi" => subtract_digit_pairs(graph, one, other)?,
        "arith.muli" => mask_digits(graph, inputs, one, other)?,
        "arith.maxsi" => {
            let is_one = compare_digits(graph, "sge", one, other)?;
            let range = [one.range[0].max(other.range[0]), one.range[1].max(other.range[1])];
            select_digits(graph, is_one, [one, other], range)?
        }
        "arith.minsi" => {
            let is_one = compare_digits(graph, "sle", one, other)?;
            let range = [one.range[0].min(other.range[0]), one.range[1].min(other.range[1])];
            select_digits(graph, is_one, [one, other], range)?
        }
        "arith.select" => {
            let range = [one.range[0].min(other.range[0]), one.range[1].max(other.range[1])];
            select_digits(graph, inputs[0], [one, other], range)?
        }
        _ => return None,
    };
    if element != NodeElementType::Int || !is_representable(found.range, width) {
        return None;
    }
    let exact = of_integers(graph).and_then(|exact| graph.convert_to_numbers(exact).ok());
    Some(graph.add_digits(DigitPair { exact, ..found }, rejected))
}

/// Returns the comparison of the integers themselves for a comparison of their digits. Returns other conditions
/// unchanged.
fn find_exact_condition(graph: &ValueGraph, condition: NodeId) -> NodeId {
    graph.integers.exact_node(graph.device_node(condition)).unwrap_or(condition)
}

/// Returns whether two digits and a type of `width` bits represent all integers of a range.
pub(in crate::import) fn is_representable([first, end]: [i64; 2], width: u32) -> bool {
    let is_in_type = width >= u64::BITS || (first >= -(1 << (width - 1)) && end <= 1 << (width - 1));
    first > -MAGNITUDE_LIMIT && end <= MAGNITUDE_LIMIT && is_in_type
}

#[allow(clippy::cast_precision_loss, reason = "a small number")]
fn add_base(graph: &mut ValueGraph) -> NodeId {
    graph.add_scalar(RESULT_BASE as f64)
}

/// Returns the digits of integers: of a node with digits, of constants, or of exact numbers. Returns None for other
/// nodes.
fn read_digits(graph: &mut ValueGraph, integer: NodeId) -> Option<DigitPair> {
    if let Some(digits) = graph.find_digits(integer) {
        return Some(digits);
    }
    let number = graph.convert_to_numbers(integer).ok()?;
    if let Some(known) = graph.as_constant(number).cloned() {
        let range = known
            .integers()
            .fold([i64::MAX, i64::MIN], |[first, end], number| [first.min(number), end.max(number.saturating_add(1))]);
        let parts = split_constant_digits(graph, number).filter(|_| is_representable(range, u64::BITS))?;
        return Some(DigitPair { parts, range, exact: Some(number) });
    }
    if !graph.integers.contains(number) {
        return None;
    }
    // The magnitude of an exact number is at most the base: an integer below 0 has the upper digit -1.
    let element = graph.integers.element();
    let (zero, one, base) = (graph.add_scalar(0.0), graph.add_scalar(1.0), add_base(graph));
    let is_negative = graph.add_pointwise("lesserthan", &[number, zero], NodeElementType::Bool);
    let raised = graph.add_pointwise("add", &[number, base], element);
    let raised = graph.add_pointwise("where3", &[is_negative, raised, number], element);
    let of_raised = split_digits(graph, raised);
    let below = graph.add_pointwise("where3", &[is_negative, one, zero], element);
    let upper = graph.add_pointwise("sub", &[of_raised[0], below], element);
    Some(DigitPair { parts: [upper, of_raised[1]], range: [-RESULT_BASE, RESULT_BASE + 1], exact: Some(number) })
}

/// Returns the digits of numbers from 0 to the base.
fn split_digits(graph: &mut ValueGraph, number: NodeId) -> [NodeId; 2] {
    let element = graph.integers.element();
    let (zero, one, base) = (graph.add_scalar(0.0), graph.add_scalar(1.0), add_base(graph));
    let is_whole = graph.add_pointwise("greaterequal", &[number, base], NodeElementType::Bool);
    let upper = graph.add_pointwise("where3", &[is_whole, one, zero], element);
    [upper, graph.add_pointwise("where3", &[is_whole, zero, number], element)]
}

/// Subtracts digits; constants are folded.
fn subtract_digit(graph: &mut ValueGraph, one: NodeId, other: NodeId) -> Option<NodeId> {
    let element = graph.integers.element();
    let (Some(known), Some(subtracted)) = (graph.as_constant(one), graph.as_constant(other)) else {
        return recognize::sub(graph, &[one, other], element).ok();
    };
    let (shape, of_known, of_subtracted) =
        (graph.compute_broadcast_shape(&[one, other]), &graph.node(one).shape, &graph.node(other).shape);
    let difference =
        ConstantTensor::map_elementwise(&[(known, of_known), (subtracted, of_subtracted)], &shape, |numbers| {
            numbers[0] - numbers[1]
        });
    Some(graph.add_constant(difference, shape, element))
}

/// Adds digits with a carry.
fn add_with_carry(
    graph: &mut ValueGraph,
    [upper, lower]: [NodeId; 2],
    [other_upper, other_lower]: [NodeId; 2],
) -> Option<[NodeId; 2]> {
    let element = graph.integers.element();
    let base = add_base(graph);
    let missing = subtract_digit(graph, base, other_lower)?;
    let rest = subtract_digit(graph, lower, missing)?;
    let upper = recognize::add(graph, &[upper, other_upper], element).ok()?;
    Some(propagate_carry(graph, upper, rest, [1.0, 0.0]))
}

/// Returns digits whose lower digit is `rest`, or `rest` plus the base if it is negative. Adds `carry` to the upper
/// digit if `rest` is at least 0, else `borrow`.
fn propagate_carry(graph: &mut ValueGraph, upper: NodeId, rest: NodeId, [carry, borrow]: [f64; 2]) -> [NodeId; 2] {
    let element = graph.integers.element();
    let (zero, base) = (graph.add_scalar(0.0), add_base(graph));
    let [carry, borrow] = [carry, borrow].map(|number| graph.add_scalar(number));
    let is_carried = graph.add_pointwise("greaterequal", &[rest, zero], NodeElementType::Bool);
    let raised = graph.add_pointwise("add", &[rest, base], element);
    let lower = graph.add_pointwise("where3", &[is_carried, rest, raised], element);
    let carry = graph.add_pointwise("where3", &[is_carried, carry, borrow], element);
    [graph.add_pointwise("add", &[upper, carry], element), lower]
}

fn add_digit_pairs(graph: &mut ValueGraph, one: DigitPair, other: DigitPair) -> Option<DigitPair> {
    let range = [one.range[0] + other.range[0], one.range[1] + other.range[1] - 1];
    Some(DigitPair { parts: add_with_carry(graph, one.parts, other.parts)?, range, exact: None })
}

fn subtract_digit_pairs(graph: &mut ValueGraph, one: DigitPair, other: DigitPair) -> Option<DigitPair> {
    let [upper, lower] = [0, 1].map(|digit| subtract_digit(graph, one.parts[digit], other.parts[digit]));
    let range = [one.range[0] - other.range[1] + 1, one.range[1] - other.range[0]];
    Some(DigitPair { parts: propagate_carry(graph, upper?, lower?, [0.0, -1.0]), range, exact: None })
}

/// Multiplies digits by numbers that are 0 or 1. The product of a lower digit must be exact, which bounds the numbers,
/// since the digit may be 1,023.
fn mask_digits(graph: &mut ValueGraph, inputs: &[NodeId], one: DigitPair, other: DigitPair) -> Option<DigitPair> {
    let is_number = |graph: &ValueGraph, id: NodeId| graph.find_digits(id).is_none() && graph.as_constant(id).is_none();
    let (digits, factor) = match *inputs {
        [_, factor] if is_number(graph, factor) => (one, factor),
        [factor, _] if is_number(graph, factor) => (other, factor),
        _ => return None,
    };
    let element = graph.integers.element();
    let factor = graph.convert_to_numbers(factor).ok()?;
    graph.record_unsigned(factor);
    let [upper, lower] = digits.parts.map(|digit| graph.add_pointwise("mul", &[digit, factor], element));
    let all = graph.add_constant(ConstantTensor::iota(0, RESULT_BASE), vec![RESULT_BASE], element);
    graph.record_superset(digits.parts[1], all);
    graph.record_integers(lower);
    let range = [digits.range[0].min(0), digits.range[1].max(1)];
    Some(DigitPair { parts: [upper, lower], range, exact: None })
}

/// Builds a comparison. The difference of the upper digits times twice the base, plus that of the lower digits, has the
/// sign of the integers' difference, however it is rounded. Returns None for an unsigned comparison of integers that
/// may be negative.
fn compare_digits(graph: &mut ValueGraph, predicate: &str, one: DigitPair, other: DigitPair) -> Option<NodeId> {
    if predicate.starts_with('u') && (one.range[0] < 0 || other.range[0] < 0) {
        return None;
    }
    let element = graph.integers.element();
    let [upper, lower] = [0, 1].map(|digit| subtract_digit(graph, one.parts[digit], other.parts[digit]));
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let (zero, weight) = (graph.add_scalar(0.0), graph.add_scalar(UPPER_WEIGHT as f64));
    let scaled = graph.add_pointwise("mul", &[upper?, weight], element);
    let difference = graph.add_pointwise("add", &[scaled, lower?], element);
    Some(graph.add_pointwise(comparison_function(predicate), &[difference, zero], NodeElementType::Bool))
}

fn select_digits(
    graph: &mut ValueGraph,
    condition: NodeId,
    [yes, no]: [DigitPair; 2],
    range: [i64; 2],
) -> Option<DigitPair> {
    let element = graph.integers.element();
    let parts =
        [0, 1].map(|digit| graph.apply("arith.select", &[condition, yes.parts[digit], no.parts[digit]], element).ok());
    let [Some(upper), Some(lower)] = parts else { return None };
    Some(DigitPair { parts: [upper, lower], range, exact: None })
}

/// Division of a dimension into blocks whose sums are exact.
struct SumBlocks {
    /// Elements per block.
    size: i64,
    /// Exclusive upper bound of the sums over all blocks.
    end: i64,
}

/// Returns the number of blocks of a dimension.
const fn count_blocks(size: i64, block: i64) -> i64 {
    (size + block - 1) / block
}

/// Returns the blocks in which integers are summed along a dimension of `size`. Returns None if the format is exact for
/// the complete sum, or if digits do not represent it.
fn find_blocks(graph: &mut ValueGraph, numbers: NodeId, size: i64) -> Option<SumBlocks> {
    let largest = find_upper_bound(graph, numbers);
    let found = match largest {
        Some(largest) => {
            let block = (RESULT_BASE / largest.max(1)).min(MAX_BLOCK_ELEMENTS);
            SumBlocks {
                size: if block == 0 { return None } else { 1 << block.ilog2() },
                end: size.checked_mul(largest)? + 1,
            }
        }
        // The range of the argument follows from the sums of the blocks, which are exact.
        None => SumBlocks {
            size: MAX_BLOCK_ELEMENTS,
            end: count_blocks(size, MAX_BLOCK_ELEMENTS).checked_mul(RESULT_BASE)? + 1,
        },
    };
    let is_long = largest.is_some() || size > RESULT_BASE;
    let is_possible = is_long && needs_digits(graph, found.end) && count_blocks(size, found.size) <= MAX_BLOCKS;
    is_possible.then_some(found)
}

/// Returns the largest value of integers that are at least 0 for all arguments. Returns None if it is unknown.
fn find_upper_bound(graph: &ValueGraph, id: NodeId) -> Option<i64> {
    if let Some(known) = graph.as_constant(id) {
        return known.integers().all(|number| number >= 0).then(|| known.integers().max()).flatten();
    }
    if let Some((table, _)) = table_lookup::as_lookup(graph, id) {
        return find_upper_bound(graph, table);
    }
    let node = graph.node(id);
    match (&node.kind, node.inputs.as_slice()) {
        _ if node.element == NodeElementType::Bool => Some(1),
        (NodeKind::Reshape | NodeKind::View(_) | NodeKind::Splat, &[input]) => match graph.source_tensor(input) {
            Some(number) => {
                graph.integers.promised_range(number).filter(|range| range[0] >= 0).map(|range| range[1] - 1)
            }
            None => find_upper_bound(graph, input),
        },
        (NodeKind::Virtual(_), inputs) => find_upper_bound(graph, *inputs.last()?),
        (NodeKind::Pointwise("where3", _), &[_, yes, no]) => {
            Some(find_upper_bound(graph, yes)?.max(find_upper_bound(graph, no)?))
        }
        _ => None,
    }
}

/// Returns the digits of the sums of a block. The sums must be exact and at least 0, which bounds the ranges of the
/// arguments.
fn split_block_sum(graph: &mut ValueGraph, sums: NodeId) -> [NodeId; 2] {
    graph.record_integers(sums);
    graph.record_unsigned(sums);
    split_digits(graph, sums)
}

/// Returns the digits of the running sums of integers along a dimension. Returns None if the format is exact for them,
/// or if digits do not represent them. `numbers` are the integers as numbers of shape `shape`.
pub(in crate::import) fn build_running_sums(
    graph: &mut ValueGraph,
    numbers: NodeId,
    shape: &[i64],
    dim: usize,
) -> Option<DigitPair> {
    let blocks = find_blocks(graph, numbers, shape[dim])?;
    let numbers = graph.broadcast(numbers, shape);
    let element = graph.integers.element();
    let mut results = [0; 2].map(|_| graph.add_undefined(shape.to_vec(), element));
    let mut before: Option<[NodeId; 2]> = None;
    for (start, sizes) in blocks.split_dim(shape, dim) {
        let part = graph.slice(numbers, &start, &sizes);
        let sums = scan::build_scan(graph, Combiner::Sum, part, (&sizes, dim), None).ok()?;
        let own = split_block_sum(graph, sums);
        let digits = before.map_or(Some(own), |before| add_with_carry(graph, own, before))?;
        let (mut last, mut one) = (vec![0; shape.len()], sizes.clone());
        (last[dim], one[dim]) = (sizes[dim] - 1, 1);
        before = Some(digits.map(|digit| graph.slice(digit, &last, &one)));
        for (result, digit) in results.iter_mut().zip(digits) {
            *result = graph.insert(digit, *result, start.clone());
        }
    }
    let exact = scan::build_sum_bounds(graph, numbers, shape, dim);
    graph.record_integers(exact);
    Some(DigitPair { parts: results, range: [0, blocks.end], exact: Some(exact) })
}

/// Returns the digits of the sums of integers along a dimension, which remains with size 1. Returns None if the format
/// is exact for them, or if digits do not represent them. `numbers` are the integers as numbers.
pub(in crate::import) fn build_total(graph: &mut ValueGraph, numbers: NodeId, dim: usize) -> Option<DigitPair> {
    let shape = graph.node(numbers).shape.clone();
    let blocks = find_blocks(graph, numbers, shape[dim])?;
    let mut parts: Option<[NodeId; 2]> = None;
    for (start, sizes) in blocks.split_dim(&shape, dim) {
        let part = graph.slice(numbers, &start, &sizes);
        let sum = if sizes[dim] == 1 { part } else { graph.reduce("sum", part, dim) };
        let own = split_block_sum(graph, sum);
        parts = Some(parts.map_or(Some(own), |before| add_with_carry(graph, own, before))?);
    }
    let exact = graph.reduce("sum", numbers, dim);
    graph.record_integers(exact);
    Some(DigitPair { parts: parts?, range: [0, blocks.end], exact: Some(exact) })
}

impl SumBlocks {
    /// Returns the offsets and sizes of the blocks of a tensor along a dimension.
    fn split_dim(&self, shape: &[i64], dim: usize) -> Vec<(Vec<i64>, Vec<i64>)> {
        let step = usize::try_from(self.size).expect("a block has elements");
        let block = |first: i64| {
            let (mut start, mut sizes) = (vec![0; shape.len()], shape.to_vec());
            (start[dim], sizes[dim]) = (first, self.size.min(shape[dim] - first));
            (start, sizes)
        };
        (0..shape[dim]).step_by(step).map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::integers::IntegerFacts;
    use std::collections::BTreeMap;

    const NUMBERS: [i64; 14] = [0, 1, 2, 511, 512, 1023, 1024, 1025, 2047, 2048, 3071, 65_535, 262_144, 500_001];

    /// Rounds to ten significant bits, as the 16-bit format does.
    fn round_to_ten_bits(number: f64) -> f64 {
        if number == 0.0 {
            return number;
        }
        let unit = (number.abs().log2().floor() - 9.0).exp2();
        (number / unit).round_ties_even() * unit
    }

    /// Evaluates a node of elementwise functions for given tensors, rounding each result.
    fn evaluate_node(graph: &ValueGraph, id: NodeId, tensors: &[f64]) -> f64 {
        let node = graph.node(id);
        let of = |position: usize| evaluate_node(graph, node.inputs[position], tensors);
        let truth = |holds: bool| f64::from(u8::from(holds));
        match &node.kind {
            NodeKind::Tensor(number) => tensors[*number],
            NodeKind::Constant(_) => graph.as_scalar(id).unwrap(),
            NodeKind::Reshape | NodeKind::View(_) => of(0),
            NodeKind::Virtual(_) => of(node.inputs.len() - 1),
            NodeKind::Pointwise("where3", _) => of(if of(0) == 1.0 { 1 } else { 2 }),
            NodeKind::Pointwise("add", _) => round_to_ten_bits(of(0) + of(1)),
            NodeKind::Pointwise("sub", _) => round_to_ten_bits(of(0) - of(1)),
            NodeKind::Pointwise("neg", _) => -of(0),
            NodeKind::Pointwise("mul", _) => round_to_ten_bits(of(0) * of(1)),
            NodeKind::Pointwise("equal", _) => truth(of(0) == of(1)),
            NodeKind::Pointwise("notequal", _) => truth(of(0) != of(1)),
            NodeKind::Pointwise("greaterequal", _) => truth(of(0) >= of(1)),
            NodeKind::Pointwise("greaterthan", _) => truth(of(0) > of(1)),
            NodeKind::Pointwise("lesserthan", _) => truth(of(0) < of(1)),
            NodeKind::Pointwise("lesserequal", _) => truth(of(0) <= of(1)),
            other => panic!("{other:?}"),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn to_digits(number: i64) -> [f64; 2] {
        [number.div_euclid(RESULT_BASE), number.rem_euclid(RESULT_BASE)].map(|digit| digit as f64)
    }

    /// Builds a graph with 16-bit integers, and two integers as digits, which are tensors 0 to 3.
    fn build_digit_operands() -> (ValueGraph, DigitPair, DigitPair) {
        let mut graph =
            ValueGraph::with_integers(IntegerFacts::new(NodeElementType::F16, BTreeMap::new()), false, BTreeMap::new());
        let tensors = [0, 1, 2, 3].map(|number| graph.add_tensor(number, vec![1], NodeElementType::F16));
        let of = |upper, lower| DigitPair {
            parts: [upper, lower],
            range: [-MAGNITUDE_LIMIT / 2, MAGNITUDE_LIMIT / 2],
            exact: None,
        };
        let (one, other) = (of(tensors[0], tensors[1]), of(tensors[2], tensors[3]));
        (graph, one, other)
    }

    /// Iterates over all pairs of the numbers and their negatives, with their digits.
    fn iter_number_pairs() -> impl Iterator<Item = (i64, i64, Vec<f64>)> {
        let all = || NUMBERS.into_iter().flat_map(|number| [number, -number]);
        all().flat_map(move |one| all().map(move |other| (one, other, [to_digits(one), to_digits(other)].concat())))
    }

    #[test]
    fn computes_exact_sums_and_differences_in_ten_bits() {
        let (mut graph, one, other) = build_digit_operands();
        let sum = add_digit_pairs(&mut graph, one, other).unwrap();
        let difference = subtract_digit_pairs(&mut graph, one, other).unwrap();
        for (one, other, tensors) in iter_number_pairs() {
            let of = |found: DigitPair| found.parts.map(|digit| evaluate_node(&graph, digit, &tensors));
            assert_eq!(of(sum), to_digits(one + other), "{one} + {other}");
            assert_eq!(of(difference), to_digits(one - other), "{one} - {other}");
        }
    }

    #[test]
    fn compares_digits_like_integers() {
        let (mut graph, one, other) = build_digit_operands();
        let names = ["eq", "ne", "slt", "sle", "sgt", "sge"];
        let nodes = names.map(|name| compare_digits(&mut graph, name, one, other).unwrap());
        assert_eq!(compare_digits(&mut graph, "ult", one, other), None, "an integer below 0 is a large one");
        for (one, other, tensors) in iter_number_pairs() {
            let found = nodes.map(|node| evaluate_node(&graph, node, &tensors) == 1.0);
            let expected = [one == other, one != other, one < other, one <= other, one > other, one >= other];
            assert_eq!(found, expected, "{one} and {other}");
        }
    }

    #[test]
    fn splits_exact_numbers() {
        let mut graph =
            ValueGraph::with_integers(IntegerFacts::new(NodeElementType::F16, BTreeMap::new()), false, BTreeMap::new());
        let tensor = graph.add_tensor(0, vec![1], NodeElementType::Int);
        let found = read_digits(&mut graph, tensor).unwrap();
        for number in -RESULT_BASE..=RESULT_BASE {
            #[allow(clippy::cast_precision_loss, reason = "a small number")]
            let tensors = [number as f64];
            assert_eq!(found.parts.map(|digit| evaluate_node(&graph, digit, &tensors)), to_digits(number), "{number}");
        }
    }

    #[test]
    fn chooses_blocks_with_exact_sums() {
        let mut graph =
            ValueGraph::with_integers(IntegerFacts::new(NodeElementType::F16, BTreeMap::new()), false, BTreeMap::new());
        let mut of = |range: Option<[i64; 2]>, size: i64| {
            let number = graph.add_tensor(0, vec![size], NodeElementType::Int);
            range.into_iter().for_each(|range| graph.integers.record_promised_range(0, range));
            let numbers = graph.convert_to_numbers(number).unwrap();
            find_blocks(&mut graph, numbers, size).map(|blocks| (blocks.size, blocks.end))
        };
        assert_eq!(of(None, 1024), None, "the range of the argument follows from the sum");
        assert_eq!(of(None, 1025), Some((512, 3073)));
        assert_eq!(of(Some([0, 2]), 1024), None);
        assert_eq!(of(Some([0, 2]), 2048), Some((512, 2049)));
        assert_eq!(of(Some([0, 401]), 7), Some((2, 2801)));
        assert_eq!(of(Some([0, 1025]), 9), Some((1, 9217)));
        assert_eq!(of(Some([0, 1026]), 9), None, "one element is not exact");
        assert_eq!(of(Some([-1, 2]), 2048), Some((512, 4097)), "the range is not from 0 on");
        assert_eq!(of(Some([0, 1025]), 65), None, "too many blocks");
    }
}
