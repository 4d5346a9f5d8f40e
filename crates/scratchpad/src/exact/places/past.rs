//! Events that led to the states, and the plan that a state represents.

use super::state::NO_PAST;
use super::{Berth, Fares, Problem, Served, State, Stay, Stays};
use std::collections::BTreeMap;

/// Tree of the events that lead to each state: each entry refers to the entry before it.
pub(super) struct Past {
    entries: Vec<Entry>,
    /// Number of entries at which entries that lead to no state are removed.
    most: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    from: u32,
    value: u32,
    /// Use for which the value comes, or the next use when it leaves.
    using: u32,
    event: Event,
}

#[derive(Clone, Copy)]
enum Event {
    /// The value came to LX, with or without taking over a parent's address.
    Comes { address: i64, parent: Option<u32> },
    /// The value left LX.
    Goes,
}

/// Minimum number of entries for a removal.
const FEW: usize = 1 << 16;

impl Past {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), most: FEW }
    }

    /// Records that a value comes and that its evicted values leave.
    pub(super) fn add(&mut self, state: &State, (value, using, berth): (usize, usize, &Berth), fares: &[Fares]) -> u32 {
        let mut last = state.past;
        for tenant in state.tenants[berth.driven()].iter().filter(|tenant| berth.drives_out(tenant)) {
            let using = fares[tenant.value as usize].using as u32;
            last = self.push(Entry { from: last, value: tenant.value, using, event: Event::Goes });
        }
        let parent = berth.parent.map(|place| state.tenants[place as usize].value);
        let event = Event::Comes { address: berth.address, parent };
        self.push(Entry { from: last, value: value as u32, using: using as u32, event })
    }

    fn push(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Removes entries that lead to no state, when there are many entries.
    pub(super) fn forget(&mut self, states: &mut [State]) {
        if self.entries.len() < self.most {
            return;
        }
        let mut is_kept = vec![false; self.entries.len()];
        for state in &*states {
            let mut at = state.past;
            while at != NO_PAST && !is_kept[at as usize] {
                is_kept[at as usize] = true;
                at = self.entries[at as usize].from;
            }
        }
        let mut new = vec![NO_PAST; self.entries.len()];
        let mut n_kept = 0;
        for old in (0..self.entries.len()).filter(|&old| is_kept[old]) {
            let Entry { from, .. } = self.entries[old];
            let from = if from == NO_PAST { from } else { new[from as usize] };
            self.entries[n_kept] = Entry { from, ..self.entries[old] };
            new[old] = n_kept as u32;
            n_kept += 1;
        }
        self.entries.truncate(n_kept);
        for state in states.iter_mut().filter(|state| state.past != NO_PAST) {
            state.past = new[state.past as usize];
        }
        self.most = 2 * n_kept + FEW;
    }

    /// Returns the decisions for the values that came to LX.
    pub(super) fn served(&self, problem: &Problem, last: u32) -> Vec<Served> {
        let mut way: Vec<&Entry> = Vec::new();
        let mut at = last;
        while at != NO_PAST {
            way.push(&self.entries[at as usize]);
            at = self.entries[at as usize].from;
        }
        let mut served: BTreeMap<usize, Served> = BTreeMap::new();
        for entry in way.into_iter().rev() {
            let (value, using) = (entry.value as usize, entry.using as usize);
            let new = || Served { value, stay: Stay::none(problem.values[value].uses.len()), addresses: Vec::new() };
            let one = served.entry(value).or_insert_with(new);
            match entry.event {
                Event::Comes { address, parent } => {
                    one.stay.in_lx[using..].fill(true);
                    one.stay.keeps[using..].fill(true);
                    if using == 0 {
                        one.stay.parent = parent.map(|parent| parent as usize);
                    }
                    one.addresses.push((using, address));
                }
                Event::Goes => {
                    let using = if problem.stays == Stays::Whole { 0 } else { using };
                    one.stay.in_lx[using..].fill(false);
                    one.stay.keeps[using.saturating_sub(1)..].fill(false);
                    if using == 0 {
                        one.stay.parent = None;
                    }
                }
            }
        }
        served.into_values().filter(|one| one.stay.in_lx.contains(&true)).collect()
    }
}
