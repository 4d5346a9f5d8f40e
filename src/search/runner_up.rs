//! Next best plan of the tile search.

use super::LoopNest;
use cost::{ModeledCost, Objective};

/// Loops around segments of a program, with the cost of all ops.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedPlan {
    /// The loops; empty for none.
    pub loops: Vec<LoopNest>,
    /// Cost of all ops.
    pub cost: ModeledCost,
}

/// Returns the best plan that differs from the chosen one; among equal plans, the first.
pub(super) fn find_next_best<'a>(
    plans: impl IntoIterator<Item = &'a PricedPlan>,
    chosen: &PricedPlan,
    objective: Objective,
) -> Option<PricedPlan> {
    let others = plans.into_iter().filter(|plan| is_different_plan(plan, chosen));
    others.min_by(|one, other| objective.compare(&one.cost, &other.cost)).cloned()
}

/// Returns whether a plan has other loops than `chosen`. Segment boundaries and copies without effect do not count.
fn is_different_plan(plan: &PricedPlan, chosen: &PricedPlan) -> bool {
    let pairs = || plan.loops.iter().zip(&chosen.loops);
    let same_loops = plan.loops.len() == chosen.loops.len() && pairs().all(|(one, other)| one.levels == other.levels);
    let same_copies = plan.cost == chosen.cost || pairs().all(|(one, other)| one.copies == other.copies);
    !(same_loops && same_copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{HoistedCopy, OperandPosition, TiledLoop};
    use std::collections::BTreeMap;

    fn make_plan(count: i64, num_copies: usize, ns: f64) -> PricedPlan {
        let copies = vec![
            HoistedCopy { reads: vec![OperandPosition { op: 0, operand: 0 }], tiled_dims: vec![None] };
            num_copies
        ];
        let levels = vec![TiledLoop { count, dims: BTreeMap::from([(0, 0)]) }];
        PricedPlan { loops: vec![LoopNest { ops: 0..1, levels, copies }], cost: ModeledCost { ns, hbm_bytes: 0 } }
    }

    #[test]
    fn finds_plan_that_differs_from_the_chosen_one() {
        let chosen = make_plan(4, 0, 10.0);
        let mut around_more = chosen.clone();
        around_more.loops[0].ops = 0..2;
        let plans = [
            chosen.clone(),
            around_more,
            make_plan(4, 1, 10.0),
            make_plan(2, 0, 14.0),
            make_plan(4, 1, 13.0),
            make_plan(8, 0, 13.0),
        ];
        assert_eq!(find_next_best(&plans, &chosen, Objective::Time), Some(make_plan(4, 1, 13.0)));
        assert_eq!(find_next_best(&plans[..3], &chosen, Objective::Time), None);
    }

    #[test]
    fn ranks_plans_by_the_objective() {
        let chosen = make_plan(4, 0, 10.0);
        let plans = [make_plan(2, 0, 9.0), PricedPlan { loops: vec![], cost: ModeledCost { ns: 50.0, hbm_bytes: -1 } }];
        assert_eq!(find_next_best(&plans, &chosen, Objective::Time), Some(plans[0].clone()));
        assert_eq!(find_next_best(&plans, &chosen, Objective::Bytes), Some(plans[1].clone()));
    }
}
