//! Which ops a random program has.

use crate::{
    build::{Builder, Draw, Kind, MOST_ELEMENTS, MOST_RANK, Read},
    choices::Choices,
    compute::{Fold, Scalar},
    number::{Binary, Compare, Unary},
};

/// What a family of programs is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Everything that the front door takes.
    Any,
    /// Chains of views, and one op that reads them.
    Views,
    /// Ops that hints tile: elementwise, reductions, products, views.
    Tiled,
}

const SIZES: [usize; 26] = [64, 2, 1, 3, 4, 5, 7, 8, 16, 31, 32, 33, 48, 63, 65, 96, 100, 127, 128, 129, 150, 192, 200, 255, 256, 300];
const TILED_SIZES: [usize; 10] = [64, 2, 4, 6, 8, 16, 32, 128, 192, 256];
const ELEMENTS: [&str; 8] = ["f16", "f16", "f16", "f16", "f16", "f32", "f32", "bf16"];
const LITERALS: [&str; 8] = ["1.0", "2.0", "0.5", "-1.0", "0.125", "3.0", "0.1", "1.0e-03"];
const UNARIES: [Unary; 14] = [
    Unary::Neg,
    Unary::Exp,
    Unary::Abs,
    Unary::Tanh,
    Unary::Exp,
    Unary::Sqrt,
    Unary::Rsqrt,
    Unary::Log,
    Unary::Floor,
    Unary::Ceil,
    Unary::Erf,
    Unary::Exp2,
    Unary::Log1p,
    Unary::Abs,
];
const BINARIES: [Binary; 8] = [Binary::Add, Binary::Mul, Binary::Sub, Binary::Max, Binary::Min, Binary::Div, Binary::Add, Binary::Sub];
const COMPARISONS: [Compare; 5] = [Compare::Less, Compare::Greater, Compare::LessEqual, Compare::GreaterEqual, Compare::Equal];
const FOLDS: [Fold; 7] = [Fold::Sum, Fold::Max, Fold::Sum, Fold::Max, Fold::Min, Fold::Sum, Fold::Prod];

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Unary,
    Binary,
    Fused,
    Choose,
    Reduce,
    Product,
    Softmax,
    Normalise,
    Permute,
    Slice,
    Concat,
    Pad,
    Reshape,
    Broadcast,
    Gather,
}

const ANY: [Step; 20] = [
    Step::Unary,
    Step::Binary,
    Step::Reduce,
    Step::Binary,
    Step::Fused,
    Step::Product,
    Step::Broadcast,
    Step::Permute,
    Step::Slice,
    Step::Reshape,
    Step::Binary,
    Step::Choose,
    Step::Concat,
    Step::Pad,
    Step::Gather,
    Step::Softmax,
    Step::Normalise,
    Step::Reduce,
    Step::Product,
    Step::Broadcast,
];
const VIEWS: [Step; 8] =
    [Step::Permute, Step::Slice, Step::Reshape, Step::Broadcast, Step::Permute, Step::Reshape, Step::Slice, Step::Binary];
const TILED: [Step; 12] = [
    Step::Unary,
    Step::Binary,
    Step::Reduce,
    Step::Product,
    Step::Binary,
    Step::Reduce,
    Step::Fused,
    Step::Softmax,
    Step::Permute,
    Step::Normalise,
    Step::Reshape,
    Step::Binary,
];

/// Grows a program; gives the values that it returns.
pub(crate) fn grow(family: Family, choices: Choices) -> (Builder, Vec<usize>) {
    let mut choices = choices;
    let element = *choices.pick(&ELEMENTS);
    let mut builder = Builder::new(element, choices);
    builder.first_argument(family);
    let most_steps = match family {
        Family::Any => 12,
        Family::Views => 6,
        Family::Tiled => 9,
    };
    for _ in 0..most_steps {
        let step = *builder.choices.pick(match family {
            Family::Any => &ANY[..],
            Family::Views => &VIEWS[..],
            Family::Tiled => &TILED[..],
        });
        builder.step(step);
        if builder.choices.one_in(most_steps) {
            break;
        }
    }
    if builder.ops.is_empty() {
        builder.elementwise_step(0, &Scalar::Unary(Unary::Neg, Box::new(Scalar::Operand(0))));
    }
    let results = builder.results();
    (builder, results)
}

fn operand(position: usize) -> Box<Scalar> {
    Box::new(Scalar::Operand(position))
}

