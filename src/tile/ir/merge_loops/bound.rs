//! Bounds the running values that a correction subtracts, to avoid infinities.

use super::{Accumulated, Merge};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{EXACT, behind_views, pointwise, view},
    mlir::{
        Expr, Op, OpExt, OperationLike, Reported, TensorType, Value, ValueExt, ValueLike, dense_numbers, insert_before, map_from_exprs,
    },
    tile::{Course, Form, ir::number::number_before},
};

/// Running value that the program bounds after the loop.
struct Bounded<'c> {
    running: Value<'c>,
    start: Op<'c>,
    /// Op that bounds the running value, and the bound.
    op: Op<'c>,
    number: f64,
}

/// Running value that may be infinite, with the function and the number that bound it.
struct Unbounded<'c> {
    value: Value<'c>,
    /// Copy from which the running value starts, if it has no other uses.
    start: Option<Op<'c>>,
    function: &'static str,
    bound: f64,
    /// Ops that read it.
    readers: Vec<Op<'c>>,
    /// Whether it has other uses after the loop.
    is_read_behind: bool,
}

impl<'c> Merge<'c> {
    /// Bounds the running values that corrections read by the lowest finite number. While the first loop has seen nothing but
    /// -inf, its maximum is -inf, and `-inf - -inf` is NaN although a later tile of the row may have a finite number. The bound
    /// changes only rows of -inf alone, whose sum becomes 0. If only corrections read the maximum, it starts with the bound,
    /// which is equivalent and takes no op. Returns whether anything was bounded.
    pub(super) fn bound(&self) -> Result<bool, Reported> {
        if self.carried[1].iter().all(|(_, correction)| correction.is_none()) {
            return Ok(false);
        }
        if let Some(at) = self.carried[0].iter().find_map(|(of, _)| self.bounded_behind(of)) {
            at.absorb()?;
            return Ok(true);
        }
        let unbounded: Vec<Unbounded<'c>> = self.carried[0].iter().filter_map(|(of, _)| self.unbounded(of)).collect();
        for unbounded in &unbounded {
            match unbounded.start.filter(|_| !unbounded.is_read_behind) {
                Some(start) => begin_with(start, unbounded.bound)?,
                None => self.bound_readers(unbounded)?,
            }
        }
        Ok(!unbounded.is_empty())
    }

