//! Builder of a program: its values with their numbers, and the text of its ops.

use crate::random::{
    choices::{Choices, mix},
    number::BoundedValue,
};
use half::{bf16, f16};
use referee::{ArrayElements, HostArray};

/// Maximum number of elements of a value, or points of an iteration space, so that debug builds of the simulator are
/// fast enough.
pub(crate) const MAX_ELEMENTS: usize = 1 << 13;
pub(crate) const MAX_POINTS: usize = 1 << 17;
pub(crate) const MAX_RANK: usize = 6;

/// Kind of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementKind {
    /// Float type of the program.
    Float,
    /// `f32` between 16-bit values.
    Wide,
    /// `i1`.
    Boolean,
    /// `i64` or `i32`, below a bound.
    Index { bound: usize, is_short: bool },
}

/// Tensor with its numbers.
#[derive(Clone, Debug)]
pub(crate) struct TensorValue {
    pub(crate) shape: Vec<usize>,
    /// Classes of the dimensions. Dimensions of one class have the same indices, so they can have one name.
    pub(crate) classes: Vec<usize>,
    pub(crate) data: Vec<BoundedValue>,
    pub(crate) kind: ElementKind,
}

/// An op: its lines, with `{0}`, `{1}` for its operands. It defines `%v` and the number of its result.
#[derive(Clone, Debug)]
pub(crate) struct ProgramOp {
    pub(crate) operands: Vec<usize>,
    pub(crate) result: usize,
    pub(crate) text: String,
    /// Classes and sizes of its iteration dimensions, which a hint may tile; empty for a view.
    pub(crate) dims: Vec<(usize, usize)>,
    /// Classes of the last dimensions of its operands and result, which may be stick dimensions.
    pub(crate) last: Vec<usize>,
}

/// Distribution of the elements of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementDistribution {
    /// Around 1, so that a missing subtraction of a mean is detected.
    Offset,
    Centred,
    /// A few values, each repeated.
    Ties,
    Large,
    Tiny,
    /// Zeros and the lowest number, as in an additive mask.
    Mask,
    /// Some infinities.
    Infinite,
}

const DISTRIBUTIONS: [ElementDistribution; 12] = [
    ElementDistribution::Offset,
    ElementDistribution::Offset,
    ElementDistribution::Offset,
    ElementDistribution::Offset,
    ElementDistribution::Centred,
    ElementDistribution::Centred,
    ElementDistribution::Centred,
    ElementDistribution::Ties,
    ElementDistribution::Large,
    ElementDistribution::Tiny,
    ElementDistribution::Mask,
    ElementDistribution::Infinite,
];

/// Read of a value in an iteration space. Each dimension of the value has its iteration dimension, or `None` for index
/// 0.
pub(crate) type OperandRead = (usize, Vec<Option<usize>>);

pub(crate) struct ProgramBuilder {
    /// `f16`, `bf16` or `f32`.
    pub(crate) element: &'static str,
    /// Kind of the numbers in current computations.
    pub(crate) kind: ElementKind,
    pub(crate) choices: Choices,
    pub(crate) values: Vec<TensorValue>,
    pub(crate) ops: Vec<ProgramOp>,
    /// Arguments, in order.
    pub(crate) arguments: Vec<usize>,
    /// Class and size of the dimension along which all reductions of a cascade are.
    pub(crate) axis: Option<(usize, usize)>,
    /// Called functions, as text.
    pub(crate) functions: String,
    pub(crate) most_elements: usize,
    pub(crate) most_points: usize,
    /// Whether slices begin at any offset, and sizes are arbitrary.
    pub(crate) is_at_any_offset: bool,
    /// Union-find over classes of dimensions.
    parents: Vec<usize>,
}

pub(crate) fn join_list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Computes row-major strides.
pub(crate) fn compute_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
}

