//! The splits of an op to choose from.

use crate::{
    target::Target,
    work::{CoreOrder, DimKind, Operation, WorkError, WorkSplit, alternatives},
};

/// The splits of an op: `own`, then all others that the constraints allow on at least half as many cores, each in every order of the cores.
///
/// Orders matter for values in LX only: ops that cut the same dimensions agree if the same core has the same part. The parts of one sum are
/// on neighbouring cores in each of them.
///
/// # Errors
/// As [`alternatives`].
pub fn candidates(op: &Operation, own: &WorkSplit, target: &Target) -> Result<Vec<WorkSplit>, WorkError> {
    let mut splits = vec![own.clone()];
    let fewest = own.cores() / 2;
    for split in alternatives(op, target)?.into_iter().filter(|split| split.cores() >= fewest) {
        for ordered in orders(op, &split)? {
            if !splits.contains(&ordered) {
                splits.push(ordered);
            }
        }
    }
    Ok(splits)
}

/// The split in every order of the dimensions that it cuts; a cut sum comes first.
fn orders(op: &Operation, split: &WorkSplit) -> Result<Vec<WorkSplit>, WorkError> {
    let family = CoreOrder::of(op.family);
    let (sums, others): (Vec<usize>, Vec<usize>) =
        (0..op.dims.len()).filter(|&dim| split.slices()[dim] > 1).partition(|&dim| op.dims[dim].kind == DimKind::Reduction);
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
