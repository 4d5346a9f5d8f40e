//! Evaluation of a launch: the files that it executes, their addresses, and their trip counts.

use super::{OpSpecReadError, launch::parse_file_number};
use crate::launch::{Launch, SizeBounds};
use sdsc_check::launch::{self, ExecuteView, LaunchProblem, LaunchProblemKind, LaunchValues, LinearForm};
use sdsc_format::bundle_text::{Param, ParamType, Stmt, StmtKind, parse};
use std::{collections::BTreeMap, iter::Enumerate, slice};

/// Value of a symbol of a file: a base plus a byte offset, which may advance in the enclosing loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolValue {
    /// Base of the offset.
    pub base: SymbolBase,
    /// Bytes above the base in the first iteration of every loop.
    pub offset: i64,
    /// Bytes that one iteration of each enclosing loop adds, outermost first.
    pub strides: Vec<i64>,
}

/// Base of a symbol's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolBase {
    /// The start of a kernel argument.
    Argument(u32),
    /// The start of the bundle's pool.
    Pool,
    /// Zero: the value is a plain number.
    Number,
    /// Not an address: the symbol is a size that is known at launch only.
    Size(SizeBounds),
}

/// Pool and steps of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LaunchEffect {
    /// Bytes of the pool; 0 without one.
    pub(super) pool_bytes: i64,
    /// Ops and loops, in execution order.
    pub(super) steps: Vec<EffectStep>,
}

/// Step of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EffectStep {
    /// Executes an op. There are no symbols if addresses are baked.
    Op { index: usize, symbols: Option<BTreeMap<i64, SymbolValue>> },
    /// Repeats steps, at most `count` times if a symbolic size bounds the loop.
    Loop { count: i64, size: Option<LoopSize>, body: Vec<EffectStep> },
}

/// Symbolic size that bounds a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopSize {
    /// Number among the parameters that are sizes.
    pub(super) number: usize,
    /// Bounds of the size.
    pub(super) bounds: SizeBounds,
    /// Step of the loop.
    pub(super) step: i64,
}

/// Evaluates a launch. Its values are computed from its text, as in the checks of the file format.
pub(super) fn evaluate_launch(launch: &Launch) -> Result<LaunchEffect, OpSpecReadError> {
    let text = launch.to_string();
    let text = parse(&text).map_err(|error| OpSpecReadError::launch(error.message))?;
    let values = LaunchValues::evaluate(&text);
    // A bundle of the release may extract parameters, and define symbols of maps, in loops; their values are the same.
    let has_no_value = |problem: &&LaunchProblem| {
        !matches!(
            problem.kind,
            LaunchProblemKind::ExtractInLoop | LaunchProblemKind::VaryingSymbol | LaunchProblemKind::SizedLoop
        )
    };
    if let Some(problem) = values.problems.iter().find(has_no_value) {
        return Err(OpSpecReadError::launch(problem.message.clone()));
    }
    let pool_bytes = match values.pools[..] {
        [] => 0,
        [pool] => pool.bytes,
        [..] => return Err(OpSpecReadError::launch(format!("allocates {} pools; expected one", values.pools.len()))),
    };
    let mut walk = LaunchWalker {
        params: &text.params,
        executes: values.executes.iter(),
        counts: values.loops.iter().enumerate(),
        loop_sizes: &values.loop_sizes,
        around: vec![],
    };
    let steps = walk.walk_statements(&text.body)?;
    Ok(LaunchEffect { pool_bytes, steps })
}

/// Walk over the statements together with their evaluated values, in the order of the text.
struct LaunchWalker<'a> {
    params: &'a [Param<&'a str>],
    executes: slice::Iter<'a, ExecuteView<'a>>,
    counts: Enumerate<slice::Iter<'a, Option<i64>>>,
    /// Parameter that bounds each loop, and the step.
    loop_sizes: &'a [Option<(usize, i64)>],
    /// Numbers of the enclosing loops, outermost first.
    around: Vec<usize>,
}

impl<'a> LaunchWalker<'a> {
    fn walk_statements(&mut self, body: &[Stmt<&str>]) -> Result<Vec<EffectStep>, OpSpecReadError> {
        let mut steps = Vec::new();
        for statement in body {
            match &statement.kind {
                StmtKind::Execute(_) => {
                    let execute = self.executes.next().expect("every execute of the text has its values");
                    steps.push(self.walk_execute(execute)?);
                }
                StmtKind::For(counted) => {
                    let (number, count) = self.counts.next().expect("every loop of the text has its count");
                    let count = count.expect("a count that is no number is a problem, which was reported");
                    self.around.push(number);
                    let body = self.walk_statements(&counted.body)?;
                    self.around.pop();
                    let size = self.loop_sizes[number].map(|(param, step)| self.loop_size(param, step)).transpose()?;
                    steps.push(EffectStep::Loop { count, size, body });
                }
                _ => {}
            }
        }
        Ok(steps)
    }

