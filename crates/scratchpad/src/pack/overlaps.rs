//! Pairs of items whose live ranges overlap.

use super::problem::PackingProblem;

/// Overlap of an item's live range with that of another item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ItemOverlap {
    pub(super) other: u32,
    /// Minimum offset difference if the other item is above this one: the height of this item where both are live.
    pub(super) own_height: i32,
    /// Minimum offset difference if this item is above the other one: the height of the other item where both are live.
    pub(super) other_height: i32,
}

/// Overlaps of each item.
pub(super) struct ItemOverlaps {
    begin: Vec<usize>,
    contacts: Vec<ItemOverlap>,
}

impl ItemOverlaps {
    /// Computes the overlaps; `heights` are those of the outline runs. Returns `None` if there are more than `most`.
    pub(super) fn new(problem: &PackingProblem, heights: &[i32], most: usize) -> Option<Self> {
        let mut item_of = vec![0_u32; problem.runs.len()];
        for (item, index) in problem.items.iter().zip(0..) {
            item_of[item.runs.clone()].fill(index);
        }
        let mut begin = vec![0; problem.items.len() + 1];
        let mut count = 0;
        visit_overlapping_runs(problem, |left, right| {
            begin[item_of[left] as usize + 1] += 1;
            begin[item_of[right] as usize + 1] += 1;
            count += 2;
            count <= most
        });
        if count > most {
            return None;
        }
        for item in 0..problem.items.len() {
            begin[item + 1] += begin[item];
        }
        let mut next = begin.clone();
        let mut contacts = vec![ItemOverlap::default(); count];
        visit_overlapping_runs(problem, |left, right| {
            for (run, other) in [(left, right), (right, left)] {
                let next = &mut next[item_of[run] as usize];
                contacts[*next] =
                    ItemOverlap { other: item_of[other], own_height: heights[run], other_height: heights[other] };
                *next += 1;
            }
            true
        });
        Some(Self { begin, contacts }.merge_duplicates(problem))
    }

    /// Merges the overlaps of each pair of items into one, with the maximum heights. Shapes with several runs may
    /// overlap more than once.
    fn merge_duplicates(self, problem: &PackingProblem) -> Self {
        if problem.runs.len() == problem.items.len() {
            return self;
        }
        let (mut begin, mut contacts) = (vec![0], Vec::with_capacity(self.contacts.len()));
        for item in 0..problem.items.len() {
            let mut own = self.overlaps_of_item(item).to_vec();
            own.sort_by_key(|contact| contact.other);
            own.dedup_by(|contact, kept| {
                let is_same = contact.other == kept.other;
                if is_same {
                    kept.own_height = kept.own_height.max(contact.own_height);
                    kept.other_height = kept.other_height.max(contact.other_height);
                }
                is_same
            });
            contacts.append(&mut own);
            begin.push(contacts.len());
        }
        Self { begin, contacts }
    }

    /// Returns the overlaps of an item.
    pub(super) fn overlaps_of_item(&self, item: usize) -> &[ItemOverlap] {
        &self.contacts[self.begin[item]..self.begin[item + 1]]
    }
}

/// Visits each pair of runs that share a section, until the callback returns false.
fn visit_overlapping_runs(problem: &PackingProblem, mut visit: impl FnMut(usize, usize) -> bool) {
    let mut starts: Vec<usize> = (0..problem.runs.len()).collect();
    starts.sort_by_key(|&run| problem.runs[run].sections.start);
    let mut live: Vec<usize> = Vec::new();
    for run in starts {
        let first = problem.runs[run].sections.start;
        live.retain(|&other| problem.runs[other].sections.end > first);
        if !live.iter().all(|&other| visit(other, run)) {
            return;
        }
        live.push(run);
    }
}
