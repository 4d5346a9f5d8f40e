//! The sweep: per operation, the sets of values that may be in LX, and the least HBM bytes that lead to each set.
//!
//! Values stay as long as there is room: leaving later costs no more than leaving now, and coming for a use costs no more than HBM
//! serving it. So the sweep branches only in operations whose values do not fit together, and of the resulting sets it tries only maximal
//! ones. Values of a cut are the exception: a cut may forbid that they stay.

use super::{
    cut::{Cut, CutTable},
    history::{Decision, History},
    key::{Key, Table},
    mergers::Mergers,
    moment::{Choice, Fare, MOST_SLOTS, Moment, Moments},
    prices::{At, Prices},
    problem::Problem,
    selection::Selection,
};

/// Maximum number of partial choices examined per successor of a set; this number counts as one step.
const NODES_OF_BRANCH: usize = 16;

/// Steps between two calls of the watcher.
const STEPS_UNWATCHED: u64 = 4_096;

/// Limits of a sweep.
pub(crate) struct Limits {
    /// Exclusive upper limit of the HBM bytes of a choice.
    pub(crate) ceiling: i64,
    /// Maximum number of sets kept per operation.
    pub(crate) width: usize,
    /// Maximum number of successors of a set in one operation.
    pub(crate) branches: usize,
}

/// Result of a sweep.
pub(crate) struct Swept {
    /// Best choice found below the ceiling.
    pub(crate) best: Option<Selection>,
    /// Lower bound of the HBM bytes of any choice, or the ceiling if that is lower.
    pub(crate) bound: i64,
    /// Number of sets generated.
    pub(crate) steps: u64,
    /// Whether the watcher asked to stop; the rest of the sweep was narrow.
    pub(crate) is_stopped: bool,
}

/// Sweeps with keys of the required width; `go_on` receives the steps left from time to time.
pub(crate) fn sweep(
    problem: &Problem,
    prices: &Prices,
    moments: &Moments,
    cuts: &[Cut],
    limits: &Limits,
    steps: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Swept {
    let table = CutTable::new(problem, cuts);
    match moments.n_slots {
        0..=32 => Sweep::<1>::new(problem, prices, &table, limits, &moments.list, steps).run(go_on),
        33..=64 => Sweep::<2>::new(problem, prices, &table, limits, &moments.list, steps).run(go_on),
        65..=128 => Sweep::<4>::new(problem, prices, &table, limits, &moments.list, steps).run(go_on),
        129..=MOST_SLOTS => Sweep::<16>::new(problem, prices, &table, limits, &moments.list, steps).run(go_on),
        n_slots => unreachable!("{n_slots} values that live at once have no moments"),
    }
}

#[derive(Clone, Copy)]
struct State<const W: usize> {
    key: Key<W>,
    /// HBM bytes so far.
    bytes: i64,
    /// Scaled lower bound of the bytes of every continuation.
    bound: i64,
    /// Units of the values that stay in LX.
    units: i64,
    /// Index of its entry in the history.
    entry: u32,
}

/// Options of a value that is in LX during an operation.
#[derive(Clone, Copy)]
struct Present {
    item: usize,
    at: At,
    units: i64,
    stay_regret: i64,
    out_regret: i64,
    /// Its decision is fixed, because a cut depends on it.
    is_fixed: bool,
}

struct Sweep<'p, const W: usize> {
    problem: &'p Problem,
    cuts: &'p CutTable,
    limits: &'p Limits,
    moments: &'p [Moment],
    scale: i64,
    /// Scaled ceiling without the fixed costs.
    ceiling: i64,
    first_bound: i64,
    max_steps: u64,
    steps: u64,
    /// Least bound of the sets that were dropped.
    left_out: i64,
    history: History,
    next: Vec<State<W>>,
    index: Table,
    // Data of the current state:
    options: Vec<Present>,
    fates: Vec<Fate>,
    mergers: Mergers,
    /// Per option: units of the later options, which may still leave.
    behind: Vec<i64>,
    emitted: usize,
    visited: usize,
}

/// Successor of a state if all options remain in LX.
struct Base<const W: usize> {
    state: State<W>,
    /// Units in LX without an open decision.
    units_of_others: i64,
    /// Units for which the price is paid.
    priced: i64,
    /// Cuts that do not apply because of values that cannot be in LX.
    killed: u128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Out,
    Leaves,
}

