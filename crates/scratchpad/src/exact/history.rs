//! Decisions that lead to the states of a sweep, and the selection that a state represents.

use super::{
    problem::{ResidencyMode, SelectionProblem},
    reuse_matching::ReuseMatching,
    schedule_step::ScheduleStep,
    selection::{ResidencySelection, ValueResidency},
};

/// Tree of decisions: each entry adds decisions to those of another entry. A value without decisions is in LX.
pub(super) struct DecisionHistory {
    entries: Vec<DecisionEntry>,
    decisions: Vec<SweepDecision>,
}

#[derive(Clone, Copy)]
struct DecisionEntry {
    from: u32,
    start: u32,
    end: u32,
}

/// Decision that ends a residency, or an in-place reuse.
#[derive(Clone, Copy)]
pub(super) enum SweepDecision {
    /// HBM serves the value in this operation.
    InHbm { value: u32, tick: u32 },
    /// The value leaves LX after this operation.
    EvictAfter { value: u32, tick: u32 },
    /// The child reuses the parent's address. Recorded only if a cut depends on it.
    ReuseAddress { child: u32, parent: u32 },
}

impl DecisionHistory {
    /// Creates the tree with the root, entry 0.
    pub(super) fn new() -> Self {
        Self { entries: vec![DecisionEntry { from: 0, start: 0, end: 0 }], decisions: Vec::new() }
    }

    /// Adds an entry with some decisions as a successor of another entry. Returns that entry if there are no decisions.
    pub(super) fn add(&mut self, from: u32, decisions: impl Iterator<Item = SweepDecision>) -> u32 {
        let start = self.decisions.len() as u32;
        self.decisions.extend(decisions);
        let end = self.decisions.len() as u32;
        if start == end {
            return from;
        }
        self.entries.push(DecisionEntry { from, start, end });
        self.entries.len() as u32 - 1
    }

    /// Returns the selection of an entry. `asks` returns whether a cut depends on the reuses of an operation; in all
    /// other operations, the reuses that save most units are chosen.
    pub(super) fn build_selection(
        &self,
        problem: &SelectionProblem,
        moments: &[ScheduleStep],
        asks: impl Fn(usize) -> bool,
        mut entry: u32,
    ) -> ResidencySelection {
        let all = |n: usize| ValueResidency { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        let mut intervals: Vec<ValueResidency> = problem.values.iter().map(|value| all(value.uses.len())).collect();
        while entry != 0 {
            let DecisionEntry { from, start, end } = self.entries[entry as usize];
            for decision in &self.decisions[start as usize..end as usize] {
                match *decision {
                    SweepDecision::InHbm { value, tick } => {
                        remove_from_lx(problem, &mut intervals, value as usize, tick as usize)
                    }
                    SweepDecision::EvictAfter { value, tick } => {
                        let using = problem.values[value as usize].uses.partition_point(|one| one.tick < tick as usize);
                        intervals[value as usize].keeps[using] = false;
                    }
                    SweepDecision::ReuseAddress { child, parent } => {
                        intervals[child as usize].parent = Some(parent as usize)
                    }
                }
            }
            entry = from;
        }
        let mut mergers = ReuseMatching::new();
        for moment in moments.iter().filter(|moment| moment.child_units > 0 && !asks(moment.tick)) {
            mergers.clear(moment);
            for (inside, item) in mergers.inside.iter_mut().zip(&moment.items) {
                *inside = item.using.is_some_and(|using| intervals[item.value].in_lx[using]);
            }
            mergers.compute_saved_units(moment);
            for (child, parent) in mergers.pairs() {
                intervals[moment.items[child].value].parent = Some(moment.items[parent].value);
            }
        }
        ResidencySelection { intervals }
    }
}

fn remove_from_lx(problem: &SelectionProblem, intervals: &mut [ValueResidency], value: usize, tick: usize) {
    let (uses, interval) = (&problem.values[value].uses, &mut intervals[value]);
    if problem.mode == ResidencyMode::Whole {
        interval.in_lx.fill(false);
        interval.keeps.fill(false);
        return;
    }
    let next = uses.partition_point(|one| one.tick < tick);
    if next > 0 {
        interval.keeps[next - 1] = false;
    }
    if uses[next].tick == tick {
        interval.in_lx[next] = false;
        interval.keeps[next] = false;
    }
}
