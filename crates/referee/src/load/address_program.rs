//! `bundle.mlir` as a small program over addresses in SSA form: values are numbered, and defined once, before their
//! uses.
//!
//! The compiler and the referee share the syntax tree of the text ([`sdsc_format::bundle_text`]). The referee computes
//! its meaning here, and accepts only constructs of the SuperDSC-Bundle specification.

#[cfg(test)]
mod tests;

use sdsc_format::bundle_text::{
    self, BundleText, Ident, LinearMap, MapRef, ParamField, ParamType, Position, Stmt, StmtKind, TextError,
};
use std::collections::BTreeMap;

/// Number of a value of the program.
pub type ValueId = usize;

/// A parsed `bundle.mlir`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleProgram {
    /// The parameters, in order; they are the first values.
    pub parameters: Vec<Parameter>,
    /// The number of values.
    pub num_values: usize,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A parameter of the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name without `%`.
    pub name: String,
    /// Bounds, if the parameter is a symbolic size; otherwise it is the address of a kernel argument.
    pub size: Option<SizeBounds>,
}

/// The bounds of a symbolic size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBounds {
    /// Divisor of every legal size.
    pub granularity: i64,
    /// Maximum size.
    pub max: i64,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `%result = ...`
    Define {
        /// The value.
        result: ValueId,
        /// Expression that defines the value.
        expression: Expression,
    },
    /// `scf.for`
    For {
        /// The iterator.
        iterator: ValueId,
        /// Lower bound.
        lower: ValueId,
        /// Upper bound, exclusive.
        upper: ValueId,
        /// Step of the iterator.
        step: ValueId,
        /// The statements of one iteration.
        body: Vec<Statement>,
    },
    /// `sdscbundle.sdsc_execute`
    Execute {
        /// The file, in the folder of the bundle.
        file: String,
        /// The values of the symbols.
        operands: Vec<ValueId>,
        /// The symbols, one for each operand; `None` stands for -1, -2, ...
        symbols: Option<Vec<i64>>,
    },
}

/// Right side of a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// `arith.constant`
    Constant(i64),
    /// `arith.addi`
    Add(ValueId, ValueId),
    /// `affine.apply`
    Apply {
        /// The map.
        map: LinearMap,
        /// Its dimensions, then its symbols.
        operands: Vec<ValueId>,
    },
    /// `sdscbundle.input_arg_extract value from`
    Extract(ValueId),
    /// `sdscbundle.device_mem_allocate`: the address of a pool, the same in each iteration of a loop.
    Allocate {
        /// The number of the pool in the order of the text.
        pool: usize,
        /// Its bytes.
        bytes: i64,
    },
}

impl BundleProgram {
    /// Returns the sizes in bytes of the HBM pools that the bundle allocates for itself, in order.
    #[must_use]
    pub fn pool_sizes(&self) -> Vec<i64> {
        let mut pools = Vec::new();
        self.visit_statements(&mut |statement| {
            if let Statement::Define { expression: Expression::Allocate { bytes, .. }, .. } = statement {
                pools.push(*bytes);
            }
        });
        pools
    }

    /// Returns the files that the bundle executes, each once, in the order of the text.
    #[must_use]
    pub fn executed_files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        self.visit_statements(&mut |statement| {
            if let Statement::Execute { file, .. } = statement
                && !files.contains(file)
            {
                files.push(file.clone());
            }
        });
        files
    }

    /// Visits every statement in the order of the text; a loop before its body.
    pub(crate) fn visit_statements(&self, visit: &mut impl FnMut(&Statement)) {
        visit_statements(&self.body, visit);
    }

    /// Returns the kernel argument whose address a parameter is, in a launch with `num_arguments` arguments; `None` for
    /// a symbolic size.
    ///
    /// Arguments that no op uses have no parameter. If an argument lacks one, the parameters are matched by name.
    #[must_use]
    pub fn argument_number(&self, parameter: usize, num_arguments: usize) -> Option<usize> {
        let is_address = |parameter: &&Parameter| parameter.size.is_none();
        let found = self.parameters.get(parameter).filter(is_address)?;
        let num_addresses = self.parameters.iter().filter(is_address).count();
        if num_addresses == num_arguments {
            return Some(self.parameters[..parameter].iter().filter(is_address).count());
        }
        found.name.strip_prefix("arg_").and_then(|rest| rest.split('_').next()?.parse().ok())
    }
}

