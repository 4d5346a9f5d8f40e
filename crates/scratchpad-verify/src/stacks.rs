//! Checks whether residency intervals have disjoint addresses.
//!
//! Every feasible placement can be pushed down until each interval lies at address 0 or on another interval. It
//! therefore suffices to try all orders of placement by ascending address, each interval as low as the placed ones
//! allow.

use std::ops::Range;

/// Limits of the search: placements that are tried, and operations of unplaced stacks that are examined.
const MAX_TRIES: u64 = 5_000_000;
const MAX_EXAMINED_TICKS: u64 = 1 << 30;
/// Maximum depth of the recursion, in stacks.
const MAX_STACKS: usize = 1000;

/// Intervals at one address: the height per tick, from the first tick on.
pub(super) struct AliasedStack {
    start: usize,
    heights: Vec<i128>,
    /// Highest address that the stack may have, in units.
    highest: i128,
}

impl AliasedStack {
    pub(super) const fn new() -> Self {
        Self { start: usize::MAX, heights: Vec::new(), highest: i128::MAX }
    }

    /// Adds an interval.
    pub(super) fn add(&mut self, ticks: Range<usize>, units: i128, highest: i128) {
        let old_end = if self.heights.is_empty() { ticks.end } else { self.start + self.heights.len() };
        let (new_start, new_end) = (self.start.min(ticks.start), old_end.max(ticks.end));
        let mut heights = vec![0; new_end - new_start];
        for (height, tick) in self.heights.iter().zip(self.start..) {
            heights[tick - new_start] = *height;
        }
        heights[ticks.start - new_start..ticks.end - new_start]
            .iter_mut()
            .for_each(|height| *height = units.max(*height));
        *self = Self { start: new_start, heights, highest: highest.min(self.highest) };
    }

    /// Removes the first tick.
    pub(super) fn remove_first_tick(&mut self) {
        self.heights.remove(0);
        self.start += 1;
    }

    pub(super) fn has_height(&self) -> bool {
        self.heights.iter().any(|height| *height > 0)
    }

    fn ticks(&self) -> Range<usize> {
        self.start..self.start + self.heights.len()
    }

    fn height(&self) -> i128 {
        self.heights.iter().copied().max().unwrap_or(0)
    }
}

/// Returns whether the stacks have disjoint addresses below `capacity`, in units.
///
/// # Errors
/// Returns an error if the search exceeds its limits.
pub(super) fn can_place_stacks(stacks: &[AliasedStack], capacity: i128) -> Result<bool, String> {
    if stacks.len() > MAX_STACKS {
        return Err(format!("there are {} residency intervals, more than {MAX_STACKS}", stacks.len()));
    }
    let end = stacks.iter().map(|stack| stack.ticks().end).max().unwrap_or(0);
    let mut search = StackSearch {
        stacks,
        capacity,
        floors: vec![0; end],
        placed: vec![false; stacks.len()],
        tries: 0,
        examined_ticks: 0,
    };
    search.fits(0, 0).ok_or_else(|| format!("it takes more than {MAX_TRIES} tries or {MAX_EXAMINED_TICKS} steps"))
}

struct StackSearch<'t> {
    stacks: &'t [AliasedStack],
    capacity: i128,
    floors: Vec<i128>,
    placed: Vec<bool>,
    tries: u64,
    examined_ticks: u64,
}

impl StackSearch<'_> {
    /// Returns whether the unplaced stacks fit at or above `lowest`; at `lowest` itself only stacks from `first` on.
    /// Returns `None` if the search exceeds its limits.
    fn fits(&mut self, lowest: i128, first: usize) -> Option<bool> {
        let waiting: Vec<usize> = (0..self.stacks.len()).filter(|&stack| !self.placed[stack]).collect();
        self.tries += 1;
        self.examined_ticks += (waiting.len() * self.floors.len()) as u64;
        if self.tries > MAX_TRIES || self.examined_ticks > MAX_EXAMINED_TICKS {
            return None;
        }
        if waiting.is_empty() {
            return Some(true);
        }
        let rests = |stack: usize| self.floors[self.stacks[stack].ticks()].iter().copied().max().unwrap_or(0);
        let lows: Vec<i128> = waiting.iter().map(|&stack| rests(stack).max(lowest)).collect();
        if waiting.iter().zip(&lows).any(|(&stack, &low)| low > self.stacks[stack].highest)
            || self.is_overfull(&waiting, &lows)
        {
            return Some(false);
        }
        let lowest_top =
            waiting.iter().zip(&lows).map(|(&stack, low)| low + self.stacks[stack].height()).min().unwrap_or(0);
        let mut choices: Vec<(i128, usize)> = waiting.iter().zip(&lows).map(|(&stack, &low)| (low, stack)).collect();
        choices.retain(|&(low, stack)| low < lowest_top && rests(stack) == low && (low > lowest || stack >= first));
        choices.sort_unstable();
        for (low, stack) in choices {
            let ticks = self.stacks[stack].ticks();
            let before = self.floors[ticks.clone()].to_vec();
            for (tick, height) in ticks.clone().zip(&self.stacks[stack].heights) {
                self.floors[tick] = low + height;
            }
            self.placed[stack] = true;
            let found = self.fits(low, stack);
            self.placed[stack] = false;
            self.floors[ticks].copy_from_slice(&before);
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// Returns whether the unplaced stacks exceed the capacity in some tick. The units below the lowest of them are
    /// lost.
    fn is_overfull(&self, waiting: &[usize], lows: &[i128]) -> bool {
        (0..self.floors.len()).any(|tick| {
            let over = || waiting.iter().zip(lows).filter(|(stack, _)| self.stacks[**stack].ticks().contains(&tick));
            let units: i128 =
                over().map(|(&stack, _)| self.stacks[stack].heights[tick - self.stacks[stack].start]).sum();
            over().map(|(_, low)| *low).min().is_some_and(|low| low + units > self.capacity)
        })
    }
}