    /// Finds the bound of a program that bounds the maximum of a row itself and has no other use of it.
    fn bounded_behind(&self, of: &Accumulated<'c>) -> Option<Bounded<'c>> {
        let (function, _) = self.bound_of(of.carried.result)?;
        let (start, begun) = own_start(of)?;
        let users = of.carried.result.users();
        let [op] = users[..] else { return None };
        let is_bound = self.running.contains(&op) && op.is(spyre::POINTWISE) && op.text_attr(attr::FUNCTION) == function;
        let bound = op.inputs().into_iter().filter(|_| is_bound).find_map(finite_number)?;
        // It may start with an earlier bound.
        let number = if function == "maximum" { begun.max(bound) } else { begun.min(bound) };
        let is_same_type = op.output().r#type() == of.carried.result.r#type();
        is_same_type.then_some(Bounded { running: of.carried.result, start, op, number })
    }

    /// Returns the function that keeps a running value from being infinite, and its number.
    fn bound_of(&self, value: Value<'c>) -> Option<(&'static str, f64)> {
        match self.analysis.form(value) {
            Form::Running(_, Course::Grows) => Some(("maximum", f64::MIN)),
            Form::Running(_, Course::Falls) => Some(("minimum", f64::MAX)),
            _ => None,
        }
    }

    fn bound_readers(&self, Unbounded { value, function, bound, readers, .. }: &Unbounded<'c>) -> Result<(), Reported> {
        let Some(at) = self.first.next_in_block() else { return Ok(()) };
        let bound = number_before(at, self.first, *bound, value.r#type())?;
        let (context, location) = (self.first.ctx(), self.first.loc());
        let bounded = insert_before(at, pointwise(context, location, function, &[*value, bound], &[], value.r#type())).output();
        for (reader, index) in readers.iter().flat_map(|reader| (0..reader.inputs().len()).map(move |index| (reader, index))) {
            if reader.inputs()[index] == *value {
                reader.set_input(index, bounded);
            }
        }
        Ok(())
    }

    fn unbounded(&self, of: &Accumulated<'c>) -> Option<Unbounded<'c>> {
        let value = of.carried.result;
        let (function, bound) = self.bound_of(value)?;
        let bounds = |op: Op<'c>| {
            op.is(spyre::POINTWISE)
                && op.text_attr(attr::FUNCTION) == function
                && op.inputs().into_iter().any(|value| finite_number(value).is_some())
        };
        let inside = self.second.nested();
        let reads = |op: &Op<'c>| op.inputs().contains(&value);
        let readers: Vec<Op<'c>> = self.running.iter().chain(&inside).copied().filter(|op| reads(op) && !bounds(*op)).collect();
        let own_start = own_start(of);
        if readers.is_empty() || own_start.is_some_and(|(_, begun)| begun.is_finite()) {
            return None;
        }
        let is_read_behind = value.users().iter().any(|user| !readers.contains(user));
        // A start value beyond the bound has no effect; any other start value must be kept.
        let start = own_start.filter(|(_, begun)| *begun == bound.signum() * f64::INFINITY).map(|(start, _)| start);
        Some(Unbounded { value, start, function, bound, readers, is_read_behind })
    }
}

impl Bounded<'_> {
    /// Makes the running value start with the bound.
    fn absorb(self) -> Result<(), Reported> {
        begin_with(self.start, self.number)?;
        self.op.output().replace_with(self.running);
        let read = self.op.inputs();
        self.op.erase();
        read.into_iter().for_each(erase_unread);
        Ok(())
    }
}

/// Returns the copy of a number that a running value starts with, and the number, if the copy has no other uses.
fn own_start<'c>(of: &Accumulated<'c>) -> Option<(Op<'c>, f64)> {
    let start = of.carried.before.def().filter(|def| def.is(spyre::COPY) && def.output().users().len() == 1)?;
    Some((start, number_in(start.inputs()[0])?))
}

/// Makes a running value start with a number instead of the source of `start`.
fn begin_with(start: Op<'_>, number: f64) -> Result<(), Reported> {
    let begun = start.output().r#type();
    let number = number_before(start, start, number, begun)?;
    let Some(TensorType { shape, element, .. }) = TensorType::of(begun) else { return Ok(()) };
    let repeated = TensorType { element, encoding: None, shape: shape.clone() }.build();
    let indices = vec![Expr::Constant(0); shape.len()];
    let map = map_from_exprs(start.ctx(), shape.len(), 0, &indices);
    let shown = insert_before(start, view(start.ctx(), start.loc(), number, map, repeated)).output();
    let before = start.inputs()[0];
    start.set_input(0, shown);
    erase_unread(before);
    Ok(())
}

/// Erases a constant without uses, and the views of it.
fn erase_unread(value: Value<'_>) {
    let Some(def) = value.def().filter(|def| value.users().is_empty() && (def.is(spyre::VIEW) || def.is(spyre::CONSTANT))) else { return };
    let read = def.inputs();
    def.erase();
    read.into_iter().for_each(erase_unread);
}

/// Returns the number of a splat value, unless it is infinite.
fn finite_number(value: Value<'_>) -> Option<f64> {
    number_in(value).filter(|number| number.is_finite())
}

/// Returns the number of a splat value.
fn number_in(value: Value<'_>) -> Option<f64> {
    let made = behind_views(value).def().filter(|def| def.is(spyre::CONSTANT))?;
    let numbers = dense_numbers(made.attr(EXACT).or_else(|| made.attr(attr::VALUE))?, 1)?;
    numbers.first().copied()
}
