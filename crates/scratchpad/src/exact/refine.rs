//! Subgradient method for better prices, for problems in which the first prices leave a large gap.

use super::{prices::DualPrices, problem::SelectionProblem};

/// Subgradient steps between two calls of the callback.
const ROUNDS_BETWEEN_CALLBACKS: u64 = 16;

/// Improves prices by steps along the excess demand. A step is deflected from the previous one where they would
/// oscillate (Camerini, Fratta and Maffioli 1975). `goal` is the scaled cost of a known plan. Ends early when `go_on`,
/// which is called from time to time, returns false.
pub(super) fn refine_prices(
    problem: &SelectionProblem,
    start: &DualPrices,
    goal: i64,
    num_steps: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> DualPrices {
    let mut best = start.clone();
    let mut best_bound = start.bound();
    let mut prices = start.clone();
    let mut exact: Vec<f64> = prices.unit_prices.iter().map(|&price| price as f64).collect();
    let highest = DualPrices::max_uniform_price(problem);
    let mut wanted = vec![0; problem.num_ticks + 1];
    let mut way = vec![0.0; problem.num_ticks];
    let (mut pace, mut since) = (1.0, 0);
    for round in 0..num_steps {
        if round % ROUNDS_BETWEEN_CALLBACKS == ROUNDS_BETWEEN_CALLBACKS - 1 && !go_on() {
            break;
        }
        prices.compute_demand(&mut wanted);
        let missing = (goal - prices.bound()) as f64;
        let excess = |tick: usize| {
            let over = (wanted[tick] - problem.units) as f64;
            if over < 0.0 && exact[tick] <= 0.0 { 0.0 } else { over }
        };
        let (mut along, mut length) = (0.0, 0.0);
        for (tick, way) in way.iter().enumerate() {
            along += excess(tick) * way;
            length += way * way;
        }
        let bend = if along < 0.0 && length > 0.0 { -1.5 * along / length } else { 0.0 };
        let mut length = 0.0;
        for (tick, way) in way.iter_mut().enumerate() {
            *way = excess(tick) + bend * *way;
            length += *way * *way;
        }
        if length == 0.0 || missing <= 0.0 {
            break;
        }
        let step = pace * missing / length;
        for ((price, exact), way) in prices.unit_prices.iter_mut().zip(&mut exact).zip(&way) {
            *exact = (*exact + step * way).clamp(0.0, highest);
            *price = exact.round() as i64;
        }
        prices.update(problem);
        let bound = prices.bound();
        since += 1;
        if bound > best_bound {
            best_bound = bound;
            best.clone_from(&prices);
            since = 0;
        } else if since >= 20 {
            pace *= 0.7;
            since = 0;
            prices.clone_from(&best);
            for (exact, &price) in exact.iter_mut().zip(&prices.unit_prices) {
                *exact = price as f64;
            }
            way.fill(0.0);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Capacity, Instance, PlanningLimits, PlanningProgress, ResidencyMode, buffer::tests::buffer, plan_instance,
    };

    /// A small excess demand makes the steps long. Found by fuzzing: the sum of the prices overflowed.
    #[test]
    fn keeps_prices_below_overflow() {
        let live_ranges = "b,127,2147483648,127 c1,1,6,128 c2,2,6,128 c3,0,6,128 c4,2,65,128 c5,0,6,63 c6,1,6,63 c7,2,6,128 c8,3,6,1 c9,1,127,128 d,4,8,127 \
                     e,0,9,3";
        let text = format!("id,lower,upper,size\n{}\n", live_ranges.replace(' ', "\n"));
        let instance = Instance::from_csv(&text, Capacity { bytes: 1024, alignment: 1 }).unwrap();
        for budget in (100..2000).step_by(100) {
            let mut go_on = |_: &PlanningProgress| true;
            let mut limits = PlanningLimits { budget, go_on: &mut go_on };
            let plan = plan_instance(&instance, "exact", ResidencyMode::Split, &mut limits).unwrap();
            assert!((0..=2).contains(&plan.lower_bound), "{budget}: {}", plan.lower_bound);
        }
    }

    #[test]
    fn converges_to_best_price() {
        // Three buffers demand space in operation 1, which has space for two thirds of them. At the best price, the
        // buffers save the bytes of two of them.
        let buffers: Vec<_> = (0..9).map(|number| buffer("any", 10 + number % 3, &[0, 1, 2])).collect();
        let problem = SelectionProblem::new(&buffers, &Capacity { bytes: 66, alignment: 1 }, ResidencyMode::Whole);
        let first = DualPrices::new(&problem, 1 << 16, vec![0; problem.num_ticks]);
        assert_eq!(first.bound(), 0);
        let better = refine_prices(&problem, &first, 99 << 16, 500, &mut || true);
        // 99 units of 3 bytes each, of which 66 are in LX.
        let bound = better.bound() as f64 / f64::from(1 << 16);
        assert!((98.9..=99.0).contains(&bound), "{bound}");
    }
}
