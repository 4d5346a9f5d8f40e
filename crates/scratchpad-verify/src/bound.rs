//! Sweep over the operations that confirms that no plan leaves fewer HBM bytes than the bound.
//!
//! Per operation, the sweep keeps every set of resident values whose cost can still end below the bound, and fails if a set is left at
//! the end. Values stay resident while there is room, because leaving later costs no more; all decisions are tried only for values that
//! occur in cuts.

use super::{
    Violation,
    crowd::{self, Crowd},
    files::{Instance, Result_},
    relax::{Place, Relaxed},
};
use std::collections::BTreeMap;

/// Maximum number of values in all generated sets before the check is abandoned; each set counts as one more.
const MAX_SETS: u64 = 20_000_000;
/// Maximum number of partial choices that are examined; the values and takeover pairs of each choice count too.
const MAX_CHOICES: u64 = 1_000_000_000;
/// Maximum number of undecided values in one operation, which is the recursion depth.
const MAX_DEPTH: usize = 1000;
/// Maximum number of takeover assignments in one operation. Nine buffers of one operation have up to 21,147, because an assignment
/// partitions them into chains.
const MAX_PAIRINGS: usize = 1 << 15;

/// Confirms the bound of the result.
pub(super) fn check(instance: &Instance, result: &Result_) -> Result<(), Violation> {
    let certificate = &result.certificate;
    let refuse = |what: String| Violation::Bound { bound: result.lower_bound, what };
    let relaxed = Relaxed::new(instance, certificate.whole_lives, certificate.scale, &certificate.prices);
    if let Some((time, _)) = certificate.prices.iter().find(|(time, _)| relaxed.times.binary_search(time).is_err()) {
        return Err(refuse(format!("there is a price for operation {time}, in which no buffer is used")));
    }
    if certificate.cuts.len() > 128 {
        return Err(refuse("there are more than 128 cuts".to_owned()));
    }
    let crowds = certificate.cuts.iter().map(|cut| crowd::read(instance, &relaxed, cut)).collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    for (number, one) in crowds.iter().enumerate() {
        crowd::check(instance, &relaxed, one).map_err(|what| refuse(format!("cut {number}: {what}")))?;
    }
    // Plans leave a whole number of bytes, so a cost of more than the bound minus one byte is not below the bound.
    let goal = (i128::from(result.lower_bound) - relaxed.fixed - 1) * relaxed.scale + 1;
    let mut sweep = Sweep::new(&relaxed, &crowds, goal);
    match sweep.run() {
        None => Err(refuse("the check exceeds its limit of sets, choices or takeovers".to_owned())),
        Some(0) => Ok(()),
        Some(n) => Err(refuse(format!("{n} sets of resident values may cost less"))),
    }
}

/// Resident values after an operation, and the cuts that all choices so far agree with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Set {
    inside: Vec<(usize, Place)>,
    agrees: u128,
}

/// Decision for a value in one operation: in LX, not in LX, or in LX until the operation ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    In,
    Out,
    Leave,
}

struct Present {
    value: usize,
    /// The use itself, or the use that precedes the gap.
    using: usize,
    is_used: bool,
    place: Place,
    /// Excess over the cheaper of both options.
    in_extra: i128,
    out_extra: i128,
    does: Does,
    is_cut: bool,
}

struct Sweep<'r> {
    relaxed: &'r Relaxed,
    crowds: &'r [Crowd],
    in_cut: Vec<bool>,
    goal: i128,
    made: u64,
    choices: u64,
    next: BTreeMap<Set, i128>,
    /// Per value: the next use.
    next_use: Vec<usize>,
    /// Cost of all values that are not in LX before the operation, minus the price of LX from the operation on.
    base_after: i128,
    tick: usize,
}

