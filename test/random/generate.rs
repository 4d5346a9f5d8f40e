//! Which ops a random program has.

use crate::random::{
    build::{Builder, Kind},
    choices::Choices,
    number::Unary,
    scalar::{Scalar, operand, unary},
};

/// Family of random programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// All ops that the import accepts.
    Any,
    /// Chains of views, and ops that read them.
    Views,
    /// Ops that hints tile: elementwise, reductions, products, views.
    Tiled,
    /// Values that are broadcast, viewed in other ways, and then reduced, normalised, concatenated and multiplied.
    Repeats,
    /// Reductions along one dimension that depend on each other.
    Cascades,
    /// Values that are large enough for a dimension to run in two segments, with sizes that have no suitable divisor.
    Rests,
    /// Pads, slices, concatenations, strided reads and products at any offset, of any size.
    Offsets,
}

pub(crate) const FAMILIES: [Family; 7] =
    [Family::Any, Family::Views, Family::Tiled, Family::Repeats, Family::Cascades, Family::Rests, Family::Offsets];

/// The last entry is a placeholder for any size up to [`MOST_SIZE`].
const SIZES: [usize; 27] = [64, 2, 1, 3, 4, 5, 7, 8, 16, 31, 32, 33, 48, 63, 65, 96, 100, 127, 128, 129, 150, 192, 200, 255, 256, 300, 0];
const MOST_SIZE: usize = 300;
const MOST_OFFSET_SIZE: usize = 200;
/// Around multiples of a stick of 64, and of its half.
const VIEWED_SIZES: [usize; 16] = [64, 1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 128];
const TILED_SIZES: [usize; 10] = [64, 2, 4, 6, 8, 16, 32, 128, 192, 256];
/// Above a stick, and no multiple of it.
const REST_SIZES: [usize; 12] = [257, 129, 191, 193, 251, 300, 509, 515, 601, 773, 1021, 1300];
/// Any size up to 200; small ones and those around a stick more often.
const OFFSET_SIZES: [usize; 16] = [0, 0, 0, 1, 2, 3, 5, 7, 9, 17, 31, 33, 38, 63, 65, 67];
/// So many elements at least, and one in eight more at most: a value of 16 bits has the 256 KiB from which on parts are looked at.
const LEAST_OF_RESTS: usize = 1 << 17;
const ELEMENTS: [&str; 8] = ["f16", "f16", "f16", "f16", "f16", "f32", "f32", "bf16"];

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Unary,
    Binary,
    Fused,
    Choose,
    Truth,
    Constant,
    Call,
    Island,
    Reduce,
    Product,
    Softmax,
    Normalise,
    Center,
    Scale,
    Permute,
    Slice,
    Concat,
    Pad,
    Insert,
    Reshape,
    Broadcast,
    Repeat,
    Gather,
    Along,
    SliceAt,
    Scatter,
    Windows,
    Cast,
    /// An existing view in another spelling.
    Again,
    /// The sum with a part of an argument, both read through permuted maps.
    Permuted,
}

const ANY: [Step; 37] = [
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
    Step::Unary,
    Step::Constant,
    Step::Truth,
    Step::Call,
    Step::Island,
    Step::Insert,
    Step::Along,
    Step::SliceAt,
    Step::Scatter,
    Step::Windows,
    Step::Cast,
    Step::Again,
    Step::Permuted,
    Step::Repeat,
    Step::Fused,
    Step::Scale,
    Step::Center,
    Step::Binary,
];
const VIEWS: [Step; 12] = [
    Step::Permute,
    Step::Slice,
    Step::Reshape,
    Step::Broadcast,
    Step::Permute,
    Step::Reshape,
    Step::Slice,
    Step::Binary,
    Step::Permuted,
    Step::Unary,
    Step::Again,
    Step::Reduce,
];
const TILED: [Step; 15] = [
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
    Step::Slice,
    Step::Unary,
    Step::Again,
];
const REPEATS: [Step; 16] = [
    Step::Broadcast,
    Step::Repeat,
    Step::Reduce,
    Step::Product,
    Step::Reshape,
    Step::Slice,
    Step::Permute,
    Step::Center,
    Step::Scale,
    Step::Concat,
    Step::Unary,
    Step::Broadcast,
    Step::Repeat,
    Step::Reduce,
    Step::Product,
    Step::Normalise,
];

