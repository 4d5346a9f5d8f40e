//! Next best plan of the tile search.

use super::Loops;
use cost::{Cost, Objective};

/// Loops around segments of a program, and what all ops cost with them.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedPlan {
    /// The loops; empty for none.
    pub loops: Vec<Loops>,
    /// Cost of all ops.
    pub cost: Cost,
}

/// Returns the best plan that differs from the chosen one; among equal plans, the first.
pub(super) fn next_best<'a>(
    plans: impl IntoIterator<Item = &'a PricedPlan>,
    chosen: &PricedPlan,
    objective: Objective,
) -> Option<PricedPlan> {
    let others = plans.into_iter().filter(|plan| is_another(plan, chosen));
    others.min_by(|one, other| objective.order(&one.cost, &other.cost)).cloned()
}

/// Returns whether a plan has other loops than `chosen`. Segment boundaries and copies without effect do not count.
fn is_another(plan: &PricedPlan, chosen: &PricedPlan) -> bool {
    let pairs = || plan.loops.iter().zip(&chosen.loops);
    let same_loops = plan.loops.len() == chosen.loops.len() && pairs().all(|(one, other)| one.levels == other.levels);
    let same_copies = plan.cost == chosen.cost || pairs().all(|(one, other)| one.copies == other.copies);
    !(same_loops && same_copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Copied, Level, Read};
    use std::collections::BTreeMap;

    fn plan(count: i64, n_copies: usize, ns: f64) -> PricedPlan {
        let copies = vec![Copied { reads: vec![Read { op: 0, operand: 0 }], cut_dims: vec![None] }; n_copies];
        let levels = vec![Level { count, dims: BTreeMap::from([(0, 0)]) }];
        PricedPlan { loops: vec![Loops { ops: 0..1, levels, copies }], cost: Cost { ns, hbm_bytes: 0 } }
    }

    #[test]
    fn the_next_best_plan_is_another_one() {
        let chosen = plan(4, 0, 10.0);
        let mut around_more = chosen.clone();
        around_more.loops[0].ops = 0..2;
        let plans = [chosen.clone(), around_more, plan(4, 1, 10.0), plan(2, 0, 14.0), plan(4, 1, 13.0), plan(8, 0, 13.0)];
        assert_eq!(next_best(&plans, &chosen, Objective::Time), Some(plan(4, 1, 13.0)));
        assert_eq!(next_best(&plans[..3], &chosen, Objective::Time), None);
    }

    #[test]
    fn a_plan_that_was_not_taken_for_its_bytes_may_be_faster() {
        let chosen = plan(4, 0, 10.0);
        let plans = [plan(2, 0, 9.0), PricedPlan { loops: vec![], cost: Cost { ns: 50.0, hbm_bytes: -1 } }];
        assert_eq!(next_best(&plans, &chosen, Objective::Time), Some(plans[0].clone()));
        assert_eq!(next_best(&plans, &chosen, Objective::Bytes), Some(plans[1].clone()));
    }
}
