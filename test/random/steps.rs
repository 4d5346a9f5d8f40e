//! Generates compute steps: elementwise functions, reductions, and combinations of both.

use crate::random::{
    build::{Builder, Kind, Read},
    compute::Fold,
    number::{Binary, Compare, Unary},
    scalar::{Choice, Logic, Power, Scalar, Truth, WHOLE, binary, literal, operand, unary},
};

pub(crate) const LITERALS: [&str; 8] = ["1.0", "2.0", "0.5", "-1.0", "0.125", "3.0", "0.1", "1.0e-03"];
const UNARIES: [Unary; 16] = [
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
    Unary::Expm1,
    Unary::Log2,
];
const BINARIES: [Binary; 10] = [
    Binary::Add,
    Binary::Mul,
    Binary::Sub,
    Binary::Max,
    Binary::Min,
    Binary::Div,
    Binary::Add,
    Binary::Sub,
    Binary::MaxNum,
    Binary::MinNum,
];
const COMPARISONS: [Compare; 14] = [
    Compare::Less,
    Compare::Greater,
    Compare::LessEqual,
    Compare::GreaterEqual,
    Compare::Equal,
    Compare::NotEqual,
    Compare::UnorderedOrEqual,
    Compare::OrderedAndNotEqual,
    Compare::NotGreaterEqual,
    Compare::NotGreater,
    Compare::NotLessEqual,
    Compare::NotLess,
    Compare::Unordered,
    Compare::Ordered,
];
const FOLDS: [Fold; 7] = [Fold::Sum, Fold::Max, Fold::Sum, Fold::Max, Fold::Min, Fold::Sum, Fold::Prod];
const LOGICS: [Logic; 3] = [Logic::And, Logic::Or, Logic::Xor];
const POWERS: [Power; 8] = [
    Power::Of("2.0"),
    Power::Of("3.0"),
    Power::Of("0.5"),
    Power::Of("-0.5"),
    Power::Of("-1.0"),
    Power::Whole(2),
    Power::Whole(3),
    Power::Whole(-2),
];
const PREDICATES: [&str; 10] = ["sge", "sle", "slt", "sgt", "eq", "ne", "ult", "ule", "ugt", "uge"];
/// Functions that the compiler can fold on constants.
const KNOWN: [Option<&str>; 8] =
    [None, None, Some("math.sin"), Some("math.cos"), Some("math.round"), Some("math.roundeven"), Some("math.trunc"), Some("arith.remf")];

impl Builder {
    pub(crate) fn unary_step(&mut self, value: usize) {
        let function = *self.choices.pick(&UNARIES);
        self.elementwise_step(value, &Scalar::Unary(function, operand(0)));
    }

    pub(crate) fn binary_step(&mut self, value: usize) {
        let function = *self.choices.pick(&BINARIES);
        self.elementwise_step(value, &Scalar::Binary(function, operand(0), operand(1)));
    }

