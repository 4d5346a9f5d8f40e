//! The state of a search: least offsets that only rise on the way down and are taken back on the way up.

use super::problem::{Problem, Run};

/// An item that another one is live with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) other: u32,
    /// Height of this item where both are live: how far above this one the other must be.
    pub(super) own: i32,
    /// Height of the other item there.
    pub(super) its: i32,
}

/// Which items are live together.
pub(super) struct Contacts {
    begin: Vec<u32>,
    contacts: Vec<Contact>,
}

impl Contacts {
    /// `None` when there are more than `most`.
    pub(super) fn of(problem: &Problem, most: usize) -> Option<Self> {
        let item_of = item_of_run(problem);
        let mut starts: Vec<usize> = (0..problem.runs.len()).collect();
        starts.sort_by_key(|&run| problem.runs[run].first);
        let mut live: Vec<usize> = Vec::new();
        let mut pairs: Vec<(u32, Contact)> = Vec::new();
        for run in starts {
            let Run { first, height, .. } = problem.runs[run];
            live.retain(|&other| problem.runs[other].end > first);
            if pairs.len() + 2 * live.len() > most {
                return None;
            }
            for &other in &live {
                let its = problem.runs[other].height;
                pairs.push((item_of[run], Contact { other: item_of[other], own: height, its }));
                pairs.push((item_of[other], Contact { other: item_of[run], own: its, its: height }));
            }
            live.push(run);
        }
        Some(Self::sorted(problem, pairs))
    }

    fn sorted(problem: &Problem, mut pairs: Vec<(u32, Contact)>) -> Self {
        pairs.sort_unstable_by_key(|(item, contact)| (*item, contact.other));
        // Shapes of several runs meet more than once.
        pairs.dedup_by(|(item, contact), (first, kept)| {
            let same = item == first && contact.other == kept.other;
            if same {
                kept.own = kept.own.max(contact.own);
                kept.its = kept.its.max(contact.its);
            }
            same
        });
        let mut begin = vec![0; problem.items.len() + 1];
        for (item, _) in &pairs {
            begin[*item as usize + 1] += 1;
        }
        for item in 0..problem.items.len() {
            begin[item + 1] += begin[item];
        }
        Self { begin, contacts: pairs.into_iter().map(|(_, contact)| contact).collect() }
    }

    /// The contacts of an item.
    pub(super) fn of_item(&self, item: usize) -> &[Contact] {
        &self.contacts[self.begin[item] as usize..self.begin[item + 1] as usize]
    }
}

fn item_of_run(problem: &Problem) -> Vec<u32> {
    let mut item_of = vec![0; problem.runs.len()];
    for (item, index) in problem.items.iter().zip(0..) {
        item_of[item.runs.clone()].fill(index);
    }
    item_of
}

/// What was before a change.
#[derive(Clone, Copy)]
struct Change {
    item: u32,
    low: i32,
    bound: i32,
}

/// How far back to go.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    changes: usize,
    placed: usize,
}

/// The offset bounds of the items that are not placed yet, and the offsets of those that are.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem,
    contacts: &'a Contacts,
    /// The highest top among the placed items that it is live with: where it would come to rest now.
    pub(super) low: Vec<i32>,
    /// A lower bound of its offset. Where this is above `low` the item rests on something that is still to come.
    pub(super) bound: Vec<i32>,
    pub(super) offsets: Vec<i32>,
    changes: Vec<Change>,
    placed: Vec<u32>,
    /// Unplaced items that are live on both sides of the boundary in front of a section.
    pub(super) crossing: Vec<u32>,
}

/// The bounds of a placed item: nothing raises them.
const PLACED: i32 = i32::MAX / 2;

impl<'a> State<'a> {
    pub(super) fn new(problem: &'a Problem, contacts: &'a Contacts) -> Self {
        let low: Vec<i32> = problem.items.iter().map(|item| item.base).collect();
        let mut crossing = vec![0; problem.n_sections + 1];
        for item in &problem.items {
            crossing[item.sections.start + 1..item.sections.end].iter_mut().for_each(|count| *count += 1);
        }
        Self { problem, contacts, bound: low.clone(), offsets: low.clone(), low, changes: Vec::new(), placed: Vec::new(), crossing }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { changes: self.changes.len(), placed: self.placed.len() }
    }

    fn note(&mut self, item: u32) {
        let index = item as usize;
        self.changes.push(Change { item, low: self.low[index], bound: self.bound[index] });
    }

    /// Places an item where it rests now. Says whether that leaves a boundary that no unplaced item crosses; the items that it raises
    /// are appended to `raised`.
    pub(super) fn place(&mut self, item: u32, raised: &mut Vec<u32>) -> bool {
        let index = item as usize;
        let offset = self.low[index];
        self.note(item);
        self.placed.push(item);
        self.offsets[index] = offset;
        self.low[index] = PLACED;
        self.bound[index] = PLACED;
        for contact in self.contacts.of_item(index) {
            let (other, top) = (contact.other as usize, offset + contact.own);
            if self.low[other] < top {
                self.changes.push(Change { item: contact.other, low: self.low[other], bound: self.bound[other] });
                self.low[other] = top;
                self.bound[other] = self.bound[other].max(top);
                raised.push(contact.other);
            }
        }
        let sections = &self.problem.items[index].sections;
        let mut least = u32::MAX;
        for count in &mut self.crossing[sections.start + 1..sections.end] {
            *count -= 1;
            least = least.min(*count);
        }
        least == 0
    }

    /// Raises the bound of an item that is not placed.
    pub(super) fn raise(&mut self, item: u32, bound: i32) {
        self.note(item);
        self.bound[item as usize] = bound;
    }

    /// Takes back everything since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        for change in self.changes.drain(mark.changes..).rev() {
            self.low[change.item as usize] = change.low;
            self.bound[change.item as usize] = change.bound;
        }
        for item in self.placed.drain(mark.placed..) {
            let sections = &self.problem.items[item as usize].sections;
            self.crossing[sections.start + 1..sections.end].iter_mut().for_each(|count| *count += 1);
        }
    }

    /// The least offset of an item that does not rest where it could now, when everything else comes at `floor` or above: an item that
    /// is still to come, a *blocker*, reaches into the place where it could rest, and it is above that blocker. `None` without blockers.
    pub(super) fn above_blocker(&self, item: u32, floor: i32) -> Option<i32> {
        let index = item as usize;
        let low = self.low[index];
        let mut least = PLACED;
        for contact in self.contacts.of_item(index) {
            let at = self.bound[contact.other as usize].max(floor);
            if at < low + contact.own {
                least = least.min(at + contact.its);
            }
        }
        (least < PLACED).then_some(least)
    }
}
