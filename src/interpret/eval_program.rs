//! Plain-value representation of a function of `spyre` ops, without layouts, memories and cores.

use super::positions::PositionSequence;
use crate::mlir::{decode_e4m3fn, decode_e5m2};
use machine::ElementType;
use program::affine::AffineExpression;

/// Index of a value in [`EvalFunction::values`].
pub type ValueId = usize;

/// Shape and element type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalTensor {
    /// Sizes of the dimensions.
    pub shape: Vec<usize>,
    /// Type of the elements.
    pub element: ElementType,
}

impl EvalTensor {
    /// Returns the number of elements.
    #[must_use]
    pub fn length(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Elements of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantLiteral<'a> {
    /// Row-major and little endian; truth values may be packed, eight in a byte.
    pub bytes: &'a [u8],
    /// Whether a single element stands for all (splat).
    pub is_splat: bool,
    /// Type of the elements.
    pub element: ElementType,
}

impl ConstantLiteral<'_> {
    /// Returns whether the number of bytes matches `length` elements.
    #[must_use]
    pub fn has_length(&self, length: usize) -> bool {
        let length = if self.is_splat { 1 } else { length };
        self.bytes.len() == length * self.element.bytes() || self.is_packed(length)
    }

    fn is_packed(&self, length: usize) -> bool {
        self.element == ElementType::Bool && !self.is_splat && self.bytes.len() == length.div_ceil(8) && length > 1
    }

    /// Returns element `index` of `length` as a number.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "integers of a program are below 2^53; as positions they are read by `integer`"
    )]
    pub fn read_f64(&self, index: usize, length: usize) -> f64 {
        match self.element {
            ElementType::F16 => half::f16::from_le_bytes(self.read_raw(index)).to_f64(),
            ElementType::Bf16 => half::bf16::from_le_bytes(self.read_raw(index)).to_f64(),
            ElementType::F8E4M3Fn => decode_e4m3fn(u8::from_le_bytes(self.read_raw(index))),
            ElementType::F8E5M2 => decode_e5m2(u8::from_le_bytes(self.read_raw(index))),
            ElementType::F32 => f64::from(f32::from_le_bytes(self.read_raw(index))),
            ElementType::F64 => f64::from_le_bytes(self.read_raw(index)),
            ElementType::Bool => f64::from(u8::from(self.read_bool(index, length))),
            ElementType::I8 | ElementType::I32 | ElementType::I64 | ElementType::Index => {
                self.read_integer(index) as f64
            }
        }
    }

    /// Returns element `index` as an integer; 0 for other types.
    #[must_use]
    pub fn read_integer(&self, index: usize) -> i64 {
        match self.element {
            ElementType::I8 => i64::from(i8::from_le_bytes(self.read_raw(index))),
            ElementType::I32 => i64::from(i32::from_le_bytes(self.read_raw(index))),
            ElementType::I64 | ElementType::Index => i64::from_le_bytes(self.read_raw(index)),
            ElementType::F16
            | ElementType::Bf16
            | ElementType::F32
            | ElementType::F64
            | ElementType::F8E4M3Fn
            | ElementType::F8E5M2
            | ElementType::Bool => 0,
        }
    }

    fn read_bool(&self, index: usize, length: usize) -> bool {
        if self.is_packed(length) {
            (self.bytes[index / 8] >> (index % 8)) & 1 == 1
        } else {
            self.read_raw::<1>(index) != [0]
        }
    }

    fn read_raw<const WIDTH: usize>(&self, index: usize) -> [u8; WIDTH] {
        let index = if self.is_splat { 0 } else { index };
        self.bytes.as_chunks().0[index]
    }
}

/// Function whose first values are its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalFunction<'a> {
    /// Name of the function.
    pub name: String,
    /// Half-open range of the integers of each argument; `None` if unknown.
    pub ranges: Vec<Option<[i64; 2]>>,
    /// All values of the function.
    pub values: Vec<EvalTensor>,
    /// Body of the function.
    pub body: EvalBlock<'a>,
}

