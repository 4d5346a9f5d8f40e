//! Ranges of runtime integers within which the device computes with them exactly.
//!
//! The device represents integers as numbers of a floating-point format, which is exact up to a limit. Each argument gets the widest range
//! for which no integer of the program exceeds the limit, no number computed from integers overflows, and all assertions of the program hold.
//! `program.json` states the range, and the arguments are checked against it.

mod refine;

use super::steps::is_whole;
use crate::import::graph::{Element, Graph, Kind, NodeId, known::Known};
use machine::{NARROW, WIDEN};
use std::collections::{BTreeMap, BTreeSet};

/// Integer limits of a number format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::import) struct Limits {
    /// All integers up to this one, and down to its negative, are numbers of the format.
    pub(in crate::import) exact: f64,
    /// The largest finite number.
    pub(in crate::import) largest: f64,
}

/// 16-bit format of the device: ten significant bits.
pub(in crate::import) const HALF: Limits = Limits { exact: 1024.0, largest: 4_290_772_992.0 };
/// IEEE single precision.
pub(in crate::import) const SINGLE: Limits = Limits { exact: 16_777_216.0, largest: f32::MAX as f64 };

/// Single precision of angles: beyond 2^17 the device's sine is NaN ([`super::trigonometry`]).
const ANGLES: Limits = Limits { exact: 131_072.0, ..SINGLE };

/// Reason why no range is found for an integer or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Unbounded {
    /// An integer may exceed the exact integers of the format, or a number may overflow the format.
    Node(NodeId),
    /// A divisor may be 0, or an unsigned value may be negative.
    Least(NodeId),
    /// An integer may overflow its type of so many bits.
    Width(NodeId, u32),
    /// An integer is compared with a constant that the format rounds to an integer in its range.
    Rounded(NodeId),
    /// An assertion, by its position.
    Assertion(usize),
}

/// Computes the ranges of the integer tensors that `needed` nodes compute with, by tensor number. `given` returns the
/// range that is promised for a tensor or follows from its type.
///
/// # Errors
/// Returns the constraint that no range is narrow enough for.
pub(in crate::import) fn ranges(
    graph: &Graph,
    needed: &[NodeId],
    asserted: &[NodeId],
    limits: Limits,
    given: impl Fn(usize) -> [i64; 2],
) -> Result<BTreeMap<usize, [i64; 2]>, Unbounded> {
    let is_promised = |number: usize| graph.integers.promised(number).is_some();
    let within_from = |positive: &BTreeSet<usize>, number: usize, candidate: [i64; 2]| {
        let ([first, end], least) = (given(number), if positive.contains(&number) { 1 } else { i64::MIN });
        if is_promised(number) { [first, end] } else { [candidate[0].max(first).max(least), candidate[1].min(end)] }
    };
    let asked = graph.needed_for(asserted, |_| false);
    let numbers: Vec<usize> = needed.iter().chain(&asked).filter_map(|&id| graph.number_of_integers(id)).collect();
    // Divisors depend on integers that are at least 1.
    let mut positive = BTreeSet::new();
    let mut ranges: BTreeMap<usize, [i64; 2]> = loop {
        let narrowest = numbers.iter().map(|&number| (number, within_from(&positive, number, NARROWEST))).collect();
        match check(graph, needed, asserted, limits, &narrowest) {
            Ok(()) => break narrowest,
            Err(Unbounded::Least(id)) => {
                let before = positive.len();
                positive.extend(numbers_of_value(graph, id));
                if positive.len() == before {
                    return Err(Unbounded::Least(id));
                }
            }
            Err(other) => return Err(other),
        }
    };
    let within = |number: usize, candidate: [i64; 2]| within_from(&positive, number, candidate);
    let is_single = needed.iter().any(|&id| graph.node(id).element == Element::Single);
    #[allow(clippy::cast_possible_truncation, reason = "what a format holds exactly is far below 2^63")]
    let most = if is_single { ANGLES.exact } else { limits.exact } as i64 + 1;
    let numbers: Vec<usize> = ranges.keys().copied().collect();
    // Double the ranges in turn while all constraints hold, so that no range uses up the slack of another one.
    let ends = std::iter::successors(Some(2), |end: &i64| end.checked_mul(2)).take_while(|&end| end <= most);
    for (end, &number) in ends.flat_map(|end| numbers.iter().map(move |number| (end, number))) {
        let holds = |candidate: [i64; 2]| {
            let widened = ranges.iter().map(|(&other, &range)| (other, if other == number { within(number, candidate) } else { range }));
            check(graph, needed, asserted, limits, &widened.collect()).is_ok()
        };
        if let Some(candidate) = [[1 - end, end], [0, end]].into_iter().find(|&candidate| holds(candidate)) {
            ranges.insert(number, within(number, candidate));
        }
    }
    for number in numbers {
        let mut holds = |candidate: [i64; 2]| {
            let before = ranges.insert(number, within(number, candidate));
            let holds = check(graph, needed, asserted, limits, &ranges).is_ok();
            ranges.extend(before.map(|before| (number, before)));
            holds
        };
        // Negative integers are included if that costs at most half of the positive ones.
        let positive = widest(most, |end| holds([0, end]));
        let either = widest(most, |end| holds([1 - end, end]));
        let chosen = if 2 * either > positive { [1 - either, either] } else { [0, positive] };
        ranges.insert(number, within(number, chosen));
    }
    Ok(ranges)
}

