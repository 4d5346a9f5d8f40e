//! Generates reductions along one dimension that depend on each other, as in attention: some can share a loop that carries and corrects
//! their results, many cannot.

use crate::random::{
    build::{Builder, Draw, Kind},
    compute::Fold,
    number::{Binary, Unary},
    scalar::{Scalar, binary, literal, operand},
};

const LENGTHS: [usize; 6] = [128, 192, 256, 320, 512, 100];
const ROWS: [usize; 8] = [1, 2, 3, 8, 16, 17, 32, 64];
const WIDTHS: [usize; 4] = [64, 32, 128, 7];

impl Builder {
    /// Generates the program.
    pub(crate) fn cascade(&mut self) {
        let mut x = self.scores();
        let dim = self.values[x].shape.len() - 1;
        self.axis = Some((self.values[x].classes[dim], self.values[x].shape[dim]));
        for _ in 0..self.choices.below(3) {
            x = self.changed(x);
        }
        for _ in 0..=self.choices.below(2) {
            x = self.level(x, dim);
        }
        if self.choices.one_in(3) {
            self.unary_step(x);
        }
    }

    /// A value with the axis as the last dimension: an argument, or a product.
    fn scores(&mut self) -> usize {
        let n_batch = self.choices.below(3);
        let mut shape: Vec<usize> = (0..n_batch).map(|_| 1 + self.choices.below(3)).collect();
        shape.push(*self.choices.pick(&ROWS));
        shape.push(*self.choices.pick(&LENGTHS));
        let is_product = self.choices.one_in(2);
        while shape.iter().product::<usize>() > if is_product { 1 << 11 } else { 1 << 13 } {
            shape[n_batch] = shape[n_batch].div_ceil(2);
            let rows = shape[n_batch];
            shape.iter_mut().take(n_batch).filter(|_| rows == 1).for_each(|size| *size = 1);
        }
        if !is_product {
            let classes = shape.iter().map(|_| self.new_class()).collect();
            return self.argument(shape, classes, Kind::Float);
        }
        let (m, n, k) = (n_batch, n_batch + 1, n_batch + 2);
        let sizes = [shape.as_slice(), &[*self.choices.pick(&[64, 32])]].concat();
        let batch: Vec<usize> = (0..n_batch).collect();
        let left = self.centred(&[&shape[..=m], &sizes[k..]].concat());
        let right = self.centred(&[&shape[..n_batch], &sizes[k..], &shape[n..]].concat());
        let of = |last: [usize; 2]| batch.iter().copied().chain(last).map(Some).collect();
        self.contract(&sizes, (left, of([m, k])), (right, of([k, n])), None)
    }

    fn centred(&mut self, shape: &[usize]) -> usize {
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.argument_of(shape.to_vec(), classes, Kind::Float, Draw::Centred)
    }

    /// Returns the result of a random elementwise op on `x`, which preserves the shape.
    fn changed(&mut self, x: usize) -> usize {
        let function = *self.choices.pick(&[Binary::Add, Binary::Mul, Binary::Sub, Binary::Max]);
        match self.choices.below(4) {
            0 => self.elementwise_step(x, &Scalar::Unary(*self.choices.clone().pick(&[Unary::Tanh, Unary::Neg, Unary::Abs]), operand(0))),
            1 => self.elementwise_step(x, &binary(function, operand(0), literal("0.125"))),
            _ => self.elementwise_step(x, &Scalar::Binary(function, operand(0), operand(1))),
        }
    }

    /// Appends a reduction, an op of a value and of the reduced result, and a reduction of that op.
    fn level(&mut self, x: usize, dim: usize) -> usize {
        let fold = *self.choices.pick(&[Fold::Max, Fold::Max, Fold::Max, Fold::Min, Fold::Sum]);
        let mut row = self.reduce(x, fold, &[dim], true);
        match self.choices.below(6) {
            0 => row = self.elementwise_step(row, &binary(Binary::Max, operand(0), literal("0.5"))),
            1 => row = self.elementwise_step(row, &Scalar::Unary(Unary::Neg, operand(0))),
            2 => row = self.elementwise_step(row, &binary(Binary::Add, operand(0), literal("1.0"))),
            _ => {}
        }
        let function = *self.choices.pick(&[Binary::Sub, Binary::Sub, Binary::Sub, Binary::Add, Binary::Mul]);
        let mut both = self.with_reduced(x, row, dim, function);
        if self.choices.one_in(4) {
            both = self.changed(both);
        }
        if !self.choices.one_in(4) {
            both = self.elementwise_step(both, &Scalar::Unary(Unary::Exp, operand(0)));
        }
        if self.choices.one_in(4) {
            both = self.changed(both);
        }
        for _ in 0..self.choices.below(2) {
            self.end(both, dim);
        }
        if self.choices.one_in(3) {
            let sum = self.reduce(both, Fold::Sum, &[dim], true);
            both = self.with_reduced(both, sum, dim, Binary::Div);
        }
        self.end(both, dim);
        both
    }

    /// Removes the axis, by a reduction or as the contracted dimension of a matmul.
    fn end(&mut self, value: usize, dim: usize) {
        if self.choices.one_in(2) {
            let fold = *self.choices.pick(&[Fold::Sum, Fold::Sum, Fold::Max, Fold::Min, Fold::Prod]);
            self.reduce(value, fold, &[dim], true);
            return;
        }
        let shape = self.values[value].shape.clone();
        let sizes = [&shape[..dim], &[*self.choices.pick(&WIDTHS), shape[dim]]].concat();
        let n_batch = dim - 1;
        if !self.fits(&sizes, &sizes[..=dim]) {
            return;
        }
        let right = self.centred(&[&shape[..n_batch], &[shape[dim], sizes[dim]]].concat());
        let of_left = (0..dim).chain([dim + 1]).map(Some).collect();
        let of_right = (0..n_batch).chain([dim + 1, dim]).map(Some).collect();
        self.contract(&sizes, (value, of_left), (right, of_right), None);
    }
}
