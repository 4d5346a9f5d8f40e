//! Selection of a plan, without addresses: the uses that LX serves, the gaps between uses during which values remain in
//! LX, and the in-place reuses.

use super::{
    prices::Residency,
    problem::{ResidencyMode, SelectionProblem},
};

/// Residency of every value: one entry per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResidencySelection {
    pub(crate) intervals: Vec<ValueResidency>,
}

/// Best plan so far.
pub(crate) struct BestPlan {
    pub(crate) bytes: i64,
    pub(crate) selection: ResidencySelection,
    pub(crate) placed: Vec<(ResidencyInterval, i64)>,
}

/// Residency of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueResidency {
    /// Per use: whether LX serves it.
    pub(crate) in_lx: Vec<bool>,
    /// Per use: whether the value remains in LX until the next use.
    pub(crate) keeps: Vec<bool>,
    /// Parent whose address the value reuses.
    pub(crate) parent: Option<usize>,
}

/// Residency interval of a value: its uses `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResidencyInterval {
    pub(crate) value: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl ResidencySelection {
    /// Returns the selection with all values in HBM.
    pub(crate) fn all_in_hbm(problem: &SelectionProblem) -> Self {
        Self { intervals: problem.values.iter().map(|value| ValueResidency::all_in_hbm(value.uses.len())).collect() }
    }

    /// Returns the HBM bytes of a plan with this selection, including those of buffers that cannot be in LX.
    pub(crate) fn hbm_bytes(&self, problem: &SelectionProblem) -> i64 {
        problem.fixed_bytes + (0..problem.values.len()).map(|index| self.value_bytes(problem, index)).sum::<i64>()
    }

    /// Returns the HBM bytes of one value.
    pub(crate) fn value_bytes(&self, problem: &SelectionProblem, index: usize) -> i64 {
        self.intervals[index].hbm_bytes(problem, index)
    }

    /// Returns the residency intervals, by value and time.
    pub(crate) fn collect_intervals(&self) -> Vec<ResidencyInterval> {
        self.intervals.iter().enumerate().flat_map(|(value, interval)| interval.collect_intervals(value)).collect()
    }

    /// Removes an interval from LX, and the in-place reuses that depend on it.
    pub(crate) fn remove_interval(&mut self, problem: &SelectionProblem, run: ResidencyInterval) {
        self.intervals[run.value].remove_interval(run);
        if run.last + 1 == problem.values[run.value].uses.len() {
            self.intervals
                .iter_mut()
                .filter(|interval| interval.parent == Some(run.value))
                .for_each(|interval| interval.parent = None);
        }
    }
}

impl ValueResidency {
    /// Returns the decisions with all uses served from HBM.
    pub(crate) fn all_in_hbm(num_uses: usize) -> Self {
        Self { in_lx: vec![false; num_uses], keeps: vec![false; num_uses], parent: None }
    }

    /// Returns the decisions with all uses served from LX.
    pub(crate) fn all_in_lx(num_uses: usize) -> Self {
        Self { in_lx: vec![true; num_uses], keeps: vec![true; num_uses], parent: None }
    }

    /// Returns the HBM bytes of value `index` with this residency.
    pub(crate) fn hbm_bytes(&self, problem: &SelectionProblem, index: usize) -> i64 {
        let value = &problem.values[index];
        if problem.mode == ResidencyMode::Whole {
            let is_in_lx = self.in_lx.first() == Some(&true);
            let in_lx = || value.arrival_bytes + value.final_store_bytes(value.residency_after_use(0, Residency::Hbm));
            return if is_in_lx { in_lx() } else { value.hbm_bytes() };
        }
        let (mut bytes, mut at) = (0, Residency::Hbm);
        for (using, one) in value.uses.iter().enumerate() {
            if using > 0 && !self.keeps[using - 1] {
                bytes += value.eviction_bytes(problem.mode, at);
                at = Residency::Hbm;
            }
            if self.in_lx[using] {
                bytes += value.load_bytes(problem.mode, using, at).unwrap_or(0);
                at = value.residency_after_use(using, at);
            } else {
                bytes += one.hbm_bytes;
            }
        }
        bytes + value.final_store_bytes(at)
    }

    /// Returns the residency intervals of `value`, by time.
    pub(crate) fn collect_intervals(&self, value: usize) -> Vec<ResidencyInterval> {
        let mut runs: Vec<ResidencyInterval> = Vec::new();
        for using in (0..self.in_lx.len()).filter(|&using| self.in_lx[using]) {
            match runs.last_mut() {
                Some(run) if run.last + 1 == using && self.keeps[run.last] => run.last = using,
                Some(_) | None => runs.push(ResidencyInterval { value, first: using, last: using }),
            }
        }
        runs
    }

    /// Removes an interval from LX. Does not update the values that reuse its address.
    pub(crate) fn remove_interval(&mut self, run: ResidencyInterval) {
        self.in_lx[run.first..=run.last].fill(false);
        self.keeps[run.first..=run.last].fill(false);
        if run.first == 0 {
            self.parent = None;
        }
    }
}

impl ResidencyInterval {
    /// Returns the ticks during which the interval is in LX, half-open.
    pub(crate) fn ticks(&self, problem: &SelectionProblem) -> std::ops::Range<usize> {
        let uses = &problem.values[self.value].uses;
        uses[self.first].tick..uses[self.last].tick + 1
    }
}

/// Removes intervals that save nothing.
pub(crate) fn remove_useless_intervals(problem: &SelectionProblem, selection: &mut ResidencySelection) {
    for index in 0..selection.intervals.len() {
        if selection.intervals[index]
            .parent
            .is_some_and(|parent| selection.intervals[parent].in_lx.last() != Some(&true))
            || selection.intervals[index].in_lx.first() != Some(&true)
        {
            selection.intervals[index].parent = None;
        }
    }
    // Intervals that pass an address on, or could pass one on, remain even if they save nothing: a cut may depend on
    // them.
    let mut is_parent = vec![false; selection.intervals.len()];
    selection.intervals.iter().filter_map(|interval| interval.parent).for_each(|parent| is_parent[parent] = true);
    for run in selection.collect_intervals() {
        let value = &problem.values[run.value];
        if value.may_pass_address_on() || is_parent[run.value] && run.last + 1 == value.uses.len() {
            continue;
        }
        let bytes = selection.value_bytes(problem, run.value);
        let interval = selection.intervals[run.value].clone();
        selection.intervals[run.value].remove_interval(run);
        if selection.value_bytes(problem, run.value) > bytes {
            selection.intervals[run.value] = interval;
        } else if let Some(parent) = interval.parent.filter(|_| run.first == 0) {
            is_parent[parent] = selection.intervals.iter().any(|other| other.parent == Some(parent));
        }
    }
}
