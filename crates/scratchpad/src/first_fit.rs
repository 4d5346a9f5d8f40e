//! The first-fit planner: the lowest gap that is large enough.

use super::fit::{Gap, place};
use super::{Buffer, Capacity, Placement, Planner};

/// torch-spyre's first-fit planner of August 2026: places short-lived and frequently used buffers first, each in the lowest gap over its
/// whole live range.
#[derive(Clone, Copy, Debug)]
pub struct FirstFit;

impl Planner for FirstFit {
    fn name(&self) -> &'static str {
        "first-fit"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        place(buffers, capacity, lowest)
    }
}

fn lowest(gaps: &[Gap]) -> Option<Gap> {
    gaps.first().copied()
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::buffer;
    use super::*;

    #[test]
    fn the_most_urgent_buffer_takes_the_lowest_address() {
        let buffers = [buffer("a", 10, &[0, 1, 2]), buffer("b", 10, &[1, 2, 3, 4]), buffer("c", 20, &[3, 4])];
        let placement = FirstFit.plan(&buffers, &Capacity { bytes: 30, alignment: 10 });
        assert_eq!(placement.addresses, [Some(0), Some(20), Some(0)]);
    }
}
