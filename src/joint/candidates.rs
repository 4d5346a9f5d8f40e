//! The splits of an op to choose from.

use crate::work::{CoreOrder, DimKind, Operation, SplitError, WorkError, WorkSplit, alternatives};
use machine::Target;

/// The most splits, orders counted, of an op. Where there are more, those on few cores are left out.
const MOST_CANDIDATES: usize = 512;

/// The splits of an op: `own`, then all others that the constraints allow; of too many, those on at least half as many cores as `own`, or on
/// as many.
///
/// `has_values` says that an operand could be in LX. Only then orders of the cores matter, and each split is there in every order: ops that
/// cut the same dimensions agree if the same core has the same part. The parts of one sum are on neighbouring cores in each of them.
///
/// # Errors
/// As [`alternatives`].
pub fn candidates(op: &Operation, own: &WorkSplit, has_values: bool, target: &Target) -> Result<Vec<WorkSplit>, WorkError> {
    let all = alternatives(op, target)?;
    let n_orders = |split: &WorkSplit| (1..=cut_dims(op, split).1.len()).product::<usize>();
    let n_from = |fewest: i64| all.iter().filter(|split| split.cores() >= fewest).map(n_orders).sum::<usize>();
    let fewest = [1, own.cores() / 2].into_iter().find(|&fewest| n_from(fewest) <= MOST_CANDIDATES).unwrap_or(own.cores());
    let mut splits = vec![own.clone()];
    for split in all.iter().filter(|split| split.cores() >= fewest) {
        let ordered = if has_values { orders(op, split)? } else { vec![split.clone()] };
        splits.extend(ordered.into_iter().filter(|ordered| ordered != own));
    }
    splits.truncate(MOST_CANDIDATES);
    Ok(splits)
}

/// The dimensions that a split cuts: those that are summed, and the others.
fn cut_dims(op: &Operation, split: &WorkSplit) -> (Vec<usize>, Vec<usize>) {
    (0..op.dims.len()).filter(|&dim| split.slices()[dim] > 1).partition(|&dim| op.dims[dim].kind == DimKind::Reduction)
}

/// The split in every order of the dimensions that it cuts; a cut sum comes first.
fn orders(op: &Operation, split: &WorkSplit) -> Result<Vec<WorkSplit>, SplitError> {
    let family = CoreOrder::of(op.family);
    let (sums, others) = cut_dims(op, split);
    let orders = permutations(&others).into_iter().map(|order| {
        let (mut divisors, mut cores) = (vec![1; op.dims.len()], 1);
        for dim in sums.iter().copied().chain(order) {
            divisors[dim] = cores;
            cores *= split.slices()[dim];
        }
        split.clone().with_divisors(&divisors, family)
    });
    orders.collect()
}

/// Every order of some dimensions, as they are first.
fn permutations(dims: &[usize]) -> Vec<Vec<usize>> {
    if dims.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let rest: Vec<usize> = dims.iter().copied().filter(|&dim| dim != first).collect();
        permutations(&rest).into_iter().map(move |order| [&[first], order.as_slice()].concat())
    };
    dims.iter().copied().flat_map(with_first).collect()
}
