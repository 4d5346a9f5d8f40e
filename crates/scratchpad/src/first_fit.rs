//! First-fit planner: places each buffer in the lowest sufficiently large gap.

use super::gap_fit::{FreeGap, place_by_urgency};
use super::{Buffer, Capacity, Placement, Planner};

/// First-fit planner of torch-spyre, August 2026. It places buffers with short live ranges and many uses first, each in
/// the lowest gap over its whole live range.
#[derive(Clone, Copy, Debug)]
pub struct FirstFitPlanner;

impl Planner for FirstFitPlanner {
    fn name(&self) -> &'static str {
        "first-fit"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        place_by_urgency(buffers, capacity, choose_lowest)
    }
}

fn choose_lowest(gaps: &[FreeGap]) -> Option<FreeGap> {
    gaps.first().copied()
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::buffer;
    use super::*;

    #[test]
    fn gives_lowest_address_to_most_urgent_buffer() {
        let buffers = [buffer("a", 10, &[0, 1, 2]), buffer("b", 10, &[1, 2, 3, 4]), buffer("c", 20, &[3, 4])];
        let placement = FirstFitPlanner.plan(&buffers, &Capacity { bytes: 30, alignment: 10 });
        assert_eq!(placement.addresses, [Some(0), Some(20), Some(0)]);
    }
}
