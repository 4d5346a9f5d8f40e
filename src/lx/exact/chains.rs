//! Packing of chains: runs that take over addresses from one another lie at one address, and get smaller.
//!
//! A complete search in canonical order. Any packing can be pushed down until everything rests on the floor or on something below it; so
//! the chains are placed by ascending address, each at the lowest address that those before leave it. Of two orders with the same
//! addresses only one is tried. It proves small cuts, and packs what rectangles cannot say.

use crate::lx::pack::{Packing, Steps};

/// Runs at one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) links: Vec<Link>,
}

/// One run of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// First operation.
    pub(crate) start: usize,
    /// First operation behind.
    pub(crate) end: usize,
    pub(crate) units: i64,
    /// Its end may not be above.
    pub(crate) limit: i64,
}

/// Places chains by ascending address.
struct Search<'s> {
    chains: &'s [Chain],
    /// Per chain: height in each of its sections.
    heights: Vec<(usize, Vec<i64>)>,
    /// Per chain: no address above.
    highest: Vec<i64>,
    order: Vec<usize>,
    capacity: i64,
    floors: Vec<i64>,
    /// Per section: units of the chains not placed yet.
    waiting: Vec<i64>,
    addresses: Vec<Option<i64>>,
    steps: &'s mut Steps,
    budget: u64,
}

enum Outcome {
    Placed,
    Impossible,
    OutOfSteps,
}

/// An address for each chain.
pub(crate) fn pack_chains(chains: &[Chain], capacity: i64, steps: &mut Steps) -> Packing {
    let Some(mut search) = Search::new(chains, capacity, steps) else { return Packing::Impossible };
    let orders = search.orders();
    let mut budget = 4 * chains.len() as u64 + 16;
    loop {
        for order in &orders {
            search.order.clone_from(order);
            search.budget = budget;
            match search.place(0, 0, 0) {
                Outcome::Placed => return Packing::Placed(search.addresses.iter().map(|address| address.unwrap_or(0)).collect()),
                Outcome::Impossible => return Packing::Impossible,
                Outcome::OutOfSteps if search.steps.left == 0 => return Packing::OutOfSteps,
                Outcome::OutOfSteps => {}
            }
        }
        budget *= 2;
    }
}

impl<'s> Search<'s> {
    fn new(chains: &'s [Chain], capacity: i64, steps: &'s mut Steps) -> Option<Self> {
        let mut times: Vec<usize> = chains.iter().flat_map(|chain| chain.links.iter().flat_map(|link| [link.start, link.end])).collect();
        times.sort_unstable();
        times.dedup();
        let section = |time: usize| times.partition_point(|&other| other < time);
        let n_sections = times.len().saturating_sub(1);
        let (mut heights, mut highest, mut waiting) = (Vec::new(), Vec::new(), vec![0; n_sections]);
        for chain in chains {
            let start = chain.links.iter().map(|link| section(link.start)).min()?;
            let end = chain.links.iter().map(|link| section(link.end)).max()?;
            let mut height = vec![0; end - start];
            for link in &chain.links {
                height[section(link.start) - start..section(link.end) - start].iter_mut().for_each(|one| *one = link.units.max(*one));
            }
            height.iter().zip(&mut waiting[start..end]).for_each(|(height, waiting)| *waiting += height);
            let high = chain.links.iter().map(|link| link.limit.min(capacity) - link.units).min()?;
            if high < 0 {
                return None;
            }
            highest.push(high);
            heights.push((start, height));
        }
        let (floors, addresses) = (vec![0; n_sections], vec![None; chains.len()]);
        Some(Self { chains, heights, highest, order: Vec::new(), capacity, floors, waiting, addresses, steps, budget: 0 })
    }

    /// Orders to try chains in: by area, length and load, as MiniMalloc's default orders (ASPLOS 2023).
    fn orders(&self) -> [Vec<usize>; 3] {
        let area = |index: usize| self.heights[index].1.iter().sum::<i64>();
        let length = |index: usize| self.chains[index].links.iter().map(|link| link.end - link.start).sum::<usize>() as i64;
        let load = |index: usize| {
            let (start, height) = &self.heights[index];
            self.waiting[*start..start + height.len()].iter().copied().max().unwrap_or(0)
        };
        let sorted = |key: &dyn Fn(usize) -> [i64; 3]| {
            let mut order: Vec<usize> = (0..self.chains.len()).collect();
            order.sort_by_key(|&index| (key(index).map(|part| -part), index));
            order
        };
        [
            sorted(&|index| [length(index), area(index), load(index)]),
            sorted(&|index| [load(index), area(index), length(index)]),
            sorted(&|index| [load(index), length(index), area(index)]),
        ]
    }

    fn address_of(&self, index: usize) -> i64 {
        let (start, height) = &self.heights[index];
        self.floors[*start..start + height.len()].iter().copied().max().unwrap_or(0)
    }

    /// Places the rest, nothing below `lowest`; of chains at `lowest` only those behind `position` in the order.
    fn place(&mut self, n_placed: usize, lowest: i64, position: usize) -> Outcome {
        if n_placed == self.chains.len() {
            return Outcome::Placed;
        }
        if self.steps.left == 0 || self.budget == 0 {
            return Outcome::OutOfSteps;
        }
        self.steps.left -= 1;
        self.budget -= 1;
        let mut candidates: Vec<(i64, usize)> = Vec::new();
        let mut lowest_top = i64::MAX;
        let mut room = vec![i64::MAX; self.floors.len()];
        for (at, &index) in self.order.iter().enumerate() {
            if self.addresses[index].is_some() {
                continue;
            }
            let address = self.address_of(index).max(lowest);
            if address > self.highest[index] {
                return Outcome::Impossible;
            }
            let (start, height) = &self.heights[index];
            lowest_top = lowest_top.min(address + height.iter().copied().max().unwrap_or(0));
            room[*start..start + height.len()].iter_mut().for_each(|one| *one = address.min(*one));
            candidates.push((address, at));
        }
        // Below the lowest address that something waiting can have, the rest of a section is lost.
        let overfull = |section: usize| {
            let floor = self.floors[section].max(lowest);
            let floor = if room[section] == i64::MAX { floor } else { floor.max(room[section]) };
            self.waiting[section] > 0 && floor + self.waiting[section] > self.capacity
        };
        if (0..self.floors.len()).any(overfull) {
            return Outcome::Impossible;
        }
        candidates.sort_unstable();
        for (address, at) in candidates {
            // Anything waiting could go below, or it would come first.
            if address >= lowest_top || (address == lowest && n_placed > 0 && at < position) {
                continue;
            }
            let index = self.order[at];
            if self.address_of(index) != address {
                continue;
            }
            let before = self.put(index, address);
            let outcome = self.place(n_placed + 1, address, at);
            if let Outcome::Placed = outcome {
                return outcome;
            }
            self.take(index, &before);
            if let Outcome::OutOfSteps = outcome {
                return outcome;
            }
        }
        Outcome::Impossible
    }

    fn put(&mut self, index: usize, address: i64) -> Vec<i64> {
        let (start, height) = &self.heights[index];
        let sections = *start..start + height.len();
        let before = self.floors[sections.clone()].to_vec();
        for (section, height) in sections.zip(height) {
            self.floors[section] = address + height;
            self.waiting[section] -= height;
        }
        self.addresses[index] = Some(address);
        before
    }

    fn take(&mut self, index: usize, before: &[i64]) {
        let (start, height) = &self.heights[index];
        for ((section, height), before) in (*start..).zip(height).zip(before) {
            self.floors[section] = *before;
            self.waiting[section] += height;
        }
        self.addresses[index] = None;
    }
}
