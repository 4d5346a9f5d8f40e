//! Matching of children and parents in one operation: which child reuses which parent's address, so that the saved
//! units are maximal.

use super::schedule_step::ScheduleStep;

/// Marks a parent without a child.
const NO_CHILD: usize = usize::MAX;

/// Best matching of children and parents among the items that are in LX.
pub(super) struct ReuseMatching {
    /// Per item: whether it is in LX during the operation.
    pub(super) inside: Vec<bool>,
    /// Per item: the child that reuses its address.
    child_of: Vec<usize>,
    /// Per item: the last search that visited it.
    visited: Vec<u64>,
    num_searches: u64,
}

impl ReuseMatching {
    pub(super) const fn new() -> Self {
        Self { inside: Vec::new(), child_of: Vec::new(), visited: Vec::new(), num_searches: 0 }
    }

    /// Resets the matching for an operation, with no item in LX.
    pub(super) fn clear(&mut self, moment: &ScheduleStep) {
        self.inside.clear();
        self.inside.resize(moment.items.len(), false);
        if self.visited.len() < moment.items.len() {
            self.visited.resize(moment.items.len(), 0);
        }
    }

    /// Computes the best matching and returns the units that it saves. Children are matched by descending size.
    pub(super) fn compute_saved_units(&mut self, moment: &ScheduleStep) -> i64 {
        self.child_of.clear();
        self.child_of.resize(moment.items.len(), NO_CHILD);
        let mut saved = 0;
        for &child in &moment.children {
            self.num_searches += 1;
            if self.inside[child] && self.match_parent(moment, child) {
                saved += moment.items[child].units;
            }
        }
        saved
    }

    /// Finds a parent for a child, by an augmenting path if necessary. Returns whether there is one.
    fn match_parent(&mut self, moment: &ScheduleStep, child: usize) -> bool {
        for &parent in &moment.items[child].parents {
            if self.visited[parent] == self.num_searches || !self.inside[parent] {
                continue;
            }
            self.visited[parent] = self.num_searches;
            let other = self.child_of[parent];
            if other == NO_CHILD || self.match_parent(moment, other) {
                self.child_of[parent] = child;
                return true;
            }
        }
        false
    }

    /// Returns the pairs of child and parent of the matching that [`Self::compute_saved_units`] computed.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.child_of
            .iter()
            .enumerate()
            .filter(|(_, child)| **child != NO_CHILD)
            .map(|(parent, &child)| (child, parent))
    }
}
