//! Ranges of runtime integers within which the device computes with them exactly.
//!
//! The device represents integers as numbers of a floating-point format, which is exact up to a limit. Each argument
//! gets the widest range for which no integer of the program exceeds the limit, no number computed from integers
//! overflows, and all assertions of the program hold. `program.json` states the range, and the arguments are checked
//! against it.

mod refine;

use super::rounding::is_integral;
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor};
use machine::{NARROW_FUNCTION, WIDEN_FUNCTION};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Integer limits of a number format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::import) struct FormatLimits {
    /// All integers up to this one, and down to its negative, are numbers of the format.
    pub(in crate::import) exact: f64,
    /// Largest finite number.
    pub(in crate::import) largest: f64,
}

/// 16-bit format of the device: ten significant bits.
pub(in crate::import) const HALF_LIMITS: FormatLimits = FormatLimits { exact: 1024.0, largest: 4_290_772_992.0 };
/// IEEE single precision.
pub(in crate::import) const SINGLE_LIMITS: FormatLimits =
    FormatLimits { exact: 16_777_216.0, largest: f32::MAX as f64 };

/// Single precision of angles: beyond 2^17 the device's sine is NaN ([`super::trigonometry`]).
const ANGLE_LIMITS: FormatLimits = FormatLimits { exact: 131_072.0, ..SINGLE_LIMITS };

/// Reason why no range is found for an integer or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum RangeViolation {
    /// An integer may exceed the exact integers of the format, or a number may overflow the format.
    Node(NodeId),
    /// A divisor may be 0, or an unsigned value may be negative.
    LowerBound(NodeId),
    /// An integer may overflow its type of that many bits.
    Width(NodeId, u32),
    /// An integer is compared with a constant that the format rounds to an integer in its range.
    RoundedConstant(NodeId),
    /// An assertion, by its position.
    Assertion(usize),
}

/// Computes the ranges of the integer tensors that `needed` nodes compute with, by tensor number. `given` returns the
/// range that is promised for a tensor or follows from its type.
///
/// # Errors
/// Returns the constraint that no range is narrow enough for.
pub(in crate::import) fn compute_ranges(
    graph: &ValueGraph,
    needed: &[NodeId],
    asserted: &[NodeId],
    limits: FormatLimits,
    given: impl Fn(usize) -> [i64; 2],
) -> Result<BTreeMap<usize, [i64; 2]>, RangeViolation> {
    let is_promised = |number: usize| graph.integers.promised_range(number).is_some();
    let within_from = |positive: &BTreeSet<usize>, number: usize, candidate: [i64; 2]| {
        let ([first, end], least) = (given(number), if positive.contains(&number) { 1 } else { i64::MIN });
        if is_promised(number) { [first, end] } else { [candidate[0].max(first).max(least), candidate[1].min(end)] }
    };
    let asked = graph.collect_required(asserted, |_| false);
    let numbers: Vec<usize> = needed.iter().chain(&asked).filter_map(|&id| graph.numeric_source_tensor(id)).collect();
    // Divisors depend on integers that are at least 1.
    let mut positive = BTreeSet::new();
    let mut constraints =
        RangeConstraints { bounds: IntervalAnalysis::new(graph, limits), needed: needed.to_vec(), asserted };
    let mut ranges: BTreeMap<usize, [i64; 2]> = loop {
        let narrowest: BTreeMap<_, _> =
            numbers.iter().map(|&number| (number, within_from(&positive, number, MIN_RANGE))).collect();
        match constraints.check(narrowest.clone()) {
            Ok(()) => break narrowest,
            Err(RangeViolation::LowerBound(id)) => {
                let before = positive.len();
                positive.extend(collect_value_sources(graph, id));
                if positive.len() == before {
                    return Err(RangeViolation::LowerBound(id));
                }
            }
            Err(other) => return Err(other),
        }
    };
    let within = |number: usize, candidate: [i64; 2]| within_from(&positive, number, candidate);
    let is_single = needed.iter().any(|&id| graph.node(id).element == NodeElementType::Single);
    #[allow(clippy::cast_possible_truncation, reason = "what a format holds exactly is far below 2^63")]
    let most = if is_single { ANGLE_LIMITS.exact } else { limits.exact } as i64 + 1;
    let numbers: Vec<usize> = ranges.keys().copied().collect();
    // Double the ranges alternately while all constraints hold, so that no range uses up the slack of another one.
    let ends = std::iter::successors(Some(2), |end: &i64| end.checked_mul(2)).take_while(|&end| end <= most);
    for (end, &number) in ends.flat_map(|end| numbers.iter().map(move |number| (end, number))) {
        let mut holds = |candidate: [i64; 2]| {
            let widened = ranges
                .iter()
                .map(|(&other, &range)| (other, if other == number { within(number, candidate) } else { range }));
            constraints.check(widened.collect()).is_ok()
        };
        if let Some(candidate) = [[1 - end, end], [0, end]].into_iter().find(|&candidate| holds(candidate)) {
            ranges.insert(number, within(number, candidate));
        }
    }
    for number in numbers {
        let mut holds = |candidate: [i64; 2]| {
            let before = ranges.insert(number, within(number, candidate));
            let holds = constraints.check(ranges.clone()).is_ok();
            ranges.extend(before.map(|before| (number, before)));
            holds
        };
        // Negative integers are included if that costs at most half of the positive ones.
        let positive = find_largest_end(most, |end| holds([0, end]));
        let either = find_largest_end(most, |end| holds([1 - end, end]));
        let chosen = if 2 * either > positive { [1 - either, either] } else { [0, positive] };
        ranges.insert(number, within(number, chosen));
    }
    Ok(ranges)
}

