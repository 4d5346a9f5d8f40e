//! List packings: places each item, in a given order, at the lowest offset at which it fits.

use super::{StepBudget, occupancy::OccupancyTree, problem::PackingProblem};

/// Packs the items in `order` and returns the offset of each. Returns `None` if the height exceeds `limit`.
pub(super) fn pack_in_order(problem: &PackingProblem, order: &[usize], limit: i64) -> Option<Vec<i64>> {
    let mut list = ListPacking::new(problem, order.to_vec());
    list.run(problem, limit, &mut StepBudget { left: u64::MAX })?
}

/// Resumable list packing.
pub(super) struct ListPacking {
    order: Vec<usize>,
    /// Number of items of the order that are placed.
    num_visited: usize,
    /// Whether an item exceeded the limit. The remaining items are placed nevertheless, so that the number of steps
    /// does not depend on the item.
    has_failed: bool,
    gaps: OccupancyTree,
    offsets: Vec<i64>,
}

impl ListPacking {
    /// Creates a list packing with nothing placed.
    pub(super) fn new(problem: &PackingProblem, order: Vec<usize>) -> Self {
        Self {
            order,
            num_visited: 0,
            has_failed: false,
            gaps: OccupancyTree::new(problem.num_sections),
            offsets: vec![0; problem.items.len()],
        }
    }

    /// Continues with one step per item. Returns `None` until all items are placed. Then returns the offsets, or
    /// `Some(None)` if an item exceeds the limit.
    pub(super) fn run(
        &mut self,
        problem: &PackingProblem,
        limit: i64,
        steps: &mut StepBudget,
    ) -> Option<Option<Vec<i64>>> {
        while let Some(&item) = self.order.get(self.num_visited) {
            if !steps.consume(1) {
                return None;
            }
            self.num_visited += 1;
            if self.has_failed {
                continue;
            }
            self.gaps.begin_query();
            for run in problem.item_runs(item) {
                self.gaps.require_free(&run.sections, run.height);
            }
            let offset = self.gaps.find_lowest_offset(problem.items[item].base);
            if offset + problem.items[item].height > limit {
                self.has_failed = true;
                continue;
            }
            self.offsets[item] = offset;
            for run in problem.item_runs(item) {
                self.gaps.occupy(&run.sections, offset, offset + run.height);
            }
        }
        Some(if self.has_failed { None } else { Some(std::mem::take(&mut self.offsets)) })
    }
}

/// Returns the height of the packing with these offsets: the maximum top of an item.
pub(super) fn compute_height(problem: &PackingProblem, offsets: &[i64]) -> i64 {
    problem.items.iter().zip(offsets).map(|(item, offset)| item.height + offset).max().unwrap_or(0)
}
