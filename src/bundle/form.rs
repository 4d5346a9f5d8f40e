//! Partitions the steps of a program into launches.

use std::collections::BTreeSet;
use std::ops::Range;

/// Step of a program: an op or a loop outside all loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Numbers of the tensors that it reads or writes.
    pub tensors: Vec<usize>,
}

/// Kind of a tensor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// Argument or result: a kernel argument wherever it is used.
    Outside,
    /// In HBM, defined and used by the program: in the pool of a launch, or a kernel argument if several launches use it.
    Inside,
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
pub struct TooManyTensors {
    /// First step of the launch that cannot end in time.
    pub step: usize,
    /// Number of address segments.
    pub segments: usize,
}

/// Partition of a program into launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// The launches, as ranges of steps.
    pub launches: Vec<Range<usize>>,
    /// Tensors that move from LX to HBM, since a launch ends while they are live.
    pub moved: BTreeSet<usize>,
}

/// Returns the launches of a program: a single one if addresses are symbolic (`segments` is `None`). Otherwise each launch takes as many
/// steps as fit the address segments (torch-spyre, bundle formation). It ends where nothing in LX is live if possible; otherwise live
/// values move to HBM.
///
/// A scan stops once the tensors that a launch receives occupy all segments, so the work is linear even if every layer has weights.
///
/// # Errors
/// If a step, or steps tied together by a value bound to LX, use more tensors than there are segments.
pub fn cut(steps: &[Step], tensors: &[TensorKind], segments: Option<usize>) -> Result<Cuts, TooManyTensors> {
    let mut cuts = Cuts::default();
    let Some(segments) = segments else {
        cuts.launches.extend(if steps.is_empty() { None } else { Some(0..steps.len()) });
        return Ok(cuts);
    };
    let lives = lives(steps, tensors.len());
    let mut kinds = tensors.to_vec();
    let mut start = 0;
    while start < steps.len() {
        let mut scan = Scan { start, kinds: &kinds, lives: &lives, used: BTreeSet::new(), counts: Counts::default() };
        let (mut end, mut end_with_moves) = (None, None);
        for (last, step) in steps.iter().enumerate().skip(start) {
            scan.add(step, last + 1);
            if scan.counts.given > segments {
                break;
            }
            if scan.counts.bound == 0 && scan.counts.segments() <= segments {
                end_with_moves = Some(last + 1);
                end = if scan.counts.in_lx == 0 { end_with_moves } else { end };
            }
        }
        let end = end.or(end_with_moves).ok_or(TooManyTensors { step: start, segments })?;
        let is_cut = |tensor: &usize| kinds[*tensor] == TensorKind::Lx && end < lives[*tensor].end;
        let moved: Vec<usize> = steps[start..end].iter().flat_map(|step| step.tensors.iter().copied()).filter(is_cut).collect();
        moved.iter().for_each(|&tensor| kinds[tensor] = TensorKind::Inside);
        cuts.moved.extend(moved);
        cuts.launches.push(start..end);
        start = end;
    }
    Ok(cuts)
}

/// Returns the range of steps from the first to the last use of each tensor.
#[must_use]
pub fn lives(steps: &[Step], n_tensors: usize) -> Vec<Range<usize>> {
    let mut lives: Vec<Option<Range<usize>>> = vec![None; n_tensors];
    for (position, step) in steps.iter().enumerate() {
        for &tensor in &step.tensors {
            let first = lives[tensor].as_ref().map_or(position, |life| life.start);
            lives[tensor] = Some(first..position + 1);
        }
    }
    lives.into_iter().map(Option::unwrap_or_default).collect()
}

/// Number of tensors that a launch uses so far, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
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

impl Counts {
    /// Returns the address segments in use: kernel arguments, values that must leave LX, and one for the pool if it is not empty.
    const fn segments(&self) -> usize {
        self.given + self.open + self.in_lx + (self.pooled > 0) as usize
    }
}

/// Launch under construction, which grows step by step.
struct Scan<'a> {
    start: usize,
    kinds: &'a [TensorKind],
    lives: &'a [Range<usize>],
    used: BTreeSet<usize>,
    counts: Counts,
}

