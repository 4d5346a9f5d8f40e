//! Partitions the steps of a program into launches.

use std::collections::BTreeSet;
use std::ops::Range;

/// Step of a program: an op or a loop outside all loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStep {
    /// Numbers of the tensors that it reads or writes.
    pub tensors: Vec<usize>,
}

/// Kind of a tensor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// Argument or result: a kernel argument wherever it is used.
    External,
    /// In HBM, defined and used by the program: in the pool of a launch, or a kernel argument if several launches use
    /// it.
    Internal,
    /// In LX, whose contents do not survive a launch; it may move to HBM.
    Lx,
    /// In LX and bound to it: no launch may end while it is live.
    BoundToLx,
}

/// Step that fits in no launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected at most {segments} tensors (a pool counts as one) in a launch with baked addresses, found more in the launch that begins \
     here; give --addresses symbolic"
)]
pub struct TooManyTensorsError {
    /// First step of the launch that cannot end in time.
    pub step: usize,
    /// Number of address segments.
    pub segments: usize,
}

/// Partition of a program into launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchPartition {
    /// The launches, as ranges of steps.
    pub launches: Vec<Range<usize>>,
    /// Tensors that move from LX to HBM, since a launch ends while they are live.
    pub moved: BTreeSet<usize>,
}

/// Returns the launches of a program: a single one if addresses are symbolic (`segments` is `None`). Otherwise each
/// launch has as many steps as fit the address segments (torch-spyre, bundle formation). It ends where nothing in LX is
/// live if possible; otherwise live values move to HBM.
///
/// A scan stops once the tensors that a launch receives occupy all segments, so the work is linear even if every layer
/// has weights.
///
/// # Errors
/// If a step, or steps tied together by a value bound to LX, use more tensors than there are segments.
pub fn partition_launches(
    steps: &[ProgramStep],
    tensors: &[TensorKind],
    segments: Option<usize>,
) -> Result<LaunchPartition, TooManyTensorsError> {
    let mut cuts = LaunchPartition::default();
    let Some(segments) = segments else {
        cuts.launches.extend(if steps.is_empty() { None } else { Some(0..steps.len()) });
        return Ok(cuts);
    };
    let live_ranges = compute_live_ranges(steps, tensors.len());
    let mut kinds = tensors.to_vec();
    let mut start = 0;
    while start < steps.len() {
        let mut scan = LaunchScan {
            start,
            kinds: &kinds,
            live_ranges: &live_ranges,
            used: BTreeSet::new(),
            counts: SegmentUsage::default(),
        };
        let (mut end, mut end_with_moves) = (None, None);
        for (last, step) in steps.iter().enumerate().skip(start) {
            scan.add_step(step, last + 1);
            if scan.counts.given > segments {
                break;
            }
            if scan.counts.bound == 0 && scan.counts.num_segments() <= segments {
                end_with_moves = Some(last + 1);
                end = if scan.counts.in_lx == 0 { end_with_moves } else { end };
            }
        }
        let end = end.or(end_with_moves).ok_or(TooManyTensorsError { step: start, segments })?;
        let is_cut = |tensor: &usize| kinds[*tensor] == TensorKind::Lx && end < live_ranges[*tensor].end;
        let moved: Vec<usize> =
            steps[start..end].iter().flat_map(|step| step.tensors.iter().copied()).filter(is_cut).collect();
        moved.iter().for_each(|&tensor| kinds[tensor] = TensorKind::Internal);
        cuts.moved.extend(moved);
        cuts.launches.push(start..end);
        start = end;
    }
    Ok(cuts)
}

/// Returns the range of steps from the first to the last use of each tensor.
#[must_use]
pub fn compute_live_ranges(steps: &[ProgramStep], num_tensors: usize) -> Vec<Range<usize>> {
    let mut live_ranges: Vec<Option<Range<usize>>> = vec![None; num_tensors];
    for (position, step) in steps.iter().enumerate() {
        for &tensor in &step.tensors {
            let first = live_ranges[tensor].as_ref().map_or(position, |live_range| live_range.start);
            live_ranges[tensor] = Some(first..position + 1);
        }
    }
    live_ranges.into_iter().map(Option::unwrap_or_default).collect()
}

/// Number of tensors that a launch uses so far, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct SegmentUsage {
    /// Tensors that the launch receives in any case: from outside, and from earlier launches.
    given: usize,
    /// Tensors in HBM that the launch defines and that are live after it.
    open: usize,
    /// Tensors in HBM whose live ranges lie within the launch.
    pooled: usize,
    /// Tensors in LX that are live after the launch.
    in_lx: usize,
    /// Tensors bound to LX that are live after the launch.
    bound: usize,
}

impl SegmentUsage {
    /// Returns the address segments in use: kernel arguments, values that must leave LX, and one for the pool if it is
    /// not empty.
    const fn num_segments(&self) -> usize {
        self.given + self.open + self.in_lx + (self.pooled > 0) as usize
    }
}

/// Launch under construction, which grows step by step.
struct LaunchScan<'a> {
    start: usize,
    kinds: &'a [TensorKind],
    live_ranges: &'a [Range<usize>],
    used: BTreeSet<usize>,
    counts: SegmentUsage,
}