impl Builder {
    fn first_argument(&mut self, family: Family) {
        let sizes = if family == Family::Tiled { &TILED_SIZES[..] } else { &SIZES[..] };
        let rank = [2, 2, 1, 3, 3, 4, 2, 3][self.choices.below(8)];
        let mut shape: Vec<usize> = (0..rank).map(|_| *self.choices.pick(sizes)).collect();
        while shape.iter().product::<usize>() > MOST_ELEMENTS {
            let largest = (0..rank).max_by_key(|&dim| shape[dim]).unwrap_or(0);
            shape[largest] /= 2;
        }
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.argument(shape, classes, Kind::Float);
    }

    /// A float value, the last ones more often.
    fn some(&mut self) -> usize {
        let floats = self.floats();
        let back = match self.choices.below(4) {
            0 | 1 => 0,
            2 => self.choices.below(3),
            _ => self.choices.below(floats.len()),
        };
        floats[floats.len() - 1 - back.min(floats.len() - 1)]
    }

    fn step(&mut self, step: Step) {
        let value = self.some();
        match step {
            Step::Unary => {
                let function = *self.choices.pick(&UNARIES);
                self.elementwise_step(value, &Scalar::Unary(function, operand(0)));
            }
            Step::Binary => {
                let function = *self.choices.pick(&BINARIES);
                self.elementwise_step(value, &Scalar::Binary(function, operand(0), operand(1)));
            }
            Step::Fused => self.fused(value),
            Step::Choose => self.choose(value),
            Step::Reduce => self.reduction(value),
            Step::Product => self.product(value),
            Step::Softmax => self.softmax(value),
            Step::Normalise => self.normalise(value),
            Step::Permute => self.permutation(value),
            Step::Slice => self.part(value),
            Step::Concat => self.side_by_side(value),
            Step::Pad => self.border(value),
            Step::Reshape => self.regroup(value),
            Step::Broadcast => self.stretch(value),
            Step::Gather => self.rows(value),
        }
    }

