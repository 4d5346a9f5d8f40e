//! Arithmetic on integers that are known by their digits: sums, differences, comparisons, choices, and sums over a dimension.
//!
//! A number of the 16-bit format is exact up to 1,024, the base of the digits. The sum of two lower digits can be larger, so the device
//! computes `a - (1024 - b)`, of which every step is exact, and its sign is the carry.

use super::{
    body::Combiner,
    digits::{RESULT_BASE, UPPER_STEP, are_needed, comparison, known_digits},
    index::decided,
    recognize, scan,
};
use crate::import::graph::{Element, Graph, Kind, NodeId, digits::Digits, known::Known, rows};

/// Exclusive bound of the magnitudes of integers with two digits: the format is exact for upper digits up to the base.
const LIMIT: i64 = RESULT_BASE * RESULT_BASE;

/// Elements of which a running sum is computed as one product.
const MAX_BLOCK: i64 = 512;
/// Maximum number of blocks: each takes about ten ops.
const MAX_BLOCKS: i64 = 64;

/// Builds an operation on integers of which some are known by their digits, with a result of an element type or of integers of `width` bits.
/// `exact` builds the operation on the integers themselves, for their ranges alone; other uses of the result read `refused`. Returns None if
/// digits do not represent the result.
pub(super) fn computed(
    graph: &mut Graph,
    name: &str,
    inputs: &[NodeId],
    (element, width): (Element, u32),
    refused: NodeId,
    exact: impl Fn(&mut Graph, &[NodeId]) -> Option<NodeId>,
) -> Option<NodeId> {
    if let Some(truth) = decided(graph, name, inputs) {
        return Some(graph.known(Known::table(&[f64::from(u8::from(truth))]), Vec::new(), Element::Bool));
    }
    match (name, inputs) {
        ("arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci", &[integer]) => {
            let range = graph.digits_of(integer)?.range;
            let keeps_sign = range[0] >= 0 || matches!(name, "arith.index_cast" | "arith.extsi" | "arith.trunci");
            return (element == Element::Int && keeps_sign && fits(range, width)).then_some(integer);
        }
        ("arith.sitofp" | "arith.uitofp", &[integer]) if element == graph.integers.element() => {
            let Digits { parts: [upper, lower], range, .. } = graph.digits_of(integer)?;
            if name == "arith.uitofp" && range[0] < 0 {
                return None;
            }
            let base = base(graph);
            let scaled = graph.pointwise("mul", &[upper, base], element);
            return Some(graph.pointwise("add", &[scaled, lower], element));
        }
        _ => {}
    }
    let is_choice = name == "arith.select";
    if let (true, Some(truth)) = (is_choice, graph.number_of(inputs[0])) {
        return Some(inputs[if truth == 1.0 { 1 } else { 2 }]);
    }
    let operands = inputs.iter().skip(usize::from(is_choice)).map(|&input| read(graph, input)).collect::<Option<Vec<_>>>()?;
    let &[one, other] = operands.as_slice() else { return None };
    let of_integers = |graph: &mut Graph| {
        let numbers = [one.exact?, other.exact?].map(|exact| graph.as_integers(exact));
        let condition = is_choice.then(|| exact_condition(graph, inputs[0]));
        let inputs: Vec<NodeId> = condition.into_iter().chain(numbers).collect();
        exact(graph, &inputs)
    };
    if let Some(predicate) = name.strip_prefix("arith.cmpi ") {
        let truth = compared(graph, predicate, one, other)?;
        if let Some(exact) = of_integers(graph) {
            graph.note_exact(truth, exact);
        }
        return Some(truth);
    }
    let found = match name {
        "arith.addi" => sum(graph, one, other)?,
        "arith.subi" => difference(graph, one, other)?,
        "arith.muli" => masked(graph, inputs, one, other)?,
        "arith.maxsi" => {
            let is_one = compared(graph, "sge", one, other)?;
            let range = [one.range[0].max(other.range[0]), one.range[1].max(other.range[1])];
            chosen(graph, is_one, [one, other], range)?
        }
        "arith.minsi" => {
            let is_one = compared(graph, "sle", one, other)?;
            let range = [one.range[0].min(other.range[0]), one.range[1].min(other.range[1])];
            chosen(graph, is_one, [one, other], range)?
        }
        "arith.select" => {
            let range = [one.range[0].min(other.range[0]), one.range[1].max(other.range[1])];
            chosen(graph, inputs[0], [one, other], range)?
        }
        _ => return None,
    };
    if element != Element::Int || !fits(found.range, width) {
        return None;
    }
    let exact = of_integers(graph).and_then(|exact| graph.numbers_of(exact).ok());
    Some(graph.as_digits(Digits { exact, ..found }, refused))
}

