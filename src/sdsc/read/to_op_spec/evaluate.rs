//! Evaluation of a launch: the files that it executes, their addresses, and their trip counts.

use super::{OpSpecReadError, launch::parse_file_number};
use crate::launch::{Launch, SizeBounds};
use machine::STICK_BYTES;
use sdsc_check::launch::{self, ExecuteView, LaunchPool, LaunchProblem, LaunchProblemKind, LaunchValues, LinearForm};
use sdsc_format::bundle_text::{BundleText, Param, ParamType, Stmt, StmtKind, parse};
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
    /// Executes an op. There are no symbols if addresses are baked. `sizes` has the number of the size that a symbol
    /// is, among the parameters that are sizes.
    Op { index: usize, symbols: Option<BTreeMap<i64, SymbolValue>>, sizes: BTreeMap<i64, usize> },
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

impl LoopSize {
    /// Returns the bounds of the size and the step, which are equal in launches with other numbers of parameters.
    pub(super) const fn range(self) -> (SizeBounds, i64) {
        (self.bounds, self.step)
    }
}

/// Launches that the evaluation accepts, and the numbers that files get.
enum AcceptedLaunch {
    /// Launches of the emitter, whose files have numbers in their names.
    Emitted,
    /// All legal launches. Files are numbered in the order of their first executes.
    Legal(Vec<String>),
}

impl AcceptedLaunch {
    /// Returns whether a problem prevents the evaluation. A bundle of the release may extract parameters, allocate
    /// memory, and define symbols of maps, in loops; their values are the same.
    const fn rejects(&self, kind: LaunchProblemKind) -> bool {
        match kind {
            LaunchProblemKind::ExtractInLoop | LaunchProblemKind::VaryingSymbol | LaunchProblemKind::SizedLoop => false,
            LaunchProblemKind::LoopForm | LaunchProblemKind::Pool => matches!(self, Self::Emitted),
            LaunchProblemKind::Definition
            | LaunchProblemKind::Kind
            | LaunchProblemKind::Form
            | LaunchProblemKind::Loop => true,
        }
    }

    /// Returns the number of a file.
    fn number_file(&mut self, file: &str) -> Result<usize, OpSpecReadError> {
        match self {
            Self::Emitted => parse_file_number(file)
                .ok_or_else(|| OpSpecReadError::launch(format!("runs '{file}'; the file of op 0 is sdsc_0.json"))),
            Self::Legal(files) => Ok(files.iter().position(|known| known == file).unwrap_or_else(|| {
                files.push(file.to_owned());
                files.len() - 1
            })),
        }
    }
}

/// Evaluates a launch. Its values are computed from its text, as in the checks of the file format.
pub(super) fn evaluate_launch(launch: &Launch) -> Result<LaunchEffect, OpSpecReadError> {
    let text = launch.to_string();
    let text = parse(&text).map_err(|error| OpSpecReadError::launch(error.message))?;
    evaluate(&text, &mut AcceptedLaunch::Emitted)
}

/// Evaluates the text of any legal `bundle.mlir`; returns the names of the files by their numbers too.
pub(super) fn evaluate_text(text: &str) -> Result<(LaunchEffect, Vec<String>), OpSpecReadError> {
    let text = parse(text).map_err(|error| OpSpecReadError::launch(error.to_string()))?;
    let mut accepted = AcceptedLaunch::Legal(Vec::new());
    let effect = evaluate(&text, &mut accepted)?;
    let AcceptedLaunch::Legal(files) = accepted else { return Ok((effect, Vec::new())) };
    Ok((effect, files))
}

