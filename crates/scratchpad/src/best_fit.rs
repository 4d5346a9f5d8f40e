//! Best-fit planner: places each buffer in the gap that leaves the fewest bytes free.

use super::gap_fit::{FreeGap, place_by_urgency};
use super::{Buffer, Capacity, Placement, Planner};

/// Best-fit planner of torch-spyre, August 2026. It differs from first-fit in the gap: each buffer goes into the one
/// that leaves the fewest bytes free, the lowest of several.
#[derive(Clone, Copy, Debug)]
pub struct BestFitPlanner;

impl Planner for BestFitPlanner {
    fn name(&self) -> &'static str {
        "best-fit"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        place_by_urgency(buffers, capacity, choose_tightest)
    }
}

fn choose_tightest(gaps: &[FreeGap]) -> Option<FreeGap> {
    gaps.iter().min_by_key(|gap| gap.left).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_lowest_of_equal_gaps() {
        let gaps = [FreeGap { start: 0, left: 9 }, FreeGap { start: 20, left: 3 }, FreeGap { start: 40, left: 3 }];
        assert_eq!(choose_tightest(&gaps), Some(gaps[1]));
        assert_eq!(choose_tightest(&[]), None);
    }
}
