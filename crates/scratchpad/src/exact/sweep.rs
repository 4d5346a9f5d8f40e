//! Sweep over the operations: per operation, the sets of values that may be in LX, and the fewest HBM bytes of each
//! set.
//!
//! Values remain in LX while there is space: leaving later costs no more than leaving now, and loading for a use costs
//! no more than serving it from HBM. The sweep therefore branches only where values do not fit together, and tries
//! maximal sets only. Values of a cut are the exception, because a cut may forbid their residency.

use super::{
    cut::{CutTable, PackingCut},
    history::{DecisionHistory, SweepDecision},
    location_key::{LocationKey, LocationKeyTable},
    prices::{DualPrices, Residency},
    problem::SelectionProblem,
    reuse_matching::ReuseMatching,
    schedule_step::{ItemCosts, MAX_SLOTS, ScheduleStep, SweepSchedule, TransitionCost},
    selection::ResidencySelection,
};

/// Maximum number of partial decisions examined per successor of a state. This number counts as one step.
const NODES_PER_BRANCH: usize = 16;

/// Steps between two calls of the callback.
const STEPS_BETWEEN_CALLBACKS: u64 = 4_096;

/// Limits of a sweep.
pub(crate) struct SweepLimits {
    /// Exclusive upper limit of the HBM bytes of a selection.
    pub(crate) ceiling: i64,
    /// Maximum number of states kept per operation.
    pub(crate) width: usize,
    /// Maximum number of successors of a state in one operation.
    pub(crate) branches: usize,
}

/// Result of a sweep.
pub(crate) struct SweepResult {
    /// Best selection found below the ceiling.
    pub(crate) best: Option<ResidencySelection>,
    /// Lower bound on the HBM bytes of every selection, or the ceiling if that is lower.
    pub(crate) bound: i64,
    /// Steps taken: states generated, and groups of partial decisions examined.
    pub(crate) steps: u64,
    /// Whether the callback stopped the sweep, which then kept one state per operation.
    pub(crate) is_stopped: bool,
}

/// Sweeps with keys of the required width. `go_on` receives the steps left from time to time.
pub(crate) fn sweep(
    problem: &SelectionProblem,
    prices: &DualPrices,
    moments: &SweepSchedule,
    cuts: &[PackingCut],
    limits: &SweepLimits,
    steps: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> SweepResult {
    let table = CutTable::new(problem, cuts);
    match moments.num_slots {
        0..=32 => ResidencySweep::<1>::new(problem, prices, &table, limits, &moments.steps, steps).run(go_on),
        33..=64 => ResidencySweep::<2>::new(problem, prices, &table, limits, &moments.steps, steps).run(go_on),
        65..=128 => ResidencySweep::<4>::new(problem, prices, &table, limits, &moments.steps, steps).run(go_on),
        129..=MAX_SLOTS => ResidencySweep::<16>::new(problem, prices, &table, limits, &moments.steps, steps).run(go_on),
        num_slots => unreachable!("{num_slots} values that live at once have no moments"),
    }
}

#[derive(Clone, Copy)]
struct SweepState<const W: usize> {
    key: LocationKey<W>,
    /// HBM bytes so far.
    bytes: i64,
    /// Scaled lower bound on the bytes of every continuation.
    bound: i64,
    /// Units of the values that remain in LX after the operation.
    units: i64,
    /// Entry of the history that leads to this state.
    entry: u32,
}

/// Value that may be in LX during an operation, with the costs of its decisions.
#[derive(Clone, Copy)]
struct ItemOption {
    item: usize,
    residency: Residency,
    units: i64,
    interval_regret: i64,
    out_regret: i64,
    /// Whether its decision is enumerated instead of chosen by cost, because a cut depends on it.
    is_fixed: bool,
}

struct ResidencySweep<'p, const W: usize> {
    problem: &'p SelectionProblem,
    cuts: &'p CutTable,
    limits: &'p SweepLimits,
    moments: &'p [ScheduleStep],
    scale: i64,
    /// Scaled ceiling without the fixed bytes.
    ceiling: i64,
    first_bound: i64,
    max_steps: u64,
    steps: u64,
    /// Minimum bound of the states that were dropped.
    min_dropped_bound: i64,
    history: DecisionHistory,
    next: Vec<SweepState<W>>,
    index: LocationKeyTable,
    // Working data of the current state:
    options: Vec<ItemOption>,
    decisions: Vec<OptionDecision>,
    mergers: ReuseMatching,
    /// Per option: total units of the later options that may still be evicted.
    later_units: Vec<i64>,
    emitted: usize,
    visited: usize,
}