const RESTS: [Step; 12] = [
    Step::Unary,
    Step::Binary,
    Step::Softmax,
    Step::Reduce,
    Step::Center,
    Step::Product,
    Step::Fused,
    Step::Concat,
    Step::Slice,
    Step::Permute,
    Step::Scale,
    Step::Again,
];

const OFFSETS: [Step; 14] = [
    Step::Pad,
    Step::Slice,
    Step::Concat,
    Step::Reshape,
    Step::Slice,
    Step::Product,
    Step::Permute,
    Step::Pad,
    Step::Reshape,
    Step::Unary,
    Step::Reduce,
    Step::Binary,
    Step::Insert,
    Step::Windows,
];

impl Family {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Views => "views",
            Self::Tiled => "tiled",
            Self::Repeats => "repeats",
            Self::Cascades => "cascades",
            Self::Rests => "rests",
            Self::Offsets => "offsets",
        }
    }

    pub(crate) fn named(name: &str) -> Self {
        FAMILIES.into_iter().find(|family| family.name() == name).unwrap()
    }

    const fn most_steps(self) -> usize {
        match self {
            Self::Any => 11,
            Self::Views => 6,
            Self::Tiled => 9,
            Self::Repeats => 7,
            Self::Cascades => 0,
            Self::Rests => 4,
            Self::Offsets => 6,
        }
    }

    const fn steps(self) -> &'static [Step] {
        match self {
            Self::Any => &ANY,
            Self::Views => &VIEWS,
            Self::Tiled => &TILED,
            Self::Repeats => &REPEATS,
            Self::Cascades => &[],
            Self::Rests => &RESTS,
            Self::Offsets => &OFFSETS,
        }
    }
}

/// Generates a program; returns its results.
pub(crate) fn grow(family: Family, choices: Choices) -> (Builder, Vec<usize>) {
    let mut choices = choices;
    let element = *choices.pick(&ELEMENTS);
    let mut builder = Builder::new(element, choices);
    builder.is_at_any_offset = family == Family::Offsets;
    match family {
        Family::Cascades => builder.cascade(),
        Family::Rests => builder.large_argument(),
        Family::Any | Family::Views | Family::Tiled | Family::Repeats | Family::Offsets => builder.first_argument(family),
    }
    for _ in 0..family.most_steps() {
        let step = *builder.choices.pick(family.steps());
        builder.step(step);
        if builder.choices.one_in(family.most_steps()) {
            break;
        }
    }
    if builder.ops.is_empty() {
        builder.elementwise_step(0, &Scalar::Unary(Unary::Neg, operand(0)));
    }
    let results = builder.results();
    (builder, results)
}

impl Builder {
    fn first_argument(&mut self, family: Family) {
        let sizes = match family {
            Family::Tiled => &TILED_SIZES[..],
            Family::Views => &VIEWED_SIZES[..],
            Family::Offsets => &OFFSET_SIZES[..],
            Family::Any | Family::Repeats | Family::Cascades | Family::Rests => &SIZES[..],
        };
        let rank = [2, 2, 1, 3, 3, 4, 2, 3, 2, 3, 2, 3, 4, 2, 5, 6][self.choices.below(16)];
        let mut shape: Vec<usize> = (0..rank).map(|_| self.size(sizes)).collect();
        // Values that a repetition enlarges start smaller.
        let most = if family == Family::Repeats { self.most_elements / 4 } else { self.most_elements };
        while shape.iter().product::<usize>() > most {
            let largest = (0..rank).max_by_key(|&dim| shape[dim]).unwrap_or(0);
            shape[largest] /= 2;
        }
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.argument(shape, classes, Kind::Float);
    }