/// Returns the positions of the assertions that hold for no range of the integers, including those on other numbers.
pub(in crate::import) fn find_unsatisfiable_asserts(
    graph: &ValueGraph,
    asserted: &[NodeId],
    limits: FormatLimits,
) -> Vec<usize> {
    let asked = graph.collect_required(asserted, |_| false);
    let narrowest = |number: usize| graph.integers.promised_range(number).unwrap_or(MIN_RANGE);
    let ranges = asked
        .iter()
        .filter_map(|&id| graph.numeric_source_tensor(id))
        .map(|number| (number, narrowest(number)))
        .collect();
    let mut bounds = IntervalAnalysis::new(graph, limits);
    bounds.set_ranges(ranges);
    (0..asserted.len()).filter(|&position| bounds.may_fail(asserted[position])).collect()
}

/// Smallest range that integers must be allowed, that of a truth value: the first integer, and one past the last.
const MIN_RANGE: [i64; 2] = [0, 2];

/// Returns the largest end up to `most` for which a monotone predicate holds; 1 if it holds for none.
fn find_largest_end(most: i64, mut holds: impl FnMut(i64) -> bool) -> i64 {
    let (mut good, mut bad) = (1, most + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    good
}

/// Returns the integer tensors that the values of a node depend on; tensors that only a condition depends on are not
/// included.
fn collect_value_sources(graph: &ValueGraph, id: NodeId) -> BTreeSet<usize> {
    let (mut open, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match (graph.numeric_source_tensor(id), &graph.node(id).kind) {
            (Some(number), _) => _ = found.insert(number),
            (None, NodeKind::Pointwise("where3", _)) => open.extend(&graph.node(id).inputs[1..]),
            _ => open.extend(&graph.node(id).inputs),
        }
    }
    found
}

/// Constraints on the ranges of integers.
struct RangeConstraints<'a> {
    bounds: IntervalAnalysis<'a>,
    /// Nodes whose constraints may be violated: those that the ranges affect, once all constraints have held.
    needed: Vec<NodeId>,
    asserted: &'a [NodeId],
}

impl RangeConstraints<'_> {
    /// Checks that all constraints hold under these ranges.
    fn check(&mut self, ranges: BTreeMap<usize, [i64; 2]>) -> Result<(), RangeViolation> {
        self.bounds.set_ranges(ranges);
        let mut affected = Vec::new();
        for &id in &self.needed {
            let before = self.bounds.num_range_reads;
            check_node(&mut self.bounds, id)?;
            if self.bounds.num_range_reads > before {
                affected.push(id);
            }
        }
        self.needed = affected;
        self.asserted
            .iter()
            .position(|&id| self.bounds.may_fail(id))
            .map_or(Ok(()), |position| Err(RangeViolation::Assertion(position)))
    }
}

