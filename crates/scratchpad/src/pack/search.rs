//! Complete search over lowest packings, the packings in which the sum of the offsets is minimal. It finds a packing or
//! proves that none exists. [`PackingSearch`] describes the algorithm, [`super::portfolio`] how searches are combined.

use super::{
    StepBudget,
    overlaps::ItemOverlaps,
    problem::PackingProblem,
    state::{PackingState, UndoMark},
};
use std::{ops::Range, rc::Rc};

/// Outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchOutcome {
    /// A packing was found.
    Found,
    /// No packing exists.
    Refuted,
    /// The steps are used up.
    Stopped,
}

/// Rule that selects the next item. The choice affects the number of nodes unpredictably, so a portfolio uses all
/// rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FocusRule {
    /// Item with the lowest bound.
    Lowest,
    /// Item of the section that caused most refutations, initially of the section with the maximum load.
    Heaviest,
}

/// Unplaced items that are searched together: a range of the arena, and the sections in which the items are live.
#[derive(Clone, Debug)]
struct SearchComponent {
    list: Range<usize>,
    sections: Range<usize>,
    /// Sections in which bounds rose since the last successful check.
    changed: Range<usize>,
}

/// Decision that can be undone.
struct DecisionFrame {
    component: SearchComponent,
    mark: UndoMark,
    num_keys: usize,
    num_pending: usize,
    chosen: u32,
}

/// Component that is searched after its predecessor is done. The decisions of the predecessor are then final: only the
/// first `num_frames` remain.
struct PendingComponent {
    component: SearchComponent,
    num_frames: usize,
}

/// Bit of a key that marks a skipped item.
const SKIPPED_BIT: u64 = 1 << 31;

/// Weight that one refutation adds to a section.
const REFUTATION_WEIGHT: u64 = 1 << 10;

/// Outline run in 32-bit numbers.
#[derive(Clone, Copy)]
struct CompactRun {
    first: u32,
    end: u32,
    height: i32,
}

/// Data that all searches of a problem share.
pub(super) struct SharedProblem {
    contacts: Rc<ItemOverlaps>,
    runs: Vec<CompactRun>,
    runs_of: Vec<Range<usize>>,
}

/// Exclusive limit of offsets and heights: sums of two numbers below it fit in 32 bits.
const MAX_UNITS: i64 = 1 << 29;

impl SharedProblem {
    /// Creates the shared data. Returns `None` if there are more than `most_contacts` overlaps, or if numbers are too
    /// large.
    pub(super) fn new(problem: &PackingProblem, most_contacts: usize) -> Option<Self> {
        let narrow = |value: i64| i32::try_from(value).ok().filter(|_| value < MAX_UNITS);
        let heights: Vec<i32> = problem.runs.iter().map(|run| narrow(run.height)).collect::<Option<_>>()?;
        let index = |section: usize| u32::try_from(section).ok();
        let run = |(run, &height): (&super::problem::OutlineRun, &i32)| {
            Some(CompactRun { first: index(run.sections.start)?, end: index(run.sections.end)?, height })
        };
        let runs = problem.runs.iter().zip(&heights).map(run).collect::<Option<_>>()?;
        problem.items.iter().try_for_each(|item| narrow(item.base).map(drop))?;
        let contacts = Rc::new(ItemOverlaps::new(problem, &heights, most_contacts)?);
        Some(Self { contacts, runs, runs_of: problem.items.iter().map(|item| item.runs.clone()).collect() })
    }

    /// Returns the number of overlaps of an item.
    pub(super) fn num_overlaps(&self, item: usize) -> usize {
        self.contacts.overlaps_of_item(item).len()
    }
}

