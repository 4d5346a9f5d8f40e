//! That the stays of a cut do not fit together.
//!
//! Whatever fits can be pushed down until everything lies on the floor or on something else. So it is enough to place them by ascending
//! address, each as low as those before it allow, in every order.

use super::{
    bound::Crowd,
    files::{Cut, Instance},
    relax::Relaxed,
};

/// Placements that may be tried for a cut.
const MAX_TRIES: u64 = 5_000_000;

/// Finds the values that a cut is about.
pub(super) fn read(instance: &Instance, relaxed: &Relaxed, cut: &Cut) -> Result<Crowd, String> {
    let mut stays = Vec::new();
    for stay in &cut.stays {
        let row = instance.find(&stay.buffer).ok_or_else(|| format!("a cut names '{}', which is no buffer", stay.buffer))?;
        let position =
            |index: usize, time: Option<usize>| relaxed.values[index].uses.iter().position(|one| Some(relaxed.times[one.tick]) == time);
        let found = (0..relaxed.values.len()).filter(|&index| relaxed.values[index].row == row).find_map(|index| {
            let (first, last) = (position(index, Some(stay.start))?, position(index, stay.end.checked_sub(1))?);
            (first <= last).then_some((index, first, last))
        });
        stays.push(
            found.ok_or_else(|| format!("a cut has a stay of '{}' from {} to {}, which cannot be", stay.buffer, stay.start, stay.end))?,
        );
    }
    let is_one_each =
        stays.iter().enumerate().all(|(at, one)| stays[..at].iter().all(|other| other.0 != one.0 || other.2 < one.1 || one.2 < other.1));
    if stays.is_empty() || !is_one_each {
        return Err("a cut has no stays, or one twice".to_owned());
    }
    let (mut merged, mut apart) = (Vec::new(), Vec::new());
    for child in stays.iter().filter(|stay| stay.1 == 0) {
        for &parent in &relaxed.values[child.0].parents {
            let is_in = stays.iter().any(|stay| stay.0 == parent && stay.2 + 1 == relaxed.values[parent].uses.len());
            let names = (&instance.buffers[relaxed.values[child.0].row].name, &instance.buffers[relaxed.values[parent].row].name);
            if is_in && cut.mergers.iter().any(|pair| (&pair.0, &pair.1) == names) {
                merged.push((child.0, parent));
            } else if is_in {
                apart.push((child.0, parent));
            }
        }
    }
    let is_double = |at: usize| merged[..at].iter().any(|pair| pair.0 == merged[at].0 || pair.1 == merged[at].1);
    if merged.len() != cut.mergers.len() || (0..merged.len()).any(is_double) {
        return Err("a cut merges what cannot be merged".to_owned());
    }
    Ok(Crowd { stays, merged, apart })
}

/// Stays at one address: height by tick, from the first.
struct Tower {
    start: usize,
    heights: Vec<i128>,
    highest: i128,
}

/// Confirms that no addresses exist.
pub(super) fn check(instance: &Instance, relaxed: &Relaxed, crowd: &Crowd) -> Result<(), String> {
    let towers = towers(instance, relaxed, crowd);
    if towers.iter().any(|tower| tower.highest < 0) {
        return Ok(());
    }
    let end = towers.iter().map(|tower| tower.start + tower.heights.len()).max().unwrap_or(0);
    let mut search =
        Search { towers: &towers, capacity: relaxed.capacity, floors: vec![0; end], placed: vec![false; towers.len()], tries: 0 };
    match search.fits(0, 0) {
        None => Err(format!("it takes more than {MAX_TRIES} tries")),
        Some(true) => Err("its stays fit together".to_owned()),
        Some(false) => Ok(()),
    }
}

