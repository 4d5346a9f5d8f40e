//! Which steps of a program share a launch.

use std::ops::Range;

/// A step of a program: an op or a loop outside all loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The HBM tensors that it reads or writes, by number.
    pub tensors: Vec<usize>,
    /// Whether a value in LX is live behind it; a launch must not end there.
    pub leaves_lx_live: bool,
}

/// An HBM tensor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// An argument or a result: a kernel argument wherever it is used.
    Outside,
    /// Made and read by the program: in the pool of a launch, or a kernel argument where launches share it.
    Inside,
}

/// A step that no launch can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a launch with baked addresses has at most {segments} tensors, beside which a pool counts as one, but step {step} needs more")]
pub struct TooManyTensors {
    /// The first step of the launch that cannot be ended in time.
    pub step: usize,
    /// Address segments there are.
    pub segments: usize,
}

/// The launches of a program, as ranges of steps: one launch if addresses are symbolic (`segments` is none), else as few as fit the address
/// segments when each takes as many steps as it can (torch-spyre, bundle formation).
///
/// # Errors
/// When a step, or steps that a value in LX ties together, need more tensors than there are segments.
pub fn launches(steps: &[Step], tensors: &[TensorKind], segments: Option<usize>) -> Result<Vec<Range<usize>>, TooManyTensors> {
    let Some(segments) = segments else {
        return Ok(if steps.is_empty() { Vec::new() } else { std::iter::once(0..steps.len()).collect() });
    };
    let lives = lives(steps, tensors.len());
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let mut end = None;
        for last in start..steps.len() {
            let n_segments = n_segments(&steps[start..=last], start..last + 1, tensors, &lives);
            if n_segments <= segments && !steps[last].leaves_lx_live {
                end = Some(last + 1);
            } else if n_segments > segments && end.is_some() {
                break;
            }
        }
        let end = end.ok_or(TooManyTensors { step: start, segments })?;
        found.push(start..end);
        start = end;
    }
    Ok(found)
}

/// For each tensor the first and the last step that use it.
fn lives(steps: &[Step], n_tensors: usize) -> Vec<Range<usize>> {
    let mut lives: Vec<Option<Range<usize>>> = vec![None; n_tensors];
    for (position, step) in steps.iter().enumerate() {
        for &tensor in &step.tensors {
            let first = lives[tensor].as_ref().map_or(position, |life| life.start);
            lives[tensor] = Some(first..position + 1);
        }
    }
    lives.into_iter().map(Option::unwrap_or_default).collect()
}

/// Address segments of a launch: its kernel arguments, and one for the pool if it has any.
fn n_segments(steps: &[Step], range: Range<usize>, tensors: &[TensorKind], lives: &[Range<usize>]) -> usize {
    let mut used: Vec<usize> = steps.iter().flat_map(|step| step.tensors.iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let is_pooled = |tensor: &usize| {
        let life = &lives[*tensor];
        tensors[*tensor] == TensorKind::Inside && range.start <= life.start && life.end <= range.end
    };
    let n_pooled = used.iter().filter(|tensor| is_pooled(tensor)).count();
    used.len() - n_pooled + usize::from(n_pooled > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(tensors: &[usize]) -> Step {
        Step { tensors: tensors.to_vec(), leaves_lx_live: false }
    }

    /// The step behind each launch.
    fn ends(steps: &[Step], tensors: &[TensorKind], segments: Option<usize>) -> Result<Vec<usize>, TooManyTensors> {
        launches(steps, tensors, segments).map(|launches| launches.into_iter().map(|launch| launch.end).collect())
    }

    #[test]
    fn symbolic_addresses_need_one_launch() {
        let steps = [step(&[0, 1]), step(&[1, 2])];
        assert_eq!(ends(&steps, &[TensorKind::Outside; 3], None), Ok(vec![2]));
        assert_eq!(ends(&[], &[], None), Ok(vec![]));
    }

    #[test]
    fn a_launch_ends_before_it_needs_too_many_segments() {
        let steps = [step(&[0, 1, 2]), step(&[2, 3, 4]), step(&[4, 5, 6])];
        assert_eq!(ends(&steps, &[TensorKind::Outside; 7], Some(5)), Ok(vec![2, 3]));
        assert_eq!(ends(&steps, &[TensorKind::Outside; 7], Some(7)), Ok(vec![3]));
        assert_eq!(ends(&steps, &[TensorKind::Outside; 7], Some(2)), Err(TooManyTensors { step: 0, segments: 2 }));
    }

    #[test]
    fn intermediates_of_one_launch_share_the_pool() {
        let steps = [step(&[0, 1]), step(&[1, 2]), step(&[2, 3])];
        let tensors = [TensorKind::Outside, TensorKind::Inside, TensorKind::Inside, TensorKind::Outside];
        assert_eq!(ends(&steps, &tensors, Some(3)), Ok(vec![3]));
    }

    #[test]
    fn a_value_in_lx_ties_steps_together() {
        let tied = Step { leaves_lx_live: true, ..step(&[0, 1]) };
        assert_eq!(ends(&[tied.clone(), step(&[2, 3])], &[TensorKind::Outside; 4], Some(4)), Ok(vec![2]));
        assert_eq!(ends(&[tied, step(&[2, 3])], &[TensorKind::Outside; 4], Some(3)), Err(TooManyTensors { step: 0, segments: 3 }));
    }
}
