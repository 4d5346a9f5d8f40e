//! Generates the ops of a random program.

use crate::random::{
    build::{ElementKind, ProgramBuilder},
    choices::Choices,
    number::UnaryFunction,
    scalar::{ScalarExpression, operand, unary},
};

/// Family of random programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProgramFamily {
    /// All ops that the import accepts.
    Any,
    /// Chains of views, and ops that read them.
    Views,
    /// Ops that hints tile: elementwise, reductions, matmuls, views.
    Tiled,
    /// Values that are broadcast, viewed in different ways, and then reduced, normalized, concatenated and multiplied.
    Repeats,
    /// Reductions along one dimension that depend on each other.
    Cascades,
    /// Values that are large enough for a dimension to run in two segments, with sizes that have no suitable divisor.
    Rests,
    /// Pads, slices, concatenations, strided reads and matmuls at any offset, of any size.
    Offsets,
}

pub(crate) const FAMILIES: [ProgramFamily; 7] = [
    ProgramFamily::Any,
    ProgramFamily::Views,
    ProgramFamily::Tiled,
    ProgramFamily::Repeats,
    ProgramFamily::Cascades,
    ProgramFamily::Rests,
    ProgramFamily::Offsets,
];

/// Common sizes; the last entry is a placeholder for any size up to [`MAX_SIZE`].
const SIZES: [usize; 27] =
    [64, 2, 1, 3, 4, 5, 7, 8, 16, 31, 32, 33, 48, 63, 65, 96, 100, 127, 128, 129, 150, 192, 200, 255, 256, 300, 0];
const MAX_SIZE: usize = 300;
const MAX_OFFSET_SIZE: usize = 200;
/// Sizes around multiples of a stick of 64, and of its half.
const VIEWED_SIZES: [usize; 16] = [64, 1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 128];
const TILED_SIZES: [usize; 10] = [64, 2, 4, 6, 8, 16, 32, 128, 192, 256];
/// Sizes above a stick that are no multiple of it.
const REMAINDER_SIZES: [usize; 12] = [257, 129, 191, 193, 251, 300, 509, 515, 601, 773, 1021, 1300];
/// Sizes up to 200 with placeholders for any; small ones and those around a stick are more frequent.
const OFFSET_SIZES: [usize; 16] = [0, 0, 0, 1, 2, 3, 5, 7, 9, 17, 31, 33, 38, 63, 65, 67];
/// Minimum number of elements, so that a 16-bit value has the 256 KiB from which on peeling is evaluated. Values have
/// at most one eighth more.
const MIN_REMAINDER_ELEMENTS: usize = 1 << 17;
const ELEMENTS: [&str; 8] = ["f16", "f16", "f16", "f16", "f16", "f32", "f32", "bf16"];

/// Step of the generation of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GenerationStep {
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
    /// Existing view in another spelling.
    Again,
    /// Sum with a slice of an argument, both read through permuted maps.
    Permuted,
}

const ANY_STEPS: [GenerationStep; 37] = [
    GenerationStep::Unary,
    GenerationStep::Binary,
    GenerationStep::Reduce,
    GenerationStep::Binary,
    GenerationStep::Fused,
    GenerationStep::Product,
    GenerationStep::Broadcast,
    GenerationStep::Permute,
    GenerationStep::Slice,
    GenerationStep::Reshape,
    GenerationStep::Binary,
    GenerationStep::Choose,
    GenerationStep::Concat,
    GenerationStep::Pad,
    GenerationStep::Gather,
    GenerationStep::Softmax,
    GenerationStep::Normalise,
    GenerationStep::Reduce,
    GenerationStep::Product,
    GenerationStep::Unary,
    GenerationStep::Constant,
    GenerationStep::Truth,
    GenerationStep::Call,
    GenerationStep::Island,
    GenerationStep::Insert,
    GenerationStep::Along,
    GenerationStep::SliceAt,
    GenerationStep::Scatter,
    GenerationStep::Windows,
    GenerationStep::Cast,
    GenerationStep::Again,
    GenerationStep::Permuted,
    GenerationStep::Repeat,
    GenerationStep::Fused,
    GenerationStep::Scale,
    GenerationStep::Center,
    GenerationStep::Binary,
];
const VIEW_STEPS: [GenerationStep; 12] = [
    GenerationStep::Permute,
    GenerationStep::Slice,
    GenerationStep::Reshape,
    GenerationStep::Broadcast,
    GenerationStep::Permute,
    GenerationStep::Reshape,
    GenerationStep::Slice,
    GenerationStep::Binary,
    GenerationStep::Permuted,
    GenerationStep::Unary,
    GenerationStep::Again,
    GenerationStep::Reduce,
];
const TILED_STEPS: [GenerationStep; 15] = [
    GenerationStep::Unary,
    GenerationStep::Binary,
    GenerationStep::Reduce,
    GenerationStep::Product,
    GenerationStep::Binary,
    GenerationStep::Reduce,
    GenerationStep::Fused,
    GenerationStep::Softmax,
    GenerationStep::Permute,
    GenerationStep::Normalise,
    GenerationStep::Reshape,
    GenerationStep::Binary,
    GenerationStep::Slice,
    GenerationStep::Unary,
    GenerationStep::Again,
];
const REPEAT_STEPS: [GenerationStep; 16] = [
    GenerationStep::Broadcast,
    GenerationStep::Repeat,
    GenerationStep::Reduce,
    GenerationStep::Product,
    GenerationStep::Reshape,
    GenerationStep::Slice,
    GenerationStep::Permute,
    GenerationStep::Center,
    GenerationStep::Scale,
    GenerationStep::Concat,
    GenerationStep::Unary,
    GenerationStep::Broadcast,
    GenerationStep::Repeat,
    GenerationStep::Reduce,
    GenerationStep::Product,
    GenerationStep::Normalise,
];

