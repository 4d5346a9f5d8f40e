//! The selection of a plan: the uses that LX serves, the values that remain in LX between two uses, and the in-place reuse of addresses.

use super::{
    prices::At,
    problem::{Problem, Stays},
};

/// One entry per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) stays: Vec<Stay>,
}

/// Best plan so far.
pub(crate) struct Best {
    pub(crate) bytes: i64,
    pub(crate) selection: Selection,
    pub(crate) placed: Vec<(Run, i64)>,
}

/// Decisions for one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    /// Per use: whether LX serves it.
    pub(crate) in_lx: Vec<bool>,
    /// Per use: whether the value stays in LX until the next one.
    pub(crate) keeps: Vec<bool>,
    /// Parent whose address it takes over.
    pub(crate) parent: Option<usize>,
}

/// Contiguous residency interval: the uses `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Run {
    pub(crate) value: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Selection {
    /// Returns the selection with all values in HBM.
    pub(crate) fn none(problem: &Problem) -> Self {
        Self { stays: problem.values.iter().map(|value| Stay::none(value.uses.len())).collect() }
    }

    /// Returns the HBM bytes left, including those of the buffers that cannot be in LX.
    pub(crate) fn hbm_bytes(&self, problem: &Problem) -> i64 {
        problem.fixed_bytes + (0..problem.values.len()).map(|index| self.value_bytes(problem, index)).sum::<i64>()
    }

    /// Returns the HBM bytes of one value.
    pub(crate) fn value_bytes(&self, problem: &Problem, index: usize) -> i64 {
        self.stays[index].hbm_bytes(problem, index)
    }

    /// Returns the contiguous residency intervals, by value and time.
    pub(crate) fn runs(&self) -> Vec<Run> {
        self.stays.iter().enumerate().flat_map(|(value, stay)| stay.runs(value)).collect()
    }

    /// Removes a run from LX.
    pub(crate) fn remove(&mut self, problem: &Problem, run: Run) {
        self.stays[run.value].remove(run);
        if run.last + 1 == problem.values[run.value].uses.len() {
            self.stays.iter_mut().filter(|stay| stay.parent == Some(run.value)).for_each(|stay| stay.parent = None);
        }
    }
}

impl Stay {
    /// Returns the decisions with all uses served from HBM.
    pub(crate) fn none(n_uses: usize) -> Self {
        Self { in_lx: vec![false; n_uses], keeps: vec![false; n_uses], parent: None }
    }

    /// Returns the decisions with all uses served from LX.
    pub(crate) fn all(n_uses: usize) -> Self {
        Self { in_lx: vec![true; n_uses], keeps: vec![true; n_uses], parent: None }
    }

    /// Returns the HBM bytes of a value with these decisions.
    pub(crate) fn hbm_bytes(&self, problem: &Problem, index: usize) -> i64 {
        let value = &problem.values[index];
        if problem.stays == Stays::Whole {
            let is_in_lx = self.in_lx.first() == Some(&true);
            let in_lx = || value.arrival_bytes + value.ending_bytes(value.after_use(0, At::Hbm));
            return if is_in_lx { in_lx() } else { value.hbm_bytes() };
        }
        let (mut bytes, mut at) = (0, At::Hbm);
        for (using, one) in value.uses.iter().enumerate() {
            if using > 0 && !self.keeps[using - 1] {
                bytes += value.leaving_bytes(problem.stays, at);
                at = At::Hbm;
            }
            if self.in_lx[using] {
                bytes += value.coming_bytes(problem.stays, using, at).unwrap_or(0);
                at = value.after_use(using, at);
            } else {
                bytes += one.hbm_bytes;
            }
        }
        bytes + value.ending_bytes(at)
    }

    /// Returns the contiguous residency intervals of a value with these decisions, by time.
    pub(crate) fn runs(&self, value: usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for using in (0..self.in_lx.len()).filter(|&using| self.in_lx[using]) {
            match runs.last_mut() {
                Some(run) if run.last + 1 == using && self.keeps[run.last] => run.last = using,
                Some(_) | None => runs.push(Run { value, first: using, last: using }),
            }
        }
        runs
    }

    /// Removes a run from LX; values that take over its address are not updated.
    pub(crate) fn remove(&mut self, run: Run) {
        self.in_lx[run.first..=run.last].fill(false);
        self.keeps[run.first..=run.last].fill(false);
        if run.first == 0 {
            self.parent = None;
        }
    }
}

impl Run {
    /// Returns the operations during which the run is in LX, half-open.
    pub(crate) fn ticks(&self, problem: &Problem) -> std::ops::Range<usize> {
        let uses = &problem.values[self.value].uses;
        uses[self.first].tick..uses[self.last].tick + 1
    }
}

/// Removes runs that save nothing.
pub(crate) fn trim(problem: &Problem, selection: &mut Selection) {
    for index in 0..selection.stays.len() {
        if selection.stays[index].parent.is_some_and(|parent| selection.stays[parent].in_lx.last() != Some(&true))
            || selection.stays[index].in_lx.first() != Some(&true)
        {
            selection.stays[index].parent = None;
        }
    }
    // Runs that save nothing are removed, except those that hand an address over and those that could: a cut may depend on them.
    let mut is_parent = vec![false; selection.stays.len()];
    selection.stays.iter().filter_map(|stay| stay.parent).for_each(|parent| is_parent[parent] = true);
    for run in selection.runs() {
        let value = &problem.values[run.value];
        if value.may_link() || is_parent[run.value] && run.last + 1 == value.uses.len() {
            continue;
        }
        let bytes = selection.value_bytes(problem, run.value);
        let stay = selection.stays[run.value].clone();
        selection.stays[run.value].remove(run);
        if selection.value_bytes(problem, run.value) > bytes {
            selection.stays[run.value] = stay;
        } else if let Some(parent) = stay.parent.filter(|_| run.first == 0) {
            is_parent[parent] = selection.stays.iter().any(|other| other.parent == Some(parent));
        }
    }
}