    fn loop_size(&self, param: usize, step: i64) -> Result<LoopSize, OpSpecReadError> {
        let is_size = |param: &&Param<&str>| matches!(param.kind, ParamType::InputArg { max: Some(_), .. });
        let number = self.params[..param].iter().filter(is_size).count();
        Ok(LoopSize { number, bounds: self.size_bounds(param)?, step })
    }

    /// Returns the bounds of a parameter that is a size.
    fn size_bounds(&self, param: usize) -> Result<SizeBounds, OpSpecReadError> {
        match self.params[param].kind {
            ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => {
                Ok(SizeBounds { granularity, max })
            }
            ParamType::InputArg { .. } | ParamType::Index => Err(OpSpecReadError::launch(format!(
                "'%{}' is no size between bounds",
                self.params[param].name.name
            ))),
        }
    }

    fn walk_execute(&self, view: &ExecuteView<'_>) -> Result<EffectStep, OpSpecReadError> {
        let file = view.execute.file;
        let index = parse_file_number(file)
            .ok_or_else(|| OpSpecReadError::launch(format!("runs '{file}'; the file of op 0 is sdsc_0.json")))?;
        let Some(ids) = &view.execute.symbol_ids else { return Ok(EffectStep::Op { index, symbols: None }) };
        if ids.len() != view.values.len() {
            return Err(OpSpecReadError::launch(format!(
                "{file} gets {} values for {} symbols",
                view.values.len(),
                ids.len()
            )));
        }
        let symbol = |value: &Option<LinearForm>| {
            self.symbol_value(value.as_ref().expect("a name without a value is a problem, which was reported"))
        };
        let values = view.values.iter().map(symbol);
        let symbols = ids.iter().zip(values).map(|(id, value)| Ok((*id, value?)));
        Ok(EffectStep::Op { index, symbols: Some(symbols.collect::<Result<_, OpSpecReadError>>()?) })
    }

    fn symbol_value(&self, form: &LinearForm) -> Result<SymbolValue, OpSpecReadError> {
        let stride =
            |number: &usize| form.terms.iter().find(|(level, _)| level == number).map_or(0, |(_, stride)| *stride);
        Ok(SymbolValue {
            base: self.symbol_base(form.base)?,
            offset: form.constant,
            strides: self.around.iter().map(stride).collect(),
        })
    }

    fn symbol_base(&self, base: Option<launch::ValueBase>) -> Result<SymbolBase, OpSpecReadError> {
        Ok(match base {
            None => SymbolBase::Number,
            Some(launch::ValueBase::Pool(_)) => SymbolBase::Pool,
            Some(launch::ValueBase::Argument(number)) => SymbolBase::Argument(u32::try_from(number).map_err(|_| {
                OpSpecReadError::launch(format!("kernel argument {number} is beyond the last that there can be"))
            })?),
            Some(launch::ValueBase::Parameter(number)) => SymbolBase::Size(self.size_bounds(number)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{AddressMap, Execute, Stmt, name::ValueName};

    #[test]
    fn evaluates_addresses_to_base_and_strides() {
        let (counter, bound) = (ValueName::Induction(0), ValueName::LoopBound(0));
        let execute = Execute { op: 0, operands: vec![ValueName::Address(0)], symbol_ids: Some(vec![-1]) };
        let apply = Stmt::AffineApply {
            name: ValueName::Address(0),
            map: 0,
            counters: vec![counter],
            base: ValueName::PoolAddress(64),
        };
        let body = vec![
            Stmt::DeviceMemAllocate { name: ValueName::Pool, bytes: 4096 },
            Stmt::Constant { name: ValueName::Zero, value: 0 },
            Stmt::Constant { name: ValueName::One, value: 1 },
            Stmt::Constant { name: bound, value: 3 },
            Stmt::Constant { name: ValueName::PoolOffset(64), value: 64 },
            Stmt::AddI { name: ValueName::PoolAddress(64), lhs: ValueName::Pool, rhs: ValueName::PoolOffset(64) },
            Stmt::For { counter, bound, step: ValueName::One, body: vec![apply, Stmt::Execute(execute)] },
        ];
        let mut launch = Launch { maps: vec![AddressMap { strides: vec![128] }], body, ..Launch::default() };
        let value = SymbolValue { base: SymbolBase::Pool, offset: 64, strides: vec![128] };
        let op = EffectStep::Op { index: 0, symbols: Some(BTreeMap::from([(-1, value)])) };
        let expected = LaunchEffect { pool_bytes: 4096, steps: vec![EffectStep::Loop { count: 3, size: None, body: vec![op] }] };
        assert_eq!(evaluate_launch(&launch).unwrap(), expected);
        launch.body.remove(4);
        let error = evaluate_launch(&launch).unwrap_err().to_string();
        assert_eq!(error, "bundle.mlir: '%pool_offset_64' is not defined here; a value is defined before it is used");
    }
}