const REMAINDER_STEPS: [GenerationStep; 12] = [
    GenerationStep::Unary,
    GenerationStep::Binary,
    GenerationStep::Softmax,
    GenerationStep::Reduce,
    GenerationStep::Center,
    GenerationStep::Product,
    GenerationStep::Fused,
    GenerationStep::Concat,
    GenerationStep::Slice,
    GenerationStep::Permute,
    GenerationStep::Scale,
    GenerationStep::Again,
];

const OFFSET_STEPS: [GenerationStep; 14] = [
    GenerationStep::Pad,
    GenerationStep::Slice,
    GenerationStep::Concat,
    GenerationStep::Reshape,
    GenerationStep::Slice,
    GenerationStep::Product,
    GenerationStep::Permute,
    GenerationStep::Pad,
    GenerationStep::Reshape,
    GenerationStep::Unary,
    GenerationStep::Reduce,
    GenerationStep::Binary,
    GenerationStep::Insert,
    GenerationStep::Windows,
];

impl ProgramFamily {
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

    pub(crate) fn from_name(name: &str) -> Self {
        FAMILIES.into_iter().find(|family| family.name() == name).unwrap()
    }

    const fn max_steps(self) -> usize {
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

    const fn steps(self) -> &'static [GenerationStep] {
        match self {
            Self::Any => &ANY_STEPS,
            Self::Views => &VIEW_STEPS,
            Self::Tiled => &TILED_STEPS,
            Self::Repeats => &REPEAT_STEPS,
            Self::Cascades => &[],
            Self::Rests => &REMAINDER_STEPS,
            Self::Offsets => &OFFSET_STEPS,
        }
    }
}

/// Generates a program; returns its results.
pub(crate) fn generate_program(family: ProgramFamily, choices: Choices) -> (ProgramBuilder, Vec<usize>) {
    let mut choices = choices;
    let element = *choices.pick(&ELEMENTS);
    let mut builder = ProgramBuilder::new(element, choices);
    builder.is_at_any_offset = family == ProgramFamily::Offsets;
    match family {
        ProgramFamily::Cascades => builder.generate_cascade(),
        ProgramFamily::Rests => builder.add_large_argument(),
        ProgramFamily::Any
        | ProgramFamily::Views
        | ProgramFamily::Tiled
        | ProgramFamily::Repeats
        | ProgramFamily::Offsets => builder.add_first_argument(family),
    }
    for _ in 0..family.max_steps() {
        let step = *builder.choices.pick(family.steps());
        builder.add_step(step);
        if builder.choices.one_in(family.max_steps()) {
            break;
        }
    }
    if builder.ops.is_empty() {
        builder.add_elementwise_step(0, &ScalarExpression::Unary(UnaryFunction::Neg, operand(0)));
    }
    let results = builder.collect_results();
    (builder, results)
}

impl ProgramBuilder {
    fn add_first_argument(&mut self, family: ProgramFamily) {
        let sizes = match family {
            ProgramFamily::Tiled => &TILED_SIZES[..],
            ProgramFamily::Views => &VIEWED_SIZES[..],
            ProgramFamily::Offsets => &OFFSET_SIZES[..],
            ProgramFamily::Any | ProgramFamily::Repeats | ProgramFamily::Cascades | ProgramFamily::Rests => &SIZES[..],
        };
        let rank = [2, 2, 1, 3, 3, 4, 2, 3, 2, 3, 2, 3, 4, 2, 5, 6][self.choices.below(16)];
        let mut shape: Vec<usize> = (0..rank).map(|_| self.pick_size(sizes)).collect();
        // Values that a repetition enlarges start smaller.
        let most = if family == ProgramFamily::Repeats { self.most_elements / 4 } else { self.most_elements };
        while shape.iter().product::<usize>() > most {
            let largest = (0..rank).max_by_key(|&dim| shape[dim]).unwrap_or(0);
            shape[largest] /= 2;
        }
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.add_argument(shape, classes, ElementKind::Float);
    }

