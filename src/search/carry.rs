//! Selects the users of a reduction that run in its loop, because the loop carries and corrects the running result. No
//! second loop is then needed after it.

use super::SearchedOp;
use crate::tile::{AnalyzedOp, AnalyzedOpKind, AnalyzedOperand, RunningDependence, RunningValueAnalysis};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Returns the ops of a segment that a loop can run on running values that it carries; all other ops need a finished
/// value. `dims` has the dimension that the loop tiles, by position of the op. The second set has the ops whose running
/// value the loop corrects.
pub(super) fn find_carried_ops(
    ops: &[SearchedOp],
    segment: Range<usize>,
    dims: &BTreeMap<usize, usize>,
) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let mut carrying = CarryAnalysis {
        ops,
        segment: segment.clone(),
        dims,
        online: RunningValueAnalysis::default(),
        num_values: segment.len(),
        corrected: BTreeSet::new(),
    };
    let carried = segment.filter(|op| carrying.analyze_op(*op)).collect();
    (carried, carrying.corrected)
}

struct CarryAnalysis<'a> {
    ops: &'a [SearchedOp],
    segment: Range<usize>,
    dims: &'a BTreeMap<usize, usize>,
    online: RunningValueAnalysis,
    /// Number of values: results of the ops first, then other values that they read.
    num_values: usize,
    corrected: BTreeSet<usize>,
}

impl CarryAnalysis<'_> {
    /// Analyzes an op, and returns whether it needs no finished value.
    fn analyze_op(&mut self, op: usize) -> bool {
        let tiled = &self.ops[op].tiled;
        let shape: Vec<i64> = tiled.output.iter().map(|dim| dim.map_or(1, |dim| tiled.sizes[dim])).collect();
        let reads: Vec<AnalyzedOperand> =
            (0..tiled.inputs.len()).map(|input| self.analyze_operand(op, input)).collect();
        let output = op - self.segment.start;
        let reduces_axis = self.dims.get(&op).is_some_and(|dim| self.ops[op].is_reduced(*dim));
        let rule = self.ops[op].rule;
        let made = if reduces_axis { self.add_value() } else { output };
        self.online.analyze_op(&AnalyzedOp { rule, reads, reduces_axis: false, output: made, shape: shape.clone() });
        if reduces_axis {
            let rule = if rule == AnalyzedOpKind::Product { AnalyzedOpKind::Sum } else { rule };
            let read = AnalyzedOperand { value: made, dims: (0..shape.len()).map(Some).collect() };
            if self.online.analyze_op(&AnalyzedOp { rule, reads: vec![read], reduces_axis, output, shape }).is_some() {
                self.corrected.insert(op);
            }
        }
        !matches!(self.online.dependence(output), RunningDependence::Finished)
    }

    fn add_value(&mut self) -> usize {
        self.num_values += 1;
        self.num_values - 1
    }

    /// Returns the value that an op reads as an operand: a tile if the loop tiles it.
    fn analyze_operand(&mut self, op: usize, input: usize) -> AnalyzedOperand {
        let tiled = &self.ops[op].tiled;
        let operand = &tiled.inputs[input];
        let moved = |dim: Option<usize>| dim.and_then(|dim| tiled.output.iter().position(|other| *other == Some(dim)));
        let is_cut = self.dims.get(&op).is_some_and(|dim| operand.dims.contains(&Some(*dim)));
        let made =
            operand.producer.filter(|maker| self.segment.contains(maker)).map(|maker| maker - self.segment.start);
        if let Some(value) =
            made.filter(|value| !is_cut || *self.online.dependence(*value) != RunningDependence::Outside)
        {
            let rank = self.ops[value + self.segment.start].tiled.output.len();
            let after = |dim: usize| operand.source_dims.iter().position(|after| *after == Some(dim));
            let dims = (0..rank).map(|dim| after(dim).and_then(|read| moved(operand.dims[read]))).collect();
            return AnalyzedOperand { value, dims };
        }
        let value = self.add_value();
        let form = if is_cut { RunningDependence::Tile } else { RunningDependence::Outside };
        self.online.record(value, form, &[]);
        AnalyzedOperand { value, dims: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{matmul, pointwise, reduce};

    /// `e = exp(x - max x)`, and the sum of `e` or of another function of it, along the second dimension.
    fn softmax_ops(last: AnalyzedOpKind) -> Vec<SearchedOp> {
        let max = SearchedOp { rule: AnalyzedOpKind::Max, ..reduce(&[256, 512], None) };
        let mut difference = SearchedOp { rule: AnalyzedOpKind::Sub, ..pointwise(&[256, 512], None) };
        let mut row = difference.tiled.inputs[0].clone();
        row.producer = Some(0);
        row.dims = vec![Some(0), None];
        difference.tiled.inputs.push(row);
        let exp = SearchedOp { rule: AnalyzedOpKind::Exp, ..pointwise(&[256, 512], Some(1)) };
        let sum = SearchedOp { rule: last, ..reduce(&[256, 512], Some(2)) };
        vec![max, difference, exp, sum]
    }

    fn find_carried_only(ops: &[SearchedOp], segment: Range<usize>, dims: &BTreeMap<usize, usize>) -> BTreeSet<usize> {
        find_carried_ops(ops, segment, dims).0
    }

    #[test]
    fn carries_sum_of_exponentials_with_the_maximum() {
        let keys = BTreeMap::from([(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(find_carried_only(&softmax_ops(AnalyzedOpKind::Sum), 0..4, &keys), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(
            find_carried_ops(&softmax_ops(AnalyzedOpKind::Sum), 0..4, &keys).1,
            BTreeSet::from([3]),
            "the maximum is right as it is"
        );
        assert_eq!(find_carried_only(&softmax_ops(AnalyzedOpKind::Other), 0..4, &keys), BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn carries_all_ops_when_tiling_rows() {
        let rows = BTreeMap::from([(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(find_carried_only(&softmax_ops(AnalyzedOpKind::Other), 0..4, &rows), BTreeSet::from([0, 1, 2, 3]));
    }

    #[test]
    fn delays_matmul_of_a_matmul() {
        let mut first = matmul([512, 256, 128], None);
        first.rule = AnalyzedOpKind::Product;
        let second = SearchedOp { rule: AnalyzedOpKind::Product, ..matmul([512, 64, 256], Some(0)) };
        // The loop tiles the summed dimensions of both ops.
        assert_eq!(find_carried_only(&[first, second], 0..2, &BTreeMap::from([(0, 2), (1, 2)])), BTreeSet::from([0]));
    }
}