impl Scan<'_> {
    /// Adds a step, after which the launch would end at `end`.
    fn add(&mut self, step: &Step, end: usize) {
        for &tensor in &step.tensors {
            let is_given = self.kinds[tensor] == TensorKind::Outside || self.lives[tensor].start < self.start;
            let is_new = self.used.insert(tensor);
            if is_given {
                self.counts.given += usize::from(is_new);
                continue;
            }
            let is_pooled = self.kinds[tensor] == TensorKind::Inside;
            let alive = match self.kinds[tensor] {
                TensorKind::Outside | TensorKind::Inside => &mut self.counts.open,
                TensorKind::Lx => &mut self.counts.in_lx,
                TensorKind::BoundToLx => &mut self.counts.bound,
            };
            *alive += usize::from(is_new);
            if self.lives[tensor].end == end {
                *alive -= 1;
                self.counts.pooled += usize::from(is_pooled);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TensorKind::{BoundToLx, Inside, Lx, Outside};

    fn step(tensors: &[usize]) -> Step {
        Step { tensors: tensors.to_vec() }
    }

    /// Returns the end (exclusive) of each launch.
    fn ends(steps: &[Step], tensors: &[TensorKind], segments: Option<usize>) -> Result<Vec<usize>, TooManyTensors> {
        cut(steps, tensors, segments).map(|cuts| cuts.launches.into_iter().map(|launch| launch.end).collect())
    }

    #[test]
    fn symbolic_addresses_need_one_launch() {
        let steps = [step(&[0, 1]), step(&[1, 2])];
        assert_eq!(ends(&steps, &[Outside; 3], None), Ok(vec![2]));
        assert_eq!(ends(&[], &[], None), Ok(vec![]));
    }

    #[test]
    fn a_launch_ends_before_it_needs_too_many_segments() {
        let steps = [step(&[0, 1, 2]), step(&[2, 3, 4]), step(&[4, 5, 6])];
        assert_eq!(ends(&steps, &[Outside; 7], Some(5)), Ok(vec![2, 3]));
        assert_eq!(ends(&steps, &[Outside; 7], Some(7)), Ok(vec![3]));
        assert_eq!(ends(&steps, &[Outside; 7], Some(2)), Err(TooManyTensors { step: 0, segments: 2 }));
    }

    #[test]
    fn intermediates_of_one_launch_share_the_pool() {
        let steps = [step(&[0, 1]), step(&[1, 2]), step(&[2, 3])];
        assert_eq!(ends(&steps, &[Outside, Inside, Inside, Outside], Some(3)), Ok(vec![3]));
    }

    #[test]
    fn a_launch_goes_on_while_its_intermediates_die_later() {
        // After the first three steps three intermediates are live; after the last one all are in the pool.
        let steps = [step(&[0, 1]), step(&[0, 2]), step(&[0, 3]), step(&[1, 2, 3, 4])];
        assert_eq!(ends(&steps, &[Outside, Inside, Inside, Inside, Outside], Some(3)), Ok(vec![4]));
    }

    #[test]
    fn what_a_launch_before_made_is_given() {
        let steps = [step(&[0, 1, 2]), step(&[2, 3, 4]), step(&[2, 4, 5])];
        let tensors = [Outside, Outside, Inside, Outside, Inside, Outside];
        assert_eq!(ends(&steps, &tensors, Some(3)), Ok(vec![1, 2, 3]));
        assert_eq!(ends(&steps, &tensors, Some(4)), Ok(vec![1, 3]));
    }

    #[test]
    fn a_value_bound_to_lx_ties_steps_together() {
        let steps = [step(&[0, 1, 4]), step(&[2, 3, 4])];
        let tensors = [Outside, Outside, Outside, Outside, BoundToLx];
        assert_eq!(ends(&steps, &tensors, Some(4)), Ok(vec![2]));
        assert_eq!(ends(&steps, &tensors, Some(3)), Err(TooManyTensors { step: 0, segments: 3 }));
    }

    #[test]
    fn a_launch_rather_ends_where_lx_is_free() {
        let steps = [step(&[0, 1]), step(&[1, 2, 5]), step(&[3, 4, 5])];
        let tensors = [Outside, Outside, Outside, Outside, Outside, Lx];
        assert_eq!(cut(&steps, &tensors, Some(4)), Ok(Cuts { launches: vec![0..1, 1..3], moved: BTreeSet::new() }));
    }

    #[test]
    fn a_value_in_lx_moves_to_hbm_where_launches_must_share_it() {
        let steps = [step(&[0, 5]), step(&[1, 2, 5]), step(&[3, 4, 5])];
        let tensors = [Outside, Outside, Outside, Outside, Outside, Lx];
        let expected = Cuts { launches: vec![0..2, 2..3], moved: BTreeSet::from([5]) };
        assert_eq!(cut(&steps, &tensors, Some(4)), Ok(expected));
        // The moved tensor is an argument of both launches.
        assert_eq!(ends(&steps, &tensors, Some(3)), Ok(vec![1, 2, 3]));
        assert_eq!(ends(&steps, &tensors, Some(2)), Err(TooManyTensors { step: 1, segments: 2 }));
    }
}