/// Resumable search over lowest packings, in which each item rests on the base or on another item.
///
/// A node takes an item that rests at its bound and that is *lowest*: no unplaced item that is live with it has a lower
/// bound. The node has two cases:
///
/// * The item stays where it rests. All other unplaced items that are live with it are then above it.
/// * The item is *skipped*: it will rest on an unplaced item. Some unplaced item, a *blocker*, then reaches into the
///   place where the skipped item rests now, since otherwise lowering the item would reduce the sum of the offsets. The
///   bound of the skipped item rises to the top of the lowest blocker.
///
/// The search finds every lowest packing, whichever lowest item a node takes. A node is refuted in two cases:
///
/// * A skipped item has no blocker.
/// * In some section the unplaced items exceed the capacity, even if they are stacked by ascending bound. No other
///   stack of items that respects the bounds is lower.
///
/// A node allocates no memory: lists of unplaced items are ranges of one arena, and changes of bounds are recorded in
/// an undo log.
pub(super) struct PackingSearch {
    shared: Rc<SharedProblem>,
    state: PackingState,
    capacity: i32,
    focus: FocusRule,
    item_of: Vec<u32>,
    rank_of: Vec<u32>,
    component: SearchComponent,
    arena: Vec<u64>,
    frames: Vec<DecisionFrame>,
    pending: Vec<PendingComponent>,
    /// Height of the stacked items of each section.
    heights: Vec<i32>,
    weights: Vec<u64>,
    next_heaviest: Vec<usize>,
    raised: Vec<u32>,
    moved: Vec<u64>,
}

impl PackingSearch {
    /// Creates the search for a packing of height `capacity`; `order` is the static order of the items. Returns `None`
    /// if the capacity is too large.
    pub(super) fn new(
        problem: &PackingProblem,
        ground: &Rc<SharedProblem>,
        focus: FocusRule,
        order: &[usize],
        capacity: i64,
    ) -> Option<Self> {
        let capacity = i32::try_from(capacity).ok().filter(|_| capacity < MAX_UNITS)?;
        let mut rank_of = vec![0; order.len()];
        for (&item, rank) in order.iter().zip(0..) {
            rank_of[item] = rank;
        }
        let base = problem.items.iter().map(|item| i32::try_from(item.base)).collect::<Result<_, _>>().ok()?;
        let weight = |load: i64| load.unsigned_abs() * REFUTATION_WEIGHT / u64::from(capacity.unsigned_abs().max(1));
        let num_sections = problem.num_sections;
        let mut search = Self {
            state: PackingState::new(problem, Rc::clone(&ground.contacts), base),
            shared: Rc::clone(ground),
            capacity,
            focus,
            item_of: order.iter().map(|&item| u32::try_from(item)).collect::<Result<_, _>>().ok()?,
            rank_of,
            component: SearchComponent { list: 0..order.len(), sections: 0..num_sections, changed: 0..num_sections },
            arena: Vec::with_capacity(order.len() * 32),
            frames: Vec::new(),
            pending: Vec::new(),
            heights: vec![0; num_sections],
            weights: problem.compute_loads().into_iter().map(weight).collect(),
            next_heaviest: vec![0; num_sections],
            raised: Vec::new(),
            moved: Vec::new(),
        };
        let mut keys: Vec<u64> = (0..order.len()).map(|item| search.compute_key(item)).collect();
        keys.sort_unstable();
        search.arena.append(&mut keys);
        Some(search)
    }

    /// Returns the offset of every item, if a packing was found.
    pub(super) fn offsets(&self) -> impl Iterator<Item = i64> {
        self.state.offsets.iter().map(|&offset| i64::from(offset))
    }

    /// Continues until the search ends or the steps are used up.
    pub(super) fn run(&mut self, steps: &mut StepBudget) -> SearchOutcome {
        loop {
            while self.component.list.is_empty() {
                let Some(goal) = self.pending.pop() else { return SearchOutcome::Found };
                self.frames.truncate(goal.num_frames);
                self.component = goal.component;
            }
            // A node with a long list takes more than one step.
            if !steps.consume(1 + self.component.list.len() as u64 / 1024) {
                return SearchOutcome::Stopped;
            }
            let mut part = self.component.clone();
            match self.choose_item(&mut part) {
                Some(item) => self.component = self.place_item(part, item),
                None => match self.backtrack() {
                    Some(part) => self.component = part,
                    None => return SearchOutcome::Refuted,
                },
            }
        }
    }

    /// Returns the sort key of an item: its bound, then its rank in the static order.
    fn compute_key(&self, item: usize) -> u64 {
        let (low, bound) = (self.state.low[item], self.state.bound[item]);
        let skipped = if low == bound { 0 } else { SKIPPED_BIT };
        (u64::from(bound.unsigned_abs()) << 32) | skipped | u64::from(self.rank_of[item])
    }

