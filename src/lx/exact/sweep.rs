//! The sweep: operation by operation, the sets of values that may be in LX, and the least HBM bytes that lead to each.
//!
//! Values stay as long as there is room: leaving later costs no more than leaving now, and coming for a use no more than being served from
//! HBM. So a choice is only made in an operation whose values do not fit together, and of the sets that then leave only those are
//! tried from which nothing could stay. Values of a cut are the exception: for them, staying may be what the cut forbids.

use super::{
    cut::{Cut, CutTable},
    key::{Key, Table},
    moment::{Moment, moments},
    prices::{At, Prices},
    problem::{Problem, Stays},
    selection::{Selection, Stay},
};

/// Partial choices that may be looked at for each set that one set may lead to. As many are a step.
const NODES_OF_BRANCH: usize = 16;

/// What limits a sweep.
pub(crate) struct Limits {
    /// Only choices with fewer HBM bytes are wanted.
    pub(crate) ceiling: i64,
    /// Sets kept per operation.
    pub(crate) width: usize,
    /// Sets that one set may lead to in one operation.
    pub(crate) branches: usize,
}

/// What a sweep found.
pub(crate) struct Swept {
    /// The best choice below the ceiling among those seen.
    pub(crate) best: Option<Selection>,
    /// No choice leaves fewer HBM bytes (or the ceiling is not more).
    pub(crate) bound: i64,
    /// Sets that were made.
    pub(crate) steps: u64,
}

