//! Hoisted copies: values that loops read unchanged in every iteration can be copied before the loops and remain in LX.

use super::{HoistedCopy, LoopNest, OperandPosition, SearchedOp};
use std::collections::BTreeMap;

/// Returns the values that can be copied before the loops: defined before them, and reused by some level. Values with
/// the most reused bytes come first.
#[must_use]
pub fn find_hoistable_copies(ops: &[SearchedOp], loops: &LoopNest) -> Vec<HoistedCopy> {
    let mut reads: BTreeMap<usize, Vec<OperandPosition>> = BTreeMap::new();
    for op in loops.ops.clone().filter(|op| loops.levels.iter().any(|level| level.dims.contains_key(op))) {
        for (operand, &value) in ops[op].values.iter().enumerate().take(ops[op].operand_bytes.len() - 1) {
            if ops[op].tiled.inputs[operand].producer.is_none_or(|maker| maker < loops.ops.start) {
                reads.entry(value).or_default().push(OperandPosition { op, operand });
            }
        }
    }
    let mut found: Vec<(i64, HoistedCopy)> =
        reads.into_values().filter_map(|reads| build_hoisted_copy(ops, loops, reads)).collect();
    found.sort_by_key(|(bytes, _)| -bytes);
    found.into_iter().map(|(_, copied)| copied).collect()
}

/// Returns the results of ops before the loops that no loop tiles, in the form of copies before the loops: they may be
/// in LX throughout.
pub(super) fn resident_live_ins(ops: &[SearchedOp], loops: &LoopNest) -> Vec<HoistedCopy> {
    let is_made = |&OperandPosition { op, operand }: &OperandPosition| {
        ops[op].tiled.inputs[operand].producer.is_some_and(|maker| ops[maker].may_be_in_lx)
    };
    let found = find_hoistable_copies(ops, loops).into_iter();
    found.filter(|copied| copied.tiled_dims.iter().all(Option::is_none) && copied.reads.iter().all(is_made)).collect()
}

/// Returns the copy for these reads of a value, with the reused bytes; `None` if no level reuses it, or if the readers
/// tile it differently.
fn build_hoisted_copy(ops: &[SearchedOp], loops: &LoopNest, reads: Vec<OperandPosition>) -> Option<(i64, HoistedCopy)> {
    let mut cut_dims = Vec::with_capacity(loops.levels.len());
    let mut repeats = 1;
    for level in &loops.levels {
        let cut = |&OperandPosition { op, operand }: &OperandPosition| {
            let input = &ops[op].tiled.inputs[operand];
            let Some(dim) = level.dims.get(&op) else { return Some(None) };
            match input.dims.iter().position(|read| read == &Some(*dim)) {
                None => Some(None),
                // Only a dimension of the value itself can be tiled.
                Some(read) => input.source_dims.get(read).copied().flatten().map(Some),
            }
        };
        let first = cut(reads.first()?)?;
        if reads.iter().any(|read| cut(read) != Some(first)) {
            return None;
        }
        repeats *= if first.is_none() { level.count } else { 1 };
        cut_dims.push(first);
    }
    let &OperandPosition { op, operand } = reads.first()?;
    let bytes = ops[op].operand_bytes[operand] * (repeats - 1);
    (repeats > 1).then_some((bytes, HoistedCopy { reads, tiled_dims: cut_dims }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{AxisTiling, find_axes, tests::matmul};

    /// Returns the nest of `[M, N]` counts around two matmuls of the same rows.
    fn matmul_nest(counts: [i64; 2]) -> (Vec<SearchedOp>, LoopNest) {
        let mut first = matmul([512, 256, 128], None);
        first.values = vec![7, 8];
        let mut second = matmul([512, 256, 256], Some(0));
        second.values = vec![9, 10];
        let ops = vec![first, second];
        let axes = find_axes(&ops, 0..2);
        let nest: Vec<AxisTiling> = [0, 1]
            .into_iter()
            .zip(counts)
            .filter(|(_, count)| *count > 1)
            .map(|(axis, count)| AxisTiling { axis, count })
            .collect();
        let loops = LoopNest::new(&(0..2), &axes, &nest);
        (ops, loops)
    }

    #[test]
    fn copies_operands_that_a_loop_does_not_tile() {
        let (ops, loops) = matmul_nest([4, 1]);
        let found = find_hoistable_copies(&ops, &loops);
        let reads: Vec<Vec<OperandPosition>> = found.iter().map(|copied| copied.reads.clone()).collect();
        assert_eq!(
            reads,
            [vec![OperandPosition { op: 1, operand: 1 }], vec![OperandPosition { op: 0, operand: 1 }]],
            "the right operands; what has most bytes is first"
        );
        assert!(found.iter().all(|copied| copied.tiled_dims == [None]));
    }

    #[test]
    fn places_copy_in_the_loops_that_tile_it() {
        let (ops, loops) = matmul_nest([4, 2]);
        let rows = find_hoistable_copies(&ops, &loops)
            .into_iter()
            .find(|copied| copied.reads == [OperandPosition { op: 0, operand: 0 }])
            .unwrap();
        assert_eq!(rows.tiled_dims, [Some(0), None]);
    }

    #[test]
    fn keeps_untiled_result_of_earlier_op_resident() {
        // The loop tiles only the columns of the second matmul, which reads all rows that the first one computes.
        let (mut ops, mut loops) = matmul_nest([1, 4]);
        ops[1].values[0] = 11;
        let kept = |ops: &[SearchedOp], loops: &LoopNest| {
            resident_live_ins(ops, loops).into_iter().map(|copied| copied.reads).collect::<Vec<_>>()
        };
        loops.ops = 1..2;
        loops.levels[0].dims = BTreeMap::from([(1, 1)]);
        assert_eq!(kept(&ops, &loops), [vec![OperandPosition { op: 1, operand: 0 }]]);
        loops.levels[0].dims = BTreeMap::from([(1, 0)]);
        assert!(kept(&ops, &loops).is_empty(), "rows are cut");
        loops.levels[0].dims = BTreeMap::from([(1, 1)]);
        ops[0].may_be_in_lx = false;
        assert!(kept(&ops, &loops).is_empty(), "it is in HBM");
    }
}
