//! Generates compute ops of random programs: elementwise functions, reductions, and combinations of both.
//!
//! A parameter `value` is an index into `ProgramBuilder::values`.

use crate::random::{
    build::{ElementKind, OperandRead, ProgramBuilder},
    compute::ReductionKind,
    number::{BinaryFunction, ComparisonKind, UnaryFunction},
    scalar::{
        BooleanExpression, ExponentSpelling, INTEGER_OPS, LogicOp, ScalarExpression, SelectSpelling, binary, literal,
        operand, unary,
    },
};

pub(crate) const LITERALS: [&str; 8] = ["1.0", "2.0", "0.5", "-1.0", "0.125", "3.0", "0.1", "1.0e-03"];
const UNARY_FUNCTIONS: [UnaryFunction; 16] = [
    UnaryFunction::Neg,
    UnaryFunction::Exp,
    UnaryFunction::Abs,
    UnaryFunction::Tanh,
    UnaryFunction::Exp,
    UnaryFunction::Sqrt,
    UnaryFunction::Rsqrt,
    UnaryFunction::Log,
    UnaryFunction::Floor,
    UnaryFunction::Ceil,
    UnaryFunction::Erf,
    UnaryFunction::Exp2,
    UnaryFunction::Log1p,
    UnaryFunction::Abs,
    UnaryFunction::Expm1,
    UnaryFunction::Log2,
];
const BINARY_FUNCTIONS: [BinaryFunction; 10] = [
    BinaryFunction::Add,
    BinaryFunction::Mul,
    BinaryFunction::Sub,
    BinaryFunction::Max,
    BinaryFunction::Min,
    BinaryFunction::Div,
    BinaryFunction::Add,
    BinaryFunction::Sub,
    BinaryFunction::MaxNum,
    BinaryFunction::MinNum,
];
const COMPARISON_KINDS: [ComparisonKind; 14] = [
    ComparisonKind::Less,
    ComparisonKind::Greater,
    ComparisonKind::LessEqual,
    ComparisonKind::GreaterEqual,
    ComparisonKind::Equal,
    ComparisonKind::NotEqual,
    ComparisonKind::UnorderedOrEqual,
    ComparisonKind::OrderedAndNotEqual,
    ComparisonKind::NotGreaterEqual,
    ComparisonKind::NotGreater,
    ComparisonKind::NotLessEqual,
    ComparisonKind::NotLess,
    ComparisonKind::Unordered,
    ComparisonKind::Ordered,
];
const REDUCTION_KINDS: [ReductionKind; 7] = [
    ReductionKind::Sum,
    ReductionKind::Max,
    ReductionKind::Sum,
    ReductionKind::Max,
    ReductionKind::Min,
    ReductionKind::Sum,
    ReductionKind::Prod,
];
const LOGIC_OPS: [LogicOp; 3] = [LogicOp::And, LogicOp::Or, LogicOp::Xor];
const EXPONENTS: [ExponentSpelling; 8] = [
    ExponentSpelling::Float("2.0"),
    ExponentSpelling::Float("3.0"),
    ExponentSpelling::Float("0.5"),
    ExponentSpelling::Float("-0.5"),
    ExponentSpelling::Float("-1.0"),
    ExponentSpelling::Integer(2),
    ExponentSpelling::Integer(3),
    ExponentSpelling::Integer(-2),
];
const INTEGER_PREDICATES: [&str; 10] = ["sge", "sle", "slt", "sgt", "eq", "ne", "ult", "ule", "ugt", "uge"];
/// Functions that the compiler can constant-fold and the device lacks; `None` applies no function.
const FOLDABLE_FUNCTIONS: [Option<&str>; 8] = [
    None,
    None,
    Some("math.sin"),
    Some("math.cos"),
    Some("math.round"),
    Some("math.roundeven"),
    Some("math.trunc"),
    Some("arith.remf"),
];

impl ProgramBuilder {
    pub(crate) fn add_unary_step(&mut self, value: usize) {
        let function = *self.choices.pick(&UNARY_FUNCTIONS);
        self.add_elementwise_step(value, &ScalarExpression::Unary(function, operand(0)));
    }

    pub(crate) fn add_binary_step(&mut self, value: usize) {
        let function = *self.choices.pick(&BINARY_FUNCTIONS);
        self.add_elementwise_step(value, &ScalarExpression::Binary(function, operand(0), operand(1)));
    }