/// Checks the constraints of one node.
fn check_node(bounds: &mut IntervalAnalysis<'_>, id: NodeId) -> Result<(), RangeViolation> {
    let (graph, limits) = (bounds.graph, bounds.limits);
    let least = graph.integers.lower_bound(id);
    #[allow(clippy::cast_precision_loss, reason = "0 or 1")]
    if least.is_some_and(|least| bounds.interval(id).is_none_or(|found| found.first < least as f64)) {
        return Err(RangeViolation::LowerBound(id));
    }
    if compares_with_rounded_constant(graph, id, limits) {
        return Err(RangeViolation::RoundedConstant(id));
    }
    if let Some(width) = graph.integers.width(id) {
        let end = 2_f64.powi(width.cast_signed() - 1);
        if bounds.interval(id).is_none_or(|found| found.first < -end || found.last >= end) {
            return Err(RangeViolation::Width(id, width));
        }
    }
    let Some(ValueInterval { first, last, is_infinite }) = bounds.interval(id) else {
        // Nothing is known of integers that are converted from floating-point numbers, so computing with them is an
        // error.
        let is_computed = matches!(
            graph.node(id).kind,
            NodeKind::Matmul
                | NodeKind::Pointwise("add" | "sub" | "mul", _)
                | NodeKind::Reduce("sum" | "prod" | "mean", ..)
        );
        return if graph.integers.contains(id) && is_computed { Err(RangeViolation::Node(id)) } else { Ok(()) };
    };
    let limits = if graph.node(id).element == NodeElementType::Single { ANGLE_LIMITS } else { limits };
    let limit = if graph.integers.contains(id) { limits.exact } else { limits.largest };
    if !is_infinite && first.abs().max(last.abs()) > limit {
        return Err(RangeViolation::Node(id));
    }
    Ok(())
}

/// Returns whether a node compares integers with a constant that the format rounds to one of their possible values: the
/// first integer beyond the exact ones. Other constants beyond these remain out of range.
fn compares_with_rounded_constant(graph: &ValueGraph, id: NodeId, limits: FormatLimits) -> bool {
    let node = graph.node(id);
    let is_comparison = matches!(
        node.kind,
        NodeKind::Pointwise("equal" | "notequal" | "greaterequal" | "greaterthan" | "lesserequal" | "lesserthan", _)
    );
    let is_rounded = |input: &NodeId| {
        graph.node(*input).element == NodeElementType::Int
            && graph
                .as_constant(*input)
                .is_some_and(|known| known.numbers().any(|number| number.abs() - 1.0 == limits.exact))
    };
    is_comparison && node.inputs.iter().any(is_rounded)
}

/// Interval of possible values of a number, inclusive.
#[derive(Clone, Copy, Debug)]
struct ValueInterval {
    first: f64,
    last: f64,
    /// Whether an infinity of the program contributes.
    is_infinite: bool,
}

impl ValueInterval {
    fn with_hull(self, numbers: &[f64]) -> Self {
        let (first, last) =
            numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        Self { first, last, ..self }
    }
}

struct IntervalAnalysis<'a> {
    graph: &'a ValueGraph,
    limits: FormatLimits,
    ranges: BTreeMap<usize, [i64; 2]>,
    /// Intervals that depend on `ranges`.
    affected: FxHashMap<NodeId, Option<ValueInterval>>,
    /// All other intervals.
    fixed: FxHashMap<NodeId, Option<ValueInterval>>,
    /// Number of reads of `ranges` and of affected intervals.
    num_range_reads: usize,
}

impl<'a> IntervalAnalysis<'a> {
    /// Creates an analysis without ranges.
    fn new(graph: &'a ValueGraph, limits: FormatLimits) -> Self {
        Self {
            graph,
            limits,
            ranges: BTreeMap::new(),
            affected: FxHashMap::default(),
            fixed: FxHashMap::default(),
            num_range_reads: 0,
        }
    }