    /// A matrix that is just large enough for parts, at times one of several.
    fn large_argument(&mut self) {
        (self.most_elements, self.most_points) = (LEAST_OF_RESTS * 2, LEAST_OF_RESTS * 128);
        let mut shape = if self.choices.one_in(6) { vec![2] } else { Vec::new() };
        shape.push(*self.choices.pick(&REST_SIZES));
        let columns = LEAST_OF_RESTS.div_ceil(shape.iter().product());
        shape.push(columns + self.choices.below(columns / 8));
        if self.choices.one_in(4) {
            let last = shape.len() - 1;
            shape.swap(last - 1, last);
        }
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.argument(shape, classes, Kind::Float);
    }

    fn size(&mut self, sizes: &[usize]) -> usize {
        match *self.choices.pick(sizes) {
            0 if self.is_at_any_offset => 1 + self.choices.below(MOST_OFFSET_SIZE),
            0 => 1 + self.choices.below(MOST_SIZE),
            size => size,
        }
    }

    /// Any size of a dimension.
    pub(crate) fn any_size(&mut self) -> usize {
        self.size(if self.is_at_any_offset { &OFFSET_SIZES } else { &SIZES })
    }

    /// A value of the numbers that are computed with now, the last ones more often.
    pub(crate) fn some(&mut self) -> usize {
        let mut values = self.floats();
        values.retain(|&value| !self.values[value].shape.is_empty());
        let back = match self.choices.below(4) {
            0 | 1 => 0,
            2 => self.choices.below(3),
            _ => self.choices.below(values.len()),
        };
        values[values.len() - 1 - back.min(values.len() - 1)]
    }

    fn step(&mut self, step: Step) {
        let value = self.some();
        match step {
            Step::Unary => self.unary_step(value),
            Step::Binary => self.binary_step(value),
            Step::Fused => self.fused(value),
            Step::Choose => self.choose(value),
            Step::Truth => self.truth(value),
            Step::Constant => self.with_constant(value),
            Step::Call => self.calls(value),
            Step::Island => self.island(value),
            Step::Reduce => self.reduction(value),
            Step::Product => self.product(value),
            Step::Softmax => self.softmax(value),
            Step::Normalise => self.normalise(value),
            Step::Center => self.center(value),
            Step::Scale => self.scale(value),
            Step::Permute => self.permutation(value),
            Step::Slice => self.part(value),
            Step::Concat => self.side_by_side(value),
            Step::Pad => self.border(value),
            Step::Insert => self.overwrite(value),
            Step::Reshape => self.regroup(value),
            Step::Broadcast => self.stretch(value),
            Step::Repeat => self.repeat(value),
            Step::Gather => self.rows(value),
            Step::Along => self.positions(value),
            Step::SliceAt => self.slice_at(value),
            Step::Scatter => self.scatter(value),
            Step::Windows => self.windows(value),
            Step::Cast => {
                self.cast(value);
            }
            Step::Again => self.again(value),
            Step::Permuted => self.permuted_sum(value),
        }
    }

    /// Returns the results of the program: all float values without uses. Sometimes adds another value, repeats a
    /// result, or adds a value and a view of it.
    fn results(&mut self) -> Vec<usize> {
        let is_read = |value: usize| self.ops.iter().any(|op| op.operands.contains(&value));
        let made = self.ops.iter().map(|op| op.result);
        let mut results: Vec<usize> = made.filter(|&value| !is_read(value) && self.values[value].kind == Kind::Float).collect();
        if results.is_empty() {
            let value = self.some();
            results.push(self.elementwise_step(value, &unary(Unary::Neg, operand(0))));
        }
        if self.choices.one_in(5) {
            let floats = self.floats();
            results.push(*self.choices.pick(&floats));
        }
        if self.choices.one_in(8) {
            results.push(results[0]);
        }
        results
    }
}
