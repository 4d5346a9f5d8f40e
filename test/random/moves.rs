//! Steps of the generator that move elements.

use crate::random::{
    build::{MAX_RANK, ProgramBuilder, ProgramOp},
    constants::ConstantSpelling,
    lookup::{IndexWrapping, POSITION_MAPS, PositionMap, index_kind},
    number::BinaryFunction,
    scalar::{ScalarExpression, operand},
    steps::LITERALS,
};

/// Number of 16-bit elements in a stick.
const STICK: usize = 64;

impl ProgramBuilder {
    pub(crate) fn add_permutation(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let mut left: Vec<usize> = (0..rank).rev().collect();
        let order: Vec<usize> = (0..rank).map(|_| left.remove(self.choices.below(left.len()))).collect();
        self.permute(value, &order);
    }

    pub(crate) fn add_slice(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let (mut offsets, mut sizes, mut steps) = (vec![], vec![], vec![]);
        for &size in &shape {
            if self.choices.one_in(2) {
                let step = if self.choices.one_in(6) {
                    2 + usize::from(self.is_at_any_offset) * self.choices.below(3)
                } else {
                    1
                };
                let offset = self.choices.below(size);
                // Mostly at the start of a stick.
                let offset =
                    if self.is_at_any_offset || self.choices.one_in(4) { offset } else { offset / STICK * STICK };
                let most = (size - offset).div_ceil(step);
                offsets.push(offset);
                sizes.push(most - self.choices.below(most));
                steps.push(step);
            } else {
                offsets.push(0);
                sizes.push(size);
                steps.push(1);
            }
        }
        let ones = (0..shape.len()).filter(|&dim| sizes[dim] == 1);
        let drops: Vec<usize> = if self.choices.one_in(3) { ones.take(shape.len() - 1).collect() } else { vec![] };
        self.slice(value, &offsets, &sizes, &steps, &drops);
    }

    pub(crate) fn add_concatenation(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let dim = shape.len() - 1 - self.choices.below(shape.len());
        let is_like = |other: &[usize]| {
            other.len() == shape.len() && (0..shape.len()).all(|at| at == dim || other[at] == shape[at])
        };
        let alike: Vec<usize> =
            self.float_values().into_iter().filter(|&other| is_like(&self.values[other].shape)).collect();
        let mut operands = vec![value];
        for _ in 0..1 + self.choices.below(2) {
            if self.choices.one_in(3) {
                let mut classes = self.values[value].classes.clone();
                let mut of_argument = shape.clone();
                of_argument[dim] = *self.choices.pick(&[64, 1, 3, 32]);
                classes[dim] = self.new_class();
                operands.push(self.add_argument(of_argument, classes, self.kind));
            } else {
                operands.push(*self.choices.pick(&alike));
            }
        }
        let total: usize = operands.iter().map(|&operand| self.values[operand].data.len()).sum();
        if total <= self.most_elements {
            self.concat(&operands, dim);
        }
    }

    pub(crate) fn add_padding(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let mut draw = || if self.choices.one_in(2) { self.choices.below(4) } else { 0 };
        let (low, high): (Vec<usize>, Vec<usize>) = shape.iter().map(|_| (draw(), draw())).unzip();
        let literal = *self.choices.pick(&["0.0", "1.0", "-2.0"]);
        let total: usize = (0..shape.len()).map(|dim| low[dim] + shape[dim] + high[dim]).product();
        if total <= self.most_elements {
            self.pad(value, &low, &high, literal);
        }
    }

    pub(crate) fn add_reshape(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let rank = shape.len();
        if rank > 1 && !self.choices.one_in(2) {
            // Merges two adjacent dimensions, or all.
            let first = self.choices.below(rank - 1);
            let last = if self.choices.one_in(4) { rank - 1 } else { first + 1 };
            let mut groups: Vec<Vec<usize>> = (0..first).map(|dim| vec![dim]).collect();
            groups.push((first..=last).collect());
            groups.extend((last + 1..rank).map(|dim| vec![dim]));
            let merged = groups.iter().map(|group| group.iter().map(|&dim| shape[dim]).product()).collect();
            self.reshape(value, merged, &groups, true);
        } else if rank < MAX_RANK {
            let dim = rank - 1 - self.choices.below(rank);
            let divisors: Vec<usize> =
                (1..=shape[dim]).rev().filter(|divisor| shape[dim].is_multiple_of(*divisor)).collect();
            let inner = *self.choices.pick(&divisors);
            let split = [&shape[..dim], &[shape[dim] / inner, inner], &shape[dim + 1..]].concat();
            let groups: Vec<Vec<usize>> = (0..rank)
                .map(|at| match at.cmp(&dim) {
                    std::cmp::Ordering::Less => vec![at],
                    std::cmp::Ordering::Equal => vec![at, at + 1],
                    std::cmp::Ordering::Greater => vec![at + 1],
                })
                .collect();
            self.reshape(value, split, &groups, false);
        }
    }

