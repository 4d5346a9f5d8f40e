//! What ops were seen to take where segments were judged.

use super::{Axis, Cost, Cut, OpCosts};
use std::{collections::BTreeMap, ops::Range};

/// For each op and its cuts, outermost first, the least time of all judgements, ns.
#[derive(Default)]
pub(super) struct Seen {
    least_ns: BTreeMap<(usize, Vec<(usize, i64)>), f64>,
    /// How many times something new was seen.
    pub(super) version: usize,
}

impl Seen {
    /// Notes what each op of a segment took in a nest.
    pub(super) fn note(&mut self, segment: &Range<usize>, axes: &[Axis], nest: &[Cut], by_op: &[Cost]) {
        for (op, cost) in segment.clone().zip(by_op) {
            let cuts = nest.iter().filter_map(|cut| Some((*axes[cut.axis].dims.get(&op)?, cut.count))).collect();
            let known = self.least_ns.entry((op, cuts)).or_insert(f64::INFINITY);
            if cost.ns < *known {
                *known = cost.ns;
                self.version += 1;
            }
        }
    }
}

/// Costs of ops that are no less than what was seen of them.
pub(super) struct AsSeen<'a> {
    /// What is estimated.
    pub(super) costs: &'a dyn OpCosts,
    /// What was seen.
    pub(super) seen: &'a Seen,
}

impl OpCosts for AsSeen<'_> {
    fn lx_bytes(&self) -> i64 {
        self.costs.lx_bytes()
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Cost {
        self.costs.op_cost(op, cuts, in_lx)
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> Cost {
        self.costs.combine_cost(op, cuts)
    }

    fn seen_ns(&self, op: usize, cuts: &[(usize, i64)]) -> f64 {
        self.seen.least_ns.get(&(op, cuts.to_vec())).copied().unwrap_or(0.0)
    }
}