/// Position in the tree of choices of one state.
#[derive(Clone, Copy)]
struct Branch {
    /// Index of the next option.
    position: usize,
    /// Units in LX during the operation, ignoring takeovers.
    units: i64,
    bound: i64,
    /// Units of the smallest evicted value.
    least_out: i64,
}

impl<'p, const W: usize> Sweep<'p, W> {
    fn new(problem: &'p Problem, prices: &Prices, cuts: &'p CutTable, limits: &'p Limits, moments: &'p [Moment], steps: u64) -> Self {
        Self {
            problem,
            cuts,
            limits,
            moments,
            scale: prices.scale,
            ceiling: (limits.ceiling - problem.fixed_bytes).saturating_mul(prices.scale),
            first_bound: prices.bound(),
            max_steps: steps,
            steps: 0,
            left_out: i64::MAX,
            history: History::new(),
            next: Vec::new(),
            index: Table::new(),
            options: Vec::new(),
            fates: Vec::new(),
            mergers: Mergers::new(),
            behind: Vec::new(),
            emitted: 0,
            visited: 0,
        }
    }

    fn run(mut self, go_on: &mut dyn FnMut(u64) -> bool) -> Swept {
        let (mut is_stopped, mut watched) = (false, 0);
        let key = Key { at: [0; W], alive: self.cuts.all };
        let mut states = vec![State { key, bytes: 0, bound: self.first_bound, units: 0, entry: 0 }];
        if self.first_bound >= self.ceiling {
            states.clear();
        }
        for moment in self.moments {
            for state in &states {
                self.advance(moment, state);
            }
            self.index.clear();
            std::mem::swap(&mut states, &mut self.next);
            self.next.clear();
            if self.steps >= watched + STEPS_UNWATCHED {
                watched = self.steps;
                is_stopped = is_stopped || !go_on(self.max_steps.saturating_sub(self.steps));
            }
            let width = if self.steps >= self.max_steps || is_stopped { 1 } else { self.limits.width };
            if states.len() > width {
                states.sort_by_key(|state| (state.bound, state.entry));
                self.left_out = self.left_out.min(states[width].bound);
                states.truncate(width);
            }
        }
        let best = states.iter().min_by_key(|state| state.bytes);
        let lowest = best.map_or(i64::MAX, |state| state.bytes.saturating_mul(self.scale)).min(self.left_out).min(self.ceiling);
        let asks = |tick: usize| !self.cuts.edges[tick].is_empty();
        Swept {
            best: best.map(|state| self.history.selection(self.problem, self.moments, asks, state.entry)),
            bound: self.problem.fixed_bytes + lowest.div_euclid(self.scale) + i64::from(lowest.rem_euclid(self.scale) > 0),
            steps: self.steps,
            is_stopped,
        }
    }

    /// Generates all successors of one state in one operation.
    fn advance(&mut self, moment: &Moment, state: &State<W>) {
        let (base, units) = self.look(moment, state);
        (self.emitted, self.visited) = (0, 0);
        self.fates.clear();
        self.fates.resize(self.options.len(), Fate::Stays);
        if self.cuts.all == 0 && units <= self.problem.units {
            self.emit(moment, &base, &[]);
        } else {
            self.options.sort_unstable_by_key(|option| (option.out_regret - option.stay_regret, option.item));
            self.behind.clear();
            self.behind.resize(self.options.len() + 1, 0);
            for (position, option) in self.options.iter().enumerate().rev() {
                self.behind[position] = self.behind[position + 1] + if option.is_fixed { 0 } else { option.units };
            }
            let branch = Branch { position: 0, units, bound: state.bound, least_out: i64::MAX };
            self.decide_fixed(moment, &base, branch);
        }
        self.steps += (self.visited / NODES_OF_BRANCH) as u64;
    }