    /// Repeats a value along a new dimension, or along its dimensions of size 1.
    pub(crate) fn add_broadcast(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let size = *self.choices.pick(&[2, 3, 4, 8, 32, 64, 65]);
        if let Some(one) = shape.iter().position(|size| *size == 1).filter(|_| self.choices.one_in(2)) {
            let mut wide = shape.clone();
            wide[one] = size;
            if wide.iter().product::<usize>() <= self.most_elements {
                self.broadcast(value, &wide, &[]);
            }
        } else if shape.len() < MAX_RANK {
            let at = self.choices.below(shape.len() + 1);
            let wide = [&shape[..at], &[size], &shape[at..]].concat();
            if wide.iter().product::<usize>() <= self.most_elements {
                self.broadcast(value, &wide, &[at]);
            }
        }
    }

    /// Repeats each element along a dimension, or the complete dimension.
    pub(crate) fn add_repeat(&mut self, value: usize) {
        let shape = self.shape(value);
        let size = *self.choices.pick(&[2, 3, 4, 5, 8]);
        if shape.len() == MAX_RANK || shape.iter().product::<usize>() * size > self.most_elements {
            return;
        }
        let dim = self.choices.below(shape.len());
        let at = dim + self.choices.below(2);
        let wide = [&shape[..at], &[size], &shape[at..]].concat();
        let repeated = self.broadcast(value, &wide, &[at]);
        let groups: Vec<Vec<usize>> = (0..shape.len())
            .map(|own| match own.cmp(&dim) {
                std::cmp::Ordering::Less => vec![own],
                std::cmp::Ordering::Equal => vec![own, own + 1],
                std::cmp::Ordering::Greater => vec![own + 1],
            })
            .collect();
        let merged = groups.iter().map(|group| group.iter().map(|&dim| wide[dim]).product()).collect();
        self.reshape(repeated, merged, &groups, true);
    }

    pub(crate) fn add_rows(&mut self, value: usize) {
        let shape = self.shape(value);
        let n_rows = *self.choices.pick(&[4, 1, 3, 33, 64]);
        let of_index = if self.choices.one_in(3) { vec![2, n_rows] } else { vec![n_rows] };
        // A vector is mostly rejected by the compiler, so it is rare here.
        if shape.len() == 1 && !self.choices.one_in(8) {
            return;
        }
        let dim = if self.choices.one_in(5) { self.choices.below(shape.len()) } else { 0 };
        let row: usize = shape.iter().product::<usize>() / shape[dim];
        if shape.len() + of_index.len() > MAX_RANK || of_index.iter().product::<usize>() * row > self.most_elements {
            return;
        }
        let classes = of_index.iter().map(|_| self.new_class()).collect();
        let kind = index_kind(shape[dim], self.choices.one_in(3));
        let indices = self.add_argument(of_index, classes, kind);
        let wrapping = *self.choices.pick(&[IndexWrapping::Plain, IndexWrapping::Asserted, IndexWrapping::Clamped]);
        self.add_gather(value, indices, dim, wrapping);
    }

    pub(crate) fn add_positions(&mut self, value: usize) {
        let dim = self.choices.below(self.values[value].shape.len());
        // Most other orders are rejected: the device reads forwards and with a constant stride.
        let along = if self.choices.one_in(6) {
            *self.choices.pick(&POSITION_MAPS)
        } else {
            *self.choices.pick(&[PositionMap::Odd, PositionMap::Even])
        };
        self.add_position_read(value, dim, along);
    }

    /// Overwrites a slice of a value with a new argument, or with a slice of another value.
    pub(crate) fn add_overwrite(&mut self, value: usize) {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let dim = self.choices.below(shape.len());
        let offset = self.choices.below(shape[dim]);
        let offset = if self.choices.one_in(3) { offset } else { offset / STICK * STICK };
        let mut of_part = shape.clone();
        of_part[dim] = shape[dim] - offset - self.choices.below(shape[dim] - offset);
        let mut offsets = vec![0; shape.len()];
        offsets[dim] = offset;
        let part = if self.choices.one_in(3) {
            let mut of_classes = classes;
            of_classes[dim] = self.new_class();
            self.add_argument(of_part, of_classes, self.kind)
        } else {
            let ones = vec![1; shape.len()];
            self.slice(value, &vec![0; shape.len()], &of_part, &ones, &[])
        };
        let moved =
            self.add_elementwise_step(part, &ScalarExpression::Binary(BinaryFunction::Add, operand(0), operand(0)));
        self.add_insert(moved, value, &offsets);
    }

    /// Adds a constant with the shape of a value, or with some of its dimensions, and an op that reads both.
    pub(crate) fn add_op_with_constant(&mut self, value: usize) {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let spellings = [
            ConstantSpelling::Splat,
            ConstantSpelling::Fill,
            ConstantSpelling::TensorSplat,
            ConstantSpelling::Dense,
            ConstantSpelling::FromElements,
        ];
        let spelling = *self.choices.pick(&spellings);
        let is_written = matches!(spelling, ConstantSpelling::Dense | ConstantSpelling::FromElements);
        let first = if is_written || self.choices.one_in(2) { shape.len() - 1 } else { 0 };
        let literal = *self.choices.pick(&LITERALS);
        let constant = self.add_constant(&shape[first..], &classes[first..], spelling, literal);
        let map = (first..shape.len()).map(Some).collect();
        let function = *self.choices.pick(&[BinaryFunction::Add, BinaryFunction::Mul, BinaryFunction::Max]);
        let reads = [self.identity_read(value), (constant, map)];
        self.add_pointwise(&shape, &reads, &ScalarExpression::Binary(function, operand(0), operand(1)));
    }

