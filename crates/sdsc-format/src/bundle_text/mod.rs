//! The text of `bundle.mlir` as plain values, each with its place ("torch-spyre facts, D.10"; "SuperDSC schema, section 8").
//!
//! The parser is independent of the emitter and of MLIR: names and lines of the text are wanted in messages, and a check that
//! shared code with what it checks would share its mistakes. White space and comments are free, attribute names may be quoted,
//! maps may be written where they are used, and the bundle may leave out `module`.

mod affine;
mod lexer;
mod parser;

pub use affine::Map;
pub use parser::parse;

use std::fmt;

/// A place in the text, counted from 1; columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// What is wrong there.
    pub message: String,
}

impl TextError {
    fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// The function of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleText<'a> {
    /// The maps that have names.
    pub maps: Vec<(Ident<'a>, Map)>,
    /// The parameters.
    pub params: Vec<Param<'a>>,
    /// The statements before `return`.
    pub body: Vec<Stmt<'a>>,
}

/// A name where it stands, without its sigil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident<'a> {
    /// The name.
    pub name: &'a str,
    /// Where it stands.
    pub at: Position,
}

/// A parameter of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// Its name.
    pub name: Ident<'a>,
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

/// What is read of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The number that the launch gives.
    Value,
    /// What it is a multiple of.
    Granularity,
    /// What it is at most.
    Max,
}

/// A statement where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt<'a> {
    /// Where it stands.
    pub at: Position,
    /// What it says.
    pub kind: StmtKind<'a>,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind<'a> {
    /// Allocates a pool.
    Allocate {
        /// Its address.
        result: Ident<'a>,
        /// Its size.
        bytes: i64,
    },
    /// Reads a parameter.
    Extract {
        /// The number.
        result: Ident<'a>,
        /// Which of the parameter's numbers.
        field: Field,
        /// The parameter.
        parameter: Ident<'a>,
    },
    /// A number.
    Constant {
        /// The result.
        result: Ident<'a>,
        /// The number.
        value: i64,
    },
    /// A sum.
    Add {
        /// The result.
        result: Ident<'a>,
        /// The summands.
        operands: [Ident<'a>; 2],
    },
    /// A number that follows from loop counters.
    Apply {
        /// The result.
        result: Ident<'a>,
        /// How it follows.
        map: MapRef<'a>,
        /// The values of the map's dimensions.
        dims: Vec<Ident<'a>>,
        /// The values of the map's symbols.
        symbols: Vec<Ident<'a>>,
    },
    /// Runs an op.
    Execute(Execute<'a>),
    /// Runs statements repeatedly.
    For(For<'a>),
}

/// A map, by name or in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapRef<'a> {
    /// The map of that name.
    Named(Ident<'a>),
    /// This map.
    Inline(Map),
}

/// Runs an op on its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The values of its symbols.
    pub operands: Vec<Ident<'a>>,
    /// The file that describes it.
    pub file: &'a str,
    /// The ids of its symbols; none when the file names no symbols.
    pub symbol_ids: Option<Vec<i64>>,
}

/// Runs statements for every value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For<'a> {
    /// The counter.
    pub counter: Ident<'a>,
    /// Its first value.
    pub lower: Ident<'a>,
    /// What it stays below.
    pub upper: Ident<'a>,
    /// From one value to the next.
    pub step: Ident<'a>,
    /// The statements.
    pub body: Vec<Stmt<'a>>,
}
