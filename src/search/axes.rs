//! Dimensions of several ops that can be tiled together.

use super::{SearchedOp, carry::find_carried_ops};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Dimension that the ops of a segment iterate over together: if one op computes a tile of a value along it, the next
/// one reads only that tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TilingAxis {
    /// Size that the tile count must divide: the number of points, or of points of the outer part if an op has the
    /// dimension merged with another.
    pub size: i64,
    /// Iteration dimension of the axis, by position of the op.
    pub dims: BTreeMap<usize, usize>,
    /// Ops that do not need the finished result of a loop along the axis: they can run in the loop on the running
    /// value.
    pub carried: BTreeSet<usize>,
    /// Reductions among these whose running result such a loop corrects.
    pub corrected: BTreeSet<usize>,
}

/// Returns the axes of some ops, ordered by the first op and dimension of each.
///
/// Dimensions belong to one axis if one op writes a value along one of them and another op reads it along the other. An
/// op never has an axis twice: in self-attention, the tokens of the queries and of the keys come from one value but
/// form two axes; the first reader shares the producer's axis.
#[must_use]
pub fn find_axes(ops: &[SearchedOp], segment: Range<usize>) -> Vec<TilingAxis> {
    let mut axes = find_axes_without_carried(ops, segment.clone());
    for axis in &mut axes {
        (axis.carried, axis.corrected) = find_carried_ops(ops, segment.clone(), &axis.dims);
    }
    axes
}

/// Returns the axes of some ops as [`find_axes`] does, but with the sets `carried` and `corrected` empty: these take
/// time in the product of ops and axes.
#[must_use]
pub fn find_axes_without_carried(ops: &[SearchedOp], segment: Range<usize>) -> Vec<TilingAxis> {
    let mut groups = AxisGroups::new(ops, segment.clone());
    for (reader, op) in segment.clone().zip(&ops[segment.clone()]) {
        for input in &op.tiled.inputs {
            let Some(maker) = input.producer.filter(|maker| segment.contains(maker)) else { continue };
            for (read, after) in input.dims.iter().zip(&input.source_dims) {
                let made = after.and_then(|after| ops[maker].tiled.output.get(after).copied().flatten());
                if let (Some(read), Some(made)) = (*read, made) {
                    groups.merge(OpDimension { op: maker, dim: made }, OpDimension { op: reader, dim: read });
                }
            }
        }
    }
    groups.into_axes(ops, &segment)
}

/// Iteration dimension of an op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OpDimension {
    op: usize,
    dim: usize,
}

/// Dimensions of ops, in groups that are still being merged.
struct AxisGroups {
    /// Members of each group; empty for a group that was merged into another.
    members: Vec<BTreeMap<usize, usize>>,
    /// Common size of all members.
    sizes: Vec<i64>,
    /// Group of each dimension of each op.
    group_of: BTreeMap<OpDimension, usize>,
}

impl AxisGroups {
    fn new(ops: &[SearchedOp], segment: Range<usize>) -> Self {
        let mut groups = Self { members: Vec::new(), sizes: Vec::new(), group_of: BTreeMap::new() };
        for op in segment {
            for (dim, &size) in ops[op].tiled.sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
                groups.group_of.insert(OpDimension { op, dim }, groups.members.len());
                groups.members.push(BTreeMap::from([(op, dim)]));
                groups.sizes.push(size);
            }
        }
        groups
    }

    /// Merges two groups, unless an op would have the axis twice.
    fn merge(&mut self, one: OpDimension, other: OpDimension) {
        let (Some(&one), Some(&other)) = (self.group_of.get(&one), self.group_of.get(&other)) else { return };
        let is_apart = self.members[other].keys().all(|op| !self.members[one].contains_key(op));
        if one == other || !is_apart {
            return;
        }
        self.sizes[one] = common_divisor(self.sizes[one], self.sizes[other]);
        let taken = std::mem::take(&mut self.members[other]);
        for (op, dim) in taken {
            self.group_of.insert(OpDimension { op, dim }, one);
            self.members[one].insert(op, dim);
        }
    }

    /// Returns the groups along which an op may be tiled.
    fn into_axes(self, ops: &[SearchedOp], segment: &Range<usize>) -> Vec<TilingAxis> {
        let axes = self.members.into_iter().zip(self.sizes).map(|(members, size)| {
            let dims =
                members.into_iter().filter(|&(op, dim)| ops[op].can_tile(dim) && ops[op].belongs_in(segment)).collect();
            TilingAxis { size, dims, ..TilingAxis::default() }
        });
        axes.filter(|axis| !axis.dims.is_empty()).collect()
    }
}

pub(crate) fn common_divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{matmul, pointwise};

    #[test]
    fn shares_axes_between_producer_and_user() {
        // a[M, K] x w = p[M, N]; e = f(p)
        let ops = [matmul([512, 256, 128], None), pointwise(&[512, 256], Some(0))];
        let found = find_axes(&ops, 0..2);
        let dims: Vec<(i64, Vec<(usize, usize)>)> =
            found.into_iter().map(|axis| (axis.size, axis.dims.into_iter().collect())).collect();
        assert_eq!(dims, [(512, vec![(0, 0), (1, 0)]), (256, vec![(0, 1), (1, 1)]), (128, vec![(0, 2)])]);
    }

    #[test]
    fn joins_no_axes_across_the_segment_boundary() {
        let ops = [pointwise(&[512, 256], None), pointwise(&[512, 256], Some(0))];
        assert_eq!(find_axes(&ops, 1..2).iter().map(|axis| axis.dims.len()).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn gives_an_op_each_axis_once() {
        // x[S, D] is read as queries and as keys: p[S, T] = x x^T
        let mut product = matmul([256, 256, 64], Some(0));
        let keys = product.tiled.inputs[1].clone();
        product.tiled.inputs[1] =
            crate::tile::TiledOperand { producer: Some(0), source_dims: vec![Some(1), Some(0)], ..keys };
        let ops = [pointwise(&[256, 64], None), product];
        let found = find_axes(&ops, 0..2);
        assert_eq!(found.iter().filter(|axis| axis.size == 256).count(), 2);
    }

    #[test]
    fn assembles_in_loops_that_produce_a_slice_or_are_the_only_users() {
        let ops = |maker: Option<usize>, readers: &[usize]| {
            let assembly = SearchedOp {
                is_assembly: true,
                readers: readers.to_vec(),
                is_result: false,
                ..pointwise(&[512, 256], maker)
            };
            [pointwise(&[512, 256], None), assembly, pointwise(&[512, 256], Some(1)), pointwise(&[512, 256], Some(1))]
        };
        let is_in_loops = |maker: Option<usize>, readers: &[usize], segment: Range<usize>| {
            find_axes(&ops(maker, readers), segment).iter().any(|axis| axis.dims.contains_key(&1))
        };
        assert!(is_in_loops(Some(0), &[2], 0..3), "it is between a maker and its reader");
        assert!(is_in_loops(None, &[2], 1..3), "nobody else reads it");
        assert!(is_in_loops(Some(0), &[2, 3], 0..3), "others read it, but one of its parts is made here");
        assert!(!is_in_loops(None, &[2, 3], 0..3), "others read it, and no part of it is made here");
        assert!(!is_in_loops(Some(0), &[2], 0..2), "nobody reads it here");
    }

    #[test]
    fn keeps_uncombinable_reduction_untiled() {
        let mut norm = matmul([512, 256, 128], None);
        norm.tiled.combines = false;
        assert_eq!(find_axes(&[norm], 0..1).iter().map(|axis| axis.size).collect::<Vec<_>>(), [512, 256]);
    }
}
