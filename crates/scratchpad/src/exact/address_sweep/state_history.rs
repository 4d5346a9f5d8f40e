//! Events that lead to the states, and the plan that a state represents.

use super::state::NO_HISTORY;
use super::{
    AddressState, CandidateAddress, ResidencyCosts, ResidencyMode, SelectionProblem, ValueDecisions, ValueResidency,
};
use std::collections::BTreeMap;

/// Tree of events: each entry refers to the preceding entry of the same state.
pub(super) struct StateHistory {
    entries: Vec<HistoryEntry>,
    /// Number of entries from which unreachable entries are removed.
    pruning_threshold: usize,
}

#[derive(Clone, Copy)]
struct HistoryEntry {
    from: u32,
    value: u32,
    /// Use for which the value enters, or the next use when it leaves.
    using: u32,
    event: ResidencyEvent,
}

#[derive(Clone, Copy)]
enum ResidencyEvent {
    /// The value entered LX, with or without reusing a parent's address.
    Enters { address: i64, parent: Option<u32> },
    /// The value left LX.
    Leaves,
}

/// Minimum number of entries for the removal of unreachable ones.
const MIN_ENTRIES_FOR_PRUNING: usize = 1 << 16;

impl StateHistory {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), pruning_threshold: MIN_ENTRIES_FOR_PRUNING }
    }

    /// Records that a value enters LX and that the evicted values leave.
    pub(super) fn record_placement(
        &mut self,
        state: &AddressState,
        (value, using, candidate): (usize, usize, &CandidateAddress),
        fares: &[ResidencyCosts],
    ) -> u32 {
        let mut last = state.history_entry;
        for resident in state.residents[candidate.evicted_range()].iter().filter(|resident| candidate.evicts(resident))
        {
            let using = fares[resident.value as usize].using as u32;
            last = self.push_entry(HistoryEntry {
                from: last,
                value: resident.value,
                using,
                event: ResidencyEvent::Leaves,
            });
        }
        let parent = candidate.parent.map(|place| state.residents[place as usize].value);
        let event = ResidencyEvent::Enters { address: candidate.address, parent };
        self.push_entry(HistoryEntry { from: last, value: value as u32, using: using as u32, event })
    }

    fn push_entry(&mut self, entry: HistoryEntry) -> u32 {
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Removes the entries that lead to no state, if there are many entries.
    pub(super) fn prune(&mut self, states: &mut [AddressState]) {
        if self.entries.len() < self.pruning_threshold {
            return;
        }
        let mut is_kept = vec![false; self.entries.len()];
        for state in &*states {
            let mut at = state.history_entry;
            while at != NO_HISTORY && !is_kept[at as usize] {
                is_kept[at as usize] = true;
                at = self.entries[at as usize].from;
            }
        }
        let mut new = vec![NO_HISTORY; self.entries.len()];
        let mut num_kept = 0;
        for old in (0..self.entries.len()).filter(|&old| is_kept[old]) {
            let HistoryEntry { from, .. } = self.entries[old];
            let from = if from == NO_HISTORY { from } else { new[from as usize] };
            self.entries[num_kept] = HistoryEntry { from, ..self.entries[old] };
            new[old] = num_kept as u32;
            num_kept += 1;
        }
        self.entries.truncate(num_kept);
        for state in states.iter_mut().filter(|state| state.history_entry != NO_HISTORY) {
            state.history_entry = new[state.history_entry as usize];
        }
        self.pruning_threshold = 2 * num_kept + MIN_ENTRIES_FOR_PRUNING;
    }

    /// Returns the decisions for the values that entered LX.
    pub(super) fn build_decisions(&self, problem: &SelectionProblem, last: u32) -> Vec<ValueDecisions> {
        let mut way: Vec<&HistoryEntry> = Vec::new();
        let mut at = last;
        while at != NO_HISTORY {
            way.push(&self.entries[at as usize]);
            at = self.entries[at as usize].from;
        }
        let mut served: BTreeMap<usize, ValueDecisions> = BTreeMap::new();
        for entry in way.into_iter().rev() {
            let (value, using) = (entry.value as usize, entry.using as usize);
            let new = || ValueDecisions {
                value,
                interval: ValueResidency::all_in_hbm(problem.values[value].uses.len()),
                addresses: Vec::new(),
            };
            let one = served.entry(value).or_insert_with(new);
            match entry.event {
                ResidencyEvent::Enters { address, parent } => {
                    one.interval.in_lx[using..].fill(true);
                    one.interval.keeps[using..].fill(true);
                    if using == 0 {
                        one.interval.parent = parent.map(|parent| parent as usize);
                    }
                    one.addresses.push((using, address));
                }
                ResidencyEvent::Leaves => {
                    let using = if problem.mode == ResidencyMode::Whole { 0 } else { using };
                    one.interval.in_lx[using..].fill(false);
                    one.interval.keeps[using.saturating_sub(1)..].fill(false);
                    if using == 0 {
                        one.interval.parent = None;
                    }
                }
            }
        }
        served.into_values().filter(|one| one.interval.in_lx.contains(&true)).collect()
    }
}