impl<'r> Sweep<'r> {
    fn new(relaxed: &'r Relaxed, crowds: &'r [Crowd], goal: i128) -> Self {
        let mut in_cut = vec![false; relaxed.values.len()];
        crowds.iter().flat_map(|crowd| &crowd.stays).for_each(|stay| in_cut[stay.0] = true);
        crowds.iter().flat_map(|crowd| &crowd.absent).for_each(|&value| in_cut[value] = true);
        let next_use = vec![0; relaxed.values.len()];
        Self { relaxed, crowds, in_cut, goal, made: 0, choices: 0, next: BTreeMap::new(), next_use, base_after: 0, tick: 0 }
    }

    fn base(&self, tick: usize) -> i128 {
        let unfinished = (0..self.relaxed.values.len()).filter(|&value| self.next_use[value] < self.relaxed.values[value].uses.len());
        let values: i128 = unfinished.map(|value| self.relaxed.outside(value, self.next_use[value])).sum();
        values - self.relaxed.capacity * self.relaxed.rent(tick, self.relaxed.times.len())
    }

    /// Returns the number of sets that end below the goal.
    fn run(&mut self) -> Option<usize> {
        let everything = if self.crowds.is_empty() { 0 } else { u128::MAX >> (128 - self.crowds.len()) };
        let mut sets = BTreeMap::new();
        let mut base = self.base(0);
        if base < self.goal {
            sets.insert(Set { inside: Vec::new(), agrees: everything }, 0);
        }
        for tick in 0..self.relaxed.times.len() {
            if sets.is_empty() {
                break;
            }
            self.tick = tick;
            let used: Vec<usize> = (0..self.relaxed.values.len()).filter(|&value| self.uses_at(value, tick)).collect();
            let uses_before = self.next_use.clone();
            used.iter().for_each(|&value| self.next_use[value] += 1);
            self.base_after = self.base(tick + 1);
            for (set, cost) in &sets {
                let mut present = self.present(set, &used, &uses_before);
                let inside: i128 = set.inside.iter().map(|&(value, place)| self.extra(value, uses_before[value] - 1, place, tick)).sum();
                let bound = cost * self.relaxed.scale + base + inside;
                self.assign(set, *cost, &mut present, 0, bound)?;
            }
            base = self.base_after;
            sets = std::mem::take(&mut self.next);
        }
        Some(sets.len())
    }

    fn uses_at(&self, value: usize, tick: usize) -> bool {
        self.relaxed.values[value].uses.get(self.next_use[value]).is_some_and(|one| one.tick == tick)
    }

    /// Returns the least cost from `tick` on of a value that is at `place`, minus its least cost outside LX.
    fn extra(&self, value: usize, using: usize, place: Place, tick: usize) -> i128 {
        self.relaxed.go(value, using, place, tick) - self.relaxed.outside(value, using + 1)
    }

    fn present(&self, set: &Set, used: &[usize], uses_before: &[usize]) -> Vec<Present> {
        let (relaxed, tick) = (self.relaxed, self.tick);
        let there = set.inside.iter().map(|&(value, place)| (value, place));
        let coming = used.iter().filter(|value| set.inside.iter().all(|one| one.0 != **value)).map(|&value| (value, Place::Out));
        let mut present = Vec::new();
        for (value, place) in there.chain(coming) {
            let is_used = used.contains(&value);
            let using = if is_used { uses_before[value] } else { uses_before[value] - 1 };
            let (inside, outside) = if is_used {
                let Some(bytes) = relaxed.coming_bytes(value, using, place) else { continue };
                let stays = relaxed.go(value, using, relaxed.after(value, using, place), tick + 1);
                let out = relaxed.out_bytes(value, using, place) * relaxed.scale + relaxed.outside(value, using + 1);
                (bytes * relaxed.scale + relaxed.room(value, using) + stays, out)
            } else {
                let rent = relaxed.values[value].units * relaxed.price[tick];
                let out = relaxed.leave_bytes(value, place) * relaxed.scale + relaxed.outside(value, using + 1);
                (rent + relaxed.go(value, using, place, tick + 1), out)
            };
            let least = inside.min(outside);
            let (in_extra, out_extra, is_cut) = (inside - least, outside - least, self.in_cut[value]);
            present.push(Present { value, using, is_used, place, in_extra, out_extra, does: Does::In, is_cut });
        }
        // Values with the smallest cost of leaving are tried first.
        present.sort_by_key(|one| (!one.is_cut, one.out_extra - one.in_extra, one.value));
        present
    }

