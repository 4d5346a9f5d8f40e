//! Sweep over the operations that confirms that no plan leaves fewer HBM bytes than the bound.
//!
//! Per operation, the sweep keeps every set of resident values whose cost can still end below the bound. It fails if a
//! set is left at the end. Values remain resident while there is space, because leaving later costs no more. All
//! decisions are tried only for values that occur in cuts.

use super::{
    Violation,
    conflict_set::{self, ConflictSet},
    files::{Instance, ResultFile},
    relaxation::{RelaxedProblem, ValueLocation},
};
use std::collections::BTreeMap;

/// Limit of the check: total number of values in all generated sets, with one more per set.
const MAX_SETS: u64 = 20_000_000;
/// Limit of the check: partial decisions that are examined, with the values and reuse pairs of each.
const MAX_CHOICES: u64 = 1_000_000_000;
/// Maximum number of undecided values in one operation, which is the recursion depth.
const MAX_DEPTH: usize = 1000;
/// Maximum number of reuse assignments in one operation. Nine buffers of one operation have up to 21,147, because an
/// assignment partitions them into chains.
const MAX_TAKEOVER_ASSIGNMENTS: usize = 1 << 15;

/// Confirms the lower bound of the result.
pub(super) fn check_bound(instance: &Instance, result: &ResultFile) -> Result<(), Violation> {
    let certificate = &result.certificate;
    let reject = |what: String| Violation::Bound { bound: result.lower_bound, what };
    let relaxed = RelaxedProblem::new(instance, certificate.whole_lives, certificate.scale, &certificate.prices);
    if let Some((time, _)) = certificate.prices.iter().find(|(time, _)| relaxed.times.binary_search(time).is_err()) {
        return Err(reject(format!("there is a price for operation {time}, in which no buffer is used")));
    }
    if certificate.cuts.len() > 128 {
        return Err(reject("there are more than 128 cuts".to_owned()));
    }
    let conflict_sets = certificate
        .cuts
        .iter()
        .map(|cut| conflict_set::read_cut(instance, &relaxed, cut))
        .collect::<Result<Vec<_>, _>>()
        .map_err(reject)?;
    for (number, one) in conflict_sets.iter().enumerate() {
        conflict_set::check_conflict(instance, &relaxed, one)
            .map_err(|what| reject(format!("cut {number}: {what}")))?;
    }
    // Plans leave a whole number of bytes, so a cost above the bound minus one byte is not below the bound.
    let goal = (i128::from(result.lower_bound) - relaxed.fixed - 1) * relaxed.scale + 1;
    let mut sweep = BoundSweep::new(&relaxed, &conflict_sets, goal);
    match sweep.run() {
        None => Err(reject("the check exceeds its limit of sets, choices or takeovers".to_owned())),
        Some(0) => Ok(()),
        Some(n) => Err(reject(format!("{n} sets of resident values may cost less"))),
    }
}

/// Resident values after an operation, and the cuts that all decisions so far are consistent with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ResidentSet {
    inside: Vec<(usize, ValueLocation)>,
    agrees: u128,
}

/// Decision for a value in one operation: in LX, not in LX, or in LX until the operation ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResidencyDecision {
    InLx,
    InHbm,
    EvictAfter,
}

struct PresentValue {
    value: usize,
    /// Current use, or the use before the gap.
    using: usize,
    is_used: bool,
    place: ValueLocation,
    /// Excess over the cheaper of both decisions.
    in_extra: i128,
    out_extra: i128,
    decision: ResidencyDecision,
    is_cut: bool,
}

struct BoundSweep<'r> {
    relaxed: &'r RelaxedProblem,
    conflict_sets: &'r [ConflictSet],
    in_cut: Vec<bool>,
    goal: i128,
    num_generated: u64,
    num_choices: u64,
    next: BTreeMap<ResidentSet, i128>,
    /// Per value: the next use.
    next_use: Vec<usize>,
    /// Cost of all values that are not in LX before the operation, minus the price of LX from the operation on.
    base_after: i128,
    tick: usize,
}

impl<'r> BoundSweep<'r> {
    fn new(relaxed: &'r RelaxedProblem, conflict_sets: &'r [ConflictSet], goal: i128) -> Self {
        let mut in_cut = vec![false; relaxed.values.len()];
        conflict_sets.iter().flat_map(|crowd| &crowd.intervals).for_each(|interval| in_cut[interval.0] = true);
        conflict_sets.iter().flat_map(|crowd| &crowd.absent).for_each(|&value| in_cut[value] = true);
        let next_use = vec![0; relaxed.values.len()];
        Self {
            relaxed,
            conflict_sets,
            in_cut,
            goal,
            num_generated: 0,
            num_choices: 0,
            next: BTreeMap::new(),
            next_use,
            base_after: 0,
            tick: 0,
        }
    }