    /// Computes the options of a state, its successor if all options stay, and the units that are then in LX.
    fn look(&mut self, moment: &Moment, state: &State<W>) -> (Base<W>, i64) {
        self.options.clear();
        if moment.child_units > 0 {
            self.mergers.clear(moment);
        }
        let mut base = Base { state: *state, units_of_others: state.units, priced: 0, killed: 0 };
        let mut units = state.units;
        for (index, item) in moment.items.iter().enumerate() {
            let at = state.key.get(item.slot);
            let choice = &item.choices[at as usize];
            let Some(stay) = choice.stay else {
                // The value is not in LX and cannot come.
                base.state.bytes += choice.out_bytes;
                base.killed |= item.using.map_or(0, |using| self.cuts.not_in_lx(item.value, using));
                continue;
            };
            if at == At::Hbm {
                if item.using.is_none() {
                    continue;
                }
                units += item.units;
            } else {
                base.units_of_others -= item.units;
            }
            let least = stay.cost.min(choice.out_cost);
            let (stay_regret, out_regret) = (stay.cost - least, choice.out_cost - least);
            base.state.bound += stay_regret;
            base.state.bytes += stay.bytes;
            base.state.units += if stay.after == At::Hbm { 0 } else { item.units } - if at == At::Hbm { 0 } else { item.units };
            base.state.key.set(item.slot, stay.after);
            base.priced += if item.is_free { 0 } else { item.units };
            let is_fixed = self.cuts.all != 0 && self.cuts.is_eager[item.value];
            self.options.push(Present { item: index, at, units: item.units, stay_regret, out_regret, is_fixed });
            if moment.child_units > 0 {
                self.mergers.inside[index] = true;
            }
        }
        (base, units)
    }

    /// Tries all decisions for the values of cuts.
    fn decide_fixed(&mut self, moment: &Moment, base: &Base<W>, branch: Branch) {
        let Branch { position, units, bound, .. } = branch;
        if self.cuts.all == 0 || position == self.options.len() {
            return self.decide(moment, base, Branch { position: 0, ..branch });
        }
        let option = self.options[position];
        let item = &moment.items[option.item];
        let stays = Branch { position: position + 1, ..branch };
        self.decide_fixed(moment, base, stays);
        if !option.is_fixed || item.using.is_none() {
            return;
        }
        self.set(moment, position, Fate::Out);
        let regret = option.out_regret - option.stay_regret;
        self.decide_fixed(moment, base, Branch { units: units - item.units, bound: bound + regret, ..stays });
        if item.may_leave {
            self.set(moment, position, Fate::Leaves);
            self.decide_fixed(moment, base, stays);
        }
        self.set(moment, position, Fate::Stays);
    }

    fn set(&mut self, moment: &Moment, position: usize, fate: Fate) {
        self.fates[position] = fate;
        if moment.child_units > 0 {
            self.mergers.inside[self.options[position].item] = fate != Fate::Out;
        }
    }

    /// Evicts values until the others fit.
    fn decide(&mut self, moment: &Moment, base: &Base<W>, branch: Branch) {
        let Branch { position, units, bound, least_out } = branch;
        self.visited += 1;
        if self.emitted >= self.limits.branches || self.visited >= NODES_OF_BRANCH * self.limits.branches {
            self.left_out = self.left_out.min(bound);
            return;
        }
        let over = units - self.problem.units;
        let missing = over - self.credit(moment, over, least_out);
        // If a cut depends on takeovers, suboptimal takeovers are tried too, and they may require other values to leave.
        let asks = !self.cuts.edges[moment.tick].is_empty();
        if missing <= 0 && (!asks || position == self.options.len() || over <= 0) {
            // No evicted value could stay.
            if least_out.saturating_add(if asks { over } else { missing }) > 0 {
                self.emit_all(moment, base);
            }
            return;
        }
        if bound >= self.ceiling || self.behind[position] < missing || position == self.options.len() {
            return;
        }
        let option = self.options[position];
        if !option.is_fixed {
            self.set(moment, position, Fate::Out);
            let least_out = least_out.min(option.units);
            let out = Branch { position: position + 1, units: units - option.units, bound: bound + option.out_regret, least_out };
            self.decide(moment, base, out);
            self.set(moment, position, Fate::Stays);
        }
        self.decide(moment, base, Branch { position: position + 1, bound: bound + option.stay_regret, ..branch });
    }