    /// Adds a matrix that is just large enough to be peeled, sometimes one of several.
    fn add_large_argument(&mut self) {
        (self.most_elements, self.most_points) = (MIN_REMAINDER_ELEMENTS * 2, MIN_REMAINDER_ELEMENTS * 128);
        let mut shape = if self.choices.one_in(6) { vec![2] } else { Vec::new() };
        shape.push(*self.choices.pick(&REMAINDER_SIZES));
        let columns = MIN_REMAINDER_ELEMENTS.div_ceil(shape.iter().product());
        shape.push(columns + self.choices.below(columns / 8));
        if self.choices.one_in(4) {
            let last = shape.len() - 1;
            shape.swap(last - 1, last);
        }
        let classes = shape.iter().map(|_| self.new_class()).collect();
        self.add_argument(shape, classes, ElementKind::Float);
    }

    fn pick_size(&mut self, sizes: &[usize]) -> usize {
        match *self.choices.pick(sizes) {
            0 if self.is_at_any_offset => 1 + self.choices.below(MAX_OFFSET_SIZE),
            0 => 1 + self.choices.below(MAX_SIZE),
            size => size,
        }
    }

    /// Draws any size of a dimension.
    pub(crate) fn draw_any_size(&mut self) -> usize {
        self.pick_size(if self.is_at_any_offset { &OFFSET_SIZES } else { &SIZES })
    }

    /// Picks a value of the current kind; later ones are more likely.
    pub(crate) fn pick_value(&mut self) -> usize {
        let mut values = self.float_values();
        values.retain(|&value| !self.values[value].shape.is_empty());
        let back = match self.choices.below(4) {
            0 | 1 => 0,
            2 => self.choices.below(3),
            _ => self.choices.below(values.len()),
        };
        values[values.len() - 1 - back.min(values.len() - 1)]
    }

    fn add_step(&mut self, step: GenerationStep) {
        let value = self.pick_value();
        match step {
            GenerationStep::Unary => self.add_unary_step(value),
            GenerationStep::Binary => self.add_binary_step(value),
            GenerationStep::Fused => self.add_fused_step(value),
            GenerationStep::Choose => self.add_select_step(value),
            GenerationStep::Truth => self.add_boolean_step(value),
            GenerationStep::Constant => self.add_op_with_constant(value),
            GenerationStep::Call => self.add_call_step(value),
            GenerationStep::Island => self.add_f32_region(value),
            GenerationStep::Reduce => self.add_reduction_step(value),
            GenerationStep::Product => self.add_product(value),
            GenerationStep::Softmax => self.add_softmax(value),
            GenerationStep::Normalise => self.add_norm(value),
            GenerationStep::Center => self.add_centering(value),
            GenerationStep::Scale => self.add_scaling(value),
            GenerationStep::Permute => self.add_permutation(value),
            GenerationStep::Slice => self.add_slice(value),
            GenerationStep::Concat => self.add_concatenation(value),
            GenerationStep::Pad => self.add_padding(value),
            GenerationStep::Insert => self.add_overwrite(value),
            GenerationStep::Reshape => self.add_reshape(value),
            GenerationStep::Broadcast => self.add_broadcast(value),
            GenerationStep::Repeat => self.add_repeat(value),
            GenerationStep::Gather => self.add_rows(value),
            GenerationStep::Along => self.add_positions(value),
            GenerationStep::SliceAt => self.add_slice_at(value),
            GenerationStep::Scatter => self.add_scatter(value),
            GenerationStep::Windows => self.add_windows(value),
            GenerationStep::Cast => {
                self.add_cast(value);
            }
            GenerationStep::Again => self.repeat_view(value),
            GenerationStep::Permuted => self.add_permuted_sum(value),
        }
    }

    /// Returns the results of the program: all float values without uses. Sometimes adds another value, repeats a
    /// result, or adds a value and a view of it.
    fn collect_results(&mut self) -> Vec<usize> {
        let is_read = |value: usize| self.ops.iter().any(|op| op.operands.contains(&value));
        let made = self.ops.iter().map(|op| op.result);
        let mut results: Vec<usize> =
            made.filter(|&value| !is_read(value) && self.values[value].kind == ElementKind::Float).collect();
        if results.is_empty() {
            let value = self.pick_value();
            results.push(self.add_elementwise_step(value, &unary(UnaryFunction::Neg, operand(0))));
        }
        if self.choices.one_in(5) {
            let floats = self.float_values();
            results.push(*self.choices.pick(&floats));
        }
        if self.choices.one_in(8) {
            results.push(results[0]);
        }
        results
    }
}
