//! Evaluation of a launch: the files that it executes, their addresses, and their trip counts.

use super::{ReadError, launch::file_number};
use crate::launch::{Launch, SizeBounds};
use sdsc_check::launch::{self, ExecuteView, Fault, Form, LaunchValues, Problem};
use sdsc_format::bundle_text::{Param, ParamType, Stmt, StmtKind, parse};
use std::{collections::BTreeMap, iter::Enumerate, slice};

/// Value of a symbol of a file: a base plus a byte offset, which may advance in the enclosing loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolValue {
    /// Base of the offset.
    pub base: Base,
    /// Bytes above the base in the first iteration of every loop.
    pub offset: i64,
    /// Bytes that one iteration of each enclosing loop adds, outermost first.
    pub strides: Vec<i64>,
}

/// Base of a symbol's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The start of a kernel argument.
    Argument(u32),
    /// The start of the bundle's pool.
    Pool,
    /// Zero: the value is a plain number.
    Number,
    /// No address: the symbol is a size that is known only at launch.
    Size(SizeBounds),
}

/// Pool and steps of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Bytes of the pool; 0 without one.
    pub(super) pool_bytes: i64,
    /// Ops and loops, in execution order.
    pub(super) steps: Vec<Step>,
}

/// Step of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Runs an op. There are no symbols when addresses are baked.
    Op { index: usize, symbols: Option<BTreeMap<i64, SymbolValue>> },
    /// Runs steps repeatedly.
    Loop { count: i64, body: Vec<Step> },
}

/// Evaluates a launch. Its values are computed from its text, as in the checks of the file format.
pub(super) fn evaluate(launch: &Launch) -> Result<Effect, ReadError> {
    let text = launch.to_string();
    let text = parse(&text).map_err(|error| ReadError::launch(error.message))?;
    let values = LaunchValues::of(&text);
    // A bundle of the release may extract parameters, and define symbols of maps, in loops; their values are the same.
    let has_no_value = |problem: &&Problem| !matches!(problem.fault, Fault::ExtractInLoop | Fault::VaryingSymbol);
    if let Some(problem) = values.problems.iter().find(has_no_value) {
        return Err(ReadError::launch(problem.message.clone()));
    }
    let pool_bytes = match values.pools[..] {
        [] => 0,
        [pool] => pool.bytes,
        [..] => return Err(ReadError::launch(format!("allocates {} pools; expected one", values.pools.len()))),
    };
    let mut walk = Walk { params: &text.params, executes: values.executes.iter(), counts: values.loops.iter().enumerate(), around: vec![] };
    let steps = walk.steps(&text.body)?;
    Ok(Effect { pool_bytes, steps })
}

/// The statements once more, beside what was found out about them in the order of the text.
struct Walk<'a> {
    params: &'a [Param<&'a str>],
    executes: slice::Iter<'a, ExecuteView<'a>>,
    counts: Enumerate<slice::Iter<'a, Option<i64>>>,
    /// The numbers of the enclosing loops, outermost first.
    around: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn steps(&mut self, body: &[Stmt<&str>]) -> Result<Vec<Step>, ReadError> {
        let mut steps = Vec::new();
        for statement in body {
            match &statement.kind {
                StmtKind::Execute(_) => {
                    let execute = self.executes.next().expect("every execute of the text has its values");
                    steps.push(self.execute(execute)?);
                }
                StmtKind::For(counted) => {
                    let (number, count) = self.counts.next().expect("every loop of the text has its count");
                    let count = count.expect("a count that is no number is a problem, which was reported");
                    self.around.push(number);
                    let body = self.steps(&counted.body)?;
                    self.around.pop();
                    steps.push(Step::Loop { count, body });
                }
                _ => {}
            }
        }
        Ok(steps)
    }

    fn execute(&self, view: &ExecuteView<'_>) -> Result<Step, ReadError> {
        let file = view.execute.file;
        let index = file_number(file).ok_or_else(|| ReadError::launch(format!("runs '{file}'; the file of op 0 is sdsc_0.json")))?;
        let Some(ids) = &view.execute.symbol_ids else { return Ok(Step::Op { index, symbols: None }) };
        if ids.len() != view.values.len() {
            return Err(ReadError::launch(format!("{file} gets {} values for {} symbols", view.values.len(), ids.len())));
        }
        let symbol = |value: &Option<Form>| self.symbol(value.as_ref().expect("a name without a value is a problem, which was reported"));
        let values = view.values.iter().map(symbol);
        let symbols = ids.iter().zip(values).map(|(id, value)| Ok((*id, value?)));
        Ok(Step::Op { index, symbols: Some(symbols.collect::<Result<_, ReadError>>()?) })
    }

    fn symbol(&self, form: &Form) -> Result<SymbolValue, ReadError> {
        let stride = |number: &usize| form.terms.iter().find(|(level, _)| level == number).map_or(0, |(_, stride)| *stride);
        Ok(SymbolValue { base: self.base(form.base)?, offset: form.constant, strides: self.around.iter().map(stride).collect() })
    }

    fn base(&self, base: Option<launch::Base>) -> Result<Base, ReadError> {
        Ok(match base {
            None => Base::Number,
            Some(launch::Base::Pool(_)) => Base::Pool,
            Some(launch::Base::Argument(number)) => Base::Argument(
                u32::try_from(number)
                    .map_err(|_| ReadError::launch(format!("kernel argument {number} is beyond the last that there can be")))?,
            ),
            Some(launch::Base::Parameter(number)) => match self.params[number].kind {
                ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => Base::Size(SizeBounds { granularity, max }),
                ParamType::InputArg { .. } | ParamType::Index => {
                    return Err(ReadError::launch(format!("'%{}' is no size between bounds", self.params[number].name.name)));
                }
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{AffineMap, Execute, Stmt, name::Name};

    #[test]
    fn addresses_are_sums_of_a_base_and_strides() {
        let (counter, bound) = (Name::Induction(0), Name::LoopBound(0));
        let execute = Execute { op: 0, operands: vec![Name::Address(0)], symbol_ids: Some(vec![-1]) };
        let apply = Stmt::AffineApply { name: Name::Address(0), map: 0, counters: vec![counter], base: Name::PoolAddress(64) };
        let body = vec![
            Stmt::DeviceMemAllocate { name: Name::Pool, bytes: 4096 },
            Stmt::Constant { name: Name::Zero, value: 0 },
            Stmt::Constant { name: Name::One, value: 1 },
            Stmt::Constant { name: bound, value: 3 },
            Stmt::Constant { name: Name::PoolOffset(64), value: 64 },
            Stmt::AddI { name: Name::PoolAddress(64), lhs: Name::Pool, rhs: Name::PoolOffset(64) },
            Stmt::For { counter, bound, body: vec![apply, Stmt::Execute(execute)] },
        ];
        let mut launch = Launch { maps: vec![AffineMap { strides: vec![128] }], body, ..Launch::default() };
        let value = SymbolValue { base: Base::Pool, offset: 64, strides: vec![128] };
        let op = Step::Op { index: 0, symbols: Some(BTreeMap::from([(-1, value)])) };
        let expected = Effect { pool_bytes: 4096, steps: vec![Step::Loop { count: 3, body: vec![op] }] };
        assert_eq!(evaluate(&launch).unwrap(), expected);
        launch.body.remove(4);
        let error = evaluate(&launch).unwrap_err().to_string();
        assert_eq!(error, "bundle.mlir: '%pool_offset_64' is not defined here; a value is defined before it is used");
    }
}
