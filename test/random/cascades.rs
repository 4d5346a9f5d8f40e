//! Generates reductions along one dimension that depend on each other, as in attention: some can share a loop that
//! carries and corrects their results, many cannot.

use crate::random::{
    build::{ElementDistribution, ElementKind, ProgramBuilder},
    compute::ReductionKind,
    number::{BinaryFunction, UnaryFunction},
    scalar::{ScalarExpression, binary, literal, operand},
};

const LENGTHS: [usize; 6] = [128, 192, 256, 320, 512, 100];
const ROWS: [usize; 8] = [1, 2, 3, 8, 16, 17, 32, 64];
const WIDTHS: [usize; 4] = [64, 32, 128, 7];

impl ProgramBuilder {
    /// Generates the program.
    pub(crate) fn generate_cascade(&mut self) {
        let mut x = self.add_scores();
        let dim = self.values[x].shape.len() - 1;
        self.axis = Some((self.values[x].classes[dim], self.values[x].shape[dim]));
        for _ in 0..self.choices.below(3) {
            x = self.add_elementwise_op(x);
        }
        for _ in 0..=self.choices.below(2) {
            x = self.add_level(x, dim);
        }
        if self.choices.one_in(3) {
            self.add_unary_step(x);
        }
    }

    /// Adds a value with the axis as the last dimension: an argument, or a matmul.
    fn add_scores(&mut self) -> usize {
        let num_batch = self.choices.below(3);
        let mut shape: Vec<usize> = (0..num_batch).map(|_| 1 + self.choices.below(3)).collect();
        shape.push(*self.choices.pick(&ROWS));
        shape.push(*self.choices.pick(&LENGTHS));
        let is_product = self.choices.one_in(2);
        while shape.iter().product::<usize>() > if is_product { 1 << 11 } else { 1 << 13 } {
            shape[num_batch] = shape[num_batch].div_ceil(2);
            let rows = shape[num_batch];
            shape.iter_mut().take(num_batch).filter(|_| rows == 1).for_each(|size| *size = 1);
        }
        if !is_product {
            let classes = shape.iter().map(|_| self.new_class()).collect();
            return self.add_argument(shape, classes, ElementKind::Float);
        }
        let (m, n, k) = (num_batch, num_batch + 1, num_batch + 2);
        let sizes = [shape.as_slice(), &[*self.choices.pick(&[64, 32])]].concat();
        let batch: Vec<usize> = (0..num_batch).collect();
        let left = self.add_centred_argument(&[&shape[..=m], &sizes[k..]].concat());
        let right = self.add_centred_argument(&[&shape[..num_batch], &sizes[k..], &shape[n..]].concat());
        let of = |last: [usize; 2]| batch.iter().copied().chain(last).map(Some).collect();
        self.add_contraction(&sizes, (left, of([m, k])), (right, of([k, n])), None)
    }

    fn add_centred_argument(&mut self, shape: &[usize]) -> usize {
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.add_argument_with(shape.to_vec(), classes, ElementKind::Float, ElementDistribution::Centred)
    }

    /// Returns the result of a random elementwise op on `x`, which preserves the shape.
    fn add_elementwise_op(&mut self, x: usize) -> usize {
        let function =
            *self.choices.pick(&[BinaryFunction::Add, BinaryFunction::Mul, BinaryFunction::Sub, BinaryFunction::Max]);
        match self.choices.below(4) {
            0 => self.add_elementwise_step(
                x,
                &ScalarExpression::Unary(
                    *self.choices.clone().pick(&[UnaryFunction::Tanh, UnaryFunction::Neg, UnaryFunction::Abs]),
                    operand(0),
                ),
            ),
            1 => self.add_elementwise_step(x, &binary(function, operand(0), literal("0.125"))),
            _ => self.add_elementwise_step(x, &ScalarExpression::Binary(function, operand(0), operand(1))),
        }
    }

    /// Appends a reduction, an op of a value and of the reduced result, and a reduction of that op.
    fn add_level(&mut self, x: usize, dim: usize) -> usize {
        let fold = *self.choices.pick(&[
            ReductionKind::Max,
            ReductionKind::Max,
            ReductionKind::Max,
            ReductionKind::Min,
            ReductionKind::Sum,
        ]);
        let mut row = self.add_reduction(x, fold, &[dim], true);
        match self.choices.below(6) {
            0 => row = self.add_elementwise_step(row, &binary(BinaryFunction::Max, operand(0), literal("0.5"))),
            1 => row = self.add_elementwise_step(row, &ScalarExpression::Unary(UnaryFunction::Neg, operand(0))),
            2 => row = self.add_elementwise_step(row, &binary(BinaryFunction::Add, operand(0), literal("1.0"))),
            _ => {}
        }
        let function = *self.choices.pick(&[
            BinaryFunction::Sub,
            BinaryFunction::Sub,
            BinaryFunction::Sub,
            BinaryFunction::Add,
            BinaryFunction::Mul,
        ]);
        let mut both = self.combine_with_reduced(x, row, dim, function);
        if self.choices.one_in(4) {
            both = self.add_elementwise_op(both);
        }
        if !self.choices.one_in(4) {
            both = self.add_elementwise_step(both, &ScalarExpression::Unary(UnaryFunction::Exp, operand(0)));
        }
        if self.choices.one_in(4) {
            both = self.add_elementwise_op(both);
        }
        for _ in 0..self.choices.below(2) {
            self.remove_axis(both, dim);
        }
        if self.choices.one_in(3) {
            let sum = self.add_reduction(both, ReductionKind::Sum, &[dim], true);
            both = self.combine_with_reduced(both, sum, dim, BinaryFunction::Div);
        }
        self.remove_axis(both, dim);
        both
    }

    /// Removes the axis, by a reduction or as the contracted dimension of a matmul.
    fn remove_axis(&mut self, value: usize, dim: usize) {
        if self.choices.one_in(2) {
            let fold = *self.choices.pick(&[
                ReductionKind::Sum,
                ReductionKind::Sum,
                ReductionKind::Max,
                ReductionKind::Min,
                ReductionKind::Prod,
            ]);
            self.add_reduction(value, fold, &[dim], true);
            return;
        }
        let shape = self.values[value].shape.clone();
        let sizes = [&shape[..dim], &[*self.choices.pick(&WIDTHS), shape[dim]]].concat();
        let num_batch = dim - 1;
        if !self.fits(&sizes, &sizes[..=dim]) {
            return;
        }
        let right = self.add_centred_argument(&[&shape[..num_batch], &[shape[dim], sizes[dim]]].concat());
        let of_left = (0..dim).chain([dim + 1]).map(Some).collect();
        let of_right = (0..num_batch).chain([dim + 1, dim]).map(Some).collect();
        self.add_contraction(&sizes, (value, of_left), (right, of_right), None);
    }
}
