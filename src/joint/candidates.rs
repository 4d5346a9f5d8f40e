//! Candidate core splits of an op.

use crate::work::{WorkError, enumerate_splits};
use machine::Target;
use program::{CoreOrder, DimKind, SplitError, UndividedOp, WorkSplit};

/// Maximum number of candidate splits of an op, including core orders. If there are more, those on few cores are
/// dropped.
const MAX_SPLIT_CANDIDATES: usize = 512;

/// Returns the candidate splits of an op: `own` first, then all others that the constraints allow. If there are too
/// many, only those on at least half as many cores as `own` are kept, or only those on as many.
///
/// `has_values` says that an operand could be in LX. Only then do core orders matter, and each split is listed in every
/// order: users of a value agree if the same core has the same slice. The slices of one sum are on neighboring cores in
/// every order.
///
/// # Errors
/// As [`enumerate_splits`].
pub fn enumerate_split_candidates(
    op: &UndividedOp,
    own: &WorkSplit,
    has_values: bool,
    target: &Target,
) -> Result<Vec<WorkSplit>, WorkError> {
    let all = enumerate_splits(op, target)?;
    let num_orders = |split: &WorkSplit| (1..=find_split_dims(op, split).1.len()).product::<usize>();
    let num_from = |fewest: i64| all.iter().filter(|split| split.num_cores() >= fewest).map(num_orders).sum::<usize>();
    let fewest = [1, own.num_cores() / 2]
        .into_iter()
        .find(|&fewest| num_from(fewest) <= MAX_SPLIT_CANDIDATES)
        .unwrap_or(own.num_cores());
    let mut splits = vec![own.clone()];
    for split in all.iter().filter(|split| split.num_cores() >= fewest) {
        let ordered = if has_values { enumerate_core_orders(op, split)? } else { vec![split.clone()] };
        splits.extend(ordered.into_iter().filter(|ordered| ordered != own));
    }
    splits.truncate(MAX_SPLIT_CANDIDATES);
    Ok(splits)
}

/// Returns the dimensions that a split divides: reduction dimensions, and the others.
fn find_split_dims(op: &UndividedOp, split: &WorkSplit) -> (Vec<usize>, Vec<usize>) {
    (0..op.dims.len()).filter(|&dim| split.slices()[dim] > 1).partition(|&dim| op.dims[dim].kind == DimKind::Reduction)
}

/// Returns the split in every order of the dimensions that it divides; a reduction dimension comes first.
fn enumerate_core_orders(op: &UndividedOp, split: &WorkSplit) -> Result<Vec<WorkSplit>, SplitError> {
    let family = CoreOrder::from_family(op.family);
    let (sums, others) = find_split_dims(op, split);
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

/// Returns every permutation of the dimensions, the given order first.
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