/// Returns the comparison of the integers themselves for a comparison of their digits; another condition as it is.
fn exact_condition(graph: &Graph, condition: NodeId) -> NodeId {
    graph.integers.exact(graph.on_device(condition)).unwrap_or(condition)
}

/// Returns whether two digits and a type of `width` bits represent all integers of a range.
pub(in crate::import) fn fits([first, end]: [i64; 2], width: u32) -> bool {
    let is_in_type = width >= u64::BITS || (first >= -(1 << (width - 1)) && end <= 1 << (width - 1));
    first > -LIMIT && end <= LIMIT && is_in_type
}

#[allow(clippy::cast_precision_loss, reason = "a small number")]
fn base(graph: &mut Graph) -> NodeId {
    graph.number(RESULT_BASE as f64)
}

/// Returns the digits of integers: of a node with digits, of constants, or of exact numbers. None for others.
fn read(graph: &mut Graph, integer: NodeId) -> Option<Digits> {
    if let Some(digits) = graph.digits_of(integer) {
        return Some(digits);
    }
    let number = graph.numbers_of(integer).ok()?;
    if let Some(known) = graph.known_of(number).cloned() {
        let range =
            known.integers().fold([i64::MAX, i64::MIN], |[first, end], number| [first.min(number), end.max(number.saturating_add(1))]);
        let parts = known_digits(graph, number).filter(|_| fits(range, u64::BITS))?;
        return Some(Digits { parts, range, exact: Some(number) });
    }
    if !graph.integers.has(number) {
        return None;
    }
    // Of an exact number the magnitude is at most the base: an integer below 0 has the upper digit -1.
    let element = graph.integers.element();
    let (zero, one, base) = (graph.number(0.0), graph.number(1.0), base(graph));
    let is_negative = graph.pointwise("lesserthan", &[number, zero], Element::Bool);
    let raised = graph.pointwise("add", &[number, base], element);
    let raised = graph.pointwise("where3", &[is_negative, raised, number], element);
    let of_raised = split(graph, raised);
    let below = graph.pointwise("where3", &[is_negative, one, zero], element);
    let upper = graph.pointwise("sub", &[of_raised[0], below], element);
    Some(Digits { parts: [upper, of_raised[1]], range: [-RESULT_BASE, RESULT_BASE + 1], exact: Some(number) })
}

/// Returns the digits of numbers from 0 to the base.
fn split(graph: &mut Graph, number: NodeId) -> [NodeId; 2] {
    let element = graph.integers.element();
    let (zero, one, base) = (graph.number(0.0), graph.number(1.0), base(graph));
    let is_whole = graph.pointwise("greaterequal", &[number, base], Element::Bool);
    let upper = graph.pointwise("where3", &[is_whole, one, zero], element);
    [upper, graph.pointwise("where3", &[is_whole, zero, number], element)]
}

/// Subtracts digits; constants are folded.
fn minus(graph: &mut Graph, one: NodeId, other: NodeId) -> Option<NodeId> {
    let element = graph.integers.element();
    let (Some(known), Some(subtracted)) = (graph.known_of(one), graph.known_of(other)) else {
        return recognize::sub(graph, &[one, other], element).ok();
    };
    let (shape, of_known, of_subtracted) = (graph.broadcast_shape(&[one, other]), &graph.node(one).shape, &graph.node(other).shape);
    let difference = Known::combined(&[(known, of_known), (subtracted, of_subtracted)], &shape, |numbers| numbers[0] - numbers[1]);
    Some(graph.known(difference, shape, element))
}

