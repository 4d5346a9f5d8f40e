//! The names of the values in `bundle.mlir` ("SuperDSC schema, section 8"). Names carry no meaning for the back end.

use std::fmt;

/// The name of a value, without the `%`. Equal names are the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// The bundle's pool.
    Pool,
    /// The function's parameter for a kernel argument.
    ArgumentBase(u32),
    /// The address of a kernel argument.
    Argument(u32),
    /// The function's parameter for a symbolic size.
    SizeBase(SizeName),
    /// A symbolic size.
    Size(SizeName),
    /// The constant 0.
    Zero,
    /// The constant 1.
    One,
    /// The count of a loop.
    LoopBound(usize),
    /// The counter of a loop.
    Induction(usize),
    /// The offset of [`Self::Slice`].
    SliceOffset(SliceName),
    /// A part of a kernel argument.
    Slice(SliceName),
    /// The offset of [`Self::Core`].
    CoreOffset(SliceName, i64),
    /// The part of a core: a slice, and bytes above it.
    Core(SliceName, i64),
    /// The offset of [`Self::PoolAddress`].
    PoolOffset(i64),
    /// A place in the pool.
    PoolAddress(i64),
    /// A symbol that is a plain number, by its id without the sign.
    Symbol(i64),
    /// An address that moves with the enclosing loops.
    Address(usize),
}

/// A symbolic size: the op where it first occurs, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeName {
    /// The depth-first number of the op.
    pub op: usize,
    /// The number within the op, from 1.
    pub ordinal: usize,
}

/// A part of a kernel argument; the argument itself when `front` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceName {
    /// The argument.
    pub argument: u32,
    /// Bytes above its base.
    pub front: i64,
}

impl SliceName {
    /// The name of the value at the start of the part.
    #[must_use]
    pub const fn start(self) -> Name {
        if self.front == 0 { Name::Argument(self.argument) } else { Name::Slice(self) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool => formatter.write_str("pool"),
            Self::ArgumentBase(argument) => write!(formatter, "arg_{argument}_base_addr"),
            Self::Argument(argument) => write!(formatter, "arg_{argument}"),
            Self::SizeBase(size) => write!(formatter, "sym_{}_{}_base", size.op, size.ordinal),
            Self::Size(size) => write!(formatter, "sym_{}_{}", size.op, size.ordinal),
            Self::Zero => formatter.write_str("c0"),
            Self::One => formatter.write_str("c1"),
            Self::LoopBound(index) => write!(formatter, "loop_bound_{index}"),
            Self::Induction(index) => write!(formatter, "i_{index}"),
            Self::SliceOffset(slice) => write!(formatter, "arg_{}_slice_offset_{}", slice.argument, slice.front),
            Self::Slice(slice) => write!(formatter, "arg_{}_slice_{}", slice.argument, slice.front),
            Self::CoreOffset(slice, bytes) => write!(formatter, "{}_core_offset_{bytes}", slice.start()),
            Self::Core(slice, bytes) => write!(formatter, "{}_core_{bytes}", slice.start()),
            Self::PoolOffset(bytes) => write!(formatter, "pool_offset_{bytes}"),
            Self::PoolAddress(bytes) => write!(formatter, "pool_addr_{bytes}"),
            Self::Symbol(id) => write!(formatter, "sym_{id}"),
            Self::Address(index) => write!(formatter, "addr_{index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_named_after_the_part_it_is_counted_from() {
        let whole = SliceName { argument: 2, front: 0 };
        let part = SliceName { argument: 2, front: 128 };
        assert_eq!(Name::Core(whole, 64).to_string(), "arg_2_core_64");
        assert_eq!(Name::CoreOffset(part, 64).to_string(), "arg_2_slice_128_core_offset_64");
    }
}