fn visit_statements(statements: &[Statement], visit: &mut impl FnMut(&Statement)) {
    for statement in statements {
        visit(statement);
        if let Statement::For { body, .. } = statement {
            visit_statements(body, visit);
        }
    }
}

/// Parses a `bundle.mlir`.
///
/// # Errors
/// The text violates the format, or uses an undefined name. The error has the first such position.
pub fn parse(text: &str) -> Result<BundleProgram, TextError> {
    let tree = bundle_text::parse(text)?;
    let mut names = SymbolTable {
        maps: BTreeMap::new(),
        scopes: vec![BTreeMap::new()],
        kinds: BTreeMap::new(),
        num_values: 0,
        num_pools: 0,
    };
    names.define_maps(&tree)?;
    let parameters = tree.params.iter().map(|parameter| names.define_parameter(parameter)).collect::<Result<_, _>>()?;
    let body = names.convert_statements(&tree.body)?;
    Ok(BundleProgram { parameters, num_values: names.num_values, body })
}

fn reject<T>(at: Position, message: impl Into<String>) -> Result<T, TextError> {
    Err(TextError::new(at, message))
}

/// Symbol table: affine maps and values by name.
struct SymbolTable<'a> {
    maps: BTreeMap<&'a str, &'a LinearMap>,
    /// Values by name, one scope for the function and one for each enclosing loop.
    scopes: Vec<BTreeMap<&'a str, ValueId>>,
    /// Types of the parameters, by name.
    kinds: BTreeMap<&'a str, ParamType>,
    num_values: usize,
    num_pools: usize,
}

impl<'a> SymbolTable<'a> {
    fn define_maps(&mut self, tree: &'a BundleText<&'a str>) -> Result<(), TextError> {
        for (name, map) in &tree.maps {
            if self.maps.insert(name.name, map).is_some() {
                return reject(name.at, format!("'#{}' is defined twice", name.name));
            }
        }
        Ok(())
    }

    fn define_parameter(&mut self, parameter: &bundle_text::Param<&'a str>) -> Result<Parameter, TextError> {
        let name = parameter.name;
        self.define(name)?;
        self.kinds.insert(name.name, parameter.kind);
        let size = match parameter.kind {
            // An address without bounds needs no extraction.
            ParamType::InputArg { granularity: None, max: None } | ParamType::Index => None,
            // Without a granularity every size is legal.
            ParamType::InputArg { granularity, max: Some(max) } => {
                Some(SizeBounds { granularity: granularity.unwrap_or(1), max })
            }
            ParamType::InputArg { max: None, .. } => {
                return reject(
                    name.at,
                    format!("the size '%{}' has a granularity and no 'max_value', which it needs", name.name),
                );
            }
        };
        Ok(Parameter { name: name.name.to_owned(), size })
    }

    /// Returns the bound that the type of a parameter declares.
    fn find_bound(&self, parameter: Ident<&'a str>, field: ParamField) -> Result<i64, TextError> {
        let bound = match (self.kinds.get(parameter.name), field) {
            (Some(ParamType::InputArg { granularity, .. }), ParamField::Granularity) => *granularity,
            (Some(ParamType::InputArg { max, .. }), ParamField::Max) => *max,
            (Some(_), _) | (None, _) => None,
        };
        bound.map_or_else(
            || reject(parameter.at, format!("the type of '%{}' declares no '{field}'", parameter.name)),
            Ok,
        )
    }