    /// Returns a random literal, or operand `position`.
    fn pick_leaf(&mut self, position: usize) -> Box<ScalarExpression> {
        if self.choices.one_in(4) { literal(self.choices.pick::<&'static str>(&LITERALS)) } else { operand(position) }
    }

    /// Appends a pointwise op with the iteration space of a value. If the body is binary, its second operand is a
    /// literal, another value or a new argument.
    pub(crate) fn add_elementwise_step(&mut self, value: usize, body: &ScalarExpression) -> usize {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let mut reads = vec![(value, identity)];
        let mut body = body.clone();
        if let ScalarExpression::Binary(function, left, _) = &body {
            match self.choices.below(6) {
                5 => {
                    body = ScalarExpression::Binary(
                        *function,
                        left.clone(),
                        Box::new(ScalarExpression::Constant(self.choices.pick::<&'static str>(&LITERALS))),
                    )
                }
                _ => reads.push(self.pick_partner(value)),
            }
        }
        self.add_pointwise(&sizes, &reads, &body)
    }

    /// Returns a read of another value, or of a new argument, in the iteration space of `value`.
    pub(crate) fn pick_partner(&mut self, value: usize) -> OperandRead {
        let (shape, classes) = (self.values[value].shape.clone(), self.values[value].classes.clone());
        let mut candidates: Vec<OperandRead> = Vec::new();
        for other in self.float_values() {
            if let Some(map) = align_shape(&self.values[other].shape, &shape) {
                candidates.push((other, map));
            }
        }
        let choice = self.choices.below(candidates.len() + 2);
        if choice < candidates.len() {
            return candidates.swap_remove(candidates.len() - 1 - choice);
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
        let argument_shape: Vec<usize> = map.iter().map(|dim| dim.map_or(1, |dim| shape[dim])).collect();
        let argument_classes = map.iter().map(|dim| dim.map_or_else(|| self.new_class(), |dim| classes[dim])).collect();
        (self.add_argument(argument_shape, argument_classes, self.kind), map)
    }

    /// Appends a pointwise op with the iteration space of a value. It has a second operand if the body reads one.
    fn add_body_step(&mut self, value: usize, body: &ScalarExpression) -> usize {
        let sizes = self.shape(value);
        let mut reads = vec![self.identity_read(value)];
        if body.reads_operand(1) {
            reads.push(self.pick_partner(value));
        }
        self.add_pointwise(&sizes, &reads, body)
    }

    /// Appends a pointwise op whose body combines several functions, such as GELU or a fused multiply-add.
    pub(crate) fn add_fused_step(&mut self, value: usize) {
        let (x, y) = (operand(0), operand(1));
        let one = || literal("1.0");
        let sigmoid = |input: Box<ScalarExpression>| {
            binary(
                BinaryFunction::Div,
                one(),
                binary(BinaryFunction::Add, one(), unary(UnaryFunction::Exp, unary(UnaryFunction::Neg, input))),
            )
        };
        let body = match self.choices.below(16) {
            0 => {
                let function = *self.choices.pick(&BINARY_FUNCTIONS);
                let inner = *self.choices.pick(&UNARY_FUNCTIONS);
                let right = self.pick_leaf(1);
                binary(function, unary(inner, x), right)
            }
            1 => binary(BinaryFunction::Add, binary(BinaryFunction::Mul, x, y.clone()), y),
            2 => sigmoid(x),
            3 => binary(BinaryFunction::Mul, x.clone(), sigmoid(x)),
            4 => binary(BinaryFunction::Max, x, literal("0.0")),
            5 => binary(BinaryFunction::Min, binary(BinaryFunction::Max, x, literal("-1.0")), literal("2.0")),
            6 => Box::new(ScalarExpression::Fma([x, y, literal("0.5")])),
            7 => Box::new(ScalarExpression::Clamp([x, literal("-1.0"), literal("2.0")])),
            8 => Box::new(ScalarExpression::Power(x, *self.choices.pick(&EXPONENTS))),
            9 => binary(BinaryFunction::Sub, literal("0.0"), x),
            10 => binary(BinaryFunction::Div, literal("1.0"), x),
            11 => binary(BinaryFunction::Mul, x.clone(), x),
            12 => build_gelu(x),
            13 => build_tanh_gelu(x),
            14 => build_softplus(x),
            _ => {
                let position = ScalarExpression::Position(
                    self.choices.below(self.values[value].shape.len()),
                    *self.choices.pick(&FOLDABLE_FUNCTIONS),
                );
                binary(BinaryFunction::Add, x, Box::new(position))
            }
        };
        self.add_body_step(value, &body);
    }

    /// Appends a pointwise op that selects between two expressions by a random condition.
    pub(crate) fn add_select_step(&mut self, value: usize) {
        let sizes = self.shape(value);
        let rank = sizes.len();
        let mut reads = vec![self.identity_read(value), self.pick_partner(value)];
        let spelling = if self.choices.one_in(3) { SelectSpelling::If } else { SelectSpelling::Select };
        let mut branches = [operand(0), self.pick_leaf(1)];
        let condition = match self.choices.below(4) {
            0 => {
                let comparison = *self.choices.pick(&COMPARISON_KINDS);
                let (left, right) = (operand(0), self.pick_leaf(1));
                branches = [self.pick_leaf(1), operand(0)];
                BooleanExpression::Compare(comparison, [left, right])
            }
            1 => {
                reads.push(self.pick_mask(value));
                BooleanExpression::Mask(2)
            }
            2 => {
                reads.push(self.pick_mask(value));
                let comparison = *self.choices.pick(&COMPARISON_KINDS);
                let compared = BooleanExpression::Compare(comparison, [operand(0), self.pick_leaf(1)]);
                BooleanExpression::Logic(
                    *self.choices.pick(&LOGIC_OPS),
                    Box::new(compared),
                    Box::new(BooleanExpression::Mask(2)),
                )
            }
            _ => {
                let dims = [self.choices.below(rank), self.choices.below(rank)];
                let (predicate, integer_op): (&str, _) =
                    (self.choices.pick::<&'static str>(&INTEGER_PREDICATES), *self.choices.pick(&INTEGER_OPS));
                BooleanExpression::Positions(predicate, dims, integer_op)
            }
        };
        let body = ScalarExpression::Choose(condition, branches, spelling);
        // Removes or replaces operand 1 if the body does not read it. A mask remains operand 2.
        if !body.reads_operand(1) {
            if reads.len() > 2 {
                reads[1] = self.identity_read(value);
            } else {
                reads.truncate(1);
            }
        }
        self.add_pointwise(&sizes, &reads, &body);
    }

    /// Returns a read of a boolean tensor with the shape of `value`: an existing one, or a new argument.
    fn pick_mask(&mut self, value: usize) -> OperandRead {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let fits =
            |&other: &usize| self.values[other].kind == ElementKind::Boolean && self.values[other].shape == shape;
        let existing_masks: Vec<usize> = (0..self.values.len()).filter(fits).collect();
        let mask = if !existing_masks.is_empty() && !self.choices.one_in(3) {
            *self.choices.pick(&existing_masks)
        } else {
            self.add_argument(shape, classes, ElementKind::Boolean)
        };
        self.identity_read(mask)
    }

    /// Appends ops that compute a boolean tensor, and an op that uses it.
    pub(crate) fn add_boolean_step(&mut self, value: usize) {
        let sizes = self.shape(value);
        let mut reads = vec![self.identity_read(value)];
        let comparison = *self.choices.pick(&COMPARISON_KINDS);
        let right = self.pick_leaf(1);
        if right.reads_operand(1) {
            reads.push(self.pick_partner(value));
        }
        let mut booleans =
            self.add_booleans(&sizes, &reads, &BooleanExpression::Compare(comparison, [operand(0), right]));
        if self.choices.one_in(2) {
            let (mask, _) = self.pick_mask(value);
            let logic = *self.choices.pick(&LOGIC_OPS);
            booleans = self.add_logic_op(logic, booleans, mask);
        }
        match self.choices.below(3) {
            0 => {
                let body = ScalarExpression::FromBoolean(BooleanExpression::Mask(1), self.choices.one_in(3));
                let product = binary(BinaryFunction::Mul, operand(0), Box::new(body));
                let reads = [self.identity_read(value), self.identity_read(booleans)];
                self.add_pointwise(&sizes, &reads, &product);
            }
            1 => {
                let classes = self.values[value].classes.clone();
                let other = self.add_argument(sizes, classes, self.kind);
                self.add_select(booleans, value, other);
            }
            _ => {
                let other = self.add_elementwise_step(value, &unary(UnaryFunction::Neg, operand(0)));
                self.add_select(booleans, other, value);
            }
        }
    }

    /// Appends a conversion to f32, ops in f32, and a conversion back to 16 bits. In an f32 program, appends a norm.
    pub(crate) fn add_f32_region(&mut self, value: usize) {
        if self.element == "f32" {
            return self.add_norm(value);
        }
        let wide = self.add_conversion(value, ElementKind::Wide);
        let last = self.with_f32(|builder| {
            match builder.choices.below(4) {
                0 => builder.add_norm(wide),
                1 => builder.add_softmax(wide),
                2 => builder.add_reduction_step(wide),
                _ => builder.add_unary_step(wide),
            }
            if builder.choices.one_in(2) {
                let value = builder.pick_value();
                builder.add_binary_step(value);
            }
            builder.float_values().last().copied().unwrap_or(wide)
        });
        self.add_conversion(last, ElementKind::Float);
    }

    /// Appends ops that subtract the maximum or the minimum along a dimension.
    pub(crate) fn add_centering(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let dim = rank - 1 - self.choices.below(rank);
        let kind = if self.choices.one_in(3) { ReductionKind::Min } else { ReductionKind::Max };
        let reduced = self.add_reduction(value, kind, &[dim], true);
        self.combine_with_reduced(value, reduced, dim, BinaryFunction::Sub);
    }

    /// Appends a multiplication by a new argument, which has some of the dimensions and is broadcast along the others.
    pub(crate) fn add_scaling(&mut self, value: usize) {
        let (shape, classes) = (self.shape(value), self.values[value].classes.clone());
        let kept: Vec<usize> = (0..shape.len()).filter(|_| self.choices.one_in(2)).collect();
        let kept = if kept.is_empty() { vec![shape.len() - 1] } else { kept };
        let (factor_shape, factor_classes) = kept.iter().map(|&dim| (shape[dim], classes[dim])).unzip();
        let factor = self.add_argument(factor_shape, factor_classes, self.kind);
        let added: Vec<usize> = (0..shape.len()).filter(|dim| !kept.contains(dim)).collect();
        let factor = if added.is_empty() { factor } else { self.broadcast(factor, &shape, &added) };
        let reads = [self.identity_read(value), self.identity_read(factor)];
        self.add_pointwise(&shape, &reads, &binary(BinaryFunction::Mul, operand(0), operand(1)));
    }

    /// Appends a call of a function on one value, or on two values of the same shape.
    pub(crate) fn add_call_step(&mut self, value: usize) {
        let function = *self.choices.pick(&UNARY_FUNCTIONS);
        let addend = *self.choices.pick(&LITERALS);
        let mut values = vec![value];
        if self.choices.one_in(2) {
            let same_shape_values: Vec<usize> =
                self.float_values().into_iter().filter(|&other| self.shape(other) == self.shape(value)).collect();
            values.push(*self.choices.pick(&same_shape_values));
        }
        self.add_calls(&values, function, addend);
    }

    pub(crate) fn add_reduction_step(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let kind = *self.choices.pick(&REDUCTION_KINDS);
        let mut dims = vec![rank - 1 - self.choices.below(rank)];
        if rank > 1 && self.choices.one_in(5) {
            let other = self.choices.below(rank);
            if other != dims[0] {
                dims.push(other);
                dims.sort_unstable();
            }
        }
        let keeps_dims = self.choices.one_in(3) || dims.len() == rank && !self.choices.one_in(3);
        let length: usize = dims.iter().map(|&dim| self.values[value].shape[dim]).product();
        let reduced = self.add_reduction(value, kind, &dims, keeps_dims);
        if kind == ReductionKind::Sum && self.choices.one_in(3) {
            self.divide_by_length(reduced, length);
        }
    }

    /// Appends a division of a sum by its number of terms, which gives the mean.
    fn divide_by_length(&mut self, sum: usize, length: usize) -> usize {
        let sizes = self.values[sum].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        // Literals are leaked; there are few lengths.
        let literal: &'static str = Box::leak(format!("{length}.0").into_boxed_str());
        self.add_pointwise(
            &sizes,
            &[(sum, identity)],
            &ScalarExpression::Binary(BinaryFunction::Div, operand(0), Box::new(ScalarExpression::Constant(literal))),
        )
    }

    pub(crate) fn add_softmax(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let dim = rank - 1 - if self.choices.one_in(4) { self.choices.below(rank) } else { 0 };
        if self.choices.one_in(4) {
            self.add_named_softmax(value, dim);
            return;
        }
        let maximum = self.add_reduction(value, ReductionKind::Max, &[dim], true);
        let shifted = self.combine_with_reduced(value, maximum, dim, BinaryFunction::Sub);
        let sizes = self.values[shifted].shape.clone();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let exponentials = self.add_pointwise(
            &sizes,
            &[(shifted, identity)],
            &ScalarExpression::Unary(UnaryFunction::Exp, operand(0)),
        );
        let sum = self.add_reduction(exponentials, ReductionKind::Sum, &[dim], true);
        self.combine_with_reduced(exponentials, sum, dim, BinaryFunction::Div);
    }

    /// Appends a binary op on a value and its reduction along `dim`, which is broadcast.
    pub(crate) fn combine_with_reduced(
        &mut self,
        value: usize,
        reduced: usize,
        dim: usize,
        function: BinaryFunction,
    ) -> usize {
        let sizes = self.values[value].shape.clone();
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let map = identity.iter().enumerate().map(|(at, iteration_dim)| iteration_dim.filter(|_| at != dim)).collect();
        self.add_pointwise(
            &sizes,
            &[(value, identity), (reduced, map)],
            &ScalarExpression::Binary(function, operand(0), operand(1)),
        )
    }

    /// Appends the ops of a layer norm or an RMS norm over the last dimension.
    pub(crate) fn add_norm(&mut self, value: usize) {
        let rank = self.values[value].shape.len();
        let (dim, length) = (rank - 1, self.values[value].shape[rank - 1]);
        let centered = if self.choices.one_in(2) {
            let sum = self.add_reduction(value, ReductionKind::Sum, &[dim], true);
            let mean = self.divide_by_length(sum, length);
            self.combine_with_reduced(value, mean, dim, BinaryFunction::Sub)
        } else {
            value
        };
        let sizes = self.values[centered].shape.clone();
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let square = ScalarExpression::Binary(BinaryFunction::Mul, operand(0), operand(0));
        let squares = self.add_pointwise(&sizes, &[(centered, identity.clone())], &square);
        let sum = self.add_reduction(squares, ReductionKind::Sum, &[dim], true);
        let variance = self.divide_by_length(sum, length);
        let add_epsilon =
            ScalarExpression::Binary(BinaryFunction::Add, operand(0), Box::new(ScalarExpression::Constant("1.0e-03")));
        let variance_shape = self.values[variance].shape.clone();
        let shifted = self.add_pointwise(&variance_shape, &[(variance, identity.clone())], &add_epsilon);
        let scale = self.add_pointwise(
            &variance_shape,
            &[(shifted, identity)],
            &ScalarExpression::Unary(UnaryFunction::Rsqrt, operand(0)),
        );
        self.combine_with_reduced(centered, scale, dim, BinaryFunction::Mul);
    }
}

/// Returns `x / 2 (1 + erf(x / sqrt 2))`.
fn build_gelu(x: Box<ScalarExpression>) -> Box<ScalarExpression> {
    let inner = unary(UnaryFunction::Erf, binary(BinaryFunction::Mul, x.clone(), literal("0.70710678118654757")));
    Box::new(ScalarExpression::Approximate(binary(
        BinaryFunction::Mul,
        binary(BinaryFunction::Mul, x, literal("0.5")),
        binary(BinaryFunction::Add, inner, literal("1.0")),
    )))
}

/// Returns `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
fn build_tanh_gelu(x: Box<ScalarExpression>) -> Box<ScalarExpression> {
    let cube = binary(BinaryFunction::Mul, binary(BinaryFunction::Mul, x.clone(), x.clone()), x.clone());
    let inner = binary(BinaryFunction::Add, x.clone(), binary(BinaryFunction::Mul, cube, literal("0.044715")));
    let tanh = unary(UnaryFunction::Tanh, binary(BinaryFunction::Mul, inner, literal("0.79788456080286541")));
    Box::new(ScalarExpression::Approximate(binary(
        BinaryFunction::Mul,
        binary(BinaryFunction::Mul, x, literal("0.5")),
        binary(BinaryFunction::Add, tanh, literal("1.0")),
    )))
}

/// Returns `log(1 + exp x)`, or `x` above the threshold 20, where both are equal after rounding.
fn build_softplus(x: Box<ScalarExpression>) -> Box<ScalarExpression> {
    let log = unary(UnaryFunction::Log1p, unary(UnaryFunction::Exp, x.clone()));
    Box::new(ScalarExpression::Choose(
        BooleanExpression::Compare(ComparisonKind::Greater, [x.clone(), literal("20.0")]),
        [x, log],
        SelectSpelling::Select,
    ))
}

/// Maps each dimension of `shape` to a dimension of `within` with the same size, in order. Dimensions of size 1 that
/// match none are read at index 0 (`None`). Returns `None` if another dimension matches none.
fn align_shape(shape: &[usize], within: &[usize]) -> Option<Vec<Option<usize>>> {
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
