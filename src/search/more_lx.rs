//! Cost of a program if each core had more LX.

use super::{Chosen, Judge, Loops};
use cost::{Cost, Objective};

/// Additional LX per core for which reports show the cost: 1 MiB.
pub const MORE_LX_BYTES: i64 = 1 << 20;

/// Returns the cost of a program on a machine with a chosen plan, or with the loops of a smaller machine if these are
/// cheaper: a larger machine can run every plan of a smaller one. Returns `None` if the program cannot be compiled
/// there.
#[must_use]
pub fn cost_with(judge: &dyn Judge, chosen: &Chosen, of_smaller: &[Loops], objective: Objective) -> Option<Cost> {
    // The search has no result where loops could save nothing.
    let whole = |by_op: Vec<Cost>| by_op.into_iter().sum::<Cost>();
    let own = chosen.found.as_ref().map_or_else(|| judge.untiled().map(whole), |found| found.cost);
    own.into_iter().chain(judge.plan(of_smaller).map(whole)).min_by(|one, other| objective.order(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Axis, Copied, Cut, Found, OpCosts};
    use std::ops::Range;

    /// A machine on which a program takes so long without loops and with some.
    struct Larger {
        untiled: f64,
        with_loops: Option<f64>,
    }

    fn taking(ns: f64) -> Cost {
        Cost { ns, hbm_bytes: 0 }
    }

    impl OpCosts for Larger {
        fn lx_bytes(&self) -> i64 {
            0
        }

        fn op_cost(&self, _op: usize, _cuts: &[(usize, i64)], _in_lx: &[bool]) -> Cost {
            Cost::default()
        }

        fn combine_cost(&self, _op: usize, _cuts: &[(usize, i64)]) -> Cost {
            Cost::default()
        }
    }

    impl Judge for Larger {
        fn untiled(&self) -> Option<Vec<Cost>> {
            Some(vec![taking(self.untiled)])
        }

        fn segment(&self, _segment: Range<usize>, _axes: &[Axis], _nest: &[Cut], _kept: &[Copied]) -> Option<Vec<Cost>> {
            None
        }

        fn plan(&self, _loops: &[Loops]) -> Option<Vec<Cost>> {
            Some(vec![taking(self.with_loops?)])
        }
    }

    #[test]
    fn more_lx_never_costs_more() {
        let found = Found {
            cost: Some(taking(7.0)),
            untiled: None,
            runner_up: None,
            least_ns: None,
            n_judged: 1,
            n_infeasible: 0,
            is_complete: true,
        };
        let searched = Chosen { loops: Vec::new(), found: Some(found) };
        let cost = |judge: &Larger, chosen: &Chosen| cost_with(judge, chosen, &[], Objective::Time).map(|cost| cost.ns);
        assert_eq!(cost(&Larger { untiled: 9.0, with_loops: Some(8.0) }, &searched), Some(7.0));
        assert_eq!(cost(&Larger { untiled: 9.0, with_loops: Some(6.0) }, &searched), Some(6.0), "what was chosen with less LX");
        assert_eq!(cost(&Larger { untiled: 5.0, with_loops: None }, &Chosen::default()), Some(5.0), "all fits, so nothing was searched");
    }
}