/// Calls `visit` with the indices of every point, last dimension fastest.
pub(crate) fn for_each_point(sizes: &[usize], mut visit: impl FnMut(&[usize])) {
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

impl ProgramBuilder {
    pub(crate) fn new(element: &'static str, choices: Choices) -> Self {
        let (values, ops, arguments, parents, functions) = (vec![], vec![], vec![], vec![], String::new());
        let (most_elements, most_points) = (MAX_ELEMENTS, MAX_POINTS);
        Self {
            element,
            kind: ElementKind::Float,
            choices,
            values,
            ops,
            arguments,
            axis: None,
            functions,
            most_elements,
            most_points,
            is_at_any_offset: false,
            parents,
        }
    }

    /// Returns a new class.
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

    pub(crate) fn element_type(&self, kind: ElementKind) -> &'static str {
        match kind {
            ElementKind::Float => self.element,
            ElementKind::Wide => "f32",
            ElementKind::Boolean => "i1",
            ElementKind::Index { is_short: true, .. } => "i32",
            ElementKind::Index { .. } => "i64",
        }
    }

    pub(crate) fn type_of(&self, shape: &[usize], kind: ElementKind) -> String {
        let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{sizes}{}>", self.element_type(kind))
    }

    pub(crate) fn float_type(&self, shape: &[usize]) -> String {
        self.type_of(shape, self.kind)
    }

    pub(crate) fn type_text(&self, value: usize) -> String {
        self.type_of(&self.values[value].shape, self.values[value].kind)
    }

    /// Rounds a number to the program's type.
    pub(crate) fn round(&self, number: f64) -> f64 {
        match self.element {
            "f16" => f16::from_f64(number).to_f64(),
            "bf16" => bf16::from_f64(number).to_f64(),
            _ => f64::from(number as f32),
        }
    }

    /// Returns the number of the next result, after which `%v` is named.
    pub(crate) fn next_number(&self) -> usize {
        self.values.len()
    }

    /// Appends an op that accesses its operands with other indices.
    pub(crate) fn push(&mut self, value: TensorValue, operands: &[usize], text: String) -> usize {
        self.push_over(value, operands, text, vec![])
    }

    /// Appends an op with iteration dimensions of these classes and sizes.
    pub(crate) fn push_over(
        &mut self,
        value: TensorValue,
        operands: &[usize],
        text: String,
        dims: Vec<(usize, usize)>,
    ) -> usize {
        let result = self.next_number();
        self.values.push(value);
        let last =
            operands.iter().chain([&result]).filter_map(|&value| self.values[value].classes.last().copied()).collect();
        self.ops.push(ProgramOp { operands: operands.to_vec(), result, text, dims, last });
        result
    }

    /// Computes in f32 within a 16-bit program: values that `part` creates have this type.
    pub(crate) fn with_f32<R>(&mut self, part: impl FnOnce(&mut Self) -> R) -> R {
        let element = std::mem::replace(&mut self.element, "f32");
        self.kind = ElementKind::Wide;
        let made = part(self);
        (self.element, self.kind) = (element, ElementKind::Float);
        made
    }

    /// Adds an argument with dimensions of these classes.
    pub(crate) fn add_argument(&mut self, shape: Vec<usize>, classes: Vec<usize>, kind: ElementKind) -> usize {
        let draw = *self.choices.pick(&DISTRIBUTIONS);
        self.add_argument_with(shape, classes, kind, draw)
    }

    pub(crate) fn add_argument_with(
        &mut self,
        shape: Vec<usize>,
        classes: Vec<usize>,
        kind: ElementKind,
        draw: ElementDistribution,
    ) -> usize {
        let seed = mix(self.arguments.len() as u64 ^ 0xa11c_e000);
        let length: usize = shape.iter().product();
        let data = (0..length as u64)
            .map(|at| BoundedValue::from_exact(self.draw_element(kind, draw, mix(seed ^ mix(at)))))
            .collect();
        self.values.push(TensorValue { shape, classes, data, kind });
        let value = self.values.len() - 1;
        self.arguments.push(value);
        value
    }

    fn draw_element(&self, kind: ElementKind, draw: ElementDistribution, bits: u64) -> f64 {
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        let number = match (kind, draw) {
            (ElementKind::Boolean, _) => return f64::from(!bits.is_multiple_of(3)),
            (ElementKind::Index { bound, .. }, _) => return (bits % bound as u64) as f64,
            (_, ElementDistribution::Offset) => 0.5 + unit,
            (_, ElementDistribution::Centred) => 4.0 * unit - 2.0,
            (_, ElementDistribution::Ties) => (bits % 3) as f64 - 1.0,
            (_, ElementDistribution::Large) => 2000.0 * unit - 1000.0,
            (_, ElementDistribution::Tiny) => (unit - 0.5) * 1e-4,
            (_, ElementDistribution::Mask) => [0.0, 0.0, -65504.0][(bits % 3) as usize],
            (_, ElementDistribution::Infinite) => {
                [1.5, unit, f64::INFINITY, f64::NEG_INFINITY, unit - 1.0, unit + 1.0][(bits % 6) as usize]
            }
        };
        self.round(number)
    }

    /// Converts an argument to the caller's form.
    pub(crate) fn to_host_array(&self, value: usize) -> HostArray {
        let TensorValue { shape, data, kind, .. } = &self.values[value];
        let numbers = data.iter().map(|number| number.value);
        let elements = match (kind, self.element) {
            (ElementKind::Boolean, _) => ArrayElements::Bool(numbers.map(|number| number as u8).collect()),
            (ElementKind::Index { is_short: true, .. }, _) => {
                ArrayElements::I32(numbers.map(|number| number as i32).collect())
            }
            (ElementKind::Index { .. }, _) => ArrayElements::I64(numbers.map(|number| number as i64).collect()),
            (ElementKind::Float, "f16") => {
                ArrayElements::F16(numbers.map(|number| f16::from_f64(number).to_bits()).collect())
            }
            (ElementKind::Float, "bf16") => {
                ArrayElements::Bf16(numbers.map(|number| bf16::from_f64(number).to_bits()).collect())
            }
            (ElementKind::Float | ElementKind::Wide, _) => {
                ArrayElements::F32(numbers.map(|number| number as f32).collect())
            }
        };
        HostArray { shape: shape.iter().map(|size| *size as i64).collect(), elements }
    }

    /// Returns the values of the current kind.
    pub(crate) fn float_values(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&value| self.values[value].kind == self.kind).collect()
    }

    pub(crate) fn shape(&self, value: usize) -> Vec<usize> {
        self.values[value].shape.clone()
    }

    /// Returns a read of a value at the indices of the iteration space.
    pub(crate) fn identity_read(&self, value: usize) -> OperandRead {
        (value, (0..self.values[value].shape.len()).map(Some).collect())
    }

    /// Returns the strides of a read along the iteration dimensions.
    pub(crate) fn read_strides(&self, read: &OperandRead, rank: usize) -> Vec<usize> {
        let (value, map) = read;
        let mut steps = vec![0; rank];
        for (dim, stride) in map.iter().zip(compute_strides(&self.values[*value].shape)) {
            if let Some(dim) = dim {
                steps[*dim] += stride;
            }
        }
        steps
    }
}

/// Formats a map from an iteration space.
pub(crate) fn map_text(rank: usize, map: &[Option<usize>]) -> String {
    let results = map.iter().map(|dim| dim.map_or_else(|| "0".to_owned(), |dim| format!("d{dim}")));
    format!("affine_map<({}) -> ({})>", join_list((0..rank).map(|dim| format!("d{dim}"))), join_list(results))
}
