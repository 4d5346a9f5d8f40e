//! The text of `bundle.mlir` as plain values, each with its place ("torch-spyre facts, D.10"; "SuperDSC schema, section
//! 8").
//!
//! One syntax tree, with one reader ([`parse`]) and one writer (its `Display`). Names are strings of the text, or of
//! whoever builds a tree; what they stand for is for the reader of the tree to find out. What is read may be anybody's:
//! white space and comments are free, attribute names may be quoted, maps may be written where they are used, and the
//! bundle may leave out `module`. What is written is written as the reference emitter does.

mod affine;
mod lexer;
mod parser;
mod token_stream;
mod writer;

#[cfg(test)]
mod tests;

pub use affine::{AffineEvaluator, AffineOperator, LinearMap, parse_affine};
pub use parser::parse;

use std::fmt;

/// A place in the text, counted from 1; columns count bytes. What stands in no text yet is at 0:0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A text that is no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct TextError {
    /// Where.
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

/// The function of a bundle; `S` are its names, `&str` where they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleText<S> {
    /// The maps that have names.
    pub maps: Vec<(Ident<S>, LinearMap)>,
    /// The name of the function.
    pub function: Ident<S>,
    /// The parameters.
    pub params: Vec<Param<S>>,
    /// The statements before `return`.
    pub body: Vec<Stmt<S>>,
}

/// The name of the function of every bundle that a launcher takes.
pub const FUNCTION_NAME: &str = "sdsc_bundle";

/// A name where it stands, without its sigil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ident<S> {
    /// The name.
    pub name: S,
    /// Where it stands.
    pub at: Position,
}

/// A parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<S> {
    /// Its name.
    pub name: Ident<S>,
    /// Its type.
    pub kind: ParamType,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// `index`: a number that is known when the bundle is compiled.
    Index,
    /// `!sdscbundle.input_arg<index, ...>`: a number that is known at launch.
    InputArg {
        /// It is a multiple of this.
        granularity: Option<i64>,
        /// It is at most this.
        max: Option<i64>,
    },
}

/// Number that an `Extract` statement reads from a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamField {
    /// The number that the launch gives.
    Value,
    /// The granularity: the value is a multiple of it.
    Granularity,
    /// The maximum of the value.
    Max,
}

/// A statement where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt<S> {
    /// Where it stands.
    pub at: Position,
    /// Kind and operands of the statement.
    pub kind: StmtKind<S>,
}

/// Kind and operands of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind<S> {
    /// Allocates a pool.
    Allocate {
        /// Its address.
        result: Ident<S>,
        /// Its size.
        bytes: i64,
    },
    /// Reads a parameter.
    Extract {
        /// The number.
        result: Ident<S>,
        /// Which of the parameter's numbers.
        field: ParamField,
        /// The parameter.
        parameter: Ident<S>,
        /// The type that is written behind it.
        parameter_type: ParamType,
    },
    /// A number.
    Constant {
        /// The result.
        result: Ident<S>,
        /// The number.
        value: i64,
    },
    /// A sum.
    Add {
        /// The result.
        result: Ident<S>,
        /// The summands.
        operands: [Ident<S>; 2],
    },
    /// A number that follows from loop counters.
    Apply {
        /// The result.
        result: Ident<S>,
        /// How it follows.
        map: MapRef<S>,
        /// The values of the map's dimensions.
        dims: Vec<Ident<S>>,
        /// The values of the map's symbols.
        symbols: Vec<Ident<S>>,
    },
    /// Runs an op.
    Execute(Execute<S>),
    /// Runs statements repeatedly.
    For(ForLoop<S>),
}

/// A map, by name or in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapRef<S> {
    /// The map of that name.
    Named(Ident<S>),
    /// This map.
    Inline(LinearMap),
}

/// Runs an op on its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute<S> {
    /// The values of its symbols.
    pub operands: Vec<Ident<S>>,
    /// The file that describes it.
    pub file: S,
    /// The ids of its symbols; none when the file names no symbols.
    pub symbol_ids: Option<Vec<i64>>,
}

/// Runs statements for every value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForLoop<S> {
    /// The counter.
    pub counter: Ident<S>,
    /// Its first value.
    pub lower: Ident<S>,
    /// Exclusive upper bound of the counter.
    pub upper: Ident<S>,
    /// From one value to the next.
    pub step: Ident<S>,
    /// The statements.
    pub body: Vec<Stmt<S>>,
}
