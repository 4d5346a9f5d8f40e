//! Intervals of a select whose condition compares a number with a constant: `i < 0 ? i + n : i` is at least 0 for every
//! `i` from `-n` on.

use super::{IntervalAnalysis, ValueInterval};
use crate::import::graph::{NodeId, NodeKind, ValueGraph, integers::IntegerDivision};

/// Maximum number of operations between a select and the number that its condition compares.
const MAX_DEPTH: usize = 3;

/// Intervals of a number where a comparison holds, and where it does not.
struct ComparisonSides {
    number: NodeId,
    holds: ValueInterval,
    fails: ValueInterval,
}

/// Looks through additions and subtractions of constants; returns the base node, and the offset of `id` from it.
fn split_offset(graph: &ValueGraph, id: NodeId) -> (NodeId, f64) {
    let (mut base, mut offset) = (graph.device_node(id), 0.0);
    for _ in 0..MAX_DEPTH {
        let node = graph.node(base);
        let (NodeKind::Pointwise(function @ ("add" | "sub"), _), &[one, other]) = (&node.kind, node.inputs.as_slice())
        else {
            break;
        };
        match (*function, graph.as_scalar(one), graph.as_scalar(other)) {
            ("add", _, Some(number)) => (base, offset) = (one, offset + number),
            ("add", Some(number), _) => (base, offset) = (other, offset + number),
            ("sub", _, Some(number)) => (base, offset) = (one, offset - number),
            _ => break,
        }
        base = graph.device_node(base);
    }
    (base, offset)
}

/// Returns whether two nodes have the same values: they are one node, or equal views of nodes with the same values. A
/// value may have several equal views, each a node.
fn have_same_values(graph: &ValueGraph, one: NodeId, other: NodeId) -> bool {
    let (mut one, mut other) = (graph.device_node(one), graph.device_node(other));
    while one != other {
        let (first, second) = (graph.node(one), graph.node(other));
        let is_view =
            matches!(first.kind, NodeKind::View(_) | NodeKind::Reshape | NodeKind::Splat) && first.inputs.len() == 1;
        if !is_view || first.kind != second.kind || first.shape != second.shape || second.inputs.len() != 1 {
            return false;
        }
        (one, other) = (graph.device_node(first.inputs[0]), graph.device_node(second.inputs[0]));
    }
    true
}

/// Returns whether a node is integers, looking through views.
fn is_integer(graph: &ValueGraph, id: NodeId) -> bool {
    let mut id = graph.device_node(id);
    while !graph.integers.contains(id) {
        match (&graph.node(id).kind, graph.node(id).inputs.as_slice()) {
            (NodeKind::View(_) | NodeKind::Reshape | NodeKind::Splat, &[viewed]) => id = graph.device_node(viewed),
            _ => return false,
        }
    }
    true
}

impl IntervalAnalysis<'_> {
    /// Returns the interval of a select between `yes` and `no`, if its condition compares an integer with a constant.
    pub(super) fn refine_select(&mut self, condition: NodeId, yes: NodeId, no: NodeId) -> Option<ValueInterval> {
        let ComparisonSides { number, holds, fails } = self.find_sides(condition)?;
        let is_empty = |side: &ValueInterval| side.first > side.last;
        let chosen = if is_empty(&holds) { None } else { Some(self.refine_interval(yes, number, holds, MAX_DEPTH)?) };
        let other = if is_empty(&fails) { None } else { Some(self.refine_interval(no, number, fails, MAX_DEPTH)?) };
        match (chosen, other) {
            (Some(one), Some(other)) => {
                let is_infinite = one.is_infinite || other.is_infinite;
                Some(ValueInterval { is_infinite, ..one }.with_hull(&[one.first, one.last, other.first, other.last]))
            }
            (one, other) => one.or(other),
        }
    }

    /// Returns the interval of the quotient or the remainder of a division. Returns None if the divisor may be below 1.
    pub(super) fn division_interval(
        &mut self,
        IntegerDivision { dividend, divisor, is_remainder: is_rest }: IntegerDivision,
    ) -> Option<ValueInterval> {
        let (x, by) = (self.interval(dividend)?, self.interval(divisor)?);
        if by.first < 1.0 {
            return None;
        }
        if is_rest {
            let last = if x.first >= 0.0 { x.last.min(by.last - 1.0) } else { by.last - 1.0 };
            return Some(x.with_hull(&[0.0, last]));
        }
        let ends = [x.first / by.first, x.first / by.last, x.last / by.first, x.last / by.last];
        Some(x.with_hull(&ends.map(f64::floor)))
    }

    /// Returns the sides of a comparison of an integer, whose range is known, with a constant.
    fn find_sides(&mut self, condition: NodeId) -> Option<ComparisonSides> {
        let graph = self.graph;
        let node = graph.node(graph.device_node(condition));
        let (NodeKind::Pointwise(function, _), &[one, other]) = (&node.kind, node.inputs.as_slice()) else {
            return None;
        };
        let (number, bound, is_first) = match (graph.as_scalar(one), graph.as_scalar(other)) {
            (None, Some(bound)) => (one, bound, true),
            (Some(bound), None) => (other, bound, false),
            _ => return None,
        };
        if !is_integer(graph, number) || bound.fract() != 0.0 {
            return None;
        }
        let whole = self.interval(number)?;
        let below = |end: f64| ValueInterval { last: whole.last.min(end), ..whole };
        let above = |first: f64| ValueInterval { first: whole.first.max(first), ..whole };
        let at = |bound: f64| ValueInterval { first: whole.first.max(bound), last: whole.last.min(bound), ..whole };
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
        Some(ComparisonSides { number, holds, fails })
    }

    /// Returns the interval of a node while `number` is within an interval, if the node is computed from `number` by
    /// few sums and differences. Returns None otherwise.
    fn refine_interval(
        &mut self,
        id: NodeId,
        number: NodeId,
        within: ValueInterval,
        depth: usize,
    ) -> Option<ValueInterval> {
        let graph = self.graph;
        let id = graph.integers.exact_node(id).unwrap_or(id);
        let ((base, offset), (base_of_number, offset_of_number)) =
            (split_offset(graph, id), split_offset(graph, number));
        if have_same_values(graph, base, base_of_number) {
            let by = offset - offset_of_number;
            return Some(ValueInterval { first: within.first + by, last: within.last + by, ..within });
        }
        let node = graph.node(id);
        match (&node.kind, node.inputs.as_slice()) {
            (NodeKind::Pointwise(function @ ("add" | "sub"), _), &[one, other]) if depth > 0 => {
                let one = self.refine_interval(one, number, within, depth - 1)?;
                let other = self.refine_interval(other, number, within, depth - 1)?;
                let both = ValueInterval { is_infinite: one.is_infinite || other.is_infinite, ..one };
                Some(match *function {
                    "add" => both.with_hull(&[one.first + other.first, one.last + other.last]),
                    _ => both.with_hull(&[one.first - other.last, one.last - other.first]),
                })
            }
            _ => self.interval(id),
        }
    }
}
