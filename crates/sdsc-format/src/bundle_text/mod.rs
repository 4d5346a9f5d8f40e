//! The text of `bundle.mlir` as plain values, each with its position ("torch-spyre facts, D.10"; "SuperDSC schema,
//! section 8").
//!
//! One syntax tree has one parser ([`parse`]) and one writer (its `Display`). Names are strings, which the user of the
//! tree resolves. The parser accepts files of other emitters: any white space and comments, quoted attribute names,
//! maps in place, and no `module`. The writer prints as the reference emitter does.

mod affine;
mod lexer;
mod parser;
mod token_stream;
mod writer;

#[cfg(test)]
mod tests;

pub use affine::{AffineEvaluator, AffineOperator, LinearMap, parse_affine};
pub use parser::{has_module, parse};

use std::fmt;

/// Position in the text, counted from 1; columns count bytes. A value that was not parsed is at 0:0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column, in bytes.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// Error in a text that is no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct TextError {
    /// Position of the error.
    pub at: Position,
    /// Description of the error.
    pub message: String,
}

impl TextError {
    /// Creates an error at a position.
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Function of a bundle. `S` is the type of names: `&str` after parsing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleText<S> {
    /// Named maps.
    pub maps: Vec<(Ident<S>, LinearMap)>,
    /// Name of the function.
    pub function: Ident<S>,
    /// Parameters of the function.
    pub params: Vec<Param<S>>,
    /// Statements before `return`.
    pub body: Vec<Stmt<S>>,
}

/// Name of the function of a bundle, which the launcher requires.
pub const FUNCTION_NAME: &str = "sdsc_bundle";

/// Name with its position, without its sigil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ident<S> {
    /// Text of the name.
    pub name: S,
    /// Position of the name.
    pub at: Position,
}

/// Parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<S> {
    /// Name of the parameter.
    pub name: Ident<S>,
    /// Type of the parameter.
    pub kind: ParamType,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// `index`: a number that is known at compile time.
    Index,
    /// `!sdscbundle.input_arg<index, ...>`: a number that is known at launch.
    InputArg {
        /// Number of which the value is a multiple.
        granularity: Option<i64>,
        /// Maximum of the value.
        max: Option<i64>,
    },
}

impl ParamType {
    /// Returns whether the parameter is a symbolic size: only sizes have bounds.
    #[must_use]
    pub const fn is_size(self) -> bool {
        matches!(self, Self::InputArg { granularity, max } if granularity.is_some() || max.is_some())
    }

    /// Returns the number of which the value is a multiple, if the type declares it.
    #[must_use]
    pub const fn granularity(self) -> Option<i64> {
        match self {
            Self::InputArg { granularity, .. } => granularity,
            Self::Index => None,
        }
    }
}

/// Number that an `Extract` statement reads from a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamField {
    /// Number that the launch passes.
    Value,
    /// Granularity: the value is a multiple of it.
    Granularity,
    /// Maximum of the value.
    Max,
}

/// Statement with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt<S> {
    /// Position of the statement.
    pub at: Position,
    /// Kind and operands of the statement.
    pub kind: StmtKind<S>,
}

/// Kind and operands of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind<S> {
    /// Allocates a pool.
    Allocate {
        /// Address of the pool.
        result: Ident<S>,
        /// Size in bytes.
        bytes: i64,
    },
    /// Reads a parameter.
    Extract {
        /// Extracted number.
        result: Ident<S>,
        /// Field of the parameter.
        field: ParamField,
        /// Parameter that is read.
        parameter: Ident<S>,
        /// Type of the parameter, as the statement states it.
        parameter_type: ParamType,
    },
    /// Defines an integer constant.
    Constant {
        /// The result.
        result: Ident<S>,
        /// Value of the constant.
        value: i64,
    },
    /// Adds two numbers.
    Add {
        /// The result.
        result: Ident<S>,
        /// Summands.
        operands: [Ident<S>; 2],
    },
    /// Computes a number from loop counters.
    Apply {
        /// The result.
        result: Ident<S>,
        /// Map that is applied.
        map: MapRef<S>,
        /// Values of the map's dimensions.
        dims: Vec<Ident<S>>,
        /// Values of the map's symbols.
        symbols: Vec<Ident<S>>,
    },
    /// Runs an op.
    Execute(Execute<S>),
    /// Runs statements repeatedly.
    For(ForLoop<S>),
}

/// Reference to a map: by name or in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapRef<S> {
    /// Map of that name.
    Named(Ident<S>),
    /// Map in place.
    Inline(LinearMap),
}

/// Runs an op on its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute<S> {
    /// Values of its symbols.
    pub operands: Vec<Ident<S>>,
    /// File that describes the op.
    pub file: S,
    /// Ids of its symbols; `None` if it lists none.
    pub symbol_ids: Option<Vec<i64>>,
}

/// Runs statements for every value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForLoop<S> {
    /// Counter of the loop.
    pub counter: Ident<S>,
    /// First value of the counter.
    pub lower: Ident<S>,
    /// Exclusive upper bound of the counter.
    pub upper: Ident<S>,
    /// Step of the counter.
    pub step: Ident<S>,
    /// Statements of the loop.
    pub body: Vec<Stmt<S>>,
}
