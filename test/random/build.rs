//! A program as it grows: its values with their numbers, and the text of its ops.

use crate::{
    choices::{Choices, mix},
    number::Number,
};
use half::{bf16, f16};
use spyre::sim::{Elements, HostArray};

/// More elements, or points of an iteration space, take the simulator of a debug build too long.
pub(crate) const MOST_ELEMENTS: usize = 1 << 13;
pub(crate) const MOST_POINTS: usize = 1 << 17;
pub(crate) const MOST_RANK: usize = 5;

/// What the elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the program's type.
    Float,
    /// `i1`.
    Truth,
    /// `i64`, below a bound.
    Index(usize),
}

/// A tensor with its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) shape: Vec<usize>,
    /// Dimensions of one class have the same indices, so they can have one name.
    pub(crate) classes: Vec<usize>,
    pub(crate) data: Vec<Number>,
    pub(crate) kind: Kind,
}

/// An op: its lines, with `{0}`, `{1}` for its operands. It defines `%v` and the number of its result.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) operands: Vec<usize>,
    pub(crate) result: usize,
    pub(crate) text: String,
}

/// What the elements of an argument are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// Around 1, so that a mean that is not subtracted shows.
    Offset,
    Centred,
    /// A few values, many times each.
    Ties,
    Large,
    Tiny,
    /// Zeros and the lowest number, as a mask that is added.
    Mask,
    /// With infinities.
    Infinite,
}

const DRAWS: [Draw; 12] = [
    Draw::Offset,
    Draw::Offset,
    Draw::Offset,
    Draw::Offset,
    Draw::Centred,
    Draw::Centred,
    Draw::Centred,
    Draw::Ties,
    Draw::Large,
    Draw::Tiny,
    Draw::Mask,
    Draw::Infinite,
];

/// A read of a value in an iteration space: for each of its dimensions the iteration dimension, or none to read it at 0.
pub(crate) type Read = (usize, Vec<Option<usize>>);

pub(crate) struct Builder {
    /// `f16`, `bf16` or `f32`.
    pub(crate) element: &'static str,
    pub(crate) choices: Choices,
    pub(crate) values: Vec<Value>,
    pub(crate) ops: Vec<Op>,
    /// The values that are arguments, in order.
    pub(crate) arguments: Vec<usize>,
    /// Union-find over classes of dimensions.
    parents: Vec<usize>,
}

pub(crate) fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Row-major strides.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

/// Calls with the indices of every point, the last dimension fastest.
pub(crate) fn each_point(sizes: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut indices = vec![0; sizes.len()];
    for _ in 0..sizes.iter().product() {
        visit(&indices);
        for dim in (0..sizes.len()).rev() {
            indices[dim] += 1;
            if indices[dim] < sizes[dim] {
                break;
            }
            indices[dim] = 0;
        }
    }
}

impl Builder {
    pub(crate) fn new(element: &'static str, choices: Choices) -> Self {
        Self { element, choices, values: vec![], ops: vec![], arguments: vec![], parents: vec![] }
    }

