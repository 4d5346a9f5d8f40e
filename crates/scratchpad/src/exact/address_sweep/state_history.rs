//! History of the search states: the placements and evictions that lead to a state, and the resulting decisions.

use super::state::NO_HISTORY;
use super::{
    AddressState, CandidateAddress, ResidencyCosts, ResidencyMode, SelectionProblem, ValueDecisions, ValueResidency,
};
use std::collections::BTreeMap;

/// Tree of events, which the search states share: each entry refers to its predecessor.
pub(super) struct StateHistory {
    entries: Vec<HistoryEntry>,
    /// Number of entries at which `prune` removes unreachable ones.
    pruning_threshold: usize,
}

#[derive(Clone, Copy)]
struct HistoryEntry {
    /// Preceding entry, or `NO_HISTORY`.
    previous: u32,
    value: u32,
    /// Index of the use for which the value enters LX, or of the value's next use when it is evicted.
    use_index: u32,
    event: ResidencyEvent,
}

#[derive(Clone, Copy)]
enum ResidencyEvent {
    /// Placement of the value at an address in LX; `parent` is the value whose address it reuses in place.
    Placement { address: i64, parent: Option<u32> },
    /// Eviction of the value from LX.
    Eviction,
}

/// Minimum number of entries that makes pruning worthwhile.
const MIN_ENTRIES_FOR_PRUNING: usize = 1 << 16;

impl StateHistory {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), pruning_threshold: MIN_ENTRIES_FOR_PRUNING }
    }

    /// Records the placement of a value and the evictions that make space for it. Returns the last entry.
    pub(super) fn record_placement(
        &mut self,
        state: &AddressState,
        (value, using, candidate): (usize, usize, &CandidateAddress),
        costs: &[ResidencyCosts],
    ) -> u32 {
        let mut last = state.history_entry;
        for resident in state.residents[candidate.evicted_range()].iter().filter(|resident| candidate.evicts(resident))
        {
            let next_use = costs[resident.value as usize].using as u32;
            last = self.push_entry(HistoryEntry {
                previous: last,
                value: resident.value,
                use_index: next_use,
                event: ResidencyEvent::Eviction,
            });
        }
        let parent = candidate.parent.map(|position| state.residents[position as usize].value);
        let event = ResidencyEvent::Placement { address: candidate.address, parent };
        self.push_entry(HistoryEntry { previous: last, value: value as u32, use_index: using as u32, event })
    }

    fn push_entry(&mut self, entry: HistoryEntry) -> u32 {
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Removes the entries that no state reaches, if the number of entries exceeds the threshold.
    pub(super) fn prune(&mut self, states: &mut [AddressState]) {
        if self.entries.len() < self.pruning_threshold {
            return;
        }
        let mut is_kept = vec![false; self.entries.len()];
        for state in &*states {
            let mut index = state.history_entry;
            while index != NO_HISTORY && !is_kept[index as usize] {
                is_kept[index as usize] = true;
                index = self.entries[index as usize].previous;
            }
        }
        let mut new_indices = vec![NO_HISTORY; self.entries.len()];
        let mut num_kept = 0;
        for old in (0..self.entries.len()).filter(|&old| is_kept[old]) {
            let HistoryEntry { previous: from, .. } = self.entries[old];
            let from = if from == NO_HISTORY { from } else { new_indices[from as usize] };
            self.entries[num_kept] = HistoryEntry { previous: from, ..self.entries[old] };
            new_indices[old] = num_kept as u32;
            num_kept += 1;
        }
        self.entries.truncate(num_kept);
        for state in states.iter_mut().filter(|state| state.history_entry != NO_HISTORY) {
            state.history_entry = new_indices[state.history_entry as usize];
        }
        self.pruning_threshold = 2 * num_kept + MIN_ENTRIES_FOR_PRUNING;
    }

    /// Returns the decisions for the values that are in LX at some time, by replaying the events up to `last`.
    pub(super) fn build_decisions(&self, problem: &SelectionProblem, last: u32) -> Vec<ValueDecisions> {
        let mut path: Vec<&HistoryEntry> = Vec::new();
        let mut index = last;
        while index != NO_HISTORY {
            path.push(&self.entries[index as usize]);
            index = self.entries[index as usize].previous;
        }
        let mut decisions: BTreeMap<usize, ValueDecisions> = BTreeMap::new();
        for entry in path.into_iter().rev() {
            let (value, using) = (entry.value as usize, entry.use_index as usize);
            let new_decisions = || ValueDecisions {
                value,
                interval: ValueResidency::all_in_hbm(problem.values[value].uses.len()),
                addresses: Vec::new(),
            };
            let value_decisions = decisions.entry(value).or_insert_with(new_decisions);
            match entry.event {
                ResidencyEvent::Placement { address, parent } => {
                    value_decisions.interval.in_lx[using..].fill(true);
                    value_decisions.interval.keeps[using..].fill(true);
                    if using == 0 {
                        value_decisions.interval.parent = parent.map(|parent| parent as usize);
                    }
                    value_decisions.addresses.push((using, address));
                }
                ResidencyEvent::Eviction => {
                    let using = if problem.mode == ResidencyMode::Whole { 0 } else { using };
                    value_decisions.interval.in_lx[using..].fill(false);
                    value_decisions.interval.keeps[using.saturating_sub(1)..].fill(false);
                    if using == 0 {
                        value_decisions.interval.parent = None;
                    }
                }
            }
        }
        decisions.into_values().filter(|value_decisions| value_decisions.interval.in_lx.contains(&true)).collect()
    }
}
