//! List packings: each item, in some order, goes to the lowest place where it fits.

use super::{gaps::Gaps, problem::Problem};

/// Offsets of all items, with a height of at most `limit`; `None` when this order leads above it.
pub(super) fn pack_in_order(problem: &Problem, order: &[usize], limit: i64) -> Option<Vec<i64>> {
    let mut gaps = Gaps::new(problem.n_sections);
    let mut offsets = vec![0; problem.items.len()];
    for &item in order {
        gaps.ask();
        for run in problem.runs_of(item) {
            gaps.want(&run.sections, run.height);
        }
        let offset = gaps.lowest(problem.items[item].base);
        if offset + problem.items[item].height > limit {
            return None;
        }
        offsets[item] = offset;
        for run in problem.runs_of(item) {
            gaps.take(&run.sections, offset, offset + run.height);
        }
    }
    Some(offsets)
}

/// How high the items reach at these offsets.
pub(super) fn height(problem: &Problem, offsets: &[i64]) -> i64 {
    problem.items.iter().zip(offsets).map(|(item, offset)| item.height + offset).max().unwrap_or(0)
}
