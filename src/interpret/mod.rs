//! Interpreter of `spyre` ops over complete tensors: the semantics of a program after any phase up to `lx`.
//!
//! It ignores device layouts, memories and cores, so passes that decide about these must not change its results. Over
//! [`FiniteField`](element::FiniteField) elements, two programs agree only if they compute the same function; in
//! [`F64Arithmetic`](element::F64Arithmetic), it computes the results without the rounding of device formats. Constants
//! have the values in the program, not those rounded to device formats: the simulator reads both from the files.

mod array;
mod eval_program;
mod evaluate;
mod hidden_errors;
mod positions;
mod read;
mod sample;
mod selection;
mod unroll;

pub use array::EvalArray;
pub use eval_program::{ConstantLiteral, EvalBlock, EvalFunction, EvalLoop, EvalOp, EvalOpKind, EvalTensor, ValueId};
pub use evaluate::evaluate_function;
pub use hidden_errors::{find_clobbered_value, may_read_nonzero_padding};
pub use positions::PositionSequence;
pub use read::{UninterpretableOp, read_function, read_functions};
pub use sample::FunctionSample;
pub use selection::ElementSelection;

/// Reason why an op cannot be evaluated. The op verifiers exclude all faults except those that depend on index values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// Index out of range of its table.
    #[error("index {index} is out of bounds of a table with {size} rows")]
    Index {
        /// The index.
        index: i64,
        /// Row count of the table.
        size: usize,
    },
    /// Unwritten index.
    #[error("an op reads an index that no op has written")]
    UnwrittenIndex,
    /// Unknown device function.
    #[error("the interpreter has no function '{name}'")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// Wrong number of values.
    #[error("expected {expected} values, found {found}")]
    Count {
        /// Required number.
        expected: usize,
        /// Number found.
        found: usize,
    },
    /// Out-of-bounds access, or mismatched shapes.
    #[error("the sizes of an access do not fit a tensor of shape {shape:?}")]
    OutOfBounds {
        /// Shape of the tensor.
        shape: Vec<usize>,
    },
    /// Positions in place of numbers, or the reverse.
    #[error("an op uses integers as numbers, or numbers as integers")]
    KindMismatch,
    /// Too many ops after unrolling.
    #[error("the unrolled loops have more than {limit} ops")]
    TooManyOps {
        /// Maximum number of ops.
        limit: usize,
    },
    /// Use of a value before its definition.
    #[error("an op reads a value before it is computed")]
    UndefinedValue,
}

impl EvaluationError {
    fn unknown_function(name: &str) -> Self {
        Self::Unknown { name: name.to_owned() }
    }
}