    fn decode_item(&self, key: u64) -> u32 {
        self.item_of[decode_rank(key)]
    }

    /// Returns the item that is placed next. Returns `None` if the component is refuted.
    fn choose_item(&mut self, part: &mut SearchComponent) -> Option<u32> {
        while self.raise_skipped(part)? {}
        if !self.fits(part) {
            return None;
        }
        let mut item = match self.focus {
            FocusRule::Lowest => self.decode_item(*self.arena[part.list.clone()].first()?),
            FocusRule::Heaviest => self.find_in_heaviest_section(part)?,
        };
        // Each of these items has a lower bound than the previous one.
        while let Some(lower) =
            self.state.lowest_overlapping_items(item).min_by_key(|&other| self.compute_key(other as usize))
        {
            item = lower;
        }
        // The item is not skipped: a skipped item has a blocker, which has a lower bound.
        Some(item)
    }

    /// Returns the item with the lowest bound among those that are live in a section of maximum weight.
    fn find_in_heaviest_section(&mut self, part: &SearchComponent) -> Option<u32> {
        let occupied = part.sections.clone().filter(|&section| self.state.live[section] > 0);
        let most = occupied.map(|section| self.weights[section]).max()?;
        // Per section: the first section of maximum weight from it on.
        let mut next = usize::MAX;
        for section in part.sections.clone().rev() {
            if self.weights[section] == most && self.state.live[section] > 0 {
                next = section;
            }
            self.next_heaviest[section] = next;
        }
        let mut items = self.arena[part.list.clone()].iter().map(|&key| self.decode_item(key));
        items.find(|&item| {
            let sections = &self.state.sections[item as usize];
            self.next_heaviest[sections.start] < sections.end
        })
    }

    /// Raises the bounds of skipped items. Returns whether any bound rose, or `None` if an item has no blocker.
    fn raise_skipped(&mut self, part: &mut SearchComponent) -> Option<bool> {
        self.moved.clear();
        let mut kept = part.list.start;
        for place in part.list.clone() {
            let key = self.arena[place];
            if key & SKIPPED_BIT != 0 {
                let item = self.decode_item(key);
                let sections = self.state.sections[item as usize].clone();
                let above = self.state.min_offset_above_blocker(item).filter(|bound| *bound <= self.capacity);
                let Some(bound) = above else {
                    let weight = REFUTATION_WEIGHT / sections.len() as u64;
                    self.weights[sections].iter_mut().for_each(|sum| *sum += weight);
                    return None;
                };
                if bound > self.state.bound[item as usize] {
                    self.state.raise_bound(item, bound);
                    part.changed = compute_hull(&part.changed, &sections);
                    self.moved.push(self.compute_key(item as usize));
                    continue;
                }
            }
            self.arena[kept] = key;
            kept += 1;
        }
        let is_any_raised = !self.moved.is_empty();
        self.merge_moved(part.list.start..kept);
        Some(is_any_raised)
    }

    /// Inserts the moved keys into the sorted keys of `list`. The arena has space for them after the list.
    fn merge_moved(&mut self, list: Range<usize>) {
        self.moved.sort_unstable();
        let (mut end, mut after) = (list.end, list.end + self.moved.len());
        while let Some(&key) = self.moved.last() {
            after -= 1;
            if end > list.start && self.arena[end - 1] > key {
                end -= 1;
                self.arena[after] = self.arena[end];
            } else {
                self.arena[after] = key;
                self.moved.pop();
            }
        }
    }

    /// Returns whether in each section the items, stacked by ascending bound, stay below the capacity.
    fn fits(&mut self, part: &SearchComponent) -> bool {
        let Range { start, end } = part.changed;
        let heights = &mut self.heights[start..end];
        heights.fill(0);
        for &key in &self.arena[part.list.clone()] {
            let item = self.item_of[decode_rank(key)] as usize;
            let bound = self.state.bound[item];
            for run in &self.shared.runs[self.shared.runs_of[item].clone()] {
                let (first, after) = ((run.first as usize).max(start), (run.end as usize).min(end));
                if first < after {
                    for height in &mut heights[first - start..after - start] {
                        *height = bound.max(*height) + run.height;
                    }
                }
            }
        }
        let too_high = heights.iter().position(|&height| height > self.capacity);
        if let Some(section) = too_high {
            self.weights[start + section] += REFUTATION_WEIGHT;
        }
        too_high.is_none()
    }