    /// A constant, or operand `position`.
    fn leaf(&mut self, position: usize) -> Box<Scalar> {
        if self.choices.one_in(4) { literal(self.choices.pick::<&'static str>(&LITERALS)) } else { operand(position) }
    }

    /// An op with the iteration space of a value; a second operand, if the body has one, is selected or created.
    pub(crate) fn elementwise_step(&mut self, value: usize, body: &Scalar) -> usize {
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
        self.pointwise(&sizes, &reads, &body)
    }

    /// A read of another value, or a new argument, in the iteration space of a value.
    pub(crate) fn partner(&mut self, value: usize) -> Read {
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
        (self.argument(of_argument, of_classes, self.kind), map)
    }

    /// The op of a body over the dimensions of a value, with a second operand if it reads one.
    fn body(&mut self, value: usize, body: &Scalar) -> usize {
        let sizes = self.shape(value);
        let mut reads = vec![self.whole(value)];
        if body.reads(1) {
            reads.push(self.partner(value));
        }
        self.pointwise(&sizes, &reads, body)
    }

    /// A body of several functions.
    pub(crate) fn fused(&mut self, value: usize) {
        let (x, y) = (operand(0), operand(1));
        let one = || literal("1.0");
        let sigmoid = |of: Box<Scalar>| binary(Binary::Div, one(), binary(Binary::Add, one(), unary(Unary::Exp, unary(Unary::Neg, of))));
        let body = match self.choices.below(16) {
            0 => {
                let function = *self.choices.pick(&BINARIES);
                let inner = *self.choices.pick(&UNARIES);
                let right = self.leaf(1);
                binary(function, unary(inner, x), right)
            }
            1 => binary(Binary::Add, binary(Binary::Mul, x, y.clone()), y),
            2 => sigmoid(x),
            3 => binary(Binary::Mul, x.clone(), sigmoid(x)),
            4 => binary(Binary::Max, x, literal("0.0")),
            5 => binary(Binary::Min, binary(Binary::Max, x, literal("-1.0")), literal("2.0")),
            6 => Box::new(Scalar::Fma([x, y, literal("0.5")])),
            7 => Box::new(Scalar::Clamp([x, literal("-1.0"), literal("2.0")])),
            8 => Box::new(Scalar::Power(x, *self.choices.pick(&POWERS))),
            9 => binary(Binary::Sub, literal("0.0"), x),
            10 => binary(Binary::Div, literal("1.0"), x),
            11 => binary(Binary::Mul, x.clone(), x),
            12 => gelu(x),
            13 => gelu_by_tanh(x),
            14 => softplus(x),
            _ => {
                let position = Scalar::Position(self.choices.below(self.values[value].shape.len()), *self.choices.pick(&KNOWN));
                binary(Binary::Add, x, Box::new(position))
            }
        };
        self.body(value, &body);
    }

    pub(crate) fn choose(&mut self, value: usize) {
        let sizes = self.shape(value);
        let rank = sizes.len();
        let mut reads = vec![self.whole(value), self.partner(value)];
        let choice = if self.choices.one_in(3) { Choice::If } else { Choice::Select };
        let mut branches = [operand(0), self.leaf(1)];
        let truth = match self.choices.below(4) {
            0 => {
                let comparison = *self.choices.pick(&COMPARISONS);
                let (left, right) = (operand(0), self.leaf(1));
                branches = [self.leaf(1), operand(0)];
                Truth::Compare(comparison, [left, right])
            }
            1 => {
                reads.push(self.mask(value));
                Truth::Mask(2)
            }
            2 => {
                reads.push(self.mask(value));
                let comparison = *self.choices.pick(&COMPARISONS);
                let compared = Truth::Compare(comparison, [operand(0), self.leaf(1)]);
                Truth::Both(*self.choices.pick(&LOGICS), Box::new(compared), Box::new(Truth::Mask(2)))
            }
            _ => {
                let dims = [self.choices.below(rank), self.choices.below(rank)];
                let (predicate, whole): (&str, _) = (self.choices.pick::<&'static str>(&PREDICATES), *self.choices.pick(&WHOLE));
                Truth::Positions(predicate, dims, whole)
            }
        };
        let body = Scalar::Choose(truth, branches, choice);
        // Operands that the body does not read are none of the op's; the mask is the last one.
        if !body.reads(1) {
            if reads.len() > 2 {
                reads[1] = self.whole(value);
            } else {
                reads.truncate(1);
            }
        }
        self.pointwise(&sizes, &reads, &body);
    }

    /// Truth values of a value's shape: some that are there, or an argument.
    fn mask(&mut self, value: usize) -> Read {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let fits = |&other: &usize| self.values[other].kind == Kind::Truth && self.values[other].shape == shape;
        let known: Vec<usize> = (0..self.values.len()).filter(fits).collect();
        let mask = if !known.is_empty() && !self.choices.one_in(3) {
            *self.choices.pick(&known)
        } else {
            self.argument(shape, classes, Kind::Truth)
        };
        self.whole(mask)
    }

    /// Tensors of booleans, and their users.
    pub(crate) fn truth(&mut self, value: usize) {
        let sizes = self.shape(value);
        let mut reads = vec![self.whole(value)];
        let comparison = *self.choices.pick(&COMPARISONS);
        let right = self.leaf(1);
        if right.reads(1) {
            reads.push(self.partner(value));
        }
        let mut truths = self.truths(&sizes, &reads, &Truth::Compare(comparison, [operand(0), right]));
        if self.choices.one_in(2) {
            let (mask, _) = self.mask(value);
            let logic = *self.choices.pick(&LOGICS);
            truths = self.both(logic, truths, mask);
        }
        match self.choices.below(3) {
            0 => {
                let body = Scalar::OfTruth(Truth::Mask(1), self.choices.one_in(3));
                let product = binary(Binary::Mul, operand(0), Box::new(body));
                let reads = [self.whole(value), self.whole(truths)];
                self.pointwise(&sizes, &reads, &product);
            }
            1 => {
                let classes = self.values[value].classes.clone();
                let other = self.argument(sizes, classes, self.kind);
                self.select(truths, value, other);
            }
            _ => {
                let other = self.elementwise_step(value, &unary(Unary::Neg, operand(0)));
                self.select(truths, other, value);
            }
        }
    }

    /// A part of a program of 16 bits that is computed in f32, over several ops.
    pub(crate) fn island(&mut self, value: usize) {
        if self.element == "f32" {
            return self.normalise(value);
        }
        let wide = self.converted(value, Kind::Wide);
        let last = self.in_f32(|builder| {
            match builder.choices.below(4) {
                0 => builder.normalise(wide),
                1 => builder.softmax(wide),
                2 => builder.reduction(wide),
                _ => builder.unary_step(wide),
            }
            if builder.choices.one_in(2) {
                let value = builder.some();
                builder.binary_step(value);
            }
            builder.floats().last().copied().unwrap_or(wide)
        });
        self.converted(last, Kind::Float);
    }

    /// Subtracts the maximum or the minimum along a dimension.
    pub(crate) fn center(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let dim = rank - 1 - self.choices.below(rank);
        let fold = if self.choices.one_in(3) { Fold::Min } else { Fold::Max };
        let reduced = self.reduce(value, fold, &[dim], true);
        self.with_reduced(value, reduced, dim, Binary::Sub);
    }

    /// Multiplies by an argument that has some of the dimensions, and is broadcast along the others.
    pub(crate) fn scale(&mut self, value: usize) {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let kept: Vec<usize> = (0..shape.len()).filter(|_| self.choices.one_in(2)).collect();
        let kept = if kept.is_empty() { vec![shape.len() - 1] } else { kept };
        let (of_shape, of_classes) = kept.iter().map(|&dim| (shape[dim], classes[dim])).unzip();
        let factor = self.argument(of_shape, of_classes, self.kind);
        let added: Vec<usize> = (0..shape.len()).filter(|dim| !kept.contains(dim)).collect();
        let factor = if added.is_empty() { factor } else { self.broadcast(factor, &shape, &added) };
        let reads = [self.whole(value), self.whole(factor)];
        self.pointwise(&shape, &reads, &binary(Binary::Mul, operand(0), operand(1)));
    }

    pub(crate) fn calls(&mut self, value: usize) {
        let function = *self.choices.pick(&UNARIES);
        let added = *self.choices.pick(&LITERALS);
        let mut values = vec![value];
        if self.choices.one_in(2) {
            let alike: Vec<usize> = self.floats().into_iter().filter(|&other| self.shape(other) == self.shape(value)).collect();
            values.push(*self.choices.pick(&alike));
        }
        self.call(&values, function, added);
    }

    pub(crate) fn reduction(&mut self, value: usize) {
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
        let keeps = self.choices.one_in(3) || dims.len() == rank && !self.choices.one_in(3);
        let length: usize = dims.iter().map(|&dim| self.values[value].shape[dim]).product();
        let reduced = self.reduce(value, fold, &dims, keeps);
        if fold == Fold::Sum && self.choices.one_in(3) {
            self.divide(reduced, length);
        }
    }

    /// Computes a mean: divides a sum by the number of its terms.
    fn divide(&mut self, sum: usize, length: usize) -> usize {
        let sizes = self.values[sum].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        // Literals live as long as the test; there are few lengths.
        let literal: &'static str = Box::leak(format!("{length}.0").into_boxed_str());
        self.pointwise(&sizes, &[(sum, identity)], &Scalar::Binary(Binary::Div, operand(0), Box::new(Scalar::Constant(literal))))
    }

    pub(crate) fn softmax(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let dim = rank - 1 - if self.choices.one_in(4) { self.choices.below(rank) } else { 0 };
        if self.choices.one_in(4) {
            self.named_softmax(value, dim);
            return;
        }
        let highest = self.reduce(value, Fold::Max, &[dim], true);
        let shifted = self.with_reduced(value, highest, dim, Binary::Sub);
        let sizes = self.values[shifted].shape.clone();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let grown = self.pointwise(&sizes, &[(shifted, identity)], &Scalar::Unary(Unary::Exp, operand(0)));
        let sum = self.reduce(grown, Fold::Sum, &[dim], true);
        self.with_reduced(grown, sum, dim, Binary::Div);
    }

    pub(crate) fn with_reduced(&mut self, value: usize, reduced: usize, dim: usize, function: Binary) -> usize {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let map = identity.iter().enumerate().map(|(at, own)| own.filter(|_| at != dim)).collect();
        self.pointwise(&sizes, &[(value, identity), (reduced, map)], &Scalar::Binary(function, operand(0), operand(1)))
    }

    /// Layer norm, or RMS norm, over the last dimension.
    pub(crate) fn normalise(&mut self, value: usize) {
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
}

/// `x / 2 (1 + erf(x / sqrt 2))`
fn gelu(x: Box<Scalar>) -> Box<Scalar> {
    let inner = unary(Unary::Erf, binary(Binary::Mul, x.clone(), literal("0.70710678118654757")));
    Box::new(Scalar::Approximate(binary(Binary::Mul, binary(Binary::Mul, x, literal("0.5")), binary(Binary::Add, inner, literal("1.0")))))
}

/// `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`
fn gelu_by_tanh(x: Box<Scalar>) -> Box<Scalar> {
    let cube = binary(Binary::Mul, binary(Binary::Mul, x.clone(), x.clone()), x.clone());
    let inner = binary(Binary::Add, x.clone(), binary(Binary::Mul, cube, literal("0.044715")));
    let tanh = unary(Unary::Tanh, binary(Binary::Mul, inner, literal("0.79788456080286541")));
    Box::new(Scalar::Approximate(binary(Binary::Mul, binary(Binary::Mul, x, literal("0.5")), binary(Binary::Add, tanh, literal("1.0")))))
}

/// `log(1 + exp x)`, and `x` where that is the same.
fn softplus(x: Box<Scalar>) -> Box<Scalar> {
    let log = unary(Unary::Log1p, unary(Unary::Exp, x.clone()));
    Box::new(Scalar::Choose(Truth::Compare(Compare::Greater, [x.clone(), literal("20.0")]), [x, log], Choice::Select))
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