/// Successor of a state in which all options remain in LX.
struct BaseSuccessor<const W: usize> {
    state: SweepState<W>,
    /// Units in LX of values without a decision in this operation.
    units_of_others: i64,
    /// Units whose price is paid.
    priced: i64,
    /// Cuts that no longer apply because of values that cannot be in LX.
    killed: u128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionDecision {
    Resident,
    InHbm,
    EvictAfter,
}

/// Position in the decision tree of one state.
#[derive(Clone, Copy)]
struct BranchPosition {
    /// Index of the next option.
    position: usize,
    /// Units in LX during the operation, without the savings of reuse.
    units: i64,
    bound: i64,
    /// Units of the smallest evicted value.
    least_out: i64,
}

impl<'p, const W: usize> ResidencySweep<'p, W> {
    fn new(
        problem: &'p SelectionProblem,
        prices: &DualPrices,
        cuts: &'p CutTable,
        limits: &'p SweepLimits,
        moments: &'p [ScheduleStep],
        steps: u64,
    ) -> Self {
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
            min_dropped_bound: i64::MAX,
            history: DecisionHistory::new(),
            next: Vec::new(),
            index: LocationKeyTable::new(),
            options: Vec::new(),
            decisions: Vec::new(),
            mergers: ReuseMatching::new(),
            later_units: Vec::new(),
            emitted: 0,
            visited: 0,
        }
    }