impl EvalFunction<'_> {
    /// Returns the element operations of one execution: iteration points, and elements moved.
    #[must_use]
    pub fn count_operations(&self) -> u64 {
        self.count_weighted_operations(|_| 1)
    }

    /// Returns the element operations of one execution, each multiplied by the weight of its op; scopes and loops have
    /// none of their own.
    #[must_use]
    pub fn count_weighted_operations(&self, weight: impl Fn(&EvalOp<'_>) -> u64 + Copy) -> u64 {
        self.count_block_operations(&self.body, weight)
    }

    fn count_block_operations(&self, block: &EvalBlock<'_>, weight: impl Fn(&EvalOp<'_>) -> u64 + Copy) -> u64 {
        let steps = |op: &EvalOp<'_>| match &op.kind {
            EvalOpKind::Scope(body) => self.count_block_operations(body, weight),
            EvalOpKind::Loop(around) => {
                self.count_block_operations(&around.body, weight).saturating_mul(around.count as u64)
            }
            _ => self.count_op_operations(op).saturating_mul(weight(op)),
        };
        block.ops.iter().map(steps).fold(0, u64::saturating_add)
    }

    /// Returns the element operations of one execution of an op.
    #[must_use]
    pub fn count_op_operations(&self, op: &EvalOp<'_>) -> u64 {
        let elements = |id: Option<&ValueId>| id.map_or(0, |id| self.values[*id].length() as u64);
        match &op.kind {
            EvalOpKind::Reduce { .. } => elements(op.inputs.first()),
            EvalOpKind::Matmul => {
                let columns = op.outputs.first().and_then(|id| self.values[*id].shape.last()).copied().unwrap_or(1);
                elements(op.inputs.first()).saturating_mul(columns as u64)
            }
            EvalOpKind::Insert { .. } => elements(op.inputs.first()),
            EvalOpKind::Scope(body) => self.count_block_operations(body, |_| 1),
            EvalOpKind::Loop(around) => {
                self.count_block_operations(&around.body, |_| 1).saturating_mul(around.count as u64)
            }
            _ => elements(op.outputs.first()),
        }
    }
}

/// Ops in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvalBlock<'a> {
    /// Values that the block receives from outside.
    pub arguments: Vec<ValueId>,
    /// The ops.
    pub ops: Vec<EvalOp<'a>>,
    /// Values that the block returns.
    pub yields: Vec<ValueId>,
}

/// Op with its operands and results.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalOp<'a> {
    /// Kind of the op.
    pub kind: EvalOpKind<'a>,
    /// Operands of the op.
    pub inputs: Vec<ValueId>,
    /// Results of the op.
    pub outputs: Vec<ValueId>,
}

/// Kind of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalOpKind<'a> {
    /// Constant tensor.
    Constant(ConstantLiteral<'a>),
    /// Tensor filled with one number.
    Fill(f64),
    /// Elementwise device function; dimensions of size 1 are broadcast.
    Pointwise {
        /// Name of the function in the table of device functions.
        function: String,
        /// Constants of the function, in the table's order.
        constants: Vec<f64>,
    },
    /// Device function that reduces dimensions, which remain with size 1.
    Reduce {
        /// Name of the function in the table of device functions.
        function: String,
        /// Constants of the function, in the table's order.
        constants: Vec<f64>,
        /// Reduced dimensions.
        dims: Vec<usize>,
    },
    /// Matrix multiplication over equal batch dimensions.
    Matmul,
    /// Rows of the first input along a dimension, selected by the second input.
    Gather {
        /// Indexed dimension of the table.
        dim: usize,
    },
    /// Copy of the input, regardless of memories.
    Copy,
    /// Unwritten tensor.
    Empty,
    /// Writes the first input to the window of the second that begins at `offsets`.
    Insert {
        /// First position along each dimension.
        offsets: Vec<usize>,
    },
    /// View: the index along each input dimension, in terms of the result's dimensions.
    View(Vec<AffineExpression>),
    /// Elements of the input that a walk visits. Programs do not contain it; it replaces ops in samples, where not all
    /// elements are needed.
    Pick(PositionSequence),
    /// Ops of a scope, executed inline.
    Scope(EvalBlock<'a>),
    /// Iterations over tiles.
    Loop(EvalLoop<'a>),
}

/// Counted loop.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalLoop<'a> {
    /// Number of iterations.
    pub count: usize,
    /// Tiled dimension of each input; `None` for a loop-carried input.
    pub read: Vec<Option<usize>>,
    /// Dimension along which the tiles of each result are concatenated; `None` for a loop-carried result.
    pub given: Vec<Option<usize>>,
    /// Ops of one iteration.
    pub body: EvalBlock<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_of_literals() {
        let halves: Vec<u8> =
            [1.5_f32, -2.0].iter().flat_map(|value| half::f16::from_f32(*value).to_le_bytes()).collect();
        let literal = ConstantLiteral { bytes: &halves, is_splat: false, element: ElementType::F16 };
        assert!(literal.has_length(2) && !literal.has_length(3));
        assert_eq!([literal.read_f64(0, 2), literal.read_f64(1, 2)], [1.5, -2.0]);
        let splat = ConstantLiteral { bytes: &7_i64.to_le_bytes(), is_splat: true, element: ElementType::I64 };
        assert!(splat.has_length(100) && splat.read_integer(99) == 7);
    }

    #[test]
    fn reads_booleans_from_bits_or_bytes() {
        let numbers = |bytes, is_splat| {
            let literal = ConstantLiteral { bytes, is_splat, element: ElementType::Bool };
            (0..3).map(|index| literal.read_f64(index, 3)).collect::<Vec<f64>>()
        };
        assert_eq!(numbers(&[0b101], false), [1.0, 0.0, 1.0]);
        assert_eq!(numbers(&[0, 1, 1], false), [0.0, 1.0, 1.0]);
        assert_eq!(numbers(&[0xff], true), [1.0; 3]);
    }
}
