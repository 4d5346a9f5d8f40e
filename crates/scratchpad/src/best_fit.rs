//! The best-fit planner: the gap that leaves the fewest bytes.

use super::gap_fit::{FreeGap, place_by_urgency};
use super::{Buffer, Capacity, Placement, Planner};

/// torch-spyre's best-fit planner of August 2026: like first-fit, but each buffer goes into the gap that leaves the
/// fewest bytes free after it; the lowest gap wins a tie.
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
