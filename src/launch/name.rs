//! Names of the values in `bundle.mlir` ("SuperDSC schema, section 8"). The back end ignores names.

use std::fmt;
use std::str::FromStr;

/// Name of a value, without the `%`. Equal names denote the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueName {
    /// Pool of the bundle.
    Pool,
    /// Parameter of the function for a kernel argument.
    ArgumentBase(u32),
    /// Address of a kernel argument.
    Argument(u32),
    /// Parameter of the function for a symbolic size.
    SizeBase(SizeName),
    /// Symbolic size.
    Size(SizeName),
    /// Parameter of the function for a symbolic size that bounds loops, by its number.
    LoopSizeBase(usize),
    /// Symbolic size that bounds loops.
    LoopSize(usize),
    /// Constant 0.
    Zero,
    /// Constant 1.
    One,
    /// Constant trip count of a loop.
    LoopBound(usize),
    /// Step of a loop that is bounded by a symbolic size.
    LoopStep(usize),
    /// Counter of a loop.
    Induction(usize),
    /// Offset of [`Self::Slice`].
    SliceOffset(SliceName),
    /// Address of a slice of a kernel argument.
    Slice(SliceName),
    /// Offset of [`Self::Core`].
    CoreOffset(SliceName, i64),
    /// Address of a core's slice: a slice, and bytes above it.
    Core(SliceName, i64),
    /// Offset of [`Self::PoolAddress`].
    PoolOffset(i64),
    /// Address in the pool.
    PoolAddress(i64),
    /// Symbol that is a plain number, by its id without the sign.
    Symbol(i64),
    /// Address that moves with the enclosing loops.
    Address(usize),
}

/// Symbolic size: the op that uses it first, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeName {
    /// Depth-first number of the op.
    pub op: usize,
    /// Number within the op, from 1.
    pub ordinal: usize,
}

/// Slice of a kernel argument; the argument itself if `front` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceName {
    /// Number of the argument.
    pub argument: u32,
    /// Bytes above the base of the argument.
    pub front: i64,
}

impl SliceName {
    /// Returns the name of the value at the start of the slice.
    #[must_use]
    pub const fn start_name(self) -> ValueName {
        if self.front == 0 { ValueName::Argument(self.argument) } else { ValueName::Slice(self) }
    }
}

impl fmt::Display for ValueName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool => formatter.write_str("pool"),
            Self::ArgumentBase(argument) => write!(formatter, "arg_{argument}_base_addr"),
            Self::Argument(argument) => write!(formatter, "arg_{argument}"),
            Self::SizeBase(size) => write!(formatter, "sym_{}_{}_base", size.op, size.ordinal),
            Self::Size(size) => write!(formatter, "sym_{}_{}", size.op, size.ordinal),
            Self::LoopSizeBase(index) => write!(formatter, "dim_{index}_base"),
            Self::LoopSize(index) => write!(formatter, "dim_{index}"),
            Self::Zero => formatter.write_str("c0"),
            Self::One => formatter.write_str("c1"),
            Self::LoopBound(index) => write!(formatter, "loop_bound_{index}"),
            Self::LoopStep(index) => write!(formatter, "step_{index}"),
            Self::Induction(index) => write!(formatter, "i_{index}"),
            Self::SliceOffset(slice) => write!(formatter, "arg_{}_slice_offset_{}", slice.argument, slice.front),
            Self::Slice(slice) => write!(formatter, "arg_{}_slice_{}", slice.argument, slice.front),
            Self::CoreOffset(slice, bytes) => write!(formatter, "{}_core_offset_{bytes}", slice.start_name()),
            Self::Core(slice, bytes) => write!(formatter, "{}_core_{bytes}", slice.start_name()),
            Self::PoolOffset(bytes) => write!(formatter, "pool_offset_{bytes}"),
            Self::PoolAddress(bytes) => write!(formatter, "pool_addr_{bytes}"),
            Self::Symbol(id) => write!(formatter, "sym_{id}"),
            Self::Address(index) => write!(formatter, "addr_{index}"),
        }
    }
}

