//! The best-fit planner: the gap that leaves the fewest bytes.

use super::fit::{Gap, place};
use super::{Buffer, Capacity, Placement, Planner};

/// torch-spyre's best-fit planner of August 2026: like first-fit, but each buffer goes into the gap that leaves the fewest bytes free
/// after it; the lowest gap wins a tie.
#[derive(Clone, Copy, Debug)]
pub struct BestFit;

impl Planner for BestFit {
    fn name(&self) -> &'static str {
        "best-fit"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        place(buffers, capacity, tightest)
    }
}

fn tightest(gaps: &[Gap]) -> Option<Gap> {
    gaps.iter().min_by_key(|gap| gap.left).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_of_equal_gaps_is_taken() {
        let gaps = [Gap { start: 0, left: 9 }, Gap { start: 20, left: 3 }, Gap { start: 40, left: 3 }];
        assert_eq!(tightest(&gaps), Some(gaps[1]));
        assert_eq!(tightest(&[]), None);
    }
}