/// Returns the positions of the assertions that hold for no range of the integers, including those on other numbers.
pub(in crate::import) fn unmet(graph: &Graph, asserted: &[NodeId], limits: Limits) -> Vec<usize> {
    let asked = graph.needed_for(asserted, |_| false);
    let narrowest = |number: usize| graph.integers.promised(number).unwrap_or(NARROWEST);
    let ranges = asked.iter().filter_map(|&id| graph.number_of_integers(id)).map(|number| (number, narrowest(number))).collect();
    let mut bounds = Bounds { graph, limits, ranges: &ranges, known: BTreeMap::new() };
    (0..asserted.len()).filter(|&position| bounds.fails(asserted[position])).collect()
}

/// Smallest range that integers must be allowed, that of a truth value: the first integer, and one past the last.
const NARROWEST: [i64; 2] = [0, 2];

/// Returns the largest end up to `most` for which a monotone predicate holds; 1 if it holds for none.
fn widest(most: i64, mut holds: impl FnMut(i64) -> bool) -> i64 {
    let (mut good, mut bad) = (1, most + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    good
}

/// Returns the integer tensors that the values of a node depend on; tensors that only a condition depends on are not included.
fn numbers_of_value(graph: &Graph, id: NodeId) -> BTreeSet<usize> {
    let (mut open, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match (graph.number_of_integers(id), &graph.node(id).kind) {
            (Some(number), _) => _ = found.insert(number),
            (None, Kind::Pointwise("where3", _)) => open.extend(&graph.node(id).inputs[1..]),
            _ => open.extend(&graph.node(id).inputs),
        }
    }
    found
}

fn check(
    graph: &Graph,
    needed: &[NodeId],
    asserted: &[NodeId],
    limits: Limits,
    ranges: &BTreeMap<usize, [i64; 2]>,
) -> Result<(), Unbounded> {
    let mut bounds = Bounds { graph, limits, ranges, known: BTreeMap::new() };
    for &id in needed {
        let least = graph.integers.least(id);
        #[allow(clippy::cast_precision_loss, reason = "0 or 1")]
        if least.is_some_and(|least| bounds.of(id).is_none_or(|found| found.first < least as f64)) {
            return Err(Unbounded::Least(id));
        }
        if is_compared_with_rounded(graph, id, limits) {
            return Err(Unbounded::Rounded(id));
        }
        if let Some(width) = graph.integers.width(id) {
            let end = 2_f64.powi(width.cast_signed() - 1);
            if bounds.of(id).is_none_or(|found| found.first < -end || found.last >= end) {
                return Err(Unbounded::Width(id, width));
            }
        }
        let Some(Interval { first, last, is_infinite }) = bounds.of(id) else {
            // Nothing is known of integers that are converted from floating-point numbers, so computing with them is an error.
            let is_computed = matches!(
                graph.node(id).kind,
                Kind::Matmul | Kind::Pointwise("add" | "sub" | "mul", _) | Kind::Reduce("sum" | "prod" | "mean", ..)
            );
            if graph.integers.has(id) && is_computed {
                return Err(Unbounded::Node(id));
            }
            continue;
        };
        let limits = if graph.node(id).element == Element::Single { ANGLES } else { limits };
        let limit = if graph.integers.has(id) { limits.exact } else { limits.largest };
        if !is_infinite && first.abs().max(last.abs()) > limit {
            return Err(Unbounded::Node(id));
        }
    }
    asserted.iter().position(|&id| bounds.fails(id)).map_or(Ok(()), |position| Err(Unbounded::Assertion(position)))
}

/// Returns whether a node compares integers with a constant that the format rounds to one of their possible values: the first integer beyond
/// the exact ones. Other constants beyond these remain out of range.
fn is_compared_with_rounded(graph: &Graph, id: NodeId, limits: Limits) -> bool {
    let node = graph.node(id);
    let is_comparison =
        matches!(node.kind, Kind::Pointwise("equal" | "notequal" | "greaterequal" | "greaterthan" | "lesserequal" | "lesserthan", _));
    let is_rounded = |input: &NodeId| {
        graph.node(*input).element == Element::Int
            && graph.known_of(*input).is_some_and(|known| known.numbers().any(|number| number.abs() - 1.0 == limits.exact))
    };
    is_comparison && node.inputs.iter().any(is_rounded)
}

/// Interval of possible values of a number, inclusive.
#[derive(Clone, Copy, Debug)]
struct Interval {
    first: f64,
    last: f64,
    /// Whether an infinity of the program contributes.
    is_infinite: bool,
}

impl Interval {
    fn around(self, numbers: &[f64]) -> Self {
        let (first, last) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        Self { first, last, ..self }
    }
}

struct Bounds<'a> {
    graph: &'a Graph,
    limits: Limits,
    ranges: &'a BTreeMap<usize, [i64; 2]>,
    known: BTreeMap<NodeId, Option<Interval>>,
}