    fn base_cost(&self, tick: usize) -> i128 {
        let unfinished = (0..self.relaxed.values.len())
            .filter(|&value| self.next_use[value] < self.relaxed.values[value].uses.len());
        let values: i128 = unfinished.map(|value| self.relaxed.min_cost_outside_lx(value, self.next_use[value])).sum();
        values - self.relaxed.capacity * self.relaxed.price_between(tick, self.relaxed.times.len())
    }

    /// Returns the number of sets that end below the goal. Returns `None` if the sweep exceeds its limits.
    fn run(&mut self) -> Option<usize> {
        let everything = if self.conflict_sets.is_empty() { 0 } else { u128::MAX >> (128 - self.conflict_sets.len()) };
        let mut sets = BTreeMap::new();
        let mut base = self.base_cost(0);
        if base < self.goal {
            sets.insert(ResidentSet { inside: Vec::new(), agrees: everything }, 0);
        }
        for tick in 0..self.relaxed.times.len() {
            if sets.is_empty() {
                break;
            }
            self.tick = tick;
            let used: Vec<usize> =
                (0..self.relaxed.values.len()).filter(|&value| self.is_used_at(value, tick)).collect();
            let uses_before = self.next_use.clone();
            used.iter().for_each(|&value| self.next_use[value] += 1);
            self.base_after = self.base_cost(tick + 1);
            for (set, cost) in &sets {
                let mut present = self.collect_present_values(set, &used, &uses_before);
                let inside: i128 = set
                    .inside
                    .iter()
                    .map(|&(value, place)| self.excess_cost(value, uses_before[value] - 1, place, tick))
                    .sum();
                let bound = cost * self.relaxed.scale + base + inside;
                self.assign_decisions(set, *cost, &mut present, 0, bound)?;
            }
            base = self.base_after;
            sets = std::mem::take(&mut self.next);
        }
        Some(sets.len())
    }

    fn is_used_at(&self, value: usize, tick: usize) -> bool {
        self.relaxed.values[value].uses.get(self.next_use[value]).is_some_and(|one| one.tick == tick)
    }

    /// Returns the minimum cost from `tick` on of a value that is at `place`, minus its minimum cost outside LX.
    fn excess_cost(&self, value: usize, using: usize, place: ValueLocation, tick: usize) -> i128 {
        self.relaxed.min_cost_from(value, using, place, tick) - self.relaxed.min_cost_outside_lx(value, using + 1)
    }

    fn collect_present_values(&self, set: &ResidentSet, used: &[usize], uses_before: &[usize]) -> Vec<PresentValue> {
        let (relaxed, tick) = (self.relaxed, self.tick);
        let there = set.inside.iter().map(|&(value, place)| (value, place));
        let coming = used
            .iter()
            .filter(|value| set.inside.iter().all(|one| one.0 != **value))
            .map(|&value| (value, ValueLocation::Hbm));
        let mut present = Vec::new();
        for (value, place) in there.chain(coming) {
            let is_used = used.contains(&value);
            let using = if is_used { uses_before[value] } else { uses_before[value] - 1 };
            let (inside, outside) = if is_used {
                let Some(bytes) = relaxed.load_bytes(value, using, place) else { continue };
                let intervals =
                    relaxed.min_cost_from(value, using, relaxed.location_after_use(value, using, place), tick + 1);
                let out = relaxed.hbm_use_bytes(value, using, place) * relaxed.scale
                    + relaxed.min_cost_outside_lx(value, using + 1);
                (bytes * relaxed.scale + relaxed.space_price(value, using) + intervals, out)
            } else {
                let multiplier = relaxed.values[value].units * relaxed.price[tick];
                let out = relaxed.eviction_bytes(value, place) * relaxed.scale
                    + relaxed.min_cost_outside_lx(value, using + 1);
                (multiplier + relaxed.min_cost_from(value, using, place, tick + 1), out)
            };
            let least = inside.min(outside);
            let (in_extra, out_extra, is_cut) = (inside - least, outside - least, self.in_cut[value]);
            present.push(PresentValue {
                value,
                using,
                is_used,
                place,
                in_extra,
                out_extra,
                decision: ResidencyDecision::InLx,
                is_cut,
            });
        }
        // Values with the smallest cost of leaving come first, after the values of cuts.
        present.sort_by_key(|one| (!one.is_cut, one.out_extra - one.in_extra, one.value));
        present
    }