/// Adds digits with a carry.
fn added(graph: &mut Graph, [upper, lower]: [NodeId; 2], [other_upper, other_lower]: [NodeId; 2]) -> Option<[NodeId; 2]> {
    let element = graph.integers.element();
    let base = base(graph);
    let missing = minus(graph, base, other_lower)?;
    let rest = minus(graph, lower, missing)?;
    let upper = recognize::add(graph, &[upper, other_upper], element).ok()?;
    Some(carried(graph, upper, rest, [1.0, 0.0]))
}

/// Returns digits whose lower digit is `rest`, or `rest` plus the base where it is below 0; adds one of two numbers to the upper digit, the
/// first one where `rest` is at least 0.
fn carried(graph: &mut Graph, upper: NodeId, rest: NodeId, [carry, borrow]: [f64; 2]) -> [NodeId; 2] {
    let element = graph.integers.element();
    let (zero, base) = (graph.number(0.0), base(graph));
    let [carry, borrow] = [carry, borrow].map(|number| graph.number(number));
    let is_carried = graph.pointwise("greaterequal", &[rest, zero], Element::Bool);
    let raised = graph.pointwise("add", &[rest, base], element);
    let lower = graph.pointwise("where3", &[is_carried, rest, raised], element);
    let carry = graph.pointwise("where3", &[is_carried, carry, borrow], element);
    [graph.pointwise("add", &[upper, carry], element), lower]
}

fn sum(graph: &mut Graph, one: Digits, other: Digits) -> Option<Digits> {
    let range = [one.range[0] + other.range[0], one.range[1] + other.range[1] - 1];
    Some(Digits { parts: added(graph, one.parts, other.parts)?, range, exact: None })
}

fn difference(graph: &mut Graph, one: Digits, other: Digits) -> Option<Digits> {
    let [upper, lower] = [0, 1].map(|digit| minus(graph, one.parts[digit], other.parts[digit]));
    let range = [one.range[0] - other.range[1] + 1, one.range[1] - other.range[0]];
    Some(Digits { parts: carried(graph, upper?, lower?, [0.0, -1.0]), range, exact: None })
}

/// Multiplies digits by numbers that are 0 or 1: that the product of a lower digit is exact bounds the numbers, since the digit may be
/// 1,023.
fn masked(graph: &mut Graph, inputs: &[NodeId], one: Digits, other: Digits) -> Option<Digits> {
    let is_number = |graph: &Graph, id: NodeId| graph.digits_of(id).is_none() && graph.known_of(id).is_none();
    let (digits, factor) = match *inputs {
        [_, factor] if is_number(graph, factor) => (one, factor),
        [factor, _] if is_number(graph, factor) => (other, factor),
        _ => return None,
    };
    let element = graph.integers.element();
    let factor = graph.numbers_of(factor).ok()?;
    graph.note_unsigned(factor);
    let [upper, lower] = digits.parts.map(|digit| graph.pointwise("mul", &[digit, factor], element));
    let all = graph.known(Known::counting(0, RESULT_BASE), vec![RESULT_BASE], element);
    graph.note_chosen_from(digits.parts[1], all);
    graph.note_integers(lower);
    let range = [digits.range[0].min(0), digits.range[1].max(1)];
    Some(Digits { parts: [upper, lower], range, exact: None })
}

/// Builds a comparison: the sum of the upper digits' difference times twice the base and the lower digits' difference has the sign of the
/// integers' difference, however it is rounded. Returns None for an unsigned comparison of integers that may be negative.
fn compared(graph: &mut Graph, predicate: &str, one: Digits, other: Digits) -> Option<NodeId> {
    if predicate.starts_with('u') && (one.range[0] < 0 || other.range[0] < 0) {
        return None;
    }
    let element = graph.integers.element();
    let [upper, lower] = [0, 1].map(|digit| minus(graph, one.parts[digit], other.parts[digit]));
    #[allow(clippy::cast_precision_loss, reason = "a small number")]
    let (zero, weight) = (graph.number(0.0), graph.number(UPPER_STEP as f64));
    let scaled = graph.pointwise("mul", &[upper?, weight], element);
    let difference = graph.pointwise("add", &[scaled, lower?], element);
    Some(graph.pointwise(comparison(predicate), &[difference, zero], Element::Bool))
}