    fn convert_statements(&mut self, body: &'a [Stmt<&'a str>]) -> Result<Vec<Statement>, TextError> {
        body.iter().map(|statement| self.convert_statement(statement)).collect()
    }

    fn convert_statement(&mut self, statement: &'a Stmt<&'a str>) -> Result<Statement, TextError> {
        let (result, expression) = match &statement.kind {
            StmtKind::Allocate { result, bytes } => {
                let pool = self.num_pools;
                self.num_pools += 1;
                (result, Expression::Allocate { pool, bytes: *bytes })
            }
            StmtKind::Extract { result, field: ParamField::Value, parameter, .. } => {
                (result, Expression::Extract(self.resolve_value(*parameter)?))
            }
            StmtKind::Extract { result, field, parameter, .. } => {
                (result, Expression::Constant(self.find_bound(*parameter, *field)?))
            }
            StmtKind::Constant { result, value } => (result, Expression::Constant(*value)),
            StmtKind::Add { result, operands: [left, right] } => {
                (result, Expression::Add(self.resolve_value(*left)?, self.resolve_value(*right)?))
            }
            StmtKind::Apply { result, map, dims, symbols } => {
                (result, self.convert_apply(statement.at, map, dims, symbols)?)
            }
            StmtKind::Execute(execute) => return self.convert_execute(statement.at, execute),
            StmtKind::For(counted) => return self.convert_loop(counted),
        };
        Ok(Statement::Define { result: self.define(*result)?, expression })
    }

    fn convert_apply(
        &self,
        at: Position,
        map: &MapRef<&'a str>,
        dims: &[Ident<&'a str>],
        symbols: &[Ident<&'a str>],
    ) -> Result<Expression, TextError> {
        let map = match map {
            MapRef::Inline(map) => map,
            MapRef::Named(name) => match self.maps.get(name.name) {
                Some(map) => map,
                None => return reject(name.at, format!("'#{}' is not defined", name.name)),
            },
        };
        if (dims.len(), symbols.len()) != (map.dims.len(), map.symbols.len()) {
            return reject(
                at,
                format!("the map takes {} dimensions and {} symbols", map.dims.len(), map.symbols.len()),
            );
        }
        Ok(Expression::Apply { map: map.clone(), operands: self.resolve_values(dims.iter().chain(symbols))? })
    }

    fn convert_execute(&self, at: Position, execute: &bundle_text::Execute<&'a str>) -> Result<Statement, TextError> {
        let operands = self.resolve_values(&execute.operands)?;
        if let Some(symbols) = &execute.symbol_ids
            && symbols.len() != operands.len()
        {
            return reject(at, format!("{} operands but {} symbols", operands.len(), symbols.len()));
        }
        Ok(Statement::Execute { file: execute.file.to_owned(), operands, symbols: execute.symbol_ids.clone() })
    }

    fn convert_loop(&mut self, counted: &'a bundle_text::ForLoop<&'a str>) -> Result<Statement, TextError> {
        let [lower, upper, step] =
            [self.resolve_value(counted.lower)?, self.resolve_value(counted.upper)?, self.resolve_value(counted.step)?];
        self.scopes.push(BTreeMap::new());
        let iterator = self.define(counted.counter)?;
        let body = self.convert_statements(&counted.body)?;
        self.scopes.pop();
        Ok(Statement::For { iterator, lower, upper, step, body })
    }

    fn resolve_values<'n>(&self, names: impl IntoIterator<Item = &'n Ident<&'a str>>) -> Result<Vec<ValueId>, TextError>
    where
        'a: 'n,
    {
        names.into_iter().map(|name| self.resolve_value(*name)).collect()
    }

    fn resolve_value(&self, name: Ident<&'a str>) -> Result<ValueId, TextError> {
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(name.name).copied());
        known.map_or_else(|| reject(name.at, format!("'%{}' is not defined", name.name)), Ok)
    }

    fn define(&mut self, name: Ident<&'a str>) -> Result<ValueId, TextError> {
        if self.scopes.iter().any(|scope| scope.contains_key(name.name)) {
            return reject(name.at, format!("'%{}' is no name of a new value", name.name));
        }
        let value = self.num_values;
        self.num_values += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.name, value);
        }
        Ok(value)
    }
}

/// Evaluates an affine map; `operands` are its dimensions, then its symbols. Returns `None` on overflow.
pub(crate) fn evaluate_map(map: &LinearMap, operands: &[i64]) -> Option<i64> {
    let factors = map.dims.iter().chain(&map.symbols);
    factors
        .zip(operands)
        .try_fold(map.constant, |sum, (factor, operand)| sum.checked_add(factor.checked_mul(*operand)?))
}
