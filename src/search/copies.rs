//! Hoisted copies: values that loops read unchanged in every iteration can be copied before the loops and remain in LX.

use super::{Copied, Loops, Read, SearchedOp};
use std::collections::BTreeMap;

/// Returns the values that can be copied before the loops: defined before them, and reused by some level. Values with
/// the most reused bytes come first.
#[must_use]
pub fn copies(ops: &[SearchedOp], loops: &Loops) -> Vec<Copied> {
    let mut reads: BTreeMap<usize, Vec<Read>> = BTreeMap::new();
    for op in loops.ops.clone().filter(|op| loops.levels.iter().any(|level| level.dims.contains_key(op))) {
        for (operand, &value) in ops[op].values.iter().enumerate().take(ops[op].operand_bytes.len() - 1) {
            if ops[op].tiled.inputs[operand].maker.is_none_or(|maker| maker < loops.ops.start) {
                reads.entry(value).or_default().push(Read { op, operand });
            }
        }
    }
    let mut found: Vec<(i64, Copied)> = reads.into_values().filter_map(|reads| copied(ops, loops, reads)).collect();
    found.sort_by_key(|(bytes, _)| -bytes);
    found.into_iter().map(|(_, copied)| copied).collect()
}

/// Returns the values that ops before the loops make and no loop tiles, in the form of copies before the loops: they may be in LX
/// throughout.
pub(super) fn kept_before(ops: &[SearchedOp], loops: &Loops) -> Vec<Copied> {
    let is_made = |&Read { op, operand }: &Read| ops[op].tiled.inputs[operand].maker.is_some_and(|maker| ops[maker].may_be_in_lx);
    let found = copies(ops, loops).into_iter();
    found.filter(|copied| copied.cut_dims.iter().all(Option::is_none) && copied.reads.iter().all(is_made)).collect()
}

/// Returns the copy for these reads of a value, with the reused bytes; `None` if no level reuses it, or if the readers tile it differently.
fn copied(ops: &[SearchedOp], loops: &Loops, reads: Vec<Read>) -> Option<(i64, Copied)> {
    let mut cut_dims = Vec::with_capacity(loops.levels.len());
    let mut repeats = 1;
    for level in &loops.levels {
        let cut = |&Read { op, operand }: &Read| {
            let input = &ops[op].tiled.inputs[operand];
            let Some(dim) = level.dims.get(&op) else { return Some(None) };
            match input.dims.iter().position(|read| read == &Some(*dim)) {
                None => Some(None),
                // Only a dimension of the value itself can be tiled.
                Some(read) => input.behind.get(read).copied().flatten().map(Some),
            }
        };
        let first = cut(reads.first()?)?;
        if reads.iter().any(|read| cut(read) != Some(first)) {
            return None;
        }
        repeats *= if first.is_none() { level.count } else { 1 };
        cut_dims.push(first);
    }
    let &Read { op, operand } = reads.first()?;
    let bytes = ops[op].operand_bytes[operand] * (repeats - 1);
    (repeats > 1).then_some((bytes, Copied { reads, cut_dims }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Cut, axes, tests::matmul};

    /// The nest of `[M, N]` counts around two products of the same rows.
    fn loops(counts: [i64; 2]) -> (Vec<SearchedOp>, Loops) {
        let mut first = matmul([512, 256, 128], None);
        first.values = vec![7, 8];
        let mut second = matmul([512, 256, 256], Some(0));
        second.values = vec![9, 10];
        let ops = vec![first, second];
        let axes = axes(&ops, 0..2);
        let nest: Vec<Cut> =
            [0, 1].into_iter().zip(counts).filter(|(_, count)| *count > 1).map(|(axis, count)| Cut { axis, count }).collect();
        let loops = Loops::new(&(0..2), &axes, &nest);
        (ops, loops)
    }

    #[test]
    fn what_a_level_does_not_cut_is_read_again() {
        let (ops, loops) = loops([4, 1]);
        let found = copies(&ops, &loops);
        let reads: Vec<Vec<Read>> = found.iter().map(|copied| copied.reads.clone()).collect();
        assert_eq!(
            reads,
            [vec![Read { op: 1, operand: 1 }], vec![Read { op: 0, operand: 1 }]],
            "the right operands; what has most bytes is first"
        );
        assert!(found.iter().all(|copied| copied.cut_dims == [None]));
    }

    #[test]
    fn a_copy_stands_in_the_loops_that_cut_it() {
        let (ops, loops) = loops([4, 2]);
        let rows = copies(&ops, &loops).into_iter().find(|copied| copied.reads == [Read { op: 0, operand: 0 }]).unwrap();
        assert_eq!(rows.cut_dims, [Some(0), None]);
    }

    #[test]
    fn what_an_op_in_front_of_the_loops_makes_is_kept_where_no_loop_cuts_it() {
        // The loop cuts the columns of the second product only, which reads all rows that the first one makes.
        let (mut ops, mut loops) = loops([1, 4]);
        ops[1].values[0] = 11;
        let kept = |ops: &[SearchedOp], loops: &Loops| kept_before(ops, loops).into_iter().map(|copied| copied.reads).collect::<Vec<_>>();
        loops.ops = 1..2;
        loops.levels[0].dims = BTreeMap::from([(1, 1)]);
        assert_eq!(kept(&ops, &loops), [vec![Read { op: 1, operand: 0 }]]);
        loops.levels[0].dims = BTreeMap::from([(1, 0)]);
        assert!(kept(&ops, &loops).is_empty(), "rows are cut");
        loops.levels[0].dims = BTreeMap::from([(1, 1)]);
        ops[0].may_be_in_lx = false;
        assert!(kept(&ops, &loops).is_empty(), "it is in HBM");
    }
}