    /// Tries all decisions for values of cuts, and evicts other values until the remaining ones fit.
    fn assign(&mut self, set: &Set, cost: i128, present: &mut [Present], at: usize, bound: i128) -> Option<()> {
        if bound >= self.goal {
            return Some(());
        }
        self.choices += 1 + present.len() as u64;
        if self.choices > MAX_CHOICES || at > MAX_DEPTH {
            return None;
        }
        if at < present.len() && present[at].is_cut {
            let Present { in_extra, out_extra, is_used, .. } = present[at];
            if is_used {
                present[at].does = Does::Out;
                self.assign(set, cost, present, at + 1, bound + out_extra)?;
                present[at].does = Does::Leave;
                self.assign(set, cost, present, at + 1, bound)?;
            }
            present[at].does = Does::In;
            return self.assign(set, cost, present, at + 1, bound + in_extra);
        }
        let units: i128 = present.iter().filter(|one| one.does != Does::Out).map(|one| self.relaxed.values[one.value].units).sum();
        let saved = self.pairings(present)?.iter().map(|pairs| self.saved(pairs)).max().unwrap_or(0);
        // If a cut depends on takeovers, all takeovers count, and some of them may require other values to leave.
        let is_here = |pair: &(usize, usize)| self.relaxed.values[pair.0].uses[0].tick == self.tick;
        let asks = self.crowds.iter().any(|crowd| crowd.merged.iter().chain(&crowd.apart).any(is_here));
        let missing = units - saved - self.relaxed.capacity;
        if missing <= 0 && (!asks || at == present.len() || units <= self.relaxed.capacity) {
            let missing = if asks { units - self.relaxed.capacity } else { missing };
            let could_stay = |one: &Present| one.does == Does::Out && !one.is_cut && missing + self.relaxed.values[one.value].units <= 0;
            return if present.iter().any(could_stay) { Some(()) } else { self.make(set, cost, present) };
        }
        // It would not fit even without all the others: a value that leaves takes over no address.
        let rest: i128 = present[at..].iter().filter(|one| !one.is_cut).map(|one| self.relaxed.values[one.value].units).sum();
        if at == present.len() || rest < missing {
            return Some(());
        }
        present[at].does = Does::Out;
        self.assign(set, cost, present, at + 1, bound + present[at].out_extra)?;
        present[at].does = Does::In;
        self.assign(set, cost, present, at + 1, bound + present[at].in_extra)
    }

    fn saved(&self, pairs: &[(usize, usize)]) -> i128 {
        pairs.iter().map(|pair| self.relaxed.values[pair.0].units).sum()
    }

    /// Returns all assignments of takeovers as pairs of child and parent, each value in at most one pair per role. None if there are too
    /// many.
    fn pairings(&mut self, present: &[Present]) -> Option<Vec<Vec<(usize, usize)>>> {
        let mut all = vec![Vec::new()];
        let is_in = |value: usize| present.iter().any(|one| one.value == value && one.does != Does::Out);
        for one in present.iter().filter(|one| one.does != Does::Out && one.is_used && one.using == 0) {
            for &parent in self.relaxed.values[one.value].parents.iter().filter(|&&parent| is_in(parent)) {
                let more: Vec<Vec<(usize, usize)>> = all
                    .iter()
                    .filter(|pairs: &&Vec<(usize, usize)>| pairs.iter().all(|pair| pair.0 != one.value && pair.1 != parent))
                    .map(|pairs| [&pairs[..], &[(one.value, parent)]].concat())
                    .collect();
                all.extend(more);
                if all.len() > MAX_PAIRINGS {
                    return None;
                }
            }
        }
        self.choices += all.len() as u64;
        Some(all)
    }