    /// Repeats the view of an earlier op, in another spelling.
    pub(crate) fn repeat_view(&mut self, value: usize) {
        let is_view = |op: &&ProgramOp| op.dims.is_empty() && op.operands.len() == 1;
        let views: Vec<(usize, usize)> =
            self.ops.iter().filter(is_view).map(|op| (op.operands[0], op.result)).collect();
        if views.is_empty() {
            return self.add_permutation(value);
        }
        let (from, to) = *self.choices.pick(&views);
        let (before, after) = (self.shape(from), self.shape(to));
        let orders = find_orders(&before, &after);
        if before.iter().product::<usize>() == after.iter().product::<usize>()
            && !orders.is_empty()
            && self.is_permutation(from, to, &orders[0])
        {
            self.permute(from, &orders[0]);
        } else {
            // Repeats the slice or reshape unchanged.
            let op = self.ops.iter().find(|op| op.result == to).cloned();
            if let Some(op) = op {
                let text = op.text.replace(&format!("%v{to} "), &format!("%v{} ", self.next_number()));
                let is_alone = !text.contains(&format!("%e{to} "))
                    && !text.contains(&format!("%s{to} "))
                    && !text.contains(&format!("%c{to} "));
                if is_alone && !text.contains(&format!("%h{to} ")) {
                    let copy = self.values[to].clone();
                    self.push(copy, &op.operands, text);
                }
            }
        }
    }

    fn is_permutation(&self, from: usize, to: usize, order: &[usize]) -> bool {
        let (from, to) = (&self.values[from], &self.values[to]);
        let steps = crate::random::build::compute_strides(&from.shape);
        let mut at = 0;
        let mut is_same = true;
        crate::random::build::for_each_point(&to.shape, |point| {
            let of: usize = point.iter().zip(order).map(|(at, &dim)| at * steps[dim]).sum();
            is_same &= from.data[of] == to.data[at];
            at += 1;
        });
        is_same
    }

    /// Adds a slice of an argument to a value, both read through permuted maps.
    pub(crate) fn add_permuted_sum(&mut self, value: usize) {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let rank = shape.len();
        let order = |builder: &mut Self| {
            let mut left: Vec<usize> = (0..rank).rev().collect();
            (0..rank).map(|_| left.remove(builder.choices.below(left.len()))).collect::<Vec<usize>>()
        };
        let (own, other) = (order(self), order(self));
        // Dimension `own[d]` of the value is iteration dimension `d`.
        let sizes: Vec<usize> = own.iter().map(|&dim| shape[dim]).collect();
        let map_of = |order: &[usize]| -> Vec<Option<usize>> {
            (0..rank).map(|dim| order.iter().position(|&of| of == dim)).collect()
        };
        let of_other = map_of(&other);
        let part: Vec<usize> = of_other.iter().map(|dim| dim.map_or(1, |dim| sizes[dim])).collect();
        let offsets: Vec<usize> = part.iter().map(|_| *self.choices.pick(&[0, 0, STICK, 1])).collect();
        let whole: Vec<usize> = part.iter().zip(&offsets).map(|(size, offset)| size + offset).collect();
        let is_part = offsets.iter().any(|offset| *offset > 0) && whole.iter().product::<usize>() <= self.most_elements;
        let of_classes: Vec<usize> = of_other.iter().map(|dim| dim.map_or(0, |dim| classes[own[dim]])).collect();
        let argument = if is_part {
            let new = part
                .iter()
                .zip(&whole)
                .zip(&of_classes)
                .map(|((part, whole), class)| (part == whole, *class))
                .collect::<Vec<_>>();
            let of_whole =
                new.into_iter().map(|(is_same, class)| if is_same { class } else { self.new_class() }).collect();
            let argument = self.add_argument(whole, of_whole, self.kind);
            self.slice(argument, &offsets, &part, &vec![1; rank], &[])
        } else {
            self.add_argument(part, of_classes, self.kind)
        };
        let reads = [(value, map_of(&own)), (argument, of_other)];
        self.add_pointwise(&sizes, &reads, &ScalarExpression::Binary(BinaryFunction::Add, operand(0), operand(1)));
    }
}

/// Returns at most one permutation of dimensions that maps `from` to `to`: dimensions of equal size keep their order.
fn find_orders(from: &[usize], to: &[usize]) -> Vec<Vec<usize>> {
    if from.len() != to.len() {
        return vec![];
    }
    let mut left: Vec<usize> = (0..from.len()).collect();
    let mut order = Vec::new();
    for size in to {
        let Some(position) = left.iter().position(|&dim| from[dim] == *size) else { return vec![] };
        order.push(left.remove(position));
    }
    vec![order]
}