fn chosen(graph: &mut Graph, condition: NodeId, [yes, no]: [Digits; 2], range: [i64; 2]) -> Option<Digits> {
    let element = graph.integers.element();
    let parts = [0, 1].map(|digit| graph.apply("arith.select", &[condition, yes.parts[digit], no.parts[digit]], element).ok());
    let [Some(upper), Some(lower)] = parts else { return None };
    Some(Digits { parts: [upper, lower], range, exact: None })
}

/// Division of a dimension into blocks whose sums are exact.
struct Blocks {
    /// Elements per block.
    size: i64,
    /// One past the largest sum of all.
    end: i64,
}

/// Returns how many blocks a dimension has.
const fn count(size: i64, block: i64) -> i64 {
    (size + block - 1) / block
}

/// Returns the blocks in which integers are summed along a dimension of `size`; None if the format is exact for the whole sum, or if digits
/// do not represent it.
fn blocks(graph: &mut Graph, numbers: NodeId, size: i64) -> Option<Blocks> {
    let largest = largest(graph, numbers);
    let found = match largest {
        Some(largest) => {
            let block = (RESULT_BASE / largest.max(1)).min(MAX_BLOCK);
            Blocks { size: if block == 0 { return None } else { 1 << block.ilog2() }, end: size.checked_mul(largest)? + 1 }
        }
        // The range of the argument follows from the sums of the blocks, which are exact.
        None => Blocks { size: MAX_BLOCK, end: count(size, MAX_BLOCK).checked_mul(RESULT_BASE)? + 1 },
    };
    let is_long = largest.is_some() || size > RESULT_BASE;
    let is_possible = is_long && are_needed(graph, found.end) && count(size, found.size) <= MAX_BLOCKS;
    is_possible.then_some(found)
}

/// Returns the largest of integers that are at least 0 whatever the arguments are; None if that is not known.
fn largest(graph: &Graph, id: NodeId) -> Option<i64> {
    if let Some(known) = graph.known_of(id) {
        return known.integers().all(|number| number >= 0).then(|| known.integers().max()).flatten();
    }
    if let Some((table, _)) = rows::parts(graph, id) {
        return largest(graph, table);
    }
    let node = graph.node(id);
    match (&node.kind, node.inputs.as_slice()) {
        _ if node.element == Element::Bool => Some(1),
        (Kind::Reshape | Kind::View(_) | Kind::Filled, &[input]) => match graph.source_of(input) {
            Some(number) => graph.integers.promised(number).filter(|range| range[0] >= 0).map(|range| range[1] - 1),
            None => largest(graph, input),
        },
        (Kind::Virtual(_), inputs) => largest(graph, *inputs.last()?),
        (Kind::Pointwise("where3", _), &[_, yes, no]) => Some(largest(graph, yes)?.max(largest(graph, no)?)),
        _ => None,
    }
}

/// Returns the digits of the sums of a block, from which the ranges of the arguments follow: they are exact and at least 0.
fn digits_of_block(graph: &mut Graph, sums: NodeId) -> [NodeId; 2] {
    graph.note_integers(sums);
    graph.note_unsigned(sums);
    split(graph, sums)
}