    /// Computes the sets after the operation.
    fn make(&mut self, set: &Set, cost: i128, present: &[Present]) -> Option<()> {
        let relaxed = self.relaxed;
        let mut inside = Vec::new();
        let mut cost = cost;
        for one in present {
            let after = if one.is_used { relaxed.after(one.value, one.using, one.place) } else { one.place };
            let ends = one.using + 1 == relaxed.values[one.value].uses.len();
            if one.is_used {
                let into = relaxed.coming_bytes(one.value, one.using, one.place)?;
                cost += match one.does {
                    Does::Out => relaxed.out_bytes(one.value, one.using, one.place),
                    Does::In | Does::Leave if ends => into + relaxed.end_bytes(one.value, after),
                    Does::In => into,
                    Does::Leave => into + relaxed.leave_bytes(one.value, after),
                };
            } else if one.does == Does::Out {
                cost += relaxed.leave_bytes(one.value, one.place);
            }
            if one.does == Does::In && !ends {
                inside.push((one.value, after));
            }
        }
        inside.sort_unstable();
        let extra: i128 = inside.iter().map(|&(value, place)| self.extra(value, self.next_use[value] - 1, place, self.tick + 1)).sum();
        if cost * relaxed.scale + self.base_after + extra >= self.goal {
            return Some(());
        }
        let units: i128 = present.iter().filter(|one| one.does != Does::Out).map(|one| relaxed.values[one.value].units).sum();
        let pairings = if self.crowds.is_empty() { vec![Vec::new()] } else { self.pairings(present)? };
        for pairs in pairings {
            if !self.crowds.is_empty() && units - self.saved(&pairs) > relaxed.capacity {
                continue;
            }
            let Some(agrees) = self.agrees(set.agrees, present, &pairs) else { continue };
            self.made += 1 + inside.len() as u64;
            if self.made > MAX_SETS {
                return None;
            }
            let new = Set { inside: inside.clone(), agrees };
            let known = self.next.entry(new).or_insert(cost);
            *known = cost.min(*known);
        }
        Some(())
    }

    /// Returns the cuts that the choices of this operation agree with; none if a cut is matched to its end.
    fn agrees(&self, before: u128, present: &[Present], pairs: &[(usize, usize)]) -> Option<u128> {
        let mut agrees = before;
        for (number, crowd) in self.crowds.iter().enumerate() {
            let has_use = |stay: &(usize, usize, usize), using: usize| (stay.1..=stay.2).contains(&using);
            let differs = |one: &Present| {
                let of_value = crowd.stays.iter().filter(|stay| stay.0 == one.value);
                of_value.into_iter().any(|stay| match one.does {
                    Does::In => false,
                    Does::Out => one.is_used && has_use(stay, one.using),
                    Does::Leave => has_use(stay, one.using) && has_use(stay, one.using + 1),
                })
            };
            let is_here = |pair: &(usize, usize)| self.relaxed.values[pair.0].uses[0].tick == self.tick;
            let unmerged = crowd.merged.iter().any(|pair| is_here(pair) && !pairs.contains(pair));
            let merged = crowd.apart.iter().any(|pair| pairs.contains(pair));
            // A value that is not present is not in LX.
            let absent = crowd.stays.iter().any(|stay| {
                let using = self.relaxed.values[stay.0].uses.iter().position(|one| one.tick == self.tick);
                using.is_some_and(|using| has_use(stay, using)) && present.iter().all(|one| one.value != stay.0)
            });
            let unwanted = present.iter().any(|one| one.does != Does::Out && crowd.absent.contains(&one.value));
            if unmerged || merged || absent || unwanted || present.iter().any(differs) {
                agrees &= !(1 << number);
            }
            let end = crowd.stays.iter().map(|stay| self.relaxed.values[stay.0].uses[stay.2].tick).max();
            if end == Some(self.tick) && agrees & (1 << number) != 0 {
                return None;
            }
        }
        Some(agrees)
    }
}