    /// A class of its own.
    pub(crate) fn new_class(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    pub(crate) fn class(&self, class: usize) -> usize {
        if self.parents[class] == class { class } else { self.class(self.parents[class]) }
    }

    pub(crate) fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.class(one), self.class(other));
        self.parents[other.max(one)] = one.min(other);
    }

    pub(crate) fn element_of(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Float => self.element,
            Kind::Truth => "i1",
            Kind::Index(_) => "i64",
        }
    }

    pub(crate) fn type_of(&self, shape: &[usize], kind: Kind) -> String {
        let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.element_of(kind))
    }

    pub(crate) fn float_type(&self, shape: &[usize]) -> String {
        self.type_of(shape, Kind::Float)
    }

    pub(crate) fn type_text(&self, value: usize) -> String {
        self.type_of(&self.values[value].shape, self.values[value].kind)
    }

    /// As the program's type has it.
    pub(crate) fn rounded(&self, number: f64) -> f64 {
        match self.element {
            "f16" => f16::from_f64(number).to_f64(),
            "bf16" => bf16::from_f64(number).to_f64(),
            _ => f64::from(number as f32),
        }
    }

    /// The number of the next result, which `%v` is named after.
    pub(crate) fn next(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn push(&mut self, value: Value, operands: &[usize], text: String) -> usize {
        let result = self.next();
        self.values.push(value);
        self.ops.push(Op { operands: operands.to_vec(), result, text });
        result
    }

    /// A new argument with dimensions of these classes.
    pub(crate) fn argument(&mut self, shape: Vec<usize>, classes: Vec<usize>, kind: Kind) -> usize {
        let draw = *self.choices.pick(&DRAWS);
        self.argument_of(shape, classes, kind, draw)
    }

    pub(crate) fn argument_of(&mut self, shape: Vec<usize>, classes: Vec<usize>, kind: Kind, draw: Draw) -> usize {
        let seed = mix(self.arguments.len() as u64 ^ 0xa11c_e000);
        let length: usize = shape.iter().product();
        let data = (0..length as u64).map(|at| Number::exact(self.drawn(kind, draw, mix(seed ^ mix(at))))).collect();
        self.values.push(Value { shape, classes, data, kind });
        let value = self.values.len() - 1;
        self.arguments.push(value);
        value
    }

    fn drawn(&self, kind: Kind, draw: Draw, bits: u64) -> f64 {
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        let number = match (kind, draw) {
            (Kind::Truth, _) => return f64::from(!bits.is_multiple_of(3)),
            (Kind::Index(bound), _) => return (bits % bound as u64) as f64,
            (Kind::Float, Draw::Offset) => 0.5 + unit,
            (Kind::Float, Draw::Centred) => 4.0 * unit - 2.0,
            (Kind::Float, Draw::Ties) => (bits % 3) as f64 - 1.0,
            (Kind::Float, Draw::Large) => 2000.0 * unit - 1000.0,
            (Kind::Float, Draw::Tiny) => (unit - 0.5) * 1e-4,
            (Kind::Float, Draw::Mask) => [0.0, 0.0, -65504.0][(bits % 3) as usize],
            (Kind::Float, Draw::Infinite) => [1.5, unit, f64::INFINITY, f64::NEG_INFINITY, unit - 1.0, unit + 1.0][(bits % 6) as usize],
        };
        self.rounded(number)
    }

    /// An argument as the caller gives it.
    pub(crate) fn host(&self, value: usize) -> HostArray {
        let Value { shape, data, kind, .. } = &self.values[value];
        let numbers = data.iter().map(|number| number.value);
        let elements = match (kind, self.element) {
            (Kind::Truth, _) => Elements::Bool(numbers.map(|number| number as u8).collect()),
            (Kind::Index(_), _) => Elements::I64(numbers.map(|number| number as i64).collect()),
            (Kind::Float, "f16") => Elements::F16(numbers.map(|number| f16::from_f64(number).to_bits()).collect()),
            (Kind::Float, "bf16") => Elements::Bf16(numbers.map(|number| bf16::from_f64(number).to_bits()).collect()),
            (Kind::Float, _) => Elements::F32(numbers.map(|number| number as f32).collect()),
        };
        HostArray { shape: shape.iter().map(|size| *size as i64).collect(), elements }
    }

    /// Values with float elements.
    pub(crate) fn floats(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&value| self.values[value].kind == Kind::Float).collect()
    }

    /// Strides of a read along the iteration dimensions.
    pub(crate) fn steps(&self, read: &Read, rank: usize) -> Vec<usize> {
        let (value, map) = read;
        let mut steps = vec![0; rank];
        for (dim, stride) in map.iter().zip(strides(&self.values[*value].shape)) {
            if let Some(dim) = dim {
                steps[*dim] += stride;
            }
        }
        steps
    }
}

/// The text of a map from an iteration space.
pub(crate) fn map_text(rank: usize, map: &[Option<usize>]) -> String {
    let results = map.iter().map(|dim| dim.map_or_else(|| "0".to_owned(), |dim| format!("d{dim}")));
    format!("affine_map<({}) -> ({})>", list((0..rank).map(|dim| format!("d{dim}"))), list(results))
}