/// Returns the digits of the running sums of integers along a dimension; None if the format is exact for them, or if digits do not represent
/// them. `numbers` are the integers as numbers of shape `shape`.
pub(in crate::import) fn running_sums(graph: &mut Graph, numbers: NodeId, shape: &[i64], dim: usize) -> Option<Digits> {
    let blocks = blocks(graph, numbers, shape[dim])?;
    let numbers = graph.broadcast(numbers, shape);
    let element = graph.integers.element();
    let mut results = [0; 2].map(|_| graph.undefined(shape.to_vec(), element));
    let mut before: Option<[NodeId; 2]> = None;
    for (start, sizes) in blocks.along(shape, dim) {
        let part = graph.slice(numbers, &start, &sizes);
        let sums = scan::scan(graph, Combiner::Sum, part, (&sizes, dim), None).ok()?;
        let own = digits_of_block(graph, sums);
        let digits = before.map_or(Some(own), |before| added(graph, own, before))?;
        let (mut last, mut one) = (vec![0; shape.len()], sizes.clone());
        (last[dim], one[dim]) = (sizes[dim] - 1, 1);
        before = Some(digits.map(|digit| graph.slice(digit, &last, &one)));
        for (result, digit) in results.iter_mut().zip(digits) {
            *result = graph.insert(digit, *result, start.clone());
        }
    }
    let exact = scan::range_of_sums(graph, numbers, shape, dim);
    graph.note_integers(exact);
    Some(Digits { parts: results, range: [0, blocks.end], exact: Some(exact) })
}

/// Returns the digits of the sums of integers along a dimension, which has size 1 then; None if the format is exact for them, or if digits
/// do not represent them. `numbers` are the integers as numbers.
pub(in crate::import) fn total(graph: &mut Graph, numbers: NodeId, dim: usize) -> Option<Digits> {
    let shape = graph.node(numbers).shape.clone();
    let blocks = blocks(graph, numbers, shape[dim])?;
    let mut parts: Option<[NodeId; 2]> = None;
    for (start, sizes) in blocks.along(&shape, dim) {
        let part = graph.slice(numbers, &start, &sizes);
        let sum = if sizes[dim] == 1 { part } else { graph.reduce("sum", part, dim) };
        let own = digits_of_block(graph, sum);
        parts = Some(parts.map_or(Some(own), |before| added(graph, own, before))?);
    }
    let exact = graph.reduce("sum", numbers, dim);
    graph.note_integers(exact);
    Some(Digits { parts: parts?, range: [0, blocks.end], exact: Some(exact) })
}