/// Sweeps with keys of the right width; `None` if too many values live together.
pub(crate) fn sweep(problem: &Problem, prices: &Prices, cuts: &[Cut], limits: &Limits, steps: u64) -> Option<Swept> {
    let (moments, slots) = moments(problem, prices);
    let table = CutTable::new(problem, cuts);
    match slots {
        0..=32 => Some(Sweep::<1>::new(problem, prices, &table, limits, &moments, steps).run()),
        33..=64 => Some(Sweep::<2>::new(problem, prices, &table, limits, &moments, steps).run()),
        65..=128 => Some(Sweep::<4>::new(problem, prices, &table, limits, &moments, steps).run()),
        129..=512 => Some(Sweep::<16>::new(problem, prices, &table, limits, &moments, steps).run()),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct State<const W: usize> {
    key: Key<W>,
    /// HBM bytes so far.
    bytes: i64,
    /// Scaled bytes that every continuation has.
    bound: i64,
    /// Units of the values that stay in LX.
    units: i64,
    /// Its entry in the history.
    entry: u32,
}

/// How a state came about.
#[derive(Clone, Copy)]
struct Entry {
    from: u32,
    start: u32,
    end: u32,
}

/// A decision that is not to stay.
#[derive(Clone, Copy)]
enum Decision {
    /// The value is not in LX in this operation.
    Out { value: u32, tick: u32 },
    /// It leaves after this operation.
    Leaves { value: u32, tick: u32 },
    /// The child takes over the parent's address.
    Merges { child: u32, parent: u32 },
}

/// What a value that is in LX during an operation could do.
#[derive(Clone, Copy)]
struct Present {
    item: usize,
    at: At,
    stay_regret: i64,
    out_regret: i64,
}

struct Sweep<'p, const W: usize> {
    problem: &'p Problem,
    prices: &'p Prices,
    cuts: &'p CutTable,
    limits: &'p Limits,
    moments: &'p [Moment],
    max_steps: u64,
    steps: u64,
    /// Least bound of what was left out.
    left_out: i64,
    entries: Vec<Entry>,
    decisions: Vec<Decision>,
    next: Vec<State<W>>,
    index: Table,
    // Of the state at work:
    options: Vec<Present>,
    fates: Vec<Fate>,
    emitted: usize,
    visited: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Out,
    Leaves,
}

impl<'p, const W: usize> Sweep<'p, W> {
    fn new(problem: &'p Problem, prices: &'p Prices, cuts: &'p CutTable, limits: &'p Limits, moments: &'p [Moment], steps: u64) -> Self {
        Self {
            problem,
            prices,
            cuts,
            limits,
            moments,
            max_steps: steps,
            steps: 0,
            left_out: i64::MAX,
            entries: vec![Entry { from: 0, start: 0, end: 0 }],
            decisions: Vec::new(),
            next: Vec::new(),
            index: Table::new(),
            options: Vec::new(),
            fates: Vec::new(),
            emitted: 0,
            visited: 0,
        }
    }

    fn ceiling(&self) -> i64 {
        (self.limits.ceiling - self.problem.fixed_bytes).saturating_mul(self.prices.scale)
    }

    fn run(mut self) -> Swept {
        let key = Key { at: [0; W], alive: self.cuts.all };
        let bound = self.prices.bound(self.problem);
        let mut states = vec![State { key, bytes: 0, bound, units: 0, entry: 0 }];
        if bound >= self.ceiling() {
            states.clear();
        }
        for moment in self.moments {
            for state in &states {
                self.advance(moment, state);
            }
            self.index.clear();
            std::mem::swap(&mut states, &mut self.next);
            self.next.clear();
            let width = if self.steps >= self.max_steps { 1 } else { self.limits.width };
            if states.len() > width {
                states.sort_by_key(|state| (state.bound, state.entry));
                self.left_out = self.left_out.min(states[width].bound);
                states.truncate(width);
            }
        }
        let best = states.iter().min_by_key(|state| state.bytes);
        let lowest = best.map_or(i64::MAX, |state| state.bytes.saturating_mul(self.prices.scale)).min(self.left_out).min(self.ceiling());
        let scale = self.prices.scale;
        Swept {
            best: best.map(|state| self.selection(state.entry)),
            bound: self.problem.fixed_bytes + lowest.div_euclid(scale) + i64::from(lowest.rem_euclid(scale) > 0),
            steps: self.steps,
        }
    }

    /// All states that one state leads to in one operation.
    fn advance(&mut self, moment: &Moment, state: &State<W>) {
        self.options.clear();
        let mut units = state.units;
        for (item, one) in moment.items.iter().enumerate() {
            let at = state.key.get(one.slot);
            let choice = &one.choices[at as usize];
            let (Some(stay), true) = (choice.stay, at != At::Hbm || one.using.is_some()) else { continue };
            let least = stay.cost.min(choice.out_cost);
            if at == At::Hbm {
                units += one.units;
            }
            self.options.push(Present { item, at, stay_regret: stay.cost - least, out_regret: choice.out_cost - least });
        }
        self.options.sort_by_key(|option| (option.out_regret - option.stay_regret, option.item));
        self.fates.clear();
        self.fates.resize(self.options.len(), Fate::Stays);
        (self.emitted, self.visited) = (0, 0);
        self.decide_eager(moment, state, 0, units, state.bound);
        self.steps += (self.visited / NODES_OF_BRANCH) as u64;
    }

    /// Tries every fate of the values of cuts.
    fn decide_eager(&mut self, moment: &Moment, state: &State<W>, position: usize, units: i64, bound: i64) {
        if self.cuts.all == 0 {
            return self.decide(moment, state, 0, units, bound);
        }
        if position == self.options.len() {
            return self.decide(moment, state, 0, units, bound);
        }
        let option = self.options[position];
        let item = &moment.items[option.item];
        if !self.cuts.is_eager[item.value] || item.using.is_none() {
            return self.decide_eager(moment, state, position + 1, units, bound);
        }
        self.decide_eager(moment, state, position + 1, units, bound);
        self.fates[position] = Fate::Out;
        self.decide_eager(moment, state, position + 1, units - item.units, bound + option.out_regret - option.stay_regret);
        if item.may_leave {
            self.fates[position] = Fate::Leaves;
            self.decide_eager(moment, state, position + 1, units, bound);
        }
        self.fates[position] = Fate::Stays;
    }

    /// Sends values out until the others fit.
    fn decide(&mut self, moment: &Moment, state: &State<W>, position: usize, units: i64, bound: i64) {
        self.visited += 1;
        if self.emitted >= self.limits.branches || self.visited >= NODES_OF_BRANCH * self.limits.branches {
            self.left_out = self.left_out.min(bound);
            return;
        }
        let credit = self.credit(moment, units);
        // Where a cut asks about mergers, those that save less than the best are tried too, and may need others to leave.
        let asks = !self.cuts.edges[moment.tick].is_empty();
        let missing = units - credit - self.problem.units;
        let fits = missing <= 0 && (!asks || position == self.options.len() || units <= self.problem.units);
        if fits {
            let missing = if asks { units - self.problem.units } else { missing };
            let is_least = |(option, fate): (&Present, &Fate)| {
                let item = &moment.items[option.item];
                *fate != Fate::Out || self.cuts.is_eager[item.value] || missing + item.units > 0
            };
            if self.options.iter().zip(&self.fates).all(is_least) {
                self.emit_all(moment, state);
            }
            return;
        }
        if bound >= self.ceiling() {
            return;
        }
        let rest: i64 = self.options[position..]
            .iter()
            .zip(&self.fates[position..])
            .filter(|(_, fate)| **fate == Fate::Stays)
            .map(|(option, _)| moment.items[option.item].units)
            .sum();
        if rest < missing || position == self.options.len() {
            return;
        }
        let option = self.options[position];
        let item = &moment.items[option.item];
        let is_fixed = self.cuts.all != 0 && self.cuts.is_eager[item.value];
        if !is_fixed {
            self.fates[position] = Fate::Out;
            self.decide(moment, state, position + 1, units - item.units, bound + option.out_regret);
            self.fates[position] = Fate::Stays;
        }
        self.decide(moment, state, position + 1, units, bound + option.stay_regret);
    }

    /// What mergers save, or more if that is too little, or nothing if it is not needed.
    fn credit(&self, moment: &Moment, units: i64) -> i64 {
        let is_all_in = || self.fates.iter().all(|fate| *fate != Fate::Out);
        match moment.child_units {
            0 => 0,
            most if units - most > self.problem.units => most,
            _ if units <= self.problem.units && is_all_in() => 0,
            _ => self.best_merges(moment).0,
        }
    }

    /// The mergers that save most, and what they save: each child that can have one of its parents, the large ones first.
    fn best_merges(&self, moment: &Moment) -> (i64, Vec<(usize, usize)>) {
        let mut inside = vec![false; moment.items.len()];
        for (option, fate) in self.options.iter().zip(&self.fates) {
            inside[option.item] = *fate != Fate::Out;
        }
        let is_in = |item: usize| inside[item];
        let mut children: Vec<usize> =
            (0..moment.items.len()).filter(|&item| !moment.items[item].parents.is_empty() && is_in(item)).collect();
        children.sort_by_key(|&item| (-moment.items[item].units, item));
        let mut child_of: Vec<Option<usize>> = vec![None; moment.items.len()];
        let mut seen = vec![false; moment.items.len()];
        let mut credit = 0;
        for child in children {
            seen.fill(false);
            if augment(moment, child, &is_in, &mut child_of, &mut seen) {
                credit += moment.items[child].units;
            }
        }
        let pairs = child_of.iter().enumerate().filter_map(|(parent, child)| child.map(|child| (child, parent))).collect();
        (credit, pairs)
    }

    fn is_in(&self, item: usize) -> bool {
        self.options.iter().zip(&self.fates).any(|(option, fate)| option.item == item && *fate != Fate::Out)
    }

    /// The state for the best mergers; for all mergers if a cut asks about them.
    fn emit_all(&mut self, moment: &Moment, state: &State<W>) {
        if moment.child_units == 0 {
            return self.emit(moment, state, &[]);
        }
        let pairs = self.best_merges(moment).1;
        if self.cuts.edges[moment.tick].is_empty() {
            return self.emit(moment, state, &pairs);
        }
        self.emit_merges(moment, state, 0, &mut Vec::new());
    }

    fn emit_merges(&mut self, moment: &Moment, state: &State<W>, child: usize, pairs: &mut Vec<(usize, usize)>) {
        if child == moment.items.len() {
            let is_in = |option: &(&Present, &Fate)| *option.1 != Fate::Out;
            let units: i64 = self.options.iter().zip(&self.fates).filter(is_in).map(|(option, _)| moment.items[option.item].units).sum();
            let others = self.units_of_others(moment, state);
            let credit: i64 = pairs.iter().map(|&(child, _)| moment.items[child].units).sum();
            if units + others - credit <= self.problem.units {
                self.emit(moment, state, pairs);
            }
            return;
        }
        self.emit_merges(moment, state, child + 1, pairs);
        if !self.is_in(child) {
            return;
        }
        for &parent in &moment.items[child].parents {
            if self.is_in(parent) && pairs.iter().all(|pair| pair.1 != parent) {
                pairs.push((child, parent));
                self.emit_merges(moment, state, child + 1, pairs);
                pairs.pop();
            }
        }
    }

    /// Units of values in LX about which nothing is decided in this operation.
    fn units_of_others(&self, moment: &Moment, state: &State<W>) -> i64 {
        let decided = self.options.iter().filter(|option| option.at != At::Hbm).map(|option| moment.items[option.item].units);
        state.units - decided.sum::<i64>()
    }

    fn emit(&mut self, moment: &Moment, state: &State<W>, pairs: &[(usize, usize)]) {
        let mut new = *state;
        let mut priced = self.units_of_others(moment, state);
        let mut killed = 0;
        for item in &moment.items {
            // Not in LX unless an option says so.
            let Some(using) = item.using else { continue };
            if state.key.get(item.slot) == At::Hbm && item.choices[0].stay.is_none() {
                new.bytes += item.choices[0].out_bytes;
                killed |= self.cuts.not_in_lx[item.value][using];
            }
        }
        for (option, fate) in self.options.iter().zip(&self.fates) {
            let item = &moment.items[option.item];
            let choice = &item.choices[option.at as usize];
            let Some(stay) = choice.stay else { continue };
            let was = if option.at == At::Hbm { 0 } else { item.units };
            let (cost, bytes, after) = match fate {
                Fate::Stays => (stay.cost, stay.bytes, stay.after),
                Fate::Leaves => (choice.leave.cost, choice.leave.bytes, choice.leave.after),
                Fate::Out => (choice.out_cost, choice.out_bytes, At::Hbm),
            };
            new.bound += cost - stay.cost.min(choice.out_cost);
            new.bytes += bytes;
            new.units += if after == At::Hbm { 0 } else { item.units } - was;
            new.key.set(item.slot, after);
            if *fate != Fate::Out && !item.is_free {
                priced += item.units;
            }
            if let (Some(using), true) = (item.using, self.cuts.all != 0) {
                match fate {
                    Fate::Out => {
                        killed |= self.cuts.not_in_lx[item.value][using];
                        killed |= if using > 0 { self.cuts.not_kept[item.value][using - 1] } else { 0 };
                    }
                    Fate::Leaves => killed |= self.cuts.not_kept[item.value][using],
                    Fate::Stays => {}
                }
            }
        }
        new.bound += moment.price * (self.problem.units - priced);
        if self.cuts.all != 0 {
            for &(child, parent, with, without) in &self.cuts.edges[moment.tick] {
                let merged = pairs.iter().any(|pair| (moment.items[pair.0].value, moment.items[pair.1].value) == (child, parent));
                killed |= if merged { without } else { with };
            }
            new.key.alive &= !killed;
            if new.key.alive & self.cuts.known[moment.tick] != 0 {
                return;
            }
        }
        if new.bound < self.ceiling() {
            self.note(moment, state.entry, new, pairs);
        }
    }

    /// Keeps the better of the states that look alike.
    fn note(&mut self, moment: &Moment, from: u32, mut new: State<W>, pairs: &[(usize, usize)]) {
        self.steps += 1;
        self.emitted += 1;
        let next = &self.next;
        let known = self.index.find(&new.key, |position| next[position as usize].key);
        if known.is_some_and(|known| self.next[known as usize].bytes <= new.bytes) {
            return;
        }
        let start = self.decisions.len() as u32;
        let tick = moment.tick as u32;
        for (option, fate) in self.options.iter().zip(&self.fates) {
            let value = moment.items[option.item].value as u32;
            match fate {
                Fate::Stays => {}
                Fate::Out => self.decisions.push(Decision::Out { value, tick }),
                Fate::Leaves => self.decisions.push(Decision::Leaves { value, tick }),
            }
        }
        let name = |item: usize| moment.items[item].value as u32;
        self.decisions.extend(pairs.iter().map(|&(child, parent)| Decision::Merges { child: name(child), parent: name(parent) }));
        let end = self.decisions.len() as u32;
        new.entry = if start == end {
            from
        } else {
            self.entries.push(Entry { from, start, end });
            self.entries.len() as u32 - 1
        };
        match known {
            Some(known) => self.next[known as usize] = new,
            None => {
                let next = &self.next;
                self.index.insert(&new.key, next.len() as u32, |position| next[position as usize].key);
                self.next.push(new);
            }
        }
    }

    /// The choice that led to an entry of the history.
    fn selection(&self, mut entry: u32) -> Selection {
        let all = |n: usize| Stay { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        let mut stays: Vec<Stay> = self.problem.values.iter().map(|value| all(value.uses.len())).collect();
        while entry != 0 {
            let Entry { from, start, end } = self.entries[entry as usize];
            for decision in &self.decisions[start as usize..end as usize] {
                match *decision {
                    Decision::Out { value, tick } => self.take_out(&mut stays, value as usize, tick as usize),
                    Decision::Leaves { value, tick } => {
                        let using = self.problem.values[value as usize].uses.partition_point(|one| one.tick < tick as usize);
                        stays[value as usize].keeps[using] = false;
                    }
                    Decision::Merges { child, parent } => stays[child as usize].parent = Some(parent as usize),
                }
            }
            entry = from;
        }
        Selection { stays }
    }

    fn take_out(&self, stays: &mut [Stay], value: usize, tick: usize) {
        let (uses, stay) = (&self.problem.values[value].uses, &mut stays[value]);
        if self.problem.stays == Stays::Whole {
            stay.in_lx.fill(false);
            stay.keeps.fill(false);
            return;
        }
        let next = uses.partition_point(|one| one.tick < tick);
        if next > 0 {
            stay.keeps[next - 1] = false;
        }
        if uses[next].tick == tick {
            stay.in_lx[next] = false;
            stay.keeps[next] = false;
        }
    }
}

/// Finds a parent for a child, if need be by giving another child another parent.
fn augment(moment: &Moment, child: usize, is_in: &impl Fn(usize) -> bool, child_of: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &parent in &moment.items[child].parents {
        if seen[parent] || !is_in(parent) {
            continue;
        }
        seen[parent] = true;
        if child_of[parent].is_none_or(|other| augment(moment, other, is_in, child_of, seen)) {
            child_of[parent] = Some(child);
            return true;
        }
    }
    false
}
