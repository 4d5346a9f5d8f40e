//! Pairs of items whose live ranges overlap.

use super::problem::Problem;

/// Item whose live range overlaps that of another one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contact {
    pub(super) other: u32,
    /// Minimum difference of the two offsets if the other item is above this one: the height of this item where both are live.
    pub(super) own: i32,
    /// Height of the other item where both are live.
    pub(super) its: i32,
}

/// Contacts of each item.
pub(super) struct Contacts {
    begin: Vec<usize>,
    contacts: Vec<Contact>,
}

impl Contacts {
    /// Computes the contacts; `heights` are those of the runs. `None` if there are more than `most` contacts.
    pub(super) fn of(problem: &Problem, heights: &[i32], most: usize) -> Option<Self> {
        let mut item_of = vec![0_u32; problem.runs.len()];
        for (item, index) in problem.items.iter().zip(0..) {
            item_of[item.runs.clone()].fill(index);
        }
        let mut begin = vec![0; problem.items.len() + 1];
        let mut count = 0;
        for_each_pair(problem, |left, right| {
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
        let mut contacts = vec![Contact::default(); count];
        for_each_pair(problem, |left, right| {
            for (run, other) in [(left, right), (right, left)] {
                let next = &mut next[item_of[run] as usize];
                contacts[*next] = Contact { other: item_of[other], own: heights[run], its: heights[other] };
                *next += 1;
            }
            true
        });
        Some(Self { begin, contacts }.merged(problem))
    }

    /// Shapes of several runs may overlap in time more than once: the maximum height counts.
    fn merged(self, problem: &Problem) -> Self {
        if problem.runs.len() == problem.items.len() {
            return self;
        }
        let (mut begin, mut contacts) = (vec![0], Vec::with_capacity(self.contacts.len()));
        for item in 0..problem.items.len() {
            let mut own = self.of_item(item).to_vec();
            own.sort_by_key(|contact| contact.other);
            own.dedup_by(|contact, kept| {
                let is_same = contact.other == kept.other;
                if is_same {
                    kept.own = kept.own.max(contact.own);
                    kept.its = kept.its.max(contact.its);
                }
                is_same
            });
            contacts.append(&mut own);
            begin.push(contacts.len());
        }
        Self { begin, contacts }
    }

    /// Returns the contacts of an item.
    pub(super) fn of_item(&self, item: usize) -> &[Contact] {
        &self.contacts[self.begin[item]..self.begin[item + 1]]
    }
}

/// Visits each pair of runs that share a section, until the callback stops it.
fn for_each_pair(problem: &Problem, mut visit: impl FnMut(usize, usize) -> bool) {
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