impl Blocks {
    /// Returns first positions and sizes of the blocks of a tensor along a dimension.
    fn along(&self, shape: &[i64], dim: usize) -> Vec<(Vec<i64>, Vec<i64>)> {
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
    use crate::import::graph::integers::Integers;
    use std::collections::BTreeMap;

    const NUMBERS: [i64; 14] = [0, 1, 2, 511, 512, 1023, 1024, 1025, 2047, 2048, 3071, 65_535, 262_144, 500_001];

    /// Rounds to ten significant bits, as the 16-bit format does.
    fn rounded(number: f64) -> f64 {
        if number == 0.0 {
            return number;
        }
        let unit = (number.abs().log2().floor() - 9.0).exp2();
        (number / unit).round_ties_even() * unit
    }

    /// Evaluates a node of elementwise functions for given tensors, rounding each result.
    fn evaluated(graph: &Graph, id: NodeId, tensors: &[f64]) -> f64 {
        let node = graph.node(id);
        let of = |position: usize| evaluated(graph, node.inputs[position], tensors);
        let truth = |holds: bool| f64::from(u8::from(holds));
        match &node.kind {
            Kind::Tensor(number) => tensors[*number],
            Kind::Known(_) => graph.number_of(id).unwrap(),
            Kind::Reshape | Kind::View(_) => of(0),
            Kind::Virtual(_) => of(node.inputs.len() - 1),
            Kind::Pointwise("where3", _) => of(if of(0) == 1.0 { 1 } else { 2 }),
            Kind::Pointwise("add", _) => rounded(of(0) + of(1)),
            Kind::Pointwise("sub", _) => rounded(of(0) - of(1)),
            Kind::Pointwise("neg", _) => -of(0),
            Kind::Pointwise("mul", _) => rounded(of(0) * of(1)),
            Kind::Pointwise("equal", _) => truth(of(0) == of(1)),
            Kind::Pointwise("notequal", _) => truth(of(0) != of(1)),
            Kind::Pointwise("greaterequal", _) => truth(of(0) >= of(1)),
            Kind::Pointwise("greaterthan", _) => truth(of(0) > of(1)),
            Kind::Pointwise("lesserthan", _) => truth(of(0) < of(1)),
            Kind::Pointwise("lesserequal", _) => truth(of(0) <= of(1)),
            other => panic!("{other:?}"),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn digits(number: i64) -> [f64; 2] {
        [number.div_euclid(RESULT_BASE), number.rem_euclid(RESULT_BASE)].map(|digit| digit as f64)
    }

    /// A graph whose integers are 16-bit numbers, and two integers by digits that are tensors 0 to 3.
    fn two() -> (Graph, Digits, Digits) {
        let mut graph = Graph::with_integers(Integers::new(Element::F16, BTreeMap::new()), false, BTreeMap::new());
        let tensors = [0, 1, 2, 3].map(|number| graph.tensor(number, vec![1], Element::F16));
        let of = |upper, lower| Digits { parts: [upper, lower], range: [-LIMIT / 2, LIMIT / 2], exact: None };
        let (one, other) = (of(tensors[0], tensors[1]), of(tensors[2], tensors[3]));
        (graph, one, other)
    }

    /// All pairs of the numbers and their negatives, with their digits.
    fn pairs() -> impl Iterator<Item = (i64, i64, Vec<f64>)> {
        let all = || NUMBERS.into_iter().flat_map(|number| [number, -number]);
        all().flat_map(move |one| all().map(move |other| (one, other, [digits(one), digits(other)].concat())))
    }

    #[test]
    fn sums_and_differences_are_exact_in_ten_bits() {
        let (mut graph, one, other) = two();
        let sum = sum(&mut graph, one, other).unwrap();
        let difference = difference(&mut graph, one, other).unwrap();
        for (one, other, tensors) in pairs() {
            let of = |found: Digits| found.parts.map(|digit| evaluated(&graph, digit, &tensors));
            assert_eq!(of(sum), digits(one + other), "{one} + {other}");
            assert_eq!(of(difference), digits(one - other), "{one} - {other}");
        }
    }

    #[test]
    fn comparisons_are_those_of_the_integers() {
        let (mut graph, one, other) = two();
        let names = ["eq", "ne", "slt", "sle", "sgt", "sge"];
        let nodes = names.map(|name| compared(&mut graph, name, one, other).unwrap());
        assert_eq!(compared(&mut graph, "ult", one, other), None, "an integer below 0 is a large one");
        for (one, other, tensors) in pairs() {
            let found = nodes.map(|node| evaluated(&graph, node, &tensors) == 1.0);
            let expected = [one == other, one != other, one < other, one <= other, one > other, one >= other];
            assert_eq!(found, expected, "{one} and {other}");
        }
    }

    #[test]
    fn exact_numbers_have_digits() {
        let mut graph = Graph::with_integers(Integers::new(Element::F16, BTreeMap::new()), false, BTreeMap::new());
        let tensor = graph.tensor(0, vec![1], Element::Int);
        let found = read(&mut graph, tensor).unwrap();
        for number in -RESULT_BASE..=RESULT_BASE {
            #[allow(clippy::cast_precision_loss, reason = "a small number")]
            let tensors = [number as f64];
            assert_eq!(found.parts.map(|digit| evaluated(&graph, digit, &tensors)), digits(number), "{number}");
        }
    }

    #[test]
    fn sums_of_blocks_are_exact() {
        let mut graph = Graph::with_integers(Integers::new(Element::F16, BTreeMap::new()), false, BTreeMap::new());
        let mut of = |range: Option<[i64; 2]>, size: i64| {
            let number = graph.tensor(0, vec![size], Element::Int);
            range.into_iter().for_each(|range| graph.integers.promise(0, range));
            let numbers = graph.numbers_of(number).unwrap();
            blocks(&mut graph, numbers, size).map(|blocks| (blocks.size, blocks.end))
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
