//! Contractions of two values, or of a value and an argument.

use crate::random::build::{ElementDistribution, OperandRead, ProgramBuilder};

impl ProgramBuilder {
    pub(crate) fn add_product(&mut self, value: usize) {
        let shape = self.shape(value);
        match shape.len() {
            1 => self.add_row_product(value, shape[0]),
            2..=4 => self.add_matrix_product(value, &shape),
            _ => {}
        }
    }

    /// Adds a matmul with another row, or with a matrix.
    fn add_row_product(&mut self, value: usize, k: usize) {
        if self.choices.one_in(3) {
            let right = self.find_other_operand(&[0], &[k], 0);
            self.add_accumulated_product(&[k], Some((value, vec![Some(0)])), right);
        } else {
            let sizes = [self.draw_any_size(), k];
            let right = self.find_other_operand(&[1, 0], &sizes, 0);
            self.add_accumulated_product(&sizes, Some((value, vec![Some(1)])), right);
        }
    }

    /// Adds a matmul with the value as the left or the right operand. The leading dimensions are a batch, or rows of
    /// the left operand.
    fn add_matrix_product(&mut self, value: usize, shape: &[usize]) {
        let rank = shape.len();
        let is_turned = self.choices.one_in(4);
        let turned = |mut dims: Vec<usize>| {
            if is_turned {
                let last = dims.len() - 1;
                dims.swap(last - 1, last);
            }
            dims
        };
        if self.choices.one_in(3) {
            let num_batch = rank - 2;
            let (m, n, k) = (num_batch, num_batch + 1, num_batch + 2);
            let sizes = [&shape[..num_batch], &[self.draw_any_size(), shape[rank - 1], shape[num_batch]]].concat();
            let left = self.find_other_operand(&turned((0..num_batch).chain([m, k]).collect()), &sizes, num_batch);
            let right = Some((value, (0..num_batch).chain([k, n]).map(Some).collect()));
            return self.add_accumulated_product(&sizes, left, right);
        }
        let num_batch = if self.choices.one_in(2) { rank - 2 } else { 0 };
        let left = |k: usize| Some((value, (0..rank - 1).chain([k]).map(Some).collect()));
        if self.choices.one_in(6) {
            let right =
                self.find_other_operand(&(0..num_batch).chain([rank - 1]).collect::<Vec<_>>(), shape, num_batch);
            return self.add_accumulated_product(shape, left(rank - 1), right);
        }
        let sizes = [&shape[..rank - 1], &[self.draw_any_size(), shape[rank - 1]]].concat();
        let right =
            self.find_other_operand(&turned((0..num_batch).chain([rank, rank - 1]).collect()), &sizes, num_batch);
        self.add_accumulated_product(&sizes, left(rank), right);
    }

    /// Returns an operand with these iteration dimensions, a value or an argument. The first dimension may be missing
    /// or a broadcast. Returns `None` if the operand is too large.
    fn find_other_operand(&mut self, dims: &[usize], sizes: &[usize], num_batch: usize) -> Option<OperandRead> {
        let shape: Vec<usize> = dims.iter().map(|&dim| sizes[dim]).collect();
        let map = |dims: &[usize]| dims.iter().map(|&dim| Some(dim)).collect::<Vec<_>>();
        if shape.iter().product::<usize>() > self.most_elements {
            return None;
        }
        let known: Vec<usize> =
            self.float_values().into_iter().filter(|&other| self.values[other].shape == shape).collect();
        if !known.is_empty() && self.choices.one_in(2) {
            return Some((*self.choices.pick(&known), map(dims)));
        }
        let draw = if self.choices.one_in(2) { ElementDistribution::Offset } else { ElementDistribution::Centred };
        let is_spread = self.choices.one_in(5);
        let is_thin = num_batch > 0 && self.choices.one_in(3);
        let kept: Vec<usize> = (0..dims.len())
            .filter(|&position| !(is_spread || is_thin && position < num_batch) || self.choices.one_in(2))
            .collect();
        let of_argument: Vec<usize> = kept.iter().map(|&position| shape[position]).collect();
        let classes = of_argument.iter().map(|_| self.new_class()).collect();
        let argument = self.add_argument_with(of_argument, classes, self.kind, draw);
        let kept_dims: Vec<usize> = kept.iter().map(|&position| dims[position]).collect();
        if !is_spread || kept.len() == dims.len() {
            return Some((argument, map(&kept_dims)));
        }
        let added: Vec<usize> = (0..dims.len()).filter(|position| !kept.contains(position)).collect();
        Some((self.broadcast(argument, &shape, &added), map(dims)))
    }

    /// Adds the contraction, sometimes accumulated into a value or an argument.
    fn add_accumulated_product(&mut self, sizes: &[usize], left: Option<OperandRead>, right: Option<OperandRead>) {
        let rank = sizes.len() - 1;
        let (Some(left), Some(right)) = (left, right) else { return };
        if !self.fits(sizes, &sizes[..rank]) {
            return;
        }
        let onto = self.choices.one_in(8).then(|| {
            let known: Vec<usize> =
                self.float_values().into_iter().filter(|&other| self.values[other].shape == sizes[..rank]).collect();
            if !known.is_empty() && self.choices.one_in(2) {
                return *self.choices.pick(&known);
            }
            let classes = sizes[..rank].iter().map(|_| self.new_class()).collect();
            self.add_argument_with(sizes[..rank].to_vec(), classes, self.kind, ElementDistribution::Centred)
        });
        self.add_contraction(sizes, left, right, onto);
    }
}
