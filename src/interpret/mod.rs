//! An interpreter of `spyre` ops over whole tensors: what a program computes after any phase up to `lx`.
//!
//! It knows no device layout, no tile of memory, no place and no core, so a pass that decides about these must not change what it gives.
//! Over [`Field`](element::Field) elements two programs agree only if they compute the same thing; over
//! [`Exact`](element::Exact) ones it says what a program means. The numbers that a program has in itself are what it says, not
//! what the device's formats make of them: the simulator knows them from the files, too.
//!
//! | file | what |
//! |---|---|
//! | `program` | a function of `spyre` ops as plain values |
//! | `read` | from IR to these: the only file that knows MLIR |
//! | `evaluate` | what the ops compute, over any kind of elements |
//! | `array`, `walk` | tensors of elements, and moving elements between them |
//! | `selection` | some elements of a tensor |
//! | `unseen` | what such results do not show: buffers that loops overwrite, and padding |
//! | `unroll`, `sample` | the part of a function that some elements of its results depend on |

mod array;
mod evaluate;
mod program;
mod read;
mod sample;
mod selection;
mod unroll;
mod unseen;
mod walk;

pub use array::Array;
pub use evaluate::evaluate;
pub use program::{Block, Function, Kind, Literal, Loop, Operation, Tensor, ValueId};
pub use read::{Unreadable, read_function, read_functions};
pub use sample::Sampled;
pub use selection::Selection;
pub use unseen::{has_wrong_padding, overwritten};
pub use walk::Walk;

/// Reason why an op cannot be evaluated. The verifiers of the ops exclude all faults except those that depend on index values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// An index beyond its table.
    #[error("an index is {index}, its table has {size} rows")]
    Index {
        /// The index.
        index: i64,
        /// Rows of the table.
        size: usize,
    },
    /// An index that nothing has written.
    #[error("an index is read that nothing has written")]
    UnwrittenIndex,
    /// A function that the interpreter does not know.
    #[error("'{name}' is no function of the interpreter")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// More or fewer values than there must be.
    #[error("found {found} values, where {expected} are needed")]
    Count {
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An access beyond a tensor, or shapes that do not fit.
    #[error("a tensor of shape {shape:?} is read or written under sizes that do not fit")]
    Outside {
        /// The sizes of the tensor.
        shape: Vec<usize>,
    },
    /// Positions where numbers must be, or the other way round.
    #[error("an op takes integers for numbers, or numbers for integers")]
    Mixed,
    /// More ops than are unrolled.
    #[error("its loops have more than {limit} ops when they are unrolled")]
    TooManyOps {
        /// The most.
        limit: usize,
    },
    /// A value that is read where it is not there.
    #[error("a value is read before it is made")]
    Gone,
}

impl Fault {
    fn unknown(name: &str) -> Self {
        Self::Unknown { name: name.to_owned() }
    }
}