/// Parses a name as printed; fails for any other text.
impl FromStr for ValueName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (head, numbers) = split_words_and_numbers(text);
        let argument = |position: usize| numbers.get(position).and_then(|&number| u32::try_from(number).ok()).ok_or(());
        let index = |position: usize| numbers.get(position).and_then(|&number| usize::try_from(number).ok()).ok_or(());
        let number = |position: usize| numbers.get(position).copied().ok_or(());
        let whole = || argument(0).map(|argument| SliceName { argument, front: 0 });
        let part = || Ok(SliceName { argument: argument(0)?, front: number(1)? });
        let size = || Ok(SizeName { op: index(0)?, ordinal: index(1)? });
        let name = match (head.as_str(), numbers.len()) {
            ("pool", 0) => Self::Pool,
            ("arg_#_base_addr", 1) => Self::ArgumentBase(argument(0)?),
            ("arg_#", 1) => Self::Argument(argument(0)?),
            ("sym_#_#_base", 2) => Self::SizeBase(size()?),
            ("sym_#_#", 2) => Self::Size(size()?),
            ("dim_#_base", 1) => Self::LoopSizeBase(index(0)?),
            ("dim_#", 1) => Self::LoopSize(index(0)?),
            ("loop_bound_#", 1) => Self::LoopBound(index(0)?),
            ("step_#", 1) => Self::LoopStep(index(0)?),
            ("i_#", 1) => Self::Induction(index(0)?),
            ("arg_#_slice_offset_#", 2) => Self::SliceOffset(part()?),
            ("arg_#_slice_#", 2) => Self::Slice(part()?),
            ("arg_#_core_offset_#", 2) => Self::CoreOffset(whole()?, number(1)?),
            ("arg_#_slice_#_core_offset_#", 3) => Self::CoreOffset(part()?, number(2)?),
            ("arg_#_core_#", 2) => Self::Core(whole()?, number(1)?),
            ("arg_#_slice_#_core_#", 3) => Self::Core(part()?, number(2)?),
            ("pool_offset_#", 1) => Self::PoolOffset(number(0)?),
            ("pool_addr_#", 1) => Self::PoolAddress(number(0)?),
            ("sym_#", 1) => Self::Symbol(number(0)?),
            ("addr_#", 1) => Self::Address(index(0)?),
            ("c#", 1) if text == "c0" => Self::Zero,
            ("c#", 1) if text == "c1" => Self::One,
            _ => return Err(()),
        };
        // A text that prints differently, such as one with leading zeros, is another name.
        if name.to_string() == text { Ok(name) } else { Err(()) }
    }
}

/// Returns the text with every number replaced by `#`, and the numbers.
fn split_words_and_numbers(text: &str) -> (String, Vec<i64>) {
    let (mut head, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end =
            rest[start..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |length| start + length);
        head.push_str(&rest[..start]);
        head.push('#');
        numbers.push(rest[start..end].parse().unwrap_or(-1));
        rest = &rest[end..];
    }
    head.push_str(rest);
    (head, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_printed_names() {
        let (whole, part) = (SliceName { argument: 2, front: 0 }, SliceName { argument: 3, front: 256 });
        let size = SizeName { op: 4, ordinal: 1 };
        let names = [
            ValueName::Pool,
            ValueName::ArgumentBase(1),
            ValueName::Argument(12),
            ValueName::SizeBase(size),
            ValueName::Size(size),
            ValueName::Zero,
            ValueName::One,
            ValueName::LoopBound(0),
            ValueName::Induction(3),
            ValueName::SliceOffset(part),
            ValueName::Slice(part),
            ValueName::CoreOffset(whole, 64),
            ValueName::CoreOffset(part, 64),
            ValueName::Core(whole, 64),
            ValueName::Core(part, 64),
            ValueName::PoolOffset(0),
            ValueName::PoolAddress(128),
            ValueName::Symbol(9),
            ValueName::Address(7),
        ];
        for name in names {
            assert_eq!(name.to_string().parse(), Ok(name), "{name}");
        }
        for other in ["", "arg", "arg_", "arg_01", "c2", "addr_1_2", "x_1"] {
            assert_eq!(other.parse::<ValueName>(), Err(()), "{other}");
        }
    }

    #[test]
    fn names_core_after_its_slice() {
        let whole = SliceName { argument: 2, front: 0 };
        let part = SliceName { argument: 2, front: 128 };
        assert_eq!(ValueName::Core(whole, 64).to_string(), "arg_2_core_64");
        assert_eq!(ValueName::CoreOffset(part, 64).to_string(), "arg_2_slice_128_core_offset_64");
    }
}