    /// Places the item, and returns the component that is searched next. An item that raises no bound is never skipped,
    /// since it would be above a blocker without need. Its placement is therefore no decision and gets no frame.
    fn place_item(&mut self, part: SearchComponent, item: u32) -> SearchComponent {
        let frame = DecisionFrame {
            component: part.clone(),
            mark: self.state.mark(),
            num_keys: self.arena.len(),
            num_pending: self.pending.len(),
            chosen: item,
        };
        let mut raised = std::mem::take(&mut self.raised);
        let is_split = self.state.place_item(item, &mut raised);
        if !raised.is_empty() {
            self.frames.push(frame);
        }
        let mut changed = self.state.sections[item as usize].clone();
        for &other in &raised {
            changed = compute_hull(&changed, &self.state.sections[other as usize]);
        }
        self.moved.clear();
        let begin = self.arena.len();
        for place in part.list {
            let key = self.arena[place];
            let other = self.decode_item(key) as usize;
            if other == item as usize {
                continue;
            }
            let now = self.compute_key(other);
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
        let part = SearchComponent { list: begin..self.arena.len(), sections: part.sections, changed };
        if is_split { self.split_component(part) } else { part }
    }

    /// Splits a component at the boundaries that no unplaced item crosses. Returns the smallest piece; the others
    /// become pending. If one of them fails, all of them fail.
    fn split_component(&mut self, part: SearchComponent) -> SearchComponent {
        let mut pieces: Vec<SearchComponent> = Vec::new();
        let mut first = part.sections.start;
        for boundary in part.sections.start + 1..=part.sections.end {
            if boundary < part.sections.end && self.state.crossing[boundary] > 0 {
                continue;
            }
            let begin = self.arena.len();
            for place in part.list.clone() {
                let key = self.arena[place];
                let item = self.decode_item(key) as usize;
                if (first..boundary).contains(&self.state.sections[item].start) {
                    self.arena.push(key);
                }
            }
            if self.arena.len() > begin {
                let changed = part.changed.start.clamp(first, boundary)..part.changed.end.clamp(first, boundary);
                pieces.push(SearchComponent { list: begin..self.arena.len(), sections: first..boundary, changed });
            }
            first = boundary;
        }
        pieces.sort_by_key(|piece| piece.list.len());
        let mut pieces = pieces.into_iter();
        let next = pieces.next().unwrap_or(SearchComponent { list: 0..0, sections: 0..0, changed: 0..0 });
        let num_frames = self.frames.len();
        self.pending.extend(pieces.rev().map(|part| PendingComponent { component: part, num_frames }));
        next
    }

    /// Backtracks to the last decision and skips its item instead. Returns `None` if no decision is left.
    fn backtrack(&mut self) -> Option<SearchComponent> {
        while let Some(frame) = self.frames.pop() {
            self.state.undo_to(frame.mark);
            self.pending.truncate(frame.num_pending);
            self.arena.truncate(frame.num_keys);
            let Some(bound) = self.state.min_offset_above_blocker(frame.chosen) else { continue };
            self.state.raise_bound(frame.chosen, bound);
            self.moved.clear();
            let mut kept = frame.component.list.start;
            for place in frame.component.list.clone() {
                let key = self.arena[place];
                if self.decode_item(key) == frame.chosen {
                    let key = self.compute_key(frame.chosen as usize);
                    self.moved.push(key);
                } else {
                    self.arena[kept] = key;
                    kept += 1;
                }
            }
            self.merge_moved(frame.component.list.start..kept);
            let changed = self.state.sections[frame.chosen as usize].clone();
            return Some(SearchComponent { changed, ..frame.component });
        }
        None
    }
}

/// Returns the rank of an item in the static order.
const fn decode_rank(key: u64) -> usize {
    (key & (SKIPPED_BIT - 1)) as usize
}

fn compute_hull(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    left.start.min(right.start)..left.end.max(right.end)
}