impl Bounds<'_> {
    /// Returns whether a truth value may be false.
    fn fails(&mut self, truth: NodeId) -> bool {
        self.of(truth).is_none_or(|truth| truth.first != 1.0)
    }

    /// Returns the interval of a node that depends on integers and constants alone; None for other nodes. Inputs
    /// precede their users, so the intervals of the inputs of needed nodes are known.
    fn of(&mut self, id: NodeId) -> Option<Interval> {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        // This guards against a cyclic chain of views, which does not occur.
        self.known.insert(id, None);
        // A truth value is 0 or 1, regardless of its operands.
        let either = (self.graph.node(id).element == Element::Bool).then_some(Interval { first: 0.0, last: 1.0, is_infinite: false });
        // An angle is reduced to one turn, which intervals do not show.
        let is_single = self.graph.node(id).element == Element::Single && !self.graph.integers.has(id);
        let is_known = |found: &Interval| !is_single || found.first.abs().max(found.last.abs()) <= ANGLES.exact;
        let found = self.computed(id).filter(is_known).or(either);
        self.known.insert(id, found);
        found
    }

    #[allow(clippy::cast_precision_loss, reason = "ranges and sizes are far below 2^53")]
    fn computed(&mut self, id: NodeId) -> Option<Interval> {
        let graph = self.graph;
        let node = graph.node(id);
        if let Some(number) = graph.number_of_integers(id) {
            let [first, end] = self.ranges.get(&number)?;
            return Some(Interval { first: *first as f64, last: (end - 1) as f64, is_infinite: false });
        }
        if let Some(same) = graph.integers.chosen_from(id).or_else(|| graph.integers.exact(id)) {
            return self.of(same);
        }
        if let Some(found) = graph.integers.division(id).and_then(|division| self.divided(division)) {
            return Some(found);
        }
        match &node.kind {
            Kind::Known(known) => Some(self.of_known(known)),
            Kind::Filled | Kind::View(_) | Kind::Reshape => self.of(node.inputs[0]),
            Kind::Virtual(_) => self.of(*node.inputs.last()?),
            Kind::Insert(_) => {
                let part = self.of(node.inputs[0])?;
                self.joined(part, node.inputs[1])
            }
            Kind::Gather(_) => self.of(node.inputs[0]),
            Kind::Reduce(function, dim, _) => {
                let of = self.of(node.inputs[0])?;
                let size = graph.node(node.inputs[0]).shape[*dim] as f64;
                match *function {
                    "sum" => Some(Interval { first: of.first * size, last: of.last * size, ..of }),
                    "max" | "min" | "mean" => Some(of),
                    "prod" if of.first >= 0.0 && of.last <= 1.0 => Some(of),
                    _ => None,
                }
            }
            Kind::Pointwise("clip", bounds) => {
                let x = self.of(node.inputs[0])?;
                let &[first, last] = bounds.as_slice() else { return None };
                let within = |number: f64| number.max(f64::from_bits(first)).min(f64::from_bits(last));
                Some(x.around(&[within(x.first), within(x.last)]))
            }
            Kind::Pointwise(function, _) => self.pointwise(function, &node.inputs),
            // Matrix product, such as a running sum.
            Kind::Matmul => {
                let product = self.pointwise("mul", &node.inputs)?;
                let n_terms = graph.node(node.inputs[0]).shape.last().map_or(1.0, |&size| size as f64);
                Some(product.around(&[product.first * n_terms, product.last * n_terms, 0.0]))
            }
            Kind::Tensor(_) | Kind::Undefined | Kind::Refused(_) => None,
        }
    }

    fn of_known(&self, known: &Known) -> Interval {
        let within = |number: f64| number.clamp(-self.limits.largest, self.limits.largest);
        let is_infinite = known.numbers().any(|number| !number.is_finite());
        let numbers: Vec<f64> = known.numbers().filter(|number| !number.is_nan()).map(within).collect();
        Interval { first: 0.0, last: 0.0, is_infinite }.around(&numbers)
    }

    /// Returns the interval of an otherwise unbounded number under a condition that bounds it on both sides, such as
    /// `0 <= x` and `x < n`. A grid of positions chooses from an image in this way.
    fn within(&self, condition: NodeId, id: NodeId) -> Option<Interval> {
        let graph = self.graph;
        // The numeric form of an integer is that integer.
        let number = if graph.node(id).kind == Kind::Reshape { graph.node(id).inputs[0] } else { id };
        let is_it = |other: NodeId| other == number || other == id;
        // Last number below an exclusive end.
        let before = |end: f64| if is_whole(graph, number) { end.ceil() - 1.0 } else { end };
        let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut conditions, mut seen) = (vec![condition], BTreeSet::new());
        while let Some(condition) = conditions.pop() {
            if !seen.insert(condition) {
                continue;
            }
            let node = graph.node(condition);
            let (Kind::Pointwise(function, _), &[one, other]) = (&node.kind, node.inputs.as_slice()) else { continue };
            match (*function, graph.number_of(one), graph.number_of(other)) {
                ("mul", ..) if node.element == Element::Bool => conditions.extend([one, other]),
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
        (first.is_finite() && last.is_finite()).then_some(Interval { first, last, is_infinite: false })
    }

    fn joined(&mut self, one: Interval, other: NodeId) -> Option<Interval> {
        if self.graph.node(other).kind == Kind::Undefined {
            return Some(one);
        }
        let other = self.of(other)?;
        let is_infinite = one.is_infinite || other.is_infinite;
        Some(Interval { is_infinite, ..one }.around(&[one.first, one.last, other.first, other.last]))
    }

    fn pointwise(&mut self, function: &str, inputs: &[NodeId]) -> Option<Interval> {
        if let Some(truth) = self.compared(function, inputs) {
            return Some(truth);
        }
        match *inputs {
            [x] => {
                let x = self.of(x)?;
                match function {
                    "neg" => Some(x.around(&[-x.last, -x.first])),
                    "abs" if x.first <= 0.0 && x.last >= 0.0 => Some(x.around(&[0.0, -x.first, x.last])),
                    "abs" => Some(x.around(&[x.first.abs(), x.last.abs()])),
                    "floor" => Some(x.around(&[x.first.floor(), x.last.floor()])),
                    "relufwd" => Some(x.around(&[x.first.max(0.0), x.last.max(0.0)])),
                    WIDEN | NARROW => Some(x),
                    _ => None,
                }
            }
            [a, b] => {
                if let Some(taken) = self.whole_multiple(function, inputs) {
                    return Some(taken);
                }
                let (a, b) = (self.of(a)?, self.of(b)?);
                let both = Interval { is_infinite: a.is_infinite || b.is_infinite, ..a };
                match function {
                    "add" => Some(both.around(&[a.first + b.first, a.last + b.last])),
                    "sub" => Some(both.around(&[a.first - b.last, a.last - b.first])),
                    "mul" => {
                        let product = both.around(&[a.first * b.first, a.first * b.last, a.last * b.first, a.last * b.last]);
                        // A stand-in for an infinity, as in (1 - mask) * lowest, keeps its sign.
                        let is_vast = product.first.abs().max(product.last.abs()) > self.limits.largest / 2.0;
                        let turns = is_vast && product.first < 0.0 && product.last > 0.0;
                        Some(if turns { product.around(&[f64::NEG_INFINITY, f64::INFINITY]) } else { product })
                    }
                    "realdiv" if b.first > 0.0 || b.last < 0.0 => {
                        Some(both.around(&[a.first / b.first, a.first / b.last, a.last / b.first, a.last / b.last]))
                    }
                    "maximum" => Some(both.around(&[a.first.max(b.first), a.last.max(b.last)])),
                    "minimum" => Some(both.around(&[a.first.min(b.first), a.last.min(b.last)])),
                    _ => None,
                }
            }
            [condition, yes, no] if function == "where3" => match self.of(condition) {
                Some(truth) if truth.first == 1.0 => self.of(yes),
                Some(truth) if truth.last == 0.0 => self.of(no),
                _ => {
                    if let Some(refined) = self.refined_choice(condition, yes, no) {
                        return Some(refined);
                    }
                    let chosen = self.of(yes).or_else(|| self.within(condition, yes))?;
                    self.joined(chosen, no)
                }
            },
            _ => None,
        }
    }

    /// Returns the interval of `floor(x / d) * d`, which differs from `x` by at most `d`; None for other ops.
    fn whole_multiple(&mut self, function: &str, inputs: &[NodeId]) -> Option<Interval> {
        let (&[whole, by], "mul") = (inputs, function) else { return None };
        let &[quotient] = self.graph.as_pointwise(whole, "floor")? else { return None };
        let &[x, divisor] = self.graph.as_pointwise(quotient, "realdiv")? else { return None };
        let (x, by) = (self.of(x)?, self.of(by).filter(|found| divisor == by && found.first > 0.0)?);
        Some(x.around(&[x.first - by.last, x.last + by.last]))
    }

    /// Returns the result of a comparison if the ranges of both sides decide it.
    fn compared(&mut self, function: &str, inputs: &[NodeId]) -> Option<Interval> {
        if !matches!(function, "equal" | "notequal" | "greaterequal" | "greaterthan" | "lesserequal" | "lesserthan") {
            return None;
        }
        let either = Interval { first: 0.0, last: 1.0, is_infinite: false };
        let &[one, other] = inputs else { return Some(either) };
        let (Some(a), Some(b)) = (self.of(one), self.of(other)) else { return Some(either) };
        let (is_true, is_false) = match function {
            "lesserthan" => (a.last < b.first, a.first >= b.last),
            "lesserequal" => (a.last <= b.first, a.first > b.last),
            "greaterthan" => (a.first > b.last, a.last <= b.first),
            "greaterequal" => (a.first >= b.last, a.last < b.first),
            "notequal" => (a.last < b.first || b.last < a.first, false),
            _ => (false, a.last < b.first || b.last < a.first),
        };
        Some(match (is_true, is_false) {
            (true, _) => Interval { first: 1.0, ..either },
            (_, true) => Interval { last: 0.0, ..either },
            _ => either,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::quotients::divided;
    use super::*;

    fn numbers(graph: &mut Graph, number: usize) -> NodeId {
        let tensor = graph.tensor(number, vec![2, 77], Element::Int);
        graph.numbers_of(tensor).unwrap()
    }

    fn found(graph: &Graph, root: NodeId) -> Result<BTreeMap<usize, [i64; 2]>, Unbounded> {
        ranges(graph, &graph.needed_for(&[root], |_| false), &[], HALF, |number| {
            graph.integers.promised(number).unwrap_or([i64::MIN, i64::MAX])
        })
    }

    #[test]
    fn what_integers_are_divided_by_is_at_least_1() {
        let mut graph = Graph::default();
        let (x, y) = (numbers(&mut graph, 0), numbers(&mut graph, 1));
        let rest = divided(&mut graph, "arith.remsi", &[x, y], Element::F32).unwrap().unwrap();
        let of_y = found(&graph, rest).unwrap()[&1];
        assert_eq!((of_y[0], of_y[1] > 100), (1, true), "{of_y:?}");
        graph.integers.promise(1, [0, 8]);
        assert_eq!(found(&graph, rest), Err(Unbounded::Least(y)), "the caller promised other integers");
    }

    #[test]
    fn a_divisor_is_chosen_among_what_is_at_least_1() {
        let mut graph = Graph::default();
        let (x, y) = (numbers(&mut graph, 0), numbers(&mut graph, 1));
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        let is_zero = graph.pointwise("equal", &[x, zero], Element::Bool);
        let chosen = graph.pointwise("where3", &[is_zero, one, y], Element::F32);
        let rest = divided(&mut graph, "arith.remsi", &[x, chosen], Element::F32).unwrap().unwrap();
        let ranges = found(&graph, rest).unwrap();
        assert_eq!((ranges[&0][0] < 1, ranges[&1][0]), (true, 1), "a condition is no value: {ranges:?}");
    }

    #[test]
    fn a_mask_is_0_or_1() {
        let mut graph = Graph::default();
        let mask = numbers(&mut graph, 0);
        let (one, low) = (graph.number(1.0), graph.number(-3.4e38));
        let open = graph.apply("arith.subf", &[one, mask], Element::F32).unwrap();
        let bias = graph.apply("arith.mulf", &[open, low], Element::F32).unwrap();
        assert_eq!(found(&graph, bias), Ok(BTreeMap::from([(0, [0, 2])])));
    }

    #[test]
    fn a_condition_bounds_what_it_chooses() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![4, 8], Element::F16);
        let floor = graph.pointwise("floor", &[x], Element::F16);
        let (zero, width) = (graph.number(0.0), graph.number(20.0));
        let [above, below] =
            [("greaterequal", zero), ("lesserthan", width)].map(|(name, bound)| graph.pointwise(name, &[floor, bound], Element::Bool));
        let both = graph.pointwise("mul", &[above, below], Element::Bool);
        let integer = graph.apply("math.trunc", &[floor], Element::F16).unwrap();
        let mut next = |condition: NodeId| {
            let chosen = graph.pointwise("where3", &[condition, integer, zero], Element::F16);
            let next = graph.pointwise("add", &[chosen, width], Element::F16);
            graph.note_integers(next);
            (next, chosen)
        };
        let ((bounded, chosen), (open, _)) = (next(both), next(above));
        let no_ranges = BTreeMap::new();
        let mut bounds = Bounds { graph: &graph, limits: HALF, ranges: &no_ranges, known: BTreeMap::new() };
        let of = |interval: Option<Interval>| interval.map(|found| [found.first, found.last]);
        assert_eq!(of(bounds.of(chosen)), Some([0.0, 19.0]), "a whole number below 20");
        assert_eq!(of(bounds.of(bounded)), Some([20.0, 39.0]));
        assert_eq!(found(&graph, bounded), Ok(BTreeMap::new()));
        assert_eq!(found(&graph, open), Err(Unbounded::Node(open)), "bounded on one side only");
    }

    #[test]
    fn integers_that_are_compared_have_all_that_the_format_holds() {
        let mut graph = Graph::default();
        let length = numbers(&mut graph, 3);
        let zero = graph.number(0.0);
        let compared = graph.pointwise("greaterthan", &[length, zero], Element::Bool);
        assert_eq!(found(&graph, compared), Ok(BTreeMap::from([(3, [-1024, 1025])])));
        graph.integers.promise(3, [0, 5000]);
        assert_eq!(found(&graph, compared), Err(Unbounded::Node(length)));
    }

    #[test]
    fn a_negative_index_that_is_none_is_not_wrapped() {
        let mut graph = Graph::default();
        let index = numbers(&mut graph, 0);
        graph.integers.promise(0, [0, 64]);
        let (zero, rows) = (graph.number(0.0), graph.number(64.0));
        let is_negative = graph.pointwise("lesserthan", &[index, zero], Element::Bool);
        let wrapped = graph.pointwise("add", &[index, rows], Element::F32);
        let chosen = graph.pointwise("where3", &[is_negative, wrapped, index], Element::F32);
        let fits = graph.pointwise("lesserthan", &[chosen, rows], Element::Bool);
        let of = |asserted: &[NodeId]| ranges(&graph, &graph.needed_for(&[chosen], |_| false), asserted, HALF, |_| [0, 64]);
        assert_eq!(of(&[fits]), Ok(BTreeMap::from([(0, [0, 64])])));
        assert_eq!(of(&[is_negative]), Err(Unbounded::Assertion(0)));
        assert_eq!(unmet(&graph, &[fits, is_negative], HALF), [1]);
    }

    #[test]
    fn the_terms_of_a_sum_share_the_format() {
        let mut graph = Graph::default();
        let (a, b) = (numbers(&mut graph, 0), numbers(&mut graph, 1));
        let sum = graph.pointwise("add", &[a, b], Element::F32);
        graph.note_integers(sum);
        assert_eq!(found(&graph, sum), Ok(BTreeMap::from([(0, [-513, 514]), (1, [-511, 512])])));
    }

    #[test]
    fn a_wrapped_index_is_a_row() {
        let mut graph = Graph::default();
        let index = numbers(&mut graph, 0);
        graph.integers.promise(0, [-64, 64]);
        let (zero, rows) = (graph.number(0.0), graph.number(64.0));
        let is_negative = graph.pointwise("lesserthan", &[index, zero], Element::Bool);
        let wrapped = graph.pointwise("add", &[index, rows], Element::F32);
        let chosen = graph.pointwise("where3", &[is_negative, wrapped, index], Element::F32);
        let fits = graph.pointwise("lesserthan", &[chosen, rows], Element::Bool);
        let is_row = graph.pointwise("greaterequal", &[chosen, zero], Element::Bool);
        let of = |first: i64| ranges(&graph, &graph.needed_for(&[chosen], |_| false), &[fits, is_row], HALF, |_| [first, 64]);
        assert_eq!(of(-64), Ok(BTreeMap::from([(0, [-64, 64])])));
    }

    #[test]
    fn what_is_chosen_among_integers_is_one_of_them() {
        let mut graph = Graph::default();
        let ids = numbers(&mut graph, 0);
        graph.integers.promise(0, [0, 1000]);
        let [largest, smallest] = ["max", "min"].map(|function| graph.reduce(function, ids, 1));
        let one = graph.pointwise("add", &[largest, smallest], Element::F32);
        graph.note_integers(one);
        assert_eq!(found(&graph, one), Err(Unbounded::Node(one)), "999 and 999");
        graph.note_chosen_from(one, ids);
        assert_eq!(found(&graph, one), Ok(BTreeMap::from([(0, [0, 1000])])));
    }

    #[test]
    fn sums_stay_within_the_format() {
        let mut graph = Graph::default();
        let mask = numbers(&mut graph, 0);
        let sum = graph.reduce("sum", mask, 1);
        graph.note_integers(sum);
        assert_eq!(found(&graph, sum), Ok(BTreeMap::from([(0, [-13, 14])])), "77 times 13 is below 1024");
        let double = graph.pointwise("add", &[sum, sum], Element::F32);
        let many = graph.pointwise("mul", &[double, double], Element::F32);
        graph.note_integers(many);
        assert_eq!(found(&graph, many), Err(Unbounded::Node(many)));
    }
}
