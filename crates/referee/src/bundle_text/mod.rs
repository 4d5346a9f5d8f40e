//! `bundle.mlir` as a small program over addresses.
//!
//! A reader of its own, without MLIR: the referee must not share a parser with what it judges. It knows what the SuperDSC-Bundle
//! specification allows and nothing else.

mod affine;
mod lexer;
mod parser;

#[cfg(test)]
mod tests;

pub use affine::{Affine, AffineMap};
pub use lexer::TextError;
pub use parser::parse;

/// A value of the program, by number.
pub type Value = usize;

/// A parsed `bundle.mlir`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// The parameters, in order; they are the first values.
    pub parameters: Vec<Parameter>,
    /// The number of values.
    pub n_values: usize,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A parameter of the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name without `%`.
    pub name: String,
    /// The bounds of a size; without them the parameter is the address of a kernel argument.
    pub size: Option<SizeBounds>,
}

/// The bounds of a symbolic size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeBounds {
    /// The size is a multiple of this.
    pub granularity: i64,
    /// The largest size.
    pub max: i64,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `%result = ...`
    Define {
        /// The value.
        result: Value,
        /// What it is.
        expression: Expression,
    },
    /// `scf.for`
    For {
        /// The iterator.
        iterator: Value,
        /// Its first value.
        lower: Value,
        /// The value that it stays below.
        upper: Value,
        /// What it grows by.
        step: Value,
        /// The statements of one iteration.
        body: Vec<Statement>,
    },
    /// `sdscbundle.sdsc_execute`
    Execute {
        /// The file, in the folder of the bundle.
        file: String,
        /// The values of the symbols.
        operands: Vec<Value>,
        /// The symbols, one for each operand; without them the operands are numbered -1, -2, ...
        symbols: Option<Vec<i64>>,
        /// The line of the statement, from 1.
        line: usize,
    },
}

/// The right side of a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// `arith.constant`
    Constant(i64),
    /// `arith.addi`
    Add(Value, Value),
    /// `affine.apply`
    Apply {
        /// The map.
        map: AffineMap,
        /// Its dimensions, then its symbols.
        operands: Vec<Value>,
    },
    /// `sdscbundle.input_arg_extract value from`
    Extract(Value),
    /// `sdscbundle.device_mem_allocate`: the address of so many bytes of HBM.
    Allocate(i64),
}

impl Bundle {
    /// The bytes of HBM that the bundle allocates for itself, in order.
    #[must_use]
    pub fn pools(&self) -> Vec<i64> {
        let mut pools = Vec::new();
        collect(&self.body, &mut |statement| {
            if let Statement::Define { expression: Expression::Allocate(bytes), .. } = statement {
                pools.push(*bytes);
            }
        });
        pools
    }

    /// The files that it executes, each once, in the order of the text.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        collect(&self.body, &mut |statement| {
            if let Statement::Execute { file, .. } = statement
                && !files.contains(file)
            {
                files.push(file.clone());
            }
        });
        files
    }
}

fn collect(statements: &[Statement], visit: &mut impl FnMut(&Statement)) {
    for statement in statements {
        visit(statement);
        if let Statement::For { body, .. } = statement {
            collect(body, visit);
        }
    }
}