fn evaluate(text: &BundleText<&str>, accepted: &mut AcceptedLaunch) -> Result<LaunchEffect, OpSpecReadError> {
    let values = LaunchValues::evaluate(text);
    let is_rejected = |problem: &&LaunchProblem| accepted.rejects(problem.kind);
    if let Some(problem) = values.problems.iter().find(is_rejected) {
        return Err(OpSpecReadError::launch(problem.message.clone()));
    }
    let (pool_starts, pool_bytes) = place_pools(&values.pools);
    if values.pools.len() > 1 && matches!(accepted, AcceptedLaunch::Emitted) {
        return Err(OpSpecReadError::launch(format!("allocates {} pools; expected one", values.pools.len())));
    }
    let mut walk = LaunchWalker {
        params: &text.params,
        executes: values.executes.iter(),
        counts: values.loops.iter().enumerate(),
        loop_sizes: &values.loop_sizes,
        pool_starts,
        accepted,
        around: vec![],
    };
    let steps = walk.walk_statements(&text.body)?;
    Ok(LaunchEffect { pool_bytes, steps })
}

/// Places pools one after the other in a single pool; returns their starts and the bytes of the single pool.
fn place_pools(pools: &[LaunchPool]) -> (Vec<i64>, i64) {
    let (mut starts, mut end) = (Vec::new(), 0_i64);
    for pool in pools {
        let start = end.saturating_add(STICK_BYTES - 1).div_euclid(STICK_BYTES).saturating_mul(STICK_BYTES);
        starts.push(start);
        end = start.saturating_add(pool.bytes);
    }
    (starts, end)
}