    /// Returns the units that mergers save when `over` units exceed the capacity. Returns an upper bound if even that is too small,
    /// and 0 if no saving is needed.
    fn credit(&mut self, moment: &Moment, over: i64, least_out: i64) -> i64 {
        match moment.child_units {
            0 => 0,
            most if over > most => most,
            _ if over <= 0 && least_out == i64::MAX => 0,
            _ => self.mergers.saved_units(moment),
        }
    }

    /// Records the state; for all assignments of takeovers if a cut depends on them.
    fn emit_all(&mut self, moment: &Moment, base: &Base<W>) {
        if self.cuts.edges[moment.tick].is_empty() {
            return self.emit(moment, base, &[]);
        }
        self.emit_merges(moment, base, 0, &mut Vec::new());
    }

    fn emit_merges(&mut self, moment: &Moment, base: &Base<W>, child: usize, pairs: &mut Vec<(usize, usize)>) {
        if child == moment.items.len() {
            let is_in = |option: &(&Present, &Fate)| *option.1 != Fate::Out;
            let units: i64 = self.options.iter().zip(&self.fates).filter(is_in).map(|(option, _)| option.units).sum();
            let credit: i64 = pairs.iter().map(|&(child, _)| moment.items[child].units).sum();
            if units + base.units_of_others - credit <= self.problem.units {
                self.emit(moment, base, pairs);
            }
            return;
        }
        self.emit_merges(moment, base, child + 1, pairs);
        for &parent in &moment.items[child].parents {
            if self.mergers.inside[child] && self.mergers.inside[parent] && pairs.iter().all(|pair| pair.1 != parent) {
                pairs.push((child, parent));
                self.emit_merges(moment, base, child + 1, pairs);
                pairs.pop();
            }
        }
    }

    fn emit(&mut self, moment: &Moment, base: &Base<W>, pairs: &[(usize, usize)]) {
        let (mut new, mut priced, mut killed) = (base.state, base.priced, base.killed);
        for (option, fate) in self.options.iter().zip(&self.fates) {
            let item = &moment.items[option.item];
            killed |= if *fate == Fate::Out { 0 } else { self.cuts.in_lx(item.value) };
            if *fate == Fate::Stays {
                continue;
            }
            let Choice { stay: Some(stay), out_cost, out_bytes, leave } = item.choices[option.at as usize] else { continue };
            let out = Fare { cost: out_cost, bytes: out_bytes, after: At::Hbm };
            let fare = if *fate == Fate::Out { out } else { leave };
            new.bound += fare.cost - stay.cost;
            new.bytes += fare.bytes - stay.bytes;
            new.units -= if stay.after == At::Hbm { 0 } else { item.units };
            new.key.set(item.slot, At::Hbm);
            if *fate == Fate::Out && !item.is_free {
                priced -= item.units;
            }
            killed |= self.cuts.killed_by(item.value, item.using, *fate == Fate::Out);
        }
        new.bound += moment.price * (self.problem.units - base.units_of_others - priced);
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
        if new.bound < self.ceiling {
            self.note(moment, new, pairs);
        }
    }

    /// Keeps the better of two states with equal keys.
    fn note(&mut self, moment: &Moment, mut new: State<W>, pairs: &[(usize, usize)]) {
        self.steps += 1;
        self.emitted += 1;
        let next = &self.next;
        let (place, known) = self.index.find(&new.key, |position| next[position as usize].key);
        if known.is_some_and(|known| self.next[known as usize].bytes <= new.bytes) {
            return;
        }
        let value = |item: usize| moment.items[item].value as u32;
        let tick = moment.tick as u32;
        let decided = self.options.iter().zip(&self.fates).filter_map(|(option, fate)| match fate {
            Fate::Stays => None,
            Fate::Out => Some(Decision::Out { value: value(option.item), tick }),
            Fate::Leaves => Some(Decision::Leaves { value: value(option.item), tick }),
        });
        let merged = pairs.iter().map(|&(child, parent)| Decision::Merges { child: value(child), parent: value(parent) });
        new.entry = self.history.add(new.entry, decided.chain(merged));
        match known {
            Some(known) => self.next[known as usize] = new,
            None => {
                self.next.push(new);
                let next = &self.next;
                self.index.fill(place, next.len() as u32 - 1, |position| next[position as usize].key);
            }
        }
    }
}