fn towers(instance: &Instance, relaxed: &Relaxed, crowd: &Crowd) -> Vec<Tower> {
    let head = |mut value: usize| {
        while let Some(pair) = crowd.merged.iter().find(|pair| pair.0 == value) {
            value = pair.1;
        }
        value
    };
    let mut names: Vec<(usize, usize)> = Vec::new();
    let mut towers: Vec<Tower> = Vec::new();
    for &(value, first, last) in &crowd.stays {
        let uses = &relaxed.values[value].uses;
        let name = if first == 0 && crowd.merged.iter().any(|pair| pair.0 == value) {
            (head(value), usize::MAX)
        } else {
            (value, if last + 1 == uses.len() { usize::MAX } else { first })
        };
        let at = names.iter().position(|other| *other == name).unwrap_or_else(|| {
            names.push(name);
            towers.push(Tower { start: usize::MAX, heights: Vec::new(), highest: i128::MAX });
            towers.len() - 1
        });
        towers[at].add(uses[first].tick, uses[last].tick + 1, relaxed.values[value].units, highest(instance, relaxed, value));
    }
    towers.retain(|tower| tower.heights.iter().any(|height| *height > 0));
    towers
}

/// The highest address of a value, in units: its last unit may be partial where LX's last one is.
fn highest(instance: &Instance, relaxed: &Relaxed, value: usize) -> i128 {
    let size = instance.buffers[relaxed.values[value].row].size;
    i128::from(instance.capacity - size).div_euclid(relaxed.unit_bytes)
}

impl Tower {
    fn add(&mut self, start: usize, end: usize, units: i128, highest: i128) {
        let old_end = if self.heights.is_empty() { end } else { self.start + self.heights.len() };
        let (new_start, new_end) = (self.start.min(start), old_end.max(end));
        let mut heights = vec![0; new_end - new_start];
        for (height, tick) in self.heights.iter().zip(self.start..) {
            heights[tick - new_start] = *height;
        }
        heights[start - new_start..end - new_start].iter_mut().for_each(|height| *height = units.max(*height));
        *self = Self { start: new_start, heights, highest: highest.min(self.highest) };
    }

    fn ticks(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.heights.len()
    }
}

struct Search<'t> {
    towers: &'t [Tower],
    capacity: i128,
    floors: Vec<i128>,
    placed: Vec<bool>,
    tries: u64,
}

impl Search<'_> {
    /// Whether the rest fits above `lowest`; at `lowest`, only towers from `first` on. None if that is too much to find out.
    fn fits(&mut self, lowest: i128, first: usize) -> Option<bool> {
        self.tries += 1;
        if self.tries > MAX_TRIES {
            return None;
        }
        let waiting: Vec<usize> = (0..self.towers.len()).filter(|&tower| !self.placed[tower]).collect();
        if waiting.is_empty() {
            return Some(true);
        }
        let rests = |tower: usize| self.floors[self.towers[tower].ticks()].iter().copied().max().unwrap_or(0);
        let lows: Vec<i128> = waiting.iter().map(|&tower| rests(tower).max(lowest)).collect();
        if waiting.iter().zip(&lows).any(|(&tower, &low)| low > self.towers[tower].highest) || self.is_overfull(&waiting, &lows) {
            return Some(false);
        }
        let height = |tower: usize| self.towers[tower].heights.iter().copied().max().unwrap_or(0);
        let lowest_top = waiting.iter().zip(&lows).map(|(&tower, low)| low + height(tower)).min().unwrap_or(0);
        let mut choices: Vec<(i128, usize)> = waiting.iter().zip(&lows).map(|(&tower, &low)| (low, tower)).collect();
        choices.retain(|&(low, tower)| low < lowest_top && rests(tower) == low && (low > lowest || tower >= first));
        choices.sort_unstable();
        for (low, tower) in choices {
            let ticks = self.towers[tower].ticks();
            let before = self.floors[ticks.clone()].to_vec();
            for (tick, height) in ticks.clone().zip(&self.towers[tower].heights) {
                self.floors[tick] = low + height;
            }
            self.placed[tower] = true;
            let found = self.fits(low, tower);
            self.placed[tower] = false;
            self.floors[ticks].copy_from_slice(&before);
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    /// Whether the waiting towers are too much for some tick: what is below the lowest of them is lost.
    fn is_overfull(&self, waiting: &[usize], lows: &[i128]) -> bool {
        (0..self.floors.len()).any(|tick| {
            let over = || waiting.iter().zip(lows).filter(|(tower, _)| self.towers[**tower].ticks().contains(&tick));
            let units: i128 = over().map(|(&tower, _)| self.towers[tower].heights[tick - self.towers[tower].start]).sum();
            over().map(|(_, low)| *low).min().is_some_and(|low| low + units > self.capacity)
        })
    }
}
