//! State of a search: bounds of offsets, which rise on descent and are restored on backtracking.

use super::overlaps::ItemOverlaps;
use super::problem::PackingProblem;
use std::{ops::Range, rc::Rc};

/// Previous bounds of an item, for undoing a change.
#[derive(Clone, Copy)]
struct BoundChange {
    item: u32,
    low: i32,
    bound: i32,
}

/// Position in the undo log.
#[derive(Clone, Copy)]
pub(super) struct UndoMark {
    changes: usize,
    placed: usize,
}

/// Bounds of the unplaced items, and offsets of the placed items.
pub(super) struct PackingState {
    contacts: Rc<ItemOverlaps>,
    /// Sections in which each item is live.
    pub(super) sections: Vec<Range<usize>>,
    /// Maximum top of the placed items that are live together with the item: the offset at which it rests now.
    pub(super) low: Vec<i32>,
    /// Lower bound of the item's offset. If it exceeds `low`, the item will rest on an unplaced item.
    pub(super) bound: Vec<i32>,
    pub(super) offsets: Vec<i32>,
    changes: Vec<BoundChange>,
    placed: Vec<u32>,
    /// Per boundary before a section: number of unplaced items that are live on both sides.
    pub(super) crossing: Vec<u32>,
    /// Per section: number of unplaced items that are live in it.
    pub(super) live: Vec<u32>,
}

/// Bound of a placed item: nothing raises it, and the item blocks nothing.
const PLACED_BOUND: i32 = i32::MAX / 2;

impl PackingState {
    /// Creates the state with nothing placed; the minimum offsets are `base`.
    pub(super) fn new(problem: &PackingProblem, contacts: Rc<ItemOverlaps>, base: Vec<i32>) -> Self {
        let mut crossing = vec![0; problem.num_sections + 1];
        let mut live = vec![0; problem.num_sections];
        let sections: Vec<Range<usize>> = problem.items.iter().map(|item| item.sections.clone()).collect();
        for sections in &sections {
            crossing[sections.start + 1..sections.end].iter_mut().for_each(|count| *count += 1);
            live[sections.clone()].iter_mut().for_each(|count| *count += 1);
        }
        let (bound, offsets) = (base.clone(), base.clone());
        Self { contacts, sections, low: base, bound, offsets, changes: Vec::new(), placed: Vec::new(), crossing, live }
    }

    pub(super) fn mark(&self) -> UndoMark {
        UndoMark { changes: self.changes.len(), placed: self.placed.len() }
    }

    fn log_change(&mut self, item: u32) {
        let index = item as usize;
        self.changes.push(BoundChange { item, low: self.low[index], bound: self.bound[index] });
    }

    /// Places an item at its resting offset, and stores the items whose bounds rise in `raised`. Returns whether some
    /// boundary is now crossed by no unplaced item.
    pub(super) fn place_item(&mut self, item: u32, raised: &mut Vec<u32>) -> bool {
        let index = item as usize;
        let offset = self.low[index];
        self.log_change(item);
        self.placed.push(item);
        self.offsets[index] = offset;
        self.low[index] = PLACED_BOUND;
        self.bound[index] = PLACED_BOUND;
        raised.clear();
        for contact in self.contacts.overlaps_of_item(index) {
            let (other, top) = (contact.other as usize, offset + contact.own_height);
            let (low, bound) = (self.low[other], self.bound[other]);
            if low < top {
                self.changes.push(BoundChange { item: contact.other, low, bound });
                self.low[other] = top;
                self.bound[other] = bound.max(top);
                raised.push(contact.other);
            }
        }
        let sections = self.sections[index].clone();
        self.live[sections.clone()].iter_mut().for_each(|count| *count -= 1);
        let mut least = u32::MAX;
        for count in &mut self.crossing[sections.start + 1..sections.end] {
            *count -= 1;
            least = least.min(*count);
        }
        least == 0
    }

    /// Raises the bound of an unplaced item.
    pub(super) fn raise_bound(&mut self, item: u32, bound: i32) {
        self.log_change(item);
        self.bound[item as usize] = bound;
    }

    /// Undoes all changes since the mark.
    pub(super) fn undo_to(&mut self, mark: UndoMark) {
        for change in self.changes.drain(mark.changes..).rev() {
            self.low[change.item as usize] = change.low;
            self.bound[change.item as usize] = change.bound;
        }
        for item in self.placed.drain(mark.placed..) {
            let sections = self.sections[item as usize].clone();
            self.live[sections.clone()].iter_mut().for_each(|count| *count += 1);
            self.crossing[sections.start + 1..sections.end].iter_mut().for_each(|count| *count += 1);
        }
    }

    /// Returns the minimum offset of an item that does not rest at its current resting offset: the top of the lowest
    /// *blocker*. A blocker is an unplaced item that reaches into the place where the item rests now. Returns `None` if
    /// no blocker exists.
    pub(super) fn min_offset_above_blocker(&self, item: u32) -> Option<i32> {
        let low = self.low[item as usize];
        let mut least = PLACED_BOUND;
        for contact in self.contacts.overlaps_of_item(item as usize) {
            let bound = self.bound[contact.other as usize];
            if bound < low + contact.own_height {
                least = least.min(bound + contact.other_height);
            }
        }
        (least < PLACED_BOUND).then_some(least)
    }

    /// Returns the unplaced items that are live with this item and have the lowest bound among those, if it is below
    /// its own.
    pub(super) fn lowest_overlapping_items(&self, item: u32) -> impl Iterator<Item = u32> {
        let contacts = self.contacts.overlaps_of_item(item as usize);
        let bound_of = |contact: &super::overlaps::ItemOverlap| self.bound[contact.other as usize];
        let least = contacts.iter().map(bound_of).min().filter(|least| *least < self.bound[item as usize]);
        contacts.iter().filter(move |contact| Some(bound_of(contact)) == least).map(|contact| contact.other)
    }
}
