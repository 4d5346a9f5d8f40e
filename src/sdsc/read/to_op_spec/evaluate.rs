//! What the statements of a launch compute: which file runs on which addresses. Names are not looked at, so a launch may call its
//! values as it likes.

use super::ReadError;
use crate::launch::name::Name;
use crate::launch::{Execute, Launch, Param, SizeBounds, Stmt};
use std::collections::BTreeMap;

/// What a symbol of a file stands for: a base and bytes above it, which may move with the enclosing loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolValue {
    /// What the offset is counted from.
    pub base: Base,
    /// Bytes above the base in the first iteration of every loop.
    pub offset: i64,
    /// Bytes that one iteration of each enclosing loop adds, outermost first.
    pub strides: Vec<i64>,
}

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The start of a kernel argument.
    Argument(u32),
    /// The start of the bundle's pool.
    Pool,
    /// Nothing: it is a plain number.
    Number,
    /// It is no address but a size that is known at launch only.
    Size(SizeBounds),
}

/// What a launch does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Bytes of the pool; 0 without one.
    pub(super) pool_bytes: i64,
    /// What runs.
    pub(super) steps: Vec<Step>,
}

/// One thing that a launch does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Runs an op. There are no symbols when addresses are baked.
    Op { index: usize, symbols: Option<BTreeMap<i64, SymbolValue>> },
    /// Runs steps repeatedly.
    Loop { count: i64, body: Vec<Step> },
}

/// Loops that may stand in each other, so that no launch makes a reader overflow its stack.
const MAX_LOOPS: usize = 64;

/// What a launch does.
pub(super) fn evaluate(launch: &Launch) -> Result<Effect, ReadError> {
    let mut evaluator = Evaluator { launch, values: BTreeMap::new(), counters: Vec::new(), pool_bytes: 0 };
    let steps = evaluator.steps(&launch.body)?;
    Ok(Effect { pool_bytes: evaluator.pool_bytes, steps })
}

#[derive(Clone, Debug)]
struct Sum {
    base: Base,
    offset: i64,
    strides: BTreeMap<Name, i64>,
}

impl Sum {
    const fn of(base: Base, offset: i64) -> Self {
        Self { base, offset, strides: BTreeMap::new() }
    }
}

struct Evaluator<'a> {
    launch: &'a Launch,
    values: BTreeMap<Name, Sum>,
    /// Those of the enclosing loops, outermost first.
    counters: Vec<Name>,
    pool_bytes: i64,
}