    fn run(mut self, go_on: &mut dyn FnMut(u64) -> bool) -> SweepResult {
        let (mut is_stopped, mut watched) = (false, 0);
        let key = LocationKey { locations: [0; W], live_cuts: self.cuts.all };
        let mut states = vec![SweepState { key, bytes: 0, bound: self.first_bound, units: 0, entry: 0 }];
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
            if self.steps >= watched + STEPS_BETWEEN_CALLBACKS {
                watched = self.steps;
                is_stopped = is_stopped || !go_on(self.max_steps.saturating_sub(self.steps));
            }
            let width = if self.steps >= self.max_steps || is_stopped { 1 } else { self.limits.width };
            if states.len() > width {
                states.sort_by_key(|state| (state.bound, state.entry));
                self.min_dropped_bound = self.min_dropped_bound.min(states[width].bound);
                states.truncate(width);
            }
        }
        let best = states.iter().min_by_key(|state| state.bytes);
        let lowest = best
            .map_or(i64::MAX, |state| state.bytes.saturating_mul(self.scale))
            .min(self.min_dropped_bound)
            .min(self.ceiling);
        let asks = |tick: usize| !self.cuts.edges[tick].is_empty();
        SweepResult {
            best: best.map(|state| self.history.build_selection(self.problem, self.moments, asks, state.entry)),
            bound: self.problem.fixed_bytes
                + lowest.div_euclid(self.scale)
                + i64::from(lowest.rem_euclid(self.scale) > 0),
            steps: self.steps,
            is_stopped,
        }
    }

    /// Generates the successors of one state in one operation.
    fn advance(&mut self, moment: &ScheduleStep, state: &SweepState<W>) {
        let (base, units) = self.build_options(moment, state);
        (self.emitted, self.visited) = (0, 0);
        self.decisions.clear();
        self.decisions.resize(self.options.len(), OptionDecision::Resident);
        if self.cuts.all == 0 && units <= self.problem.units {
            self.emit(moment, &base, &[]);
        } else {
            self.options.sort_unstable_by_key(|option| (option.out_regret - option.interval_regret, option.item));
            self.later_units.clear();
            self.later_units.resize(self.options.len() + 1, 0);
            for (position, option) in self.options.iter().enumerate().rev() {
                self.later_units[position] =
                    self.later_units[position + 1] + if option.is_fixed { 0 } else { option.units };
            }
            let branch = BranchPosition { position: 0, units, bound: state.bound, least_out: i64::MAX };
            self.decide_cut_values(moment, &base, branch);
        }
        self.steps += (self.visited / NODES_PER_BRANCH) as u64;
    }

    /// Computes the options of a state. Returns the successor in which all options remain, and the units then in LX.
    fn build_options(&mut self, moment: &ScheduleStep, state: &SweepState<W>) -> (BaseSuccessor<W>, i64) {
        self.options.clear();
        if moment.child_units > 0 {
            self.mergers.clear(moment);
        }
        let mut base = BaseSuccessor { state: *state, units_of_others: state.units, priced: 0, killed: 0 };
        let mut units = state.units;
        for (index, item) in moment.items.iter().enumerate() {
            let at = state.key.get(item.slot);
            let choice = &item.choices[at as usize];
            let Some(interval) = choice.interval else {
                // The value is in HBM and cannot be loaded.
                base.state.bytes += choice.out_bytes;
                base.killed |= item.using.map_or(0, |using| self.cuts.cuts_excluded_by_hbm_use(item.value, using));
                continue;
            };
            if at == Residency::Hbm {
                if item.using.is_none() {
                    continue;
                }
                units += item.units;
            } else {
                base.units_of_others -= item.units;
            }
            let least = interval.cost.min(choice.out_cost);
            let (interval_regret, out_regret) = (interval.cost - least, choice.out_cost - least);
            base.state.bound += interval_regret;
            base.state.bytes += interval.bytes;
            base.state.units += if interval.after == Residency::Hbm { 0 } else { item.units }
                - if at == Residency::Hbm { 0 } else { item.units };
            base.state.key.set(item.slot, interval.after);
            base.priced += if item.is_free { 0 } else { item.units };
            let is_fixed = self.cuts.all != 0 && self.cuts.is_eager[item.value];
            self.options.push(ItemOption {
                item: index,
                residency: at,
                units: item.units,
                interval_regret,
                out_regret,
                is_fixed,
            });
            if moment.child_units > 0 {
                self.mergers.inside[index] = true;
            }
        }
        (base, units)
    }

    /// Enumerates the decisions for the values of cuts, then evicts other values.
    fn decide_cut_values(&mut self, moment: &ScheduleStep, base: &BaseSuccessor<W>, branch: BranchPosition) {
        let BranchPosition { position, units, bound, .. } = branch;
        if self.cuts.all == 0 || position == self.options.len() {
            return self.evict_until_fit(moment, base, BranchPosition { position: 0, ..branch });
        }
        let option = self.options[position];
        let item = &moment.items[option.item];
        let intervals = BranchPosition { position: position + 1, ..branch };
        self.decide_cut_values(moment, base, intervals);
        if !option.is_fixed || item.using.is_none() {
            return;
        }
        self.set_decision(moment, position, OptionDecision::InHbm);
        let regret = option.out_regret - option.interval_regret;
        self.decide_cut_values(
            moment,
            base,
            BranchPosition { units: units - item.units, bound: bound + regret, ..intervals },
        );
        if item.may_leave {
            self.set_decision(moment, position, OptionDecision::EvictAfter);
            self.decide_cut_values(moment, base, intervals);
        }
        self.set_decision(moment, position, OptionDecision::Resident);
    }

    fn set_decision(&mut self, moment: &ScheduleStep, position: usize, fate: OptionDecision) {
        self.decisions[position] = fate;
        if moment.child_units > 0 {
            self.mergers.inside[self.options[position].item] = fate != OptionDecision::InHbm;
        }
    }

    /// Evicts values until the others fit, and records each maximal set.
    fn evict_until_fit(&mut self, moment: &ScheduleStep, base: &BaseSuccessor<W>, branch: BranchPosition) {
        let BranchPosition { position, units, bound, least_out } = branch;
        self.visited += 1;
        if self.emitted >= self.limits.branches || self.visited >= NODES_PER_BRANCH * self.limits.branches {
            self.min_dropped_bound = self.min_dropped_bound.min(bound);
            return;
        }
        let over = units - self.problem.units;
        let missing = over - self.compute_reuse_credit(moment, over, least_out);
        // If a cut depends on reuses, every reuse assignment is tried. A worse assignment may require more evictions.
        let asks = !self.cuts.edges[moment.tick].is_empty();
        if missing <= 0 && (!asks || position == self.options.len() || over <= 0) {
            // The set is maximal: no evicted value would fit.
            if least_out.saturating_add(if asks { over } else { missing }) > 0 {
                self.emit_all(moment, base);
            }
            return;
        }
        if bound >= self.ceiling || self.later_units[position] < missing || position == self.options.len() {
            return;
        }
        let option = self.options[position];
        if !option.is_fixed {
            self.set_decision(moment, position, OptionDecision::InHbm);
            let least_out = least_out.min(option.units);
            let out = BranchPosition {
                position: position + 1,
                units: units - option.units,
                bound: bound + option.out_regret,
                least_out,
            };
            self.evict_until_fit(moment, base, out);
            self.set_decision(moment, position, OptionDecision::Resident);
        }
        self.evict_until_fit(
            moment,
            base,
            BranchPosition { position: position + 1, bound: bound + option.interval_regret, ..branch },
        );
    }

    /// Returns the units that in-place reuse saves when `over` units exceed the capacity. Returns an upper bound if
    /// that is insufficient, and 0 if no saving is needed.
    fn compute_reuse_credit(&mut self, moment: &ScheduleStep, over: i64, least_out: i64) -> i64 {
        match moment.child_units {
            0 => 0,
            most if over > most => most,
            _ if over <= 0 && least_out == i64::MAX => 0,
            _ => self.mergers.compute_saved_units(moment),
        }
    }

    /// Records the state. If a cut depends on reuses of this operation, records it for each reuse assignment.
    fn emit_all(&mut self, moment: &ScheduleStep, base: &BaseSuccessor<W>) {
        if self.cuts.edges[moment.tick].is_empty() {
            return self.emit(moment, base, &[]);
        }
        self.emit_reuse_assignments(moment, base, 0, &mut Vec::new());
    }

    fn emit_reuse_assignments(
        &mut self,
        moment: &ScheduleStep,
        base: &BaseSuccessor<W>,
        child: usize,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        if child == moment.items.len() {
            let is_in = |option: &(&ItemOption, &OptionDecision)| *option.1 != OptionDecision::InHbm;
            let units: i64 =
                self.options.iter().zip(&self.decisions).filter(is_in).map(|(option, _)| option.units).sum();
            let credit: i64 = pairs.iter().map(|&(child, _)| moment.items[child].units).sum();
            if units + base.units_of_others - credit <= self.problem.units {
                self.emit(moment, base, pairs);
            }
            return;
        }
        self.emit_reuse_assignments(moment, base, child + 1, pairs);
        for &parent in &moment.items[child].parents {
            if self.mergers.inside[child] && self.mergers.inside[parent] && pairs.iter().all(|pair| pair.1 != parent) {
                pairs.push((child, parent));
                self.emit_reuse_assignments(moment, base, child + 1, pairs);
                pairs.pop();
            }
        }
    }

    fn emit(&mut self, moment: &ScheduleStep, base: &BaseSuccessor<W>, pairs: &[(usize, usize)]) {
        let (mut new, mut priced, mut killed) = (base.state, base.priced, base.killed);
        for (option, fate) in self.options.iter().zip(&self.decisions) {
            let item = &moment.items[option.item];
            killed |= if *fate == OptionDecision::InHbm { 0 } else { self.cuts.cuts_excluded_by_residency(item.value) };
            if *fate == OptionDecision::Resident {
                continue;
            }
            let ItemCosts { interval: Some(interval), out_cost, out_bytes, leave } =
                item.choices[option.residency as usize]
            else {
                continue;
            };
            let out = TransitionCost { cost: out_cost, bytes: out_bytes, after: Residency::Hbm };
            let fare = if *fate == OptionDecision::InHbm { out } else { leave };
            new.bound += fare.cost - interval.cost;
            new.bytes += fare.bytes - interval.bytes;
            new.units -= if interval.after == Residency::Hbm { 0 } else { item.units };
            new.key.set(item.slot, Residency::Hbm);
            if *fate == OptionDecision::InHbm && !item.is_free {
                priced -= item.units;
            }
            killed |= self.cuts.cuts_excluded_by_eviction(item.value, item.using, *fate == OptionDecision::InHbm);
        }
        new.bound += moment.price * (self.problem.units - base.units_of_others - priced);
        if self.cuts.all != 0 {
            for &(child, parent, with, without) in &self.cuts.edges[moment.tick] {
                let merged = pairs
                    .iter()
                    .any(|pair| (moment.items[pair.0].value, moment.items[pair.1].value) == (child, parent));
                killed |= if merged { without } else { with };
            }
            new.key.live_cuts &= !killed;
            if new.key.live_cuts & self.cuts.decided_after[moment.tick] != 0 {
                return;
            }
        }
        if new.bound < self.ceiling {
            self.record_state(moment, new, pairs);
        }
    }

    /// Records a state, unless a state with the same key has no more bytes.
    fn record_state(&mut self, moment: &ScheduleStep, mut new: SweepState<W>, pairs: &[(usize, usize)]) {
        self.steps += 1;
        self.emitted += 1;
        let next = &self.next;
        let (place, known) = self.index.find_position(&new.key, |position| next[position as usize].key);
        if known.is_some_and(|known| self.next[known as usize].bytes <= new.bytes) {
            return;
        }
        let value = |item: usize| moment.items[item].value as u32;
        let tick = moment.tick as u32;
        let decided = self.options.iter().zip(&self.decisions).filter_map(|(option, fate)| match fate {
            OptionDecision::Resident => None,
            OptionDecision::InHbm => Some(SweepDecision::InHbm { value: value(option.item), tick }),
            OptionDecision::EvictAfter => Some(SweepDecision::EvictAfter { value: value(option.item), tick }),
        });
        let merged = pairs
            .iter()
            .map(|&(child, parent)| SweepDecision::ReuseAddress { child: value(child), parent: value(parent) });
        new.entry = self.history.add(new.entry, decided.chain(merged));
        match known {
            Some(known) => self.next[known as usize] = new,
            None => {
                self.next.push(new);
                let next = &self.next;
                self.index.insert_position(place, next.len() as u32 - 1, |position| next[position as usize].key);
            }
        }
    }
}
