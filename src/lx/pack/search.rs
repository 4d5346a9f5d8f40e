//! The complete search over lowest packings.
//!
//! Take a packing in which the sum of the offsets is least. Each item rests on the base or on another one, so it is found by placing the
//! items by ascending offset, each as low as those before allow: the search only chooses which item comes next. Among items that could
//! rest at the same offset a static order decides. At a node the first item that rests is placed; when that is refuted, it is *skipped*:
//! then it rests on an item that is still to come. A node is refuted when
//!
//! * a skipped item has no blocker: nothing can reach into the place that it left, so it would lie lower there;
//! * in some section the unplaced items, each no lower than its bound, do not fit below the capacity even if they are stacked in the
//!   order of their bounds.
//!
//! An item that raises no other one when it is placed is never skipped. When no unplaced item crosses a boundary between sections the two
//! sides are searched one after the other, and a failure of one is a failure of both.
//!
//! Everything lies in a few arrays: lists of unplaced items in one arena, changes of bounds in an undo log.

use super::{
    Steps,
    problem::Problem,
    state::{Contacts, Mark, State},
};
use std::ops::Range;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The offset of every item.
    Found(Vec<i32>),
    /// There is no packing.
    Refuted,
    /// The steps are used up.
    Stopped,
}

/// Unplaced items that are searched together: a piece of the arena, and the sections they are live in.
#[derive(Clone, Debug)]
struct Part {
    list: Range<usize>,
    sections: Range<usize>,
    /// Where bounds have risen since it was last checked that everything fits.
    changed: Range<usize>,
}

/// A decision that can be taken back.
struct Frame {
    part: Part,
    mark: Mark,
    arena: usize,
    n_goals: usize,
    chosen: u32,
}

/// A part that is searched when the one before it is done. The decisions of that one are final then: only `n_frames` stay.
struct Goal {
    part: Part,
    n_frames: usize,
}

/// Set in a key for an item that does not rest where it is.
const SKIPPED: u64 = 1 << 31;

struct Search<'a> {
    state: State<'a>,
    capacity: i32,
    item_of: &'a [usize],
    rank_of: Vec<u32>,
    arena: Vec<u64>,
    frames: Vec<Frame>,
    goals: Vec<Goal>,
    /// Stacked height of each section.
    heights: Vec<i32>,
    raised: Vec<u32>,
    moved: Vec<u64>,
}

/// Searches for a packing below `capacity`; `order` is the static order of the items.
pub(super) fn search(problem: &Problem, contacts: &Contacts, order: &[usize], capacity: i32, steps: &mut Steps) -> Outcome {
    let mut rank_of = vec![0; order.len()];
    for (&item, rank) in order.iter().zip(0..) {
        rank_of[item] = rank;
    }
    let mut search = Search {
        state: State::new(problem, contacts),
        capacity,
        item_of: order,
        rank_of,
        arena: Vec::with_capacity(order.len() * 32),
        frames: Vec::new(),
        goals: Vec::new(),
        heights: vec![0; problem.n_sections],
        raised: Vec::new(),
        moved: Vec::new(),
    };
    search.run(steps)
}