impl Evaluator<'_> {
    fn steps(&mut self, body: &[Stmt]) -> Result<Vec<Step>, ReadError> {
        let mut steps = Vec::new();
        for statement in body {
            match statement {
                Stmt::Execute(execute) => steps.push(self.execute(execute)?),
                Stmt::For { counter, bound, body } => steps.push(self.counted_loop(*counter, *bound, body)?),
                Stmt::DeviceMemAllocate { name, bytes } => {
                    self.pool_bytes = *bytes;
                    self.values.insert(*name, Sum::of(Base::Pool, 0));
                }
                Stmt::InputArgExtract { param } => {
                    let base = self.base_of(param)?;
                    self.values.insert(param.value, Sum::of(base, 0));
                }
                Stmt::Constant { name, value } => {
                    self.values.insert(*name, Sum::of(Base::Number, *value));
                }
                Stmt::AddI { name, lhs, rhs } => {
                    let sum = self.sum(*lhs, *rhs)?;
                    self.values.insert(*name, sum);
                }
                Stmt::AffineApply { name, map, counters, base } => {
                    let sum = self.apply(*map, counters, *base)?;
                    self.values.insert(*name, sum);
                }
            }
        }
        Ok(steps)
    }

    fn value(&self, name: Name) -> Result<&Sum, ReadError> {
        self.values.get(&name).ok_or_else(|| ReadError::launch(format!("%{name} is used before it is defined")))
    }

    /// Kernel arguments are numbered by the name of their parameter; where it says nothing, by position.
    fn base_of(&self, param: &Param) -> Result<Base, ReadError> {
        if let Some(bounds) = param.bounds {
            return Ok(Base::Size(bounds));
        }
        if let Name::ArgumentBase(argument) = param.name {
            return Ok(Base::Argument(argument));
        }
        let position = self.launch.params.iter().position(|known| known.name == param.name);
        let argument = position.and_then(|position| u32::try_from(position).ok());
        argument.map(Base::Argument).ok_or_else(|| ReadError::launch(format!("%{} is no parameter", param.name)))
    }

    fn sum(&self, lhs: Name, rhs: Name) -> Result<Sum, ReadError> {
        let (left, right) = (self.value(lhs)?, self.value(rhs)?);
        let ((base, Base::Number) | (Base::Number, base)) = (left.base, right.base) else {
            return Err(ReadError::launch(format!("%{lhs} and %{rhs} are both addresses or sizes; their sum means nothing")));
        };
        let mut sum = Sum { base, offset: left.offset.saturating_add(right.offset), strides: left.strides.clone() };
        for (counter, stride) in &right.strides {
            add_stride(&mut sum, *counter, *stride);
        }
        Ok(sum)
    }

    fn apply(&self, map: usize, counters: &[Name], base: Name) -> Result<Sum, ReadError> {
        let map = self.launch.maps.get(map).filter(|map| map.strides.len() == counters.len());
        let map =
            map.ok_or_else(|| ReadError::launch(format!("the map that moves %{base} does not fit its {} counters", counters.len())))?;
        let mut sum = self.value(base)?.clone();
        for (counter, stride) in counters.iter().zip(&map.strides) {
            add_stride(&mut sum, *counter, *stride);
        }
        Ok(sum)
    }

    fn counted_loop(&mut self, counter: Name, bound: Name, body: &[Stmt]) -> Result<Step, ReadError> {
        let bound = self.value(bound)?;
        if bound.base != Base::Number || !bound.strides.is_empty() {
            return Err(ReadError::launch("the count of a loop is known at launch only; a bundle has it as a number"));
        }
        if self.counters.len() == MAX_LOOPS {
            return Err(ReadError::launch(format!("more than {MAX_LOOPS} loops in each other")));
        }
        let count = bound.offset;
        self.counters.push(counter);
        let body = self.steps(body)?;
        self.counters.pop();
        Ok(Step::Loop { count, body })
    }

    fn execute(&self, execute: &Execute) -> Result<Step, ReadError> {
        let Some(ids) = &execute.symbol_ids else { return Ok(Step::Op { index: execute.op, symbols: None }) };
        if ids.len() != execute.operands.len() {
            return Err(ReadError::launch(format!(
                "{} gets {} values for {} symbols",
                execute.filename(),
                execute.operands.len(),
                ids.len()
            )));
        }
        let mut symbols = BTreeMap::new();
        for (id, operand) in ids.iter().zip(&execute.operands) {
            symbols.insert(*id, self.symbol(*operand)?);
        }
        Ok(Step::Op { index: execute.op, symbols: Some(symbols) })
    }

    fn symbol(&self, name: Name) -> Result<SymbolValue, ReadError> {
        let sum = self.value(name)?;
        if let Some(counter) = sum.strides.keys().find(|counter| !self.counters.contains(counter)) {
            return Err(ReadError::launch(format!("%{name} moves with %{counter}, which counts no enclosing loop")));
        }
        let strides = self.counters.iter().map(|counter| sum.strides.get(counter).copied().unwrap_or_default()).collect();
        Ok(SymbolValue { base: sum.base, offset: sum.offset, strides })
    }
}

fn add_stride(sum: &mut Sum, counter: Name, stride: i64) {
    let known = sum.strides.entry(counter).or_default();
    *known = known.saturating_add(stride);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::AffineMap;

    #[test]
    fn addresses_are_sums_of_a_base_and_strides() {
        let (counter, bound) = (Name::Induction(0), Name::LoopBound(0));
        let execute = Execute { op: 0, operands: vec![Name::Address(0)], symbol_ids: Some(vec![-1]) };
        let apply = Stmt::AffineApply { name: Name::Address(0), map: 0, counters: vec![counter], base: Name::PoolAddress(64) };
        let body = vec![
            Stmt::DeviceMemAllocate { name: Name::Pool, bytes: 4096 },
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
        launch.body.remove(2);
        let error = evaluate(&launch).unwrap_err().to_string();
        assert_eq!(error, "bundle.mlir: %pool_offset_64 is used before it is defined");
    }
}
