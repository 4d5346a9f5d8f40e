//! Chooses which child reuses the address of which parent in one operation, so that the maximum number of units is saved.

use super::moment::Moment;

/// No child.
const NONE: usize = usize::MAX;

/// Best pairs of child and parent among the items that are in LX.
pub(super) struct Mergers {
    /// Per item: whether it is in LX during the operation.
    pub(super) inside: Vec<bool>,
    /// Per item: the child that takes over its address.
    child_of: Vec<usize>,
    /// Per item: the last search that visited it.
    asked: Vec<u64>,
    n_searches: u64,
}

impl Mergers {
    pub(super) const fn new() -> Self {
        Self { inside: Vec::new(), child_of: Vec::new(), asked: Vec::new(), n_searches: 0 }
    }

    /// Creates the matching with nothing in LX.
    pub(super) fn clear(&mut self, moment: &Moment) {
        self.inside.clear();
        self.inside.resize(moment.items.len(), false);
        if self.asked.len() < moment.items.len() {
            self.asked.resize(moment.items.len(), 0);
        }
    }

    /// Returns the units that the best takeovers save: children are matched by descending size.
    pub(super) fn saved_units(&mut self, moment: &Moment) -> i64 {
        self.child_of.clear();
        self.child_of.resize(moment.items.len(), NONE);
        let mut saved = 0;
        for &child in &moment.children {
            self.n_searches += 1;
            if self.inside[child] && self.find_parent(moment, child) {
                saved += moment.items[child].units;
            }
        }
        saved
    }

    /// Finds a parent for a child, by an augmenting path if necessary.
    fn find_parent(&mut self, moment: &Moment, child: usize) -> bool {
        for &parent in &moment.items[child].parents {
            if self.asked[parent] == self.n_searches || !self.inside[parent] {
                continue;
            }
            self.asked[parent] = self.n_searches;
            let other = self.child_of[parent];
            if other == NONE || self.find_parent(moment, other) {
                self.child_of[parent] = child;
                return true;
            }
        }
        false
    }

    /// Returns the pairs of child and parent that [`Self::saved_units`] found.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.child_of.iter().enumerate().filter(|(_, child)| **child != NONE).map(|(parent, &child)| (child, parent))
    }
}
