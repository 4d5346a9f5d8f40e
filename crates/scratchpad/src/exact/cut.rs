//! Cuts: sets of residency intervals without disjoint addresses, which may not all be selected
//! (`docs/reference/certificates.md`).

use super::{
    problem::SelectionProblem,
    selection::{ResidencyInterval, ResidencySelection},
};

/// Intervals that do not fit together if exactly the reuses `merges` occur among them and no value of `absent` is in
/// LX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackingCut {
    pub(crate) runs: Vec<ResidencyInterval>,
    /// Pairs of child and parent.
    pub(crate) merges: Vec<(usize, usize)>,
    /// Links: values that are live in one operation only, and through which an interval could inherit the address of
    /// another.
    pub(crate) absent: Vec<usize>,
}

/// Bit masks over the cuts, one bit per cut: the cuts whose conditions each decision of the sweep affects.
pub(super) struct CutTable {
    pub(super) all: u128,
    /// Per value: whether some cut depends on its residency.
    pub(super) is_eager: Vec<bool>,
    /// Per value: cuts that require the value to be outside LX. Empty without cuts.
    absent: Vec<u128>,
    /// Per value and use: cuts that require LX to serve the use. Empty without cuts.
    not_in_lx: Vec<Vec<u128>>,
    /// Per value and use: cuts that require the value to remain in LX until its next use. Empty without cuts.
    not_kept: Vec<Vec<u128>>,
    /// Per operation: child, parent, cuts that require the reuse, cuts that forbid it.
    pub(super) edges: Vec<Vec<(usize, usize, u128, u128)>>,
    /// Per operation: cuts that are decided completely after it.
    pub(super) decided_after: Vec<u128>,
}

impl PackingCut {
    /// Builds the cut of some intervals of a selection.
    pub(super) fn from_runs(
        problem: &SelectionProblem,
        selection: &ResidencySelection,
        runs: Vec<ResidencyInterval>,
    ) -> Self {
        let mut merges = Vec::new();
        for (child, parent) in find_reuse_pairs(problem, &runs) {
            if selection.intervals[child].parent == Some(parent) {
                merges.push((child, parent));
            }
        }
        let absent = find_links(problem, &runs, &merges);
        Self { runs, merges, absent }
    }
}

/// Returns the values through which an interval could inherit the address of another one, directly or through further
/// values that are live in that operation only. The values are in none of the intervals. The inheriting interval begins
/// with its value and has no parent among the intervals.
fn find_links(problem: &SelectionProblem, runs: &[ResidencyInterval], merges: &[(usize, usize)]) -> Vec<usize> {
    let is_outside =
        |value: usize| problem.values[value].may_pass_address_on() && runs.iter().all(|run| run.value != value);
    let ends =
        |value: usize| runs.iter().any(|run| run.value == value && run.last + 1 == problem.values[value].uses.len());
    let leads_back = |link: usize| {
        let (mut seen, mut at) = (vec![link], 0);
        while let Some(&value) = seen.get(at) {
            let parents = &problem.values[value].parents;
            if parents.iter().any(|&parent| ends(parent)) {
                return true;
            }
            let more: Vec<usize> =
                parents.iter().copied().filter(|&parent| is_outside(parent) && !seen.contains(&parent)).collect();
            seen.extend(more);
            at += 1;
        }
        false
    };
    let heirs = runs.iter().filter(|run| run.first == 0 && merges.iter().all(|pair| pair.0 != run.value));
    let parents = heirs.flat_map(|run| problem.values[run.value].parents.iter().copied());
    let mut links: Vec<usize> = parents.filter(|&parent| is_outside(parent) && leads_back(parent)).collect();
    links.sort_unstable();
    links.dedup();
    links
}

/// Returns the pairs of child and parent for which `runs` contain the child's first use and the parent's last use.
pub(super) fn find_reuse_pairs(problem: &SelectionProblem, runs: &[ResidencyInterval]) -> Vec<(usize, usize)> {
    let ends =
        |value: usize| runs.iter().any(|run| run.value == value && run.last + 1 == problem.values[value].uses.len());
    let children = runs.iter().filter(|run| run.first == 0);
    children
        .flat_map(|run| problem.values[run.value].parents.iter().map(|&parent| (run.value, parent)))
        .filter(|pair| ends(pair.1))
        .collect()
}

impl CutTable {
    pub(super) fn new(problem: &SelectionProblem, cuts: &[PackingCut]) -> Self {
        let per_use =
            || problem.values.iter().filter(|_| !cuts.is_empty()).map(|value| vec![0; value.uses.len()]).collect();
        let mut table = Self {
            all: 0,
            is_eager: vec![false; problem.values.len()],
            absent: problem.values.iter().filter(|_| !cuts.is_empty()).map(|_| 0).collect(),
            not_in_lx: per_use(),
            not_kept: per_use(),
            edges: vec![Vec::new(); problem.num_ticks],
            decided_after: vec![0; problem.num_ticks],
        };
        for (number, cut) in cuts.iter().take(128).enumerate() {
            let bit = 1 << number;
            table.all |= bit;
            let mut end = 0;
            for run in &cut.runs {
                table.is_eager[run.value] = true;
                table.not_in_lx[run.value][run.first..=run.last].iter_mut().for_each(|bits| *bits |= bit);
                table.not_kept[run.value][run.first..run.last].iter_mut().for_each(|bits| *bits |= bit);
                end = end.max(run.ticks(problem).end);
            }
            for &value in &cut.absent {
                table.is_eager[value] = true;
                table.absent[value] |= bit;
            }
            for (child, parent) in find_reuse_pairs(problem, &cut.runs) {
                let (with, without) = if cut.merges.contains(&(child, parent)) { (bit, 0) } else { (0, bit) };
                table.edges[problem.values[child].first_tick()].push((child, parent, with, without));
            }
            table.decided_after[end - 1] |= bit;
        }
        table
    }

    /// Returns the cuts that no longer apply if HBM serves this use.
    pub(super) fn cuts_excluded_by_hbm_use(&self, value: usize, using: usize) -> u128 {
        if self.all == 0 { 0 } else { self.not_in_lx[value][using] }
    }

    /// Returns the cuts that no longer apply if the value is in LX.
    pub(super) fn cuts_excluded_by_residency(&self, value: usize) -> u128 {
        if self.all == 0 { 0 } else { self.absent[value] }
    }

    /// Returns the cuts that no longer apply if the value is not in LX during a use (`is_out`), or leaves LX after it.
    pub(super) fn cuts_excluded_by_eviction(&self, value: usize, using: Option<usize>, is_out: bool) -> u128 {
        let Some(using) = using.filter(|_| self.all != 0) else { return 0 };
        let kept = |using: usize| self.not_kept[value][using];
        if is_out { self.not_in_lx[value][using] | using.checked_sub(1).map_or(0, kept) } else { kept(using) }
    }
}
