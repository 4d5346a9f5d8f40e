//! Loop-carried reductions that a loop corrects instead of a second loop after it: selects the users of a reduction
//! that run in its loop.

use super::SearchedOp;
use crate::tile::{Form, Online, Read, Rule, Step};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Returns the ops of a segment that a loop can run on running values that it carries; all other ops need a finished value. `dims` has the
/// dimension that the loop tiles, by position of the op. The second set has the ops whose running value the loop corrects.
pub(super) fn carry(ops: &[SearchedOp], segment: Range<usize>, dims: &BTreeMap<usize, usize>) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let mut carrying =
        Carrying { ops, segment: segment.clone(), dims, online: Online::default(), n_values: segment.len(), corrected: BTreeSet::new() };
    let carried = segment.filter(|op| carrying.read(*op)).collect();
    (carried, carrying.corrected)
}

struct Carrying<'a> {
    ops: &'a [SearchedOp],
    segment: Range<usize>,
    dims: &'a BTreeMap<usize, usize>,
    online: Online,
    /// Number of values: results of the ops first, then other values that they read.
    n_values: usize,
    corrected: BTreeSet<usize>,
}

impl Carrying<'_> {
    /// Analyzes an op, and returns whether it needs no finished value.
    fn read(&mut self, op: usize) -> bool {
        let tiled = &self.ops[op].tiled;
        let shape: Vec<i64> = tiled.output.iter().map(|dim| dim.map_or(1, |dim| tiled.sizes[dim])).collect();
        let reads: Vec<Read> = (0..tiled.inputs.len()).map(|input| self.input(op, input)).collect();
        let output = op - self.segment.start;
        let reduces_axis = self.dims.get(&op).is_some_and(|dim| self.ops[op].reduces(*dim));
        let rule = self.ops[op].rule;
        let made = if reduces_axis { self.new_value() } else { output };
        self.online.step(&Step { rule, reads, reduces_axis: false, output: made, shape: shape.clone() });
        if reduces_axis {
            let rule = if rule == Rule::Product { Rule::Sum } else { rule };
            let read = Read { value: made, dims: (0..shape.len()).map(Some).collect() };
            if self.online.step(&Step { rule, reads: vec![read], reduces_axis, output, shape }).is_some() {
                self.corrected.insert(op);
            }
        }
        !matches!(self.online.form(output), Form::Finished)
    }

    fn new_value(&mut self) -> usize {
        self.n_values += 1;
        self.n_values - 1
    }

    /// Returns the value that an op reads as an operand: a tile if the loop tiles it.
    fn input(&mut self, op: usize, input: usize) -> Read {
        let tiled = &self.ops[op].tiled;
        let operand = &tiled.inputs[input];
        let moved = |dim: Option<usize>| dim.and_then(|dim| tiled.output.iter().position(|other| *other == Some(dim)));
        let is_cut = self.dims.get(&op).is_some_and(|dim| operand.dims.contains(&Some(*dim)));
        let made = operand.maker.filter(|maker| self.segment.contains(maker)).map(|maker| maker - self.segment.start);
        if let Some(value) = made.filter(|value| !is_cut || *self.online.form(*value) != Form::Outside) {
            let rank = self.ops[value + self.segment.start].tiled.output.len();
            let behind = |dim: usize| operand.behind.iter().position(|behind| *behind == Some(dim));
            let dims = (0..rank).map(|dim| behind(dim).and_then(|read| moved(operand.dims[read]))).collect();
            return Read { value, dims };
        }
        let value = self.new_value();
        let form = if is_cut { Form::Tile } else { Form::Outside };
        self.online.note(value, form, &[]);
        Read { value, dims: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{matmul, pointwise, reduce};

    /// `e = exp(x - max x)`, and the sum of `e` or of another function of it, along the second dimension.
    fn softmax(last: Rule) -> Vec<SearchedOp> {
        let max = SearchedOp { rule: Rule::Max, ..reduce(&[256, 512], None) };
        let mut difference = SearchedOp { rule: Rule::Sub, ..pointwise(&[256, 512], None) };
        let mut row = difference.tiled.inputs[0].clone();
        row.maker = Some(0);
        row.dims = vec![Some(0), None];
        difference.tiled.inputs.push(row);
        let exp = SearchedOp { rule: Rule::Exp, ..pointwise(&[256, 512], Some(1)) };
        let sum = SearchedOp { rule: last, ..reduce(&[256, 512], Some(2)) };
        vec![max, difference, exp, sum]
    }

    fn carried(ops: &[SearchedOp], segment: Range<usize>, dims: &BTreeMap<usize, usize>) -> BTreeSet<usize> {
        carry(ops, segment, dims).0
    }

    #[test]
    fn a_sum_of_exponentials_is_carried_with_the_maximum() {
        let keys = BTreeMap::from([(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(carried(&softmax(Rule::Sum), 0..4, &keys), BTreeSet::from([0, 1, 2, 3]));
        assert_eq!(carry(&softmax(Rule::Sum), 0..4, &keys).1, BTreeSet::from([3]), "the maximum is right as it is");
        assert_eq!(carried(&softmax(Rule::Other), 0..4, &keys), BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn rows_carry_nothing() {
        let rows = BTreeMap::from([(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(carried(&softmax(Rule::Other), 0..4, &rows), BTreeSet::from([0, 1, 2, 3]));
    }

    #[test]
    fn a_product_of_a_product_waits() {
        let mut first = matmul([512, 256, 128], None);
        first.rule = Rule::Product;
        let second = SearchedOp { rule: Rule::Product, ..matmul([512, 64, 256], Some(0)) };
        // The loop tiles the summed dimensions of both ops.
        assert_eq!(carried(&[first, second], 0..2, &BTreeMap::from([(0, 2), (1, 2)])), BTreeSet::from([0]));
    }
}