impl LaunchScan<'_> {
    /// Adds a step, after which the launch would end at `end`.
    fn add_step(&mut self, step: &ProgramStep, end: usize) {
        for &tensor in &step.tensors {
            let is_given = self.kinds[tensor] == TensorKind::External || self.live_ranges[tensor].start < self.start;
            let is_new = self.used.insert(tensor);
            if is_given {
                self.counts.given += usize::from(is_new);
                continue;
            }
            let is_pooled = self.kinds[tensor] == TensorKind::Internal;
            let alive = match self.kinds[tensor] {
                TensorKind::External | TensorKind::Internal => &mut self.counts.open,
                TensorKind::Lx => &mut self.counts.in_lx,
                TensorKind::BoundToLx => &mut self.counts.bound,
            };
            *alive += usize::from(is_new);
            if self.live_ranges[tensor].end == end {
                *alive -= 1;
                self.counts.pooled += usize::from(is_pooled);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TensorKind::{BoundToLx, External, Internal, Lx};

    fn make_step(tensors: &[usize]) -> ProgramStep {
        ProgramStep { tensors: tensors.to_vec() }
    }

    /// Returns the end (exclusive) of each launch.
    fn launch_ends(
        steps: &[ProgramStep],
        tensors: &[TensorKind],
        segments: Option<usize>,
    ) -> Result<Vec<usize>, TooManyTensorsError> {
        partition_launches(steps, tensors, segments)
            .map(|cuts| cuts.launches.into_iter().map(|launch| launch.end).collect())
    }

    #[test]
    fn forms_one_launch_for_symbolic_addresses() {
        let steps = [make_step(&[0, 1]), make_step(&[1, 2])];
        assert_eq!(launch_ends(&steps, &[External; 3], None), Ok(vec![2]));
        assert_eq!(launch_ends(&[], &[], None), Ok(vec![]));
    }

    #[test]
    fn ends_launch_before_segments_run_out() {
        let steps = [make_step(&[0, 1, 2]), make_step(&[2, 3, 4]), make_step(&[4, 5, 6])];
        assert_eq!(launch_ends(&steps, &[External; 7], Some(5)), Ok(vec![2, 3]));
        assert_eq!(launch_ends(&steps, &[External; 7], Some(7)), Ok(vec![3]));
        assert_eq!(launch_ends(&steps, &[External; 7], Some(2)), Err(TooManyTensorsError { step: 0, segments: 2 }));
    }

    #[test]
    fn places_intermediates_of_one_launch_in_pool() {
        let steps = [make_step(&[0, 1]), make_step(&[1, 2]), make_step(&[2, 3])];
        assert_eq!(launch_ends(&steps, &[External, Internal, Internal, External], Some(3)), Ok(vec![3]));
    }

    #[test]
    fn continues_launch_while_intermediates_are_live() {
        // After the first three steps three intermediates are live; after the last one all are in the pool.
        let steps = [make_step(&[0, 1]), make_step(&[0, 2]), make_step(&[0, 3]), make_step(&[1, 2, 3, 4])];
        assert_eq!(launch_ends(&steps, &[External, Internal, Internal, Internal, External], Some(3)), Ok(vec![4]));
    }

    #[test]
    fn passes_results_of_earlier_launches_as_arguments() {
        let steps = [make_step(&[0, 1, 2]), make_step(&[2, 3, 4]), make_step(&[2, 4, 5])];
        let tensors = [External, External, Internal, External, Internal, External];
        assert_eq!(launch_ends(&steps, &tensors, Some(3)), Ok(vec![1, 2, 3]));
        assert_eq!(launch_ends(&steps, &tensors, Some(4)), Ok(vec![1, 3]));
    }

    #[test]
    fn keeps_steps_of_lx_bound_value_together() {
        let steps = [make_step(&[0, 1, 4]), make_step(&[2, 3, 4])];
        let tensors = [External, External, External, External, BoundToLx];
        assert_eq!(launch_ends(&steps, &tensors, Some(4)), Ok(vec![2]));
        assert_eq!(launch_ends(&steps, &tensors, Some(3)), Err(TooManyTensorsError { step: 0, segments: 3 }));
    }

    #[test]
    fn prefers_launch_end_without_live_lx_values() {
        let steps = [make_step(&[0, 1]), make_step(&[1, 2, 5]), make_step(&[3, 4, 5])];
        let tensors = [External, External, External, External, External, Lx];
        assert_eq!(
            partition_launches(&steps, &tensors, Some(4)),
            Ok(LaunchPartition { launches: vec![0..1, 1..3], moved: BTreeSet::new() })
        );
    }

    #[test]
    fn moves_shared_lx_values_to_hbm() {
        let steps = [make_step(&[0, 5]), make_step(&[1, 2, 5]), make_step(&[3, 4, 5])];
        let tensors = [External, External, External, External, External, Lx];
        let expected = LaunchPartition { launches: vec![0..2, 2..3], moved: BTreeSet::from([5]) };
        assert_eq!(partition_launches(&steps, &tensors, Some(4)), Ok(expected));
        // The moved tensor is an argument of both launches.
        assert_eq!(launch_ends(&steps, &tensors, Some(3)), Ok(vec![1, 2, 3]));
        assert_eq!(launch_ends(&steps, &tensors, Some(2)), Err(TooManyTensorsError { step: 1, segments: 2 }));
    }
}