/// Walk over the statements together with their evaluated values, in the order of the text.
struct LaunchWalker<'a> {
    params: &'a [Param<&'a str>],
    executes: slice::Iter<'a, ExecuteView<'a>>,
    counts: Enumerate<slice::Iter<'a, Option<i64>>>,
    /// Parameter that bounds each loop, and the step.
    loop_sizes: &'a [Option<(usize, i64)>],
    /// Start of each pool in the pool of the bundle.
    pool_starts: Vec<i64>,
    accepted: &'a mut AcceptedLaunch,
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
                    // Bounds that are no numbers are a problem, which was reported, so no count means no iteration. A
                    // loop without iterations has no effect.
                    let count = count.unwrap_or(0);
                    self.around.push(number);
                    let body = self.walk_statements(&counted.body)?;
                    self.around.pop();
                    let size = self.loop_sizes[number].map(|(param, step)| self.loop_size(param, step)).transpose()?;
                    if count > 0 {
                        steps.push(EffectStep::Loop { count, size, body });
                    }
                }
                _ => {}
            }
        }
        Ok(steps)
    }

    fn loop_size(&self, param: usize, step: i64) -> Result<LoopSize, OpSpecReadError> {
        Ok(LoopSize { number: self.size_number(param), bounds: self.size_bounds(param)?, step })
    }

    /// Returns the number of a parameter among the parameters that are sizes.
    fn size_number(&self, param: usize) -> usize {
        self.params[..param].iter().filter(|param| param.kind.is_size()).count()
    }

    /// Returns the bounds of a parameter that is a size. Legal launches may leave out a bound, which files state too.
    fn size_bounds(&self, param: usize) -> Result<SizeBounds, OpSpecReadError> {
        match self.params[param].kind {
            ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => {
                Ok(SizeBounds { granularity, max })
            }
            ParamType::InputArg { granularity, max } if matches!(self.accepted, AcceptedLaunch::Legal(_)) => {
                Ok(SizeBounds { granularity: granularity.unwrap_or(1), max: max.unwrap_or(i64::MAX) })
            }
            ParamType::InputArg { .. } | ParamType::Index => {
                Err(OpSpecReadError::launch(format!("'%{}' is no size between bounds", self.params[param].name.name)))
            }
        }
    }

    fn walk_execute(&mut self, view: &ExecuteView<'_>) -> Result<EffectStep, OpSpecReadError> {
        let file = view.execute.file;
        let index = self.accepted.number_file(file)?;
        let Some(ids) = &view.execute.symbol_ids else {
            return Ok(EffectStep::Op { index, symbols: None, sizes: BTreeMap::new() });
        };
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
        let size = |(id, value): (&i64, &Option<LinearForm>)| match value.as_ref()?.base? {
            launch::ValueBase::Parameter(param) => Some((*id, self.size_number(param))),
            launch::ValueBase::Argument(_) | launch::ValueBase::Pool(_) => None,
        };
        Ok(EffectStep::Op {
            index,
            symbols: Some(symbols.collect::<Result<_, OpSpecReadError>>()?),
            sizes: ids.iter().zip(&view.values).filter_map(size).collect(),
        })
    }

    fn symbol_value(&self, form: &LinearForm) -> Result<SymbolValue, OpSpecReadError> {
        let stride =
            |number: &usize| form.terms.iter().find(|(level, _)| level == number).map_or(0, |(_, stride)| *stride);
        let start = match form.base {
            Some(launch::ValueBase::Pool(pool)) => self.pool_starts.get(pool).copied().unwrap_or_default(),
            Some(launch::ValueBase::Argument(_) | launch::ValueBase::Parameter(_)) | None => 0,
        };
        Ok(SymbolValue {
            base: self.symbol_base(form.base)?,
            offset: form.constant.saturating_add(start),
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
        let symbols = Some(BTreeMap::from([(-1, value)]));
        let op = EffectStep::Op { index: 0, symbols, sizes: BTreeMap::new() };
        let steps = vec![EffectStep::Loop { count: 3, size: None, body: vec![op] }];
        let expected = LaunchEffect { pool_bytes: 4096, steps };
        assert_eq!(evaluate_launch(&launch).unwrap(), expected);
        launch.body.remove(4);
        let error = evaluate_launch(&launch).unwrap_err().to_string();
        assert_eq!(error, "bundle.mlir: '%pool_offset_64' is not defined here; a value is defined before it is used");
    }

    #[test]
    fn evaluates_launches_of_other_emitters() {
        let text = "func.func @f(%x: index, %n: !sdscbundle.input_arg<index, max_value=64>) {
            %a = sdscbundle.device_mem_allocate 100 bytes : index
            %b = sdscbundle.device_mem_allocate 256 bytes : index
            %m = sdscbundle.input_arg_extract max_value from %n : !sdscbundle.input_arg<index, max_value=64> -> index
            %size = sdscbundle.input_arg_extract value from %n : !sdscbundle.input_arg<index, max_value=64> -> index
            %c2 = arith.constant 2 : index
            %c6 = arith.constant 6 : index
            scf.for %i = %c2 to %c6 step %c2 {
                %y = affine.apply affine_map<(d0)[s0] -> (s0 + 64*d0)> (%i)[%x]
                sdscbundle.sdsc_execute (%y, %b, %size) {sdsc_filename=\"ops/b.json\", \"symbol_ids\"=[-7, -2, -9]}
            }
            scf.for %j = %c6 to %c2 step %c2 { sdscbundle.sdsc_execute () {sdsc_filename=\"a.json\"} }
            return
        }";
        let (effect, files) = evaluate_text(text).unwrap();
        assert_eq!(files, ["ops/b.json", "a.json"]);
        let value = |base, offset, stride| SymbolValue { base, offset, strides: vec![stride] };
        let symbols = BTreeMap::from([
            (-7, value(SymbolBase::Argument(0), 128, 128)),
            (-2, value(SymbolBase::Pool, 128, 0)),
            (-9, value(SymbolBase::Size(SizeBounds { granularity: 1, max: 64 }), 0, 0)),
        ]);
        let op = EffectStep::Op { index: 0, symbols: Some(symbols), sizes: BTreeMap::from([(-9, 0)]) };
        let steps = vec![EffectStep::Loop { count: 2, size: None, body: vec![op] }];
        assert_eq!(effect, LaunchEffect { pool_bytes: 384, steps });
    }
}