    /// Replaces the ranges of the integer tensors, by tensor number.
    fn set_ranges(&mut self, ranges: BTreeMap<usize, [i64; 2]>) {
        self.ranges = ranges;
        self.affected.clear();
    }

    /// Returns whether a truth value may be false.
    fn may_fail(&mut self, truth: NodeId) -> bool {
        self.interval(truth).is_none_or(|truth| truth.first != 1.0)
    }

    /// Returns the interval of a node that depends on integers and constants alone; None for other nodes. Inputs
    /// precede their users, so the intervals of the inputs of needed nodes are known.
    fn interval(&mut self, id: NodeId) -> Option<ValueInterval> {
        if let Some(&known) = self.fixed.get(&id) {
            return known;
        }
        if let Some(&known) = self.affected.get(&id) {
            self.num_range_reads += 1;
            return known;
        }
        // This guards against a cyclic chain of views, which does not occur.
        self.affected.insert(id, None);
        let num_reads_before = self.num_range_reads;
        // A truth value is 0 or 1, regardless of its operands.
        let either = (self.graph.node(id).element == NodeElementType::Bool).then_some(ValueInterval {
            first: 0.0,
            last: 1.0,
            is_infinite: false,
        });
        // An angle is reduced to one turn, which intervals do not show.
        let is_single = self.graph.node(id).element == NodeElementType::Single && !self.graph.integers.contains(id);
        let is_known =
            |found: &ValueInterval| !is_single || found.first.abs().max(found.last.abs()) <= ANGLE_LIMITS.exact;
        let found = self.compute_interval(id).filter(is_known).or(either);
        if self.num_range_reads > num_reads_before {
            self.affected.insert(id, found);
        } else {
            self.affected.remove(&id);
            self.fixed.insert(id, found);
        }
        found
    }

    #[allow(clippy::cast_precision_loss, reason = "ranges and sizes are far below 2^53")]
    fn compute_interval(&mut self, id: NodeId) -> Option<ValueInterval> {
        let graph = self.graph;
        let node = graph.node(id);
        if let Some(number) = graph.numeric_source_tensor(id) {
            self.num_range_reads += 1;
            let [first, end] = self.ranges.get(&number)?;
            return Some(ValueInterval { first: *first as f64, last: (end - 1) as f64, is_infinite: false });
        }
        if let Some(same) = graph.integers.superset_node(id).or_else(|| graph.integers.exact_node(id)) {
            return self.interval(same);
        }
        if let Some(found) = graph.integers.division(id).and_then(|division| self.division_interval(division)) {
            return Some(found);
        }
        match &node.kind {
            NodeKind::Constant(known) => Some(self.constant_interval(known)),
            NodeKind::Splat | NodeKind::View(_) | NodeKind::Reshape | NodeKind::Copy => self.interval(node.inputs[0]),
            NodeKind::Virtual(_) => self.interval(*node.inputs.last()?),
            NodeKind::Insert(_) => {
                let part = self.interval(node.inputs[0])?;
                self.union_interval(part, node.inputs[1])
            }
            NodeKind::Gather(_) => self.interval(node.inputs[0]),
            NodeKind::Reduce(function, dim, _) => {
                let of = self.interval(node.inputs[0])?;
                let size = graph.node(node.inputs[0]).shape[*dim] as f64;
                match *function {
                    "sum" => Some(ValueInterval { first: of.first * size, last: of.last * size, ..of }),
                    "max" | "min" | "mean" => Some(of),
                    "prod" if of.first >= 0.0 && of.last <= 1.0 => Some(of),
                    _ => None,
                }
            }
            NodeKind::Pointwise("clip", bounds) => {
                let x = self.interval(node.inputs[0])?;
                let &[first, last] = bounds.as_slice() else { return None };
                let within = |number: f64| number.max(f64::from_bits(first)).min(f64::from_bits(last));
                Some(x.with_hull(&[within(x.first), within(x.last)]))
            }
            NodeKind::Pointwise(function, _) => self.pointwise_interval(function, &node.inputs),
            // Matmul, such as a running sum.
            NodeKind::Matmul => {
                let product = self.pointwise_interval("mul", &node.inputs)?;
                let num_terms = graph.node(node.inputs[0]).shape.last().map_or(1.0, |&size| size as f64);
                Some(product.with_hull(&[product.first * num_terms, product.last * num_terms, 0.0]))
            }
            NodeKind::Tensor(_) | NodeKind::Undefined | NodeKind::Unsupported(_) => None,
        }
    }