    /// A constant, or operand `position`.
    fn leaf(&mut self, position: usize) -> Box<Scalar> {
        if self.choices.one_in(4) { Box::new(Scalar::Constant(self.choices.pick::<&'static str>(&LITERALS))) } else { operand(position) }
    }

    /// An op whose iteration space is a value's; a second operand, where the body has one, is found or made.
    fn elementwise_step(&mut self, value: usize, body: &Scalar) {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let mut reads = vec![(value, identity)];
        let mut body = body.clone();
        if let Scalar::Binary(function, left, _) = &body {
            match self.choices.below(6) {
                5 => {
                    body = Scalar::Binary(*function, left.clone(), Box::new(Scalar::Constant(self.choices.pick::<&'static str>(&LITERALS))))
                }
                _ => reads.push(self.partner(value)),
            }
        }
        self.pointwise(&sizes, &reads, &body);
    }

    /// A read of another value, or a new argument, in the iteration space of a value.
    fn partner(&mut self, value: usize) -> Read {
        let (shape, classes) = (self.values[value].shape.clone(), self.values[value].classes.clone());
        let mut near: Vec<Read> = Vec::new();
        for other in self.floats() {
            if let Some(map) = aligned(&self.values[other].shape, &shape) {
                near.push((other, map));
            }
        }
        let choice = self.choices.below(near.len() + 2);
        if choice < near.len() {
            return near.swap_remove(near.len() - 1 - choice);
        }
        let mut map: Vec<Option<usize>> = (0..shape.len()).map(Some).collect();
        match self.choices.below(4) {
            1 => map.retain(|_| !self.choices.one_in(2)),
            2 => map.iter_mut().for_each(|dim| *dim = dim.filter(|_| !self.choices.one_in(2))),
            3 => map.reverse(),
            _ => {}
        }
        if map.is_empty() {
            map.push(None);
        }
        let of_argument: Vec<usize> = map.iter().map(|dim| dim.map_or(1, |dim| shape[dim])).collect();
        let of_classes = map.iter().map(|dim| dim.map_or_else(|| self.new_class(), |dim| classes[dim])).collect();
        (self.argument(of_argument, of_classes, Kind::Float), map)
    }

    /// A body of several functions.
    fn fused(&mut self, value: usize) {
        let (x, y) = (operand(0), operand(1));
        let unary = |function, of: Box<Scalar>| Box::new(Scalar::Unary(function, of));
        let binary = |function, left: Box<Scalar>, right: Box<Scalar>| Box::new(Scalar::Binary(function, left, right));
        let one = || Box::new(Scalar::Constant("1.0"));
        let sigmoid = |of: Box<Scalar>| binary(Binary::Div, one(), binary(Binary::Add, one(), unary(Unary::Exp, unary(Unary::Neg, of))));
        let body = match self.choices.below(6) {
            0 => {
                let function = *self.choices.pick(&BINARIES);
                let inner = *self.choices.pick(&UNARIES);
                let right = self.leaf(1);
                binary(function, unary(inner, x), right)
            }
            1 => binary(Binary::Add, binary(Binary::Mul, x, y.clone()), y),
            2 => sigmoid(x),
            3 => binary(Binary::Mul, x.clone(), sigmoid(x)),
            4 => binary(Binary::Max, x, Box::new(Scalar::Constant("0.0"))),
            _ => binary(Binary::Min, binary(Binary::Max, x, Box::new(Scalar::Constant("-1.0"))), Box::new(Scalar::Constant("2.0"))),
        };
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let mut reads = vec![(value, identity)];
        if body.reads(1) {
            reads.push(self.partner(value));
        }
        self.pointwise(&sizes, &reads, &body);
    }

    fn choose(&mut self, value: usize) {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let mut reads = vec![(value, identity.clone()), self.partner(value)];
        let body = if self.choices.one_in(3) {
            let classes = self.values[value].classes.clone();
            reads.push((self.argument(sizes.clone(), classes, Kind::Truth), identity));
            Scalar::Masked(2, [operand(0), operand(1)])
        } else {
            let comparison = *self.choices.pick(&COMPARISONS);
            let (left, right) = (operand(0), self.leaf(1));
            Scalar::Choose(comparison, [left, right, self.leaf(1), operand(0)])
        };
        if !body.reads(1) {
            reads.remove(1);
        }
        self.pointwise(&sizes, &reads, &body);
    }

    fn reduction(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let fold = *self.choices.pick(&FOLDS);
        let mut dims = vec![rank - 1 - self.choices.below(rank)];
        if rank > 1 && self.choices.one_in(5) {
            let other = self.choices.below(rank);
            if other != dims[0] {
                dims.push(other);
                dims.sort_unstable();
            }
        }
        let keeps = self.choices.one_in(3) || dims.len() == rank;
        let length: usize = dims.iter().map(|&dim| self.values[value].shape[dim]).product();
        let reduced = self.reduce(value, fold, &dims, keeps);
        if fold == Fold::Sum && self.choices.one_in(3) {
            self.divide(reduced, length);
        }
    }

    /// What makes a mean of a sum.
    fn divide(&mut self, sum: usize, length: usize) -> usize {
        let sizes = self.values[sum].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        // Literals live as long as the test; there are few lengths.
        let literal: &'static str = Box::leak(format!("{length}.0").into_boxed_str());
        self.pointwise(&sizes, &[(sum, identity)], &Scalar::Binary(Binary::Div, operand(0), Box::new(Scalar::Constant(literal))))
    }

    fn softmax(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let dim = rank - 1 - if self.choices.one_in(4) { self.choices.below(rank) } else { 0 };
        let highest = self.reduce(value, Fold::Max, &[dim], true);
        let shifted = self.with_reduced(value, highest, dim, Binary::Sub);
        let sizes = self.values[shifted].shape.clone();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let grown = self.pointwise(&sizes, &[(shifted, identity)], &Scalar::Unary(Unary::Exp, operand(0)));
        let sum = self.reduce(grown, Fold::Sum, &[dim], true);
        self.with_reduced(grown, sum, dim, Binary::Div);
    }

    fn with_reduced(&mut self, value: usize, reduced: usize, dim: usize, function: Binary) -> usize {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let map = identity.iter().enumerate().map(|(at, own)| own.filter(|_| at != dim)).collect();
        self.pointwise(&sizes, &[(value, identity), (reduced, map)], &Scalar::Binary(function, operand(0), operand(1)))
    }

    /// Layer norm, or RMS norm, over the last dimension.
    fn normalise(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let (dim, length) = (rank - 1, self.values[value].shape[rank - 1]);
        let centred = if self.choices.one_in(2) {
            let sum = self.reduce(value, Fold::Sum, &[dim], true);
            let mean = self.divide(sum, length);
            self.with_reduced(value, mean, dim, Binary::Sub)
        } else {
            value
        };
        let sizes = self.values[centred].shape.clone();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let square = Scalar::Binary(Binary::Mul, operand(0), operand(0));
        let squares = self.pointwise(&sizes, &[(centred, identity.clone())], &square);
        let sum = self.reduce(squares, Fold::Sum, &[dim], true);
        let variance = self.divide(sum, length);
        let small = Scalar::Binary(Binary::Add, operand(0), Box::new(Scalar::Constant("1.0e-03")));
        let of_rows = self.values[variance].shape.clone();
        let shifted = self.pointwise(&of_rows, &[(variance, identity.clone())], &small);
        let scale = self.pointwise(&of_rows, &[(shifted, identity)], &Scalar::Unary(Unary::Rsqrt, operand(0)));
        self.with_reduced(centred, scale, dim, Binary::Mul);
    }

    fn product(&mut self, value: usize) {
        let (shape, classes) = (self.values[value].shape.clone(), self.values[value].classes.clone());
        let rank = shape.len();
        if !(2..=4).contains(&rank) {
            return;
        }
        let n_batch = if self.choices.one_in(2) { rank - 2 } else { 0 };
        let k = shape[rank - 1];
        // The right operand: the batch, K, and columns; in one case in four with K last.
        let fits = |builder: &Self, other: usize| {
            let of = &builder.values[other].shape;
            of.len() == n_batch + 2 && of[..n_batch] == shape[..n_batch] && of[n_batch] == k
        };
        let known: Vec<usize> = self.floats().into_iter().filter(|&other| fits(self, other)).collect();
        let is_turned = self.choices.one_in(4);
        let right = if !known.is_empty() && self.choices.one_in(2) {
            *self.choices.pick(&known)
        } else {
            let columns = *self.choices.pick(&SIZES);
            let mut of_right = [&shape[..n_batch], &[k, columns]].concat();
            let column_class = self.new_class();
            let mut of_classes = [&classes[..n_batch], &[classes[rank - 1], column_class]].concat();
            if is_turned {
                of_right.swap(n_batch, n_batch + 1);
                of_classes.swap(n_batch, n_batch + 1);
            }
            if of_right.iter().product::<usize>() > MOST_ELEMENTS {
                return;
            }
            let draw = if self.choices.one_in(2) { Draw::Offset } else { Draw::Centred };
            self.argument_of(of_right, of_classes, Kind::Float, draw)
        };
        let of_right = self.values[right].shape.clone();
        let is_turned = of_right[n_batch] != k || is_turned && of_right[n_batch + 1] == k;
        let columns = if is_turned { of_right[n_batch] } else { of_right[n_batch + 1] };
        let sizes = [&shape[..rank - 1], &[columns, k]].concat();
        if !self.fits(&sizes, &sizes[..rank]) {
            return;
        }
        let left: Vec<Option<usize>> = (0..rank - 1).map(Some).chain([Some(rank)]).collect();
        let pair = if is_turned { [Some(rank - 1), Some(rank)] } else { [Some(rank), Some(rank - 1)] };
        let map: Vec<Option<usize>> = (0..n_batch).map(Some).chain(pair).collect();
        self.contract(&sizes, (value, left), (right, map));
    }

    fn permutation(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let mut left: Vec<usize> = (0..rank).rev().collect();
        let order: Vec<usize> = (0..rank).map(|_| left.remove(self.choices.below(left.len()))).collect();
        self.permute(value, &order);
    }

    fn part(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let (mut offsets, mut sizes, mut steps) = (vec![], vec![], vec![]);
        for &size in &shape {
            if self.choices.one_in(2) {
                let step = if self.choices.one_in(6) { 2 } else { 1 };
                let offset = self.choices.below(size);
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

    fn side_by_side(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let dim = shape.len() - 1 - self.choices.below(shape.len());
        let is_like = |other: &[usize]| other.len() == shape.len() && (0..shape.len()).all(|at| at == dim || other[at] == shape[at]);
        let alike: Vec<usize> = self.floats().into_iter().filter(|&other| is_like(&self.values[other].shape)).collect();
        let mut operands = vec![value];
        for _ in 0..1 + self.choices.below(2) {
            if self.choices.one_in(3) {
                let mut classes = self.values[value].classes.clone();
                let mut of_argument = shape.clone();
                of_argument[dim] = *self.choices.pick(&[64, 1, 3, 32]);
                classes[dim] = self.new_class();
                operands.push(self.argument(of_argument, classes, Kind::Float));
            } else {
                operands.push(*self.choices.pick(&alike));
            }
        }
        let total: usize = operands.iter().map(|&operand| self.values[operand].data.len()).sum();
        if total <= MOST_ELEMENTS {
            self.concat(&operands, dim);
        }
    }

    fn border(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let mut draw = || if self.choices.one_in(2) { self.choices.below(4) } else { 0 };
        let (low, high): (Vec<usize>, Vec<usize>) = shape.iter().map(|_| (draw(), draw())).unzip();
        let literal = *self.choices.pick(&["0.0", "1.0", "-2.0"]);
        let total: usize = (0..shape.len()).map(|dim| low[dim] + shape[dim] + high[dim]).product();
        if total <= MOST_ELEMENTS {
            self.pad(value, &low, &high, literal);
        }
    }

    fn regroup(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let rank = shape.len();
        if rank > 1 && !self.choices.one_in(2) {
            // Two neighbours, or all, become one.
            let first = self.choices.below(rank - 1);
            let last = if self.choices.one_in(4) { rank - 1 } else { first + 1 };
            let mut groups: Vec<Vec<usize>> = (0..first).map(|dim| vec![dim]).collect();
            groups.push((first..=last).collect());
            groups.extend((last + 1..rank).map(|dim| vec![dim]));
            let merged = groups.iter().map(|group| group.iter().map(|&dim| shape[dim]).product()).collect();
            self.reshape(value, merged, &groups, true);
        } else if rank < MOST_RANK {
            let dim = rank - 1 - self.choices.below(rank);
            let divisors: Vec<usize> = (1..=shape[dim]).rev().filter(|divisor| shape[dim].is_multiple_of(*divisor)).collect();
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
    fn stretch(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let size = *self.choices.pick(&[2, 3, 4, 8, 32, 64, 65]);
        if let Some(one) = shape.iter().position(|size| *size == 1).filter(|_| self.choices.one_in(2)) {
            let mut wide = shape.clone();
            wide[one] = size;
            if wide.iter().product::<usize>() <= MOST_ELEMENTS {
                self.broadcast(value, &wide, &[]);
            }
        } else if shape.len() < MOST_RANK {
            let at = self.choices.below(shape.len() + 1);
            let wide = [&shape[..at], &[size], &shape[at..]].concat();
            if wide.iter().product::<usize>() <= MOST_ELEMENTS {
                self.broadcast(value, &wide, &[at]);
            }
        }
    }

    fn rows(&mut self, value: usize) {
        let shape = self.values[value].shape.clone();
        let n_rows = *self.choices.pick(&[4, 1, 3, 33, 64]);
        let of_index = if self.choices.one_in(3) { vec![2, n_rows] } else { vec![n_rows] };
        let row: usize = shape[1..].iter().product();
        if shape.len() + of_index.len() > MOST_RANK + 1 || of_index.iter().product::<usize>() * row > MOST_ELEMENTS {
            return;
        }
        let classes = of_index.iter().map(|_| self.new_class()).collect();
        let indices = self.argument(of_index, classes, Kind::Index(shape[0]));
        self.gather(value, indices);
    }

    /// What nobody reads, at times another value, and at times a value twice.
    fn results(&mut self) -> Vec<usize> {
        let is_read = |value: usize| self.ops.iter().any(|op| op.operands.contains(&value));
        let made = self.ops.iter().map(|op| op.result);
        let mut results: Vec<usize> = made.filter(|&value| !is_read(value) && self.values[value].kind == Kind::Float).collect();
        if self.choices.one_in(5) {
            let floats = self.floats();
            results.push(*self.choices.pick(&floats));
        }
        if self.choices.one_in(12) {
            results.push(results[0]);
        }
        results
    }
}

impl Scalar {
    /// Whether an operand is read.
    pub(crate) fn reads(&self, operand: usize) -> bool {
        match self {
            Self::Operand(own) => *own == operand,
            Self::Constant(_) => false,
            Self::Unary(_, of) => of.reads(operand),
            Self::Binary(_, left, right) => left.reads(operand) || right.reads(operand),
            Self::Choose(_, parts) => parts.iter().any(|part| part.reads(operand)),
            Self::Masked(mask, parts) => *mask == operand || parts.iter().any(|part| part.reads(operand)),
        }
    }
}

/// How a shape lies in another one's dimensions, in order; sizes of 1 are read at 0.
fn aligned(shape: &[usize], within: &[usize]) -> Option<Vec<Option<usize>>> {
    let mut map = Vec::new();
    let mut next = within.len();
    for &size in shape.iter().rev() {
        let found = (0..next).rev().find(|&dim| within[dim] == size);
        match found {
            Some(dim) => {
                map.push(Some(dim));
                next = dim;
            }
            None if size == 1 => map.push(None),
            None => return None,
        }
    }
    map.reverse();
    Some(map)
}