impl Search<'_> {
    fn run(&mut self, steps: &mut Steps) -> Outcome {
        let mut part = self.root();
        loop {
            while part.list.is_empty() {
                let Some(goal) = self.goals.pop() else { return Outcome::Found(self.state.offsets.clone()) };
                self.frames.truncate(goal.n_frames);
                part = goal.part;
            }
            if !steps.take(1) {
                return Outcome::Stopped;
            }
            part = match self.choose(&mut part) {
                Some(item) => self.place(part, item),
                None => match self.skip() {
                    Some(part) => part,
                    None => return Outcome::Refuted,
                },
            };
        }
    }

    fn root(&mut self) -> Part {
        for item in 0..self.item_of.len() {
            let key = self.key(item);
            self.arena.push(key);
        }
        self.arena.sort_unstable();
        Part { list: 0..self.arena.len(), sections: 0..self.heights.len(), changed: 0..self.heights.len() }
    }

    /// Items sort by their bounds, then by the static order.
    fn key(&self, item: usize) -> u64 {
        let (low, bound) = (self.state.low[item], self.state.bound[item]);
        let skipped = if low == bound { 0 } else { SKIPPED };
        (u64::from(bound.unsigned_abs()) << 32) | skipped | u64::from(self.rank_of[item])
    }

    fn item(&self, key: u64) -> u32 {
        // The rank is below 2^31, and an item is no larger than the number of items.
        #[expect(clippy::cast_possible_truncation, reason = "the rank stands in the lower half of the key")]
        let item = self.item_of[(key & (SKIPPED - 1)) as usize] as u32;
        item
    }

    /// The item that is placed next, when the part is not refuted.
    fn choose(&mut self, part: &mut Part) -> Option<u32> {
        let first = *self.arena[part.list.clone()].iter().find(|&&key| key & SKIPPED == 0)?;
        let item = self.item(first);
        let floor = self.state.low[item as usize];
        self.raise_skipped(part, floor).then_some(())?;
        self.fits(part).then_some(item)
    }

    /// Raises the bounds of skipped items now that everything else comes at `floor` or above; no when one has nothing to rest on.
    fn raise_skipped(&mut self, part: &mut Part, floor: i32) -> bool {
        self.moved.clear();
        let mut kept = part.list.start;
        for place in part.list.clone() {
            let key = self.arena[place];
            if key & SKIPPED != 0 {
                let item = self.item(key);
                let Some(bound) = self.state.above_blocker(item, floor) else { return false };
                if bound > self.state.bound[item as usize] {
                    self.state.raise(item, bound);
                    part.changed = hull(&part.changed, &self.state.problem.items[item as usize].sections);
                    let key = self.key(item as usize);
                    self.moved.push(key);
                    continue;
                }
            }
            self.arena[kept] = key;
            kept += 1;
        }
        self.merge_moved(part.list.start..kept);
        true
    }

    /// Puts the moved keys back among those of `list`; there is room for them behind it.
    fn merge_moved(&mut self, list: Range<usize>) {
        self.moved.sort_unstable();
        let (mut end, mut behind) = (list.end, list.end + self.moved.len());
        while let Some(&key) = self.moved.last() {
            behind -= 1;
            if end > list.start && self.arena[end - 1] > key {
                end -= 1;
                self.arena[behind] = self.arena[end];
            } else {
                self.arena[behind] = key;
                self.moved.pop();
            }
        }
    }

    /// Whether in each section the items, stacked by ascending bound, stay below the capacity. No packing has them lower.
    fn fits(&mut self, part: &Part) -> bool {
        let Range { start, end } = part.changed;
        let heights = &mut self.heights[start..end];
        heights.fill(0);
        for &key in &self.arena[part.list.clone()] {
            #[expect(clippy::cast_possible_truncation, reason = "the rank stands in the lower half of the key")]
            let item = self.item_of[(key & (SKIPPED - 1)) as usize];
            let bound = self.state.bound[item];
            for run in self.state.problem.runs_of(item) {
                let (first, end) = ((run.first as usize).max(start), (run.end as usize).min(end));
                if first < end {
                    for height in &mut heights[first - start..end - start] {
                        *height = bound.max(*height) + run.height;
                    }
                }
            }
        }
        heights.iter().all(|&height| height <= self.capacity)
    }

    /// Places the item; gives the part that is searched next.
    fn place(&mut self, part: Part, item: u32) -> Part {
        let frame = Frame { part: part.clone(), mark: self.state.mark(), arena: self.arena.len(), n_goals: self.goals.len(), chosen: item };
        let mut raised = std::mem::take(&mut self.raised);
        raised.clear();
        let is_split = self.state.place(item, &mut raised);
        if !raised.is_empty() {
            self.frames.push(frame);
        }
        let mut changed = self.state.problem.items[item as usize].sections.clone();
        for &other in &raised {
            changed = hull(&changed, &self.state.problem.items[other as usize].sections);
        }
        self.moved.clear();
        let begin = self.arena.len();
        for place in part.list {
            let key = self.arena[place];
            let other = self.item(key) as usize;
            if other == item as usize {
                continue;
            }
            let now = self.key(other);
            if now == key {
                self.arena.push(key);
            } else {
                self.moved.push(now);
            }
        }
        self.raised = raised;
        let end = self.arena.len();
        self.arena.resize(end + self.moved.len(), 0);
        self.merge_moved(begin..end);
        let part = Part { list: begin..self.arena.len(), sections: part.sections, changed };
        if is_split { self.split(part) } else { part }
    }

    /// The first of the independent pieces of a part, the smallest; the others become goals.
    fn split(&mut self, part: Part) -> Part {
        let mut pieces: Vec<Part> = Vec::new();
        let mut first = part.sections.start;
        for boundary in part.sections.start + 1..=part.sections.end {
            if boundary < part.sections.end && self.state.crossing[boundary] > 0 {
                continue;
            }
            let begin = self.arena.len();
            for place in part.list.clone() {
                let key = self.arena[place];
                let item = self.item(key) as usize;
                if (first..boundary).contains(&self.state.problem.items[item].sections.start) {
                    self.arena.push(key);
                }
            }
            if self.arena.len() > begin {
                let changed = part.changed.start.clamp(first, boundary)..part.changed.end.clamp(first, boundary);
                pieces.push(Part { list: begin..self.arena.len(), sections: first..boundary, changed });
            }
            first = boundary;
        }
        pieces.sort_by_key(|piece| piece.list.len());
        let mut pieces = pieces.into_iter();
        let next = pieces.next().unwrap_or(Part { list: 0..0, sections: 0..0, changed: 0..0 });
        let n_frames = self.frames.len();
        self.goals.extend(pieces.rev().map(|part| Goal { part, n_frames }));
        next
    }

    /// Goes back to the last decision and skips its item instead. `None` when there is no decision left.
    fn skip(&mut self) -> Option<Part> {
        while let Some(frame) = self.frames.pop() {
            self.state.undo(frame.mark);
            self.goals.truncate(frame.n_goals);
            self.arena.truncate(frame.arena);
            let floor = self.state.low[frame.chosen as usize];
            let Some(bound) = self.state.above_blocker(frame.chosen, floor) else { continue };
            self.state.raise(frame.chosen, bound);
            self.moved.clear();
            let mut kept = frame.part.list.start;
            for place in frame.part.list.clone() {
                let key = self.arena[place];
                if self.item(key) == frame.chosen {
                    let key = self.key(frame.chosen as usize);
                    self.moved.push(key);
                } else {
                    self.arena[kept] = key;
                    kept += 1;
                }
            }
            self.merge_moved(frame.part.list.start..kept);
            let changed = self.state.problem.items[frame.chosen as usize].sections.clone();
            return Some(Part { changed, ..frame.part });
        }
        None
    }
}

fn hull(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    left.start.min(right.start)..left.end.max(right.end)
}