    fn constant_interval(&self, known: &ConstantTensor) -> ValueInterval {
        let within = |number: f64| number.clamp(-self.limits.largest, self.limits.largest);
        let is_infinite = known.numbers().any(|number| !number.is_finite());
        let numbers: Vec<f64> = known.numbers().filter(|number| !number.is_nan()).map(within).collect();
        ValueInterval { first: 0.0, last: 0.0, is_infinite }.with_hull(&numbers)
    }

    /// Returns the interval of an otherwise unbounded number under a condition that bounds it on both sides, such as
    /// `0 <= x` and `x < n`. A grid of positions selects elements of an image in this way.
    fn interval_under_condition(&self, condition: NodeId, id: NodeId) -> Option<ValueInterval> {
        let graph = self.graph;
        // The numeric form of an integer is that integer.
        let number = if graph.node(id).kind == NodeKind::Reshape { graph.node(id).inputs[0] } else { id };
        let is_it = |other: NodeId| other == number || other == id;
        // Last number below an exclusive end.
        let before = |end: f64| if is_integral(graph, number) { end.ceil() - 1.0 } else { end };
        let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut conditions, mut seen) = (vec![condition], BTreeSet::new());
        while let Some(condition) = conditions.pop() {
            if !seen.insert(condition) {
                continue;
            }
            let node = graph.node(condition);
            let (NodeKind::Pointwise(function, _), &[one, other]) = (&node.kind, node.inputs.as_slice()) else {
                continue;
            };
            match (*function, graph.as_scalar(one), graph.as_scalar(other)) {
                ("mul", ..) if node.element == NodeElementType::Bool => conditions.extend([one, other]),
                ("greaterequal", _, Some(bound)) if is_it(one) => first = first.max(bound),
                ("lesserequal", Some(bound), _) if is_it(other) => first = first.max(bound),
                ("greaterthan", _, Some(bound)) if is_it(one) => first = first.max(-before(-bound)),
                ("lesserthan", Some(bound), _) if is_it(other) => first = first.max(-before(-bound)),
                ("lesserequal", _, Some(bound)) if is_it(one) => last = last.min(bound),
                ("greaterequal", Some(bound), _) if is_it(other) => last = last.min(bound),
                ("lesserthan", _, Some(bound)) if is_it(one) => last = last.min(before(bound)),
                ("greaterthan", Some(bound), _) if is_it(other) => last = last.min(before(bound)),
                _ => {}
            }
        }
        (first.is_finite() && last.is_finite()).then_some(ValueInterval { first, last, is_infinite: false })
    }

    fn union_interval(&mut self, one: ValueInterval, other: NodeId) -> Option<ValueInterval> {
        if self.graph.node(other).kind == NodeKind::Undefined {
            return Some(one);
        }
        let other = self.interval(other)?;
        let is_infinite = one.is_infinite || other.is_infinite;
        Some(ValueInterval { is_infinite, ..one }.with_hull(&[one.first, one.last, other.first, other.last]))
    }

    fn pointwise_interval(&mut self, function: &str, inputs: &[NodeId]) -> Option<ValueInterval> {
        if let Some(truth) = self.comparison_interval(function, inputs) {
            return Some(truth);
        }
        match *inputs {
            [x] => {
                let x = self.interval(x)?;
                match function {
                    "neg" => Some(x.with_hull(&[-x.last, -x.first])),
                    "abs" if x.first <= 0.0 && x.last >= 0.0 => Some(x.with_hull(&[0.0, -x.first, x.last])),
                    "abs" => Some(x.with_hull(&[x.first.abs(), x.last.abs()])),
                    "floor" => Some(x.with_hull(&[x.first.floor(), x.last.floor()])),
                    "relufwd" => Some(x.with_hull(&[x.first.max(0.0), x.last.max(0.0)])),
                    WIDEN_FUNCTION | NARROW_FUNCTION => Some(x),
                    _ => None,
                }
            }
            [a, b] => {
                if let Some(taken) = self.floor_multiple_interval(function, inputs) {
                    return Some(taken);
                }
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                let both = ValueInterval { is_infinite: a.is_infinite || b.is_infinite, ..a };
                match function {
                    "add" => Some(both.with_hull(&[a.first + b.first, a.last + b.last])),
                    "sub" => Some(both.with_hull(&[a.first - b.last, a.last - b.first])),
                    "mul" => {
                        let product =
                            both.with_hull(&[a.first * b.first, a.first * b.last, a.last * b.first, a.last * b.last]);
                        // A stand-in for an infinity, as in (1 - mask) * lowest, keeps its sign.
                        let is_vast = product.first.abs().max(product.last.abs()) > self.limits.largest / 2.0;
                        let turns = is_vast && product.first < 0.0 && product.last > 0.0;
                        Some(if turns { product.with_hull(&[f64::NEG_INFINITY, f64::INFINITY]) } else { product })
                    }
                    "realdiv" if b.first > 0.0 || b.last < 0.0 => {
                        Some(both.with_hull(&[a.first / b.first, a.first / b.last, a.last / b.first, a.last / b.last]))
                    }
                    "maximum" => Some(both.with_hull(&[a.first.max(b.first), a.last.max(b.last)])),
                    "minimum" => Some(both.with_hull(&[a.first.min(b.first), a.last.min(b.last)])),
                    _ => None,
                }
            }
            [condition, yes, no] if function == "where3" => match self.interval(condition) {
                Some(truth) if truth.first == 1.0 => self.interval(yes),
                Some(truth) if truth.last == 0.0 => self.interval(no),
                _ => {
                    if let Some(refined) = self.refine_select(condition, yes, no) {
                        return Some(refined);
                    }
                    let chosen = self.interval(yes).or_else(|| self.interval_under_condition(condition, yes))?;
                    self.union_interval(chosen, no)
                }
            },
            _ => None,
        }
    }

    /// Returns the interval of `floor(x / d) * d`, which differs from `x` by at most `d`. Returns None for other ops.
    fn floor_multiple_interval(&mut self, function: &str, inputs: &[NodeId]) -> Option<ValueInterval> {
        let (&[whole, by], "mul") = (inputs, function) else { return None };
        let &[quotient] = self.graph.as_pointwise(whole, "floor")? else { return None };
        let &[x, divisor] = self.graph.as_pointwise(quotient, "realdiv")? else { return None };
        let (x, by) = (self.interval(x)?, self.interval(by).filter(|found| divisor == by && found.first > 0.0)?);
        Some(x.with_hull(&[x.first - by.last, x.last + by.last]))
    }

    /// Returns the result of a comparison if the ranges of both sides decide it.
    fn comparison_interval(&mut self, function: &str, inputs: &[NodeId]) -> Option<ValueInterval> {
        if !matches!(function, "equal" | "notequal" | "greaterequal" | "greaterthan" | "lesserequal" | "lesserthan") {
            return None;
        }
        let either = ValueInterval { first: 0.0, last: 1.0, is_infinite: false };
        let &[one, other] = inputs else { return Some(either) };
        let (Some(a), Some(b)) = (self.interval(one), self.interval(other)) else { return Some(either) };
        let (is_true, is_false) = match function {
            "lesserthan" => (a.last < b.first, a.first >= b.last),
            "lesserequal" => (a.last <= b.first, a.first > b.last),
            "greaterthan" => (a.first > b.last, a.last <= b.first),
            "greaterequal" => (a.first >= b.last, a.last < b.first),
            "notequal" => (a.last < b.first || b.last < a.first, false),
            _ => (false, a.last < b.first || b.last < a.first),
        };
        Some(match (is_true, is_false) {
            (true, _) => ValueInterval { first: 1.0, ..either },
            (_, true) => ValueInterval { last: 0.0, ..either },
            _ => either,
        })
    }
}

#[cfg(test)]
mod tests;
