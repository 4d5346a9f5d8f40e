//! Intervals of a select whose condition compares a number with a known one: `i < 0 ? i + n : i` is at least 0 for
//! every `i` from `-n` on.

use super::{Bounds, Interval};
use crate::import::graph::{Graph, Kind, NodeId, integers::Division};

/// Maximum number of operations between a select and the number that its condition compares.
const MAX_DEPTH: usize = 3;

/// The values of a number for which a comparison holds, and those for which it does not.
struct Sides {
    number: NodeId,
    holds: Interval,
    fails: Interval,
}

/// The node that a node is but for known numbers that are added or subtracted, and their sum.
fn without_offset(graph: &Graph, id: NodeId) -> (NodeId, f64) {
    let (mut base, mut offset) = (graph.on_device(id), 0.0);
    for _ in 0..MAX_DEPTH {
        let node = graph.node(base);
        let (Kind::Pointwise(function @ ("add" | "sub"), _), &[one, other]) = (&node.kind, node.inputs.as_slice()) else { break };
        match (*function, graph.number_of(one), graph.number_of(other)) {
            ("add", _, Some(number)) => (base, offset) = (one, offset + number),
            ("add", Some(number), _) => (base, offset) = (other, offset + number),
            ("sub", _, Some(number)) => (base, offset) = (one, offset - number),
            _ => break,
        }
        base = graph.on_device(base);
    }
    (base, offset)
}

/// Whether two nodes have the same values: one node, or the same view of such. A value that is shown under other indices has a node for each time.
fn is_same(graph: &Graph, one: NodeId, other: NodeId) -> bool {
    let (mut one, mut other) = (graph.on_device(one), graph.on_device(other));
    while one != other {
        let (first, second) = (graph.node(one), graph.node(other));
        let is_view = matches!(first.kind, Kind::View(_) | Kind::Reshape | Kind::Filled) && first.inputs.len() == 1;
        if !is_view || first.kind != second.kind || first.shape != second.shape || second.inputs.len() != 1 {
            return false;
        }
        (one, other) = (graph.on_device(first.inputs[0]), graph.on_device(second.inputs[0]));
    }
    true
}

/// Returns whether a node is integers, looking through views.
fn is_integer(graph: &Graph, id: NodeId) -> bool {
    let mut id = graph.on_device(id);
    while !graph.integers.has(id) {
        match (&graph.node(id).kind, graph.node(id).inputs.as_slice()) {
            (Kind::View(_) | Kind::Reshape | Kind::Filled, &[shown]) => id = graph.on_device(shown),
            _ => return false,
        }
    }
    true
}

impl Bounds<'_> {
    /// Returns what a choice between `yes` and `no` may be, if its condition compares an integer with a known number.
    pub(super) fn refined_choice(&mut self, condition: NodeId, yes: NodeId, no: NodeId) -> Option<Interval> {
        let Sides { number, holds, fails } = self.sides_of(condition)?;
        let is_empty = |side: &Interval| side.first > side.last;
        let chosen = if is_empty(&holds) { None } else { Some(self.interval_where(yes, number, holds, MAX_DEPTH)?) };
        let other = if is_empty(&fails) { None } else { Some(self.interval_where(no, number, fails, MAX_DEPTH)?) };
        match (chosen, other) {
            (Some(one), Some(other)) => {
                let is_infinite = one.is_infinite || other.is_infinite;
                Some(Interval { is_infinite, ..one }.around(&[one.first, one.last, other.first, other.last]))
            }
            (one, other) => one.or(other),
        }
    }

    /// Returns what the quotient or the rest of a division may be; none if the divisor may be below 1.
    pub(super) fn divided(&mut self, Division { dividend, divisor, is_rest }: Division) -> Option<Interval> {
        let (x, by) = (self.of(dividend)?, self.of(divisor)?);
        if by.first < 1.0 {
            return None;
        }
        if is_rest {
            let last = if x.first >= 0.0 { x.last.min(by.last - 1.0) } else { by.last - 1.0 };
            return Some(x.around(&[0.0, last]));
        }
        let ends = [x.first / by.first, x.first / by.last, x.last / by.first, x.last / by.last];
        Some(x.around(&ends.map(f64::floor)))
    }

    /// The sides of a comparison of an integer, of which the range is known, with a known number.
    fn sides_of(&mut self, condition: NodeId) -> Option<Sides> {
        let graph = self.graph;
        let node = graph.node(graph.on_device(condition));
        let (Kind::Pointwise(function, _), &[one, other]) = (&node.kind, node.inputs.as_slice()) else { return None };
        let (number, bound, is_first) = match (graph.number_of(one), graph.number_of(other)) {
            (None, Some(bound)) => (one, bound, true),
            (Some(bound), None) => (other, bound, false),
            _ => return None,
        };
        if !is_integer(graph, number) || bound.fract() != 0.0 {
            return None;
        }
        let whole = self.of(number)?;
        let below = |end: f64| Interval { last: whole.last.min(end), ..whole };
        let above = |first: f64| Interval { first: whole.first.max(first), ..whole };
        let at = |bound: f64| Interval { first: whole.first.max(bound), last: whole.last.min(bound), ..whole };
        let other_than = |bound: f64| match () {
            () if bound == whole.first => above(bound + 1.0),
            () if bound == whole.last => below(bound - 1.0),
            () => whole,
        };
        let (holds, fails) = match (*function, is_first) {
            ("lesserthan", true) | ("greaterthan", false) => (below(bound - 1.0), above(bound)),
            ("lesserequal", true) | ("greaterequal", false) => (below(bound), above(bound + 1.0)),
            ("greaterthan", true) | ("lesserthan", false) => (above(bound + 1.0), below(bound)),
            ("greaterequal", true) | ("lesserequal", false) => (above(bound), below(bound - 1.0)),
            ("equal", _) => (at(bound), other_than(bound)),
            ("notequal", _) => (other_than(bound), at(bound)),
            _ => return None,
        };
        Some(Sides { number, holds, fails })
    }

    /// Returns the interval of a node while `number` is within an interval, if the node is computed from `number` by
    /// few sums and differences. None otherwise.
    fn interval_where(&mut self, id: NodeId, number: NodeId, within: Interval, depth: usize) -> Option<Interval> {
        let graph = self.graph;
        let id = graph.integers.exact(id).unwrap_or(id);
        let ((base, offset), (base_of_number, offset_of_number)) = (without_offset(graph, id), without_offset(graph, number));
        if is_same(graph, base, base_of_number) {
            let by = offset - offset_of_number;
            return Some(Interval { first: within.first + by, last: within.last + by, ..within });
        }
        let node = graph.node(id);
        match (&node.kind, node.inputs.as_slice()) {
            (Kind::Pointwise(function @ ("add" | "sub"), _), &[one, other]) if depth > 0 => {
                let one = self.interval_where(one, number, within, depth - 1)?;
                let other = self.interval_where(other, number, within, depth - 1)?;
                let both = Interval { is_infinite: one.is_infinite || other.is_infinite, ..one };
                Some(match *function {
                    "add" => both.around(&[one.first + other.first, one.last + other.last]),
                    _ => both.around(&[one.first - other.last, one.last - other.first]),
                })
            }
            _ => self.of(id),
        }
    }
}