    /// Enumerates the decisions for values of cuts, then evicts other values until the remaining ones fit. Returns
    /// `None` if the sweep exceeds its limits.
    fn assign_decisions(
        &mut self,
        set: &ResidentSet,
        cost: i128,
        present: &mut [PresentValue],
        at: usize,
        bound: i128,
    ) -> Option<()> {
        if bound >= self.goal {
            return Some(());
        }
        self.num_choices += 1 + present.len() as u64;
        if self.num_choices > MAX_CHOICES || at > MAX_DEPTH {
            return None;
        }
        if at < present.len() && present[at].is_cut {
            let PresentValue { in_extra, out_extra, is_used, .. } = present[at];
            if is_used {
                present[at].decision = ResidencyDecision::InHbm;
                self.assign_decisions(set, cost, present, at + 1, bound + out_extra)?;
                present[at].decision = ResidencyDecision::EvictAfter;
                self.assign_decisions(set, cost, present, at + 1, bound)?;
            }
            present[at].decision = ResidencyDecision::InLx;
            return self.assign_decisions(set, cost, present, at + 1, bound + in_extra);
        }
        let units: i128 = present
            .iter()
            .filter(|one| one.decision != ResidencyDecision::InHbm)
            .map(|one| self.relaxed.values[one.value].units)
            .sum();
        let saved = self.enumerate_takeovers(present)?.iter().map(|pairs| self.saved_units(pairs)).max().unwrap_or(0);
        // If a cut depends on reuses, every reuse assignment counts, and some of them may require more evictions.
        let is_here = |pair: &(usize, usize)| self.relaxed.values[pair.0].uses[0].tick == self.tick;
        let asks = self.conflict_sets.iter().any(|crowd| crowd.merged.iter().chain(&crowd.apart).any(is_here));
        let missing = units - saved - self.relaxed.capacity;
        if missing <= 0 && (!asks || at == present.len() || units <= self.relaxed.capacity) {
            let missing = if asks { units - self.relaxed.capacity } else { missing };
            let could_interval = |one: &PresentValue| {
                one.decision == ResidencyDecision::InHbm
                    && !one.is_cut
                    && missing + self.relaxed.values[one.value].units <= 0
            };
            return if present.iter().any(could_interval) {
                Some(())
            } else {
                self.generate_successors(set, cost, present)
            };
        }
        // Too few units may still leave. A value that leaves saves no space by reuse.
        let rest: i128 =
            present[at..].iter().filter(|one| !one.is_cut).map(|one| self.relaxed.values[one.value].units).sum();
        if at == present.len() || rest < missing {
            return Some(());
        }
        present[at].decision = ResidencyDecision::InHbm;
        self.assign_decisions(set, cost, present, at + 1, bound + present[at].out_extra)?;
        present[at].decision = ResidencyDecision::InLx;
        self.assign_decisions(set, cost, present, at + 1, bound + present[at].in_extra)
    }

    fn saved_units(&self, pairs: &[(usize, usize)]) -> i128 {
        pairs.iter().map(|pair| self.relaxed.values[pair.0].units).sum()
    }

    /// Returns all reuse assignments as pairs of child and parent. A value is the child of at most one pair and the
    /// parent of at most one. Returns `None` if there are too many.
    fn enumerate_takeovers(&mut self, present: &[PresentValue]) -> Option<Vec<Vec<(usize, usize)>>> {
        let mut all = vec![Vec::new()];
        let is_in =
            |value: usize| present.iter().any(|one| one.value == value && one.decision != ResidencyDecision::InHbm);
        for one in
            present.iter().filter(|one| one.decision != ResidencyDecision::InHbm && one.is_used && one.using == 0)
        {
            for &parent in self.relaxed.values[one.value].parents.iter().filter(|&&parent| is_in(parent)) {
                let more: Vec<Vec<(usize, usize)>> = all
                    .iter()
                    .filter(|pairs: &&Vec<(usize, usize)>| {
                        pairs.iter().all(|pair| pair.0 != one.value && pair.1 != parent)
                    })
                    .map(|pairs| [&pairs[..], &[(one.value, parent)]].concat())
                    .collect();
                all.extend(more);
                if all.len() > MAX_TAKEOVER_ASSIGNMENTS {
                    return None;
                }
            }
        }
        self.num_choices += all.len() as u64;
        Some(all)
    }

