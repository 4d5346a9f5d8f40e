//! Segment tree that finds the free offsets over a live range without a scan of all live items.

use std::ops::Range;

/// Disjoint unit ranges, by address. Adjacent ranges are merged.
#[derive(Clone, Debug, Default)]
struct UnitRanges(Vec<(i64, i64)>);

impl UnitRanges {
    fn add(&mut self, start: i64, end: i64) {
        let stretches = &mut self.0;
        let first = stretches.partition_point(|stretch| stretch.1 < start);
        let after = first + stretches[first..].partition_point(|stretch| stretch.0 <= end);
        if first == after {
            stretches.insert(first, (start, end));
            return;
        }
        stretches[first] = (stretches[first].0.min(start), stretches[after - 1].1.max(end));
        stretches.drain(first + 1..after);
    }
}

/// Occupied units per section, as a segment tree whose root is 1.
///
/// A node stores the units that items occupy in *all* of its sections, and the units that they occupy in *any* of them.
/// Both sets consist of few ranges in a good packing.
pub(super) struct OccupancyTree {
    num_leaves: usize,
    all: Vec<UnitRanges>,
    any: Vec<UnitRanges>,
    /// Nodes that the current query examines. Each has the set of ranges (`any` or not), the number of ranges below the
    /// offset, and the requested height.
    query_nodes: Vec<QueryNode>,
}

#[derive(Clone, Copy)]
struct QueryNode {
    node: usize,
    is_any: bool,
    passed: usize,
    height: i64,
}

impl OccupancyTree {
    pub(super) fn new(num_sections: usize) -> Self {
        let num_leaves = num_sections.next_power_of_two();
        let empty = vec![UnitRanges::default(); 2 * num_leaves];
        Self { num_leaves, all: empty.clone(), any: empty, query_nodes: Vec::new() }
    }

    /// Visits the nodes that together cover the sections.
    fn visit_covering_nodes(&self, sections: &Range<usize>, mut visit: impl FnMut(usize)) {
        let (mut left, mut right) = (sections.start + self.num_leaves, sections.end + self.num_leaves);
        while left < right {
            if left % 2 == 1 {
                visit(left);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                visit(right);
            }
            (left, right) = (left / 2, right / 2);
        }
    }

    /// Visits the ancestors of the first and of the last section, each once.
    fn visit_ancestors(&self, sections: &Range<usize>, mut visit: impl FnMut(usize)) {
        let (mut left, mut right) = ((sections.start + self.num_leaves) / 2, (sections.end - 1 + self.num_leaves) / 2);
        while left > 0 {
            visit(left);
            if right != left {
                visit(right);
            }
            (left, right) = (left / 2, right / 2);
        }
    }

    /// Marks the units `start..behind` as occupied in these sections.
    pub(super) fn occupy(&mut self, sections: &Range<usize>, start: i64, after: i64) {
        let mut covering = Vec::new();
        self.visit_covering_nodes(sections, |node| covering.push(node));
        for node in covering {
            self.all[node].add(start, after);
            self.any[node].add(start, after);
        }
        let mut above = Vec::new();
        self.visit_ancestors(sections, |node| above.push(node));
        for node in above {
            self.any[node].add(start, after);
        }
    }

    /// Begins a query without conditions.
    pub(super) fn begin_query(&mut self) {
        self.query_nodes.clear();
    }

    /// Adds a condition to the query: `height` units from the offset are free in these sections.
    pub(super) fn require_free(&mut self, sections: &Range<usize>, height: i64) {
        let mut views = std::mem::take(&mut self.query_nodes);
        let view = |node, is_any| QueryNode { node, is_any, passed: 0, height };
        self.visit_covering_nodes(sections, |node| {
            if !self.any[node].0.is_empty() {
                views.push(view(node, true));
            }
        });
        self.visit_ancestors(sections, |node| {
            if !self.all[node].0.is_empty() {
                views.push(view(node, false));
            }
        });
        self.query_nodes = views;
    }

    /// Returns the lowest offset, at least `least`, that satisfies all conditions of the query.
    pub(super) fn find_lowest_offset(&mut self, least: i64) -> i64 {
        let mut offset = least;
        let (mut index, mut agreed) = (0, 0);
        while agreed < self.query_nodes.len() {
            let view = &mut self.query_nodes[index];
            let stretches = if view.is_any { &self.any[view.node].0 } else { &self.all[view.node].0 };
            view.passed += stretches[view.passed..].partition_point(|stretch| stretch.1 <= offset);
            match stretches.get(view.passed) {
                Some(stretch) if stretch.0 < offset + view.height => {
                    offset = stretch.1;
                    agreed = 0;
                }
                _ => {
                    agreed += 1;
                    index = if index + 1 == self.query_nodes.len() { 0 } else { index + 1 };
                }
            }
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_adjacent_ranges() {
        let mut stretches = UnitRanges::default();
        for (start, end) in [(8, 10), (0, 2), (4, 6), (2, 3), (5, 9)] {
            stretches.add(start, end);
        }
        assert_eq!(stretches.0, [(0, 3), (4, 10)]);
        stretches.add(1, 2);
        assert_eq!(stretches.0, [(0, 3), (4, 10)]);
    }

    #[test]
    fn finds_lowest_gap_over_live_range() {
        let mut gaps = OccupancyTree::new(5);
        gaps.occupy(&(0..2), 0, 4);
        gaps.occupy(&(1..5), 6, 8);
        let mut lowest = |sections: Range<usize>, height| {
            gaps.begin_query();
            gaps.require_free(&sections, height);
            gaps.find_lowest_offset(0)
        };
        assert_eq!(lowest(0..1, 3), 4);
        assert_eq!(lowest(0..5, 2), 4);
        assert_eq!(lowest(0..5, 3), 8);
        assert_eq!(lowest(2..5, 6), 0);
        assert_eq!(lowest(2..5, 7), 8);
    }
}