    /// Generates the sets after the operation. Returns `None` if the sweep exceeds its limits.
    fn generate_successors(&mut self, set: &ResidentSet, cost: i128, present: &[PresentValue]) -> Option<()> {
        let relaxed = self.relaxed;
        let mut inside = Vec::new();
        let mut cost = cost;
        for one in present {
            let after =
                if one.is_used { relaxed.location_after_use(one.value, one.using, one.place) } else { one.place };
            let ends = one.using + 1 == relaxed.values[one.value].uses.len();
            if one.is_used {
                let into = relaxed.load_bytes(one.value, one.using, one.place)?;
                cost += match one.decision {
                    ResidencyDecision::InHbm => relaxed.hbm_use_bytes(one.value, one.using, one.place),
                    ResidencyDecision::InLx | ResidencyDecision::EvictAfter if ends => {
                        into + relaxed.final_store_bytes(one.value, after)
                    }
                    ResidencyDecision::InLx => into,
                    ResidencyDecision::EvictAfter => into + relaxed.eviction_bytes(one.value, after),
                };
            } else if one.decision == ResidencyDecision::InHbm {
                cost += relaxed.eviction_bytes(one.value, one.place);
            }
            if one.decision == ResidencyDecision::InLx && !ends {
                inside.push((one.value, after));
            }
        }
        inside.sort_unstable();
        let extra: i128 = inside
            .iter()
            .map(|&(value, place)| self.excess_cost(value, self.next_use[value] - 1, place, self.tick + 1))
            .sum();
        if cost * relaxed.scale + self.base_after + extra >= self.goal {
            return Some(());
        }
        let units: i128 = present
            .iter()
            .filter(|one| one.decision != ResidencyDecision::InHbm)
            .map(|one| relaxed.values[one.value].units)
            .sum();
        let pairings =
            if self.conflict_sets.is_empty() { vec![Vec::new()] } else { self.enumerate_takeovers(present)? };
        for pairs in pairings {
            if !self.conflict_sets.is_empty() && units - self.saved_units(&pairs) > relaxed.capacity {
                continue;
            }
            let Some(agrees) = self.filter_matching_cuts(set.agrees, present, &pairs) else { continue };
            self.num_generated += 1 + inside.len() as u64;
            if self.num_generated > MAX_SETS {
                return None;
            }
            let new = ResidentSet { inside: inside.clone(), agrees };
            let known = self.next.entry(new).or_insert(cost);
            *known = cost.min(*known);
        }
        Some(())
    }

    /// Returns the cuts that the decisions of this operation are consistent with. Returns `None` if a cut is satisfied
    /// to its end, which no plan can do.
    fn filter_matching_cuts(&self, before: u128, present: &[PresentValue], pairs: &[(usize, usize)]) -> Option<u128> {
        let mut agrees = before;
        for (number, crowd) in self.conflict_sets.iter().enumerate() {
            let has_use = |interval: &(usize, usize, usize), using: usize| (interval.1..=interval.2).contains(&using);
            let differs = |one: &PresentValue| {
                let of_value = crowd.intervals.iter().filter(|interval| interval.0 == one.value);
                of_value.into_iter().any(|interval| match one.decision {
                    ResidencyDecision::InLx => false,
                    ResidencyDecision::InHbm => one.is_used && has_use(interval, one.using),
                    ResidencyDecision::EvictAfter => has_use(interval, one.using) && has_use(interval, one.using + 1),
                })
            };
            let is_here = |pair: &(usize, usize)| self.relaxed.values[pair.0].uses[0].tick == self.tick;
            let unmerged = crowd.merged.iter().any(|pair| is_here(pair) && !pairs.contains(pair));
            let merged = crowd.apart.iter().any(|pair| pairs.contains(pair));
            // Values that are not present are not in LX.
            let absent = crowd.intervals.iter().any(|interval| {
                let using = self.relaxed.values[interval.0].uses.iter().position(|one| one.tick == self.tick);
                using.is_some_and(|using| has_use(interval, using)) && present.iter().all(|one| one.value != interval.0)
            });
            let unwanted =
                present.iter().any(|one| one.decision != ResidencyDecision::InHbm && crowd.absent.contains(&one.value));
            if unmerged || merged || absent || unwanted || present.iter().any(differs) {
                agrees &= !(1 << number);
            }
            let end =
                crowd.intervals.iter().map(|interval| self.relaxed.values[interval.0].uses[interval.2].tick).max();
            if end == Some(self.tick) && agrees & (1 << number) != 0 {
                return None;
            }
        }
        Some(agrees)
    }
}
