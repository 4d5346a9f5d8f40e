//! Bounds the running values that a correction subtracts, to avoid infinities.

use super::{AccumulatedValue, LoopMerge};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{EXACT_ATTR, build_pointwise, build_view, strip_views},
    mlir::{
        AffineExpression, ErrorReported, Op, OpExt, OperationLike, TensorType, Value, ValueExt, ValueLike,
        insert_before, map_from_exprs, read_dense_numbers,
    },
    tile::{Monotonicity, RunningDependence, ir::scalar_constant::insert_scalar_before},
};

/// Running value that the program bounds after the loop.
struct BoundedRunningValue<'c> {
    running: Value<'c>,
    start: Op<'c>,
    /// Op that bounds the running value, and the bound.
    op: Op<'c>,
    number: f64,
}

/// Running value that may be infinite, with the function and the number that bound it.
struct UnboundedRunningValue<'c> {
    value: Value<'c>,
    /// Copy from which the running value starts, if it has no other uses.
    start: Option<Op<'c>>,
    function: &'static str,
    bound: f64,
    /// Ops that read it.
    readers: Vec<Op<'c>>,
    /// Whether it has other uses after the loop.
    is_read_after: bool,
}

impl<'c> LoopMerge<'c> {
    /// Bounds the running values that corrections read by the lowest finite number.
    ///
    /// While the first loop has read only -inf, its maximum is -inf, and `-inf - -inf` is NaN, although a later tile of
    /// the row may have a finite number. The bound changes only rows of -inf alone, whose sum becomes 0. If only
    /// corrections read the maximum, it starts with the bound, which is equivalent and needs no op. Returns whether
    /// anything was bounded.
    pub(super) fn bound_running_values(&self) -> Result<bool, ErrorReported> {
        if self.carried[1].iter().all(|(_, correction)| correction.is_none()) {
            return Ok(false);
        }
        if let Some(at) = self.carried[0].iter().find_map(|(of, _)| self.find_existing_bound(of)) {
            at.move_bound_to_start()?;
            return Ok(true);
        }
        let unbounded: Vec<UnboundedRunningValue<'c>> =
            self.carried[0].iter().filter_map(|(of, _)| self.find_unbounded(of)).collect();
        for unbounded in &unbounded {
            match unbounded.start.filter(|_| !unbounded.is_read_after) {
                Some(start) => set_start(start, unbounded.bound)?,
                None => self.bound_users(unbounded)?,
            }
        }
        Ok(!unbounded.is_empty())
    }

    /// Finds the bound of a program that bounds the maximum of a row itself and has no other use of it.
    fn find_existing_bound(&self, of: &AccumulatedValue<'c>) -> Option<BoundedRunningValue<'c>> {
        let (function, _) = self.bound_function(of.carried.result)?;
        let (start, begun) = find_own_start(of)?;
        let users = of.carried.result.users();
        let [op] = users[..] else { return None };
        let is_bound =
            self.running.contains(&op) && op.is(spyre::POINTWISE) && op.text_attr(attr::FUNCTION) == function;
        let bound = op.inputs().into_iter().filter(|_| is_bound).find_map(finite_splat_number)?;
        // It may start with an earlier bound.
        let number = if function == "maximum" { begun.max(bound) } else { begun.min(bound) };
        let is_same_type = op.output().r#type() == of.carried.result.r#type();
        is_same_type.then_some(BoundedRunningValue { running: of.carried.result, start, op, number })
    }

    /// Returns the function that keeps a running value from being infinite, and its number.
    fn bound_function(&self, value: Value<'c>) -> Option<(&'static str, f64)> {
        match self.analysis.dependence(value) {
            RunningDependence::Running(_, Monotonicity::Increasing) => Some(("maximum", f64::MIN)),
            RunningDependence::Running(_, Monotonicity::Decreasing) => Some(("minimum", f64::MAX)),
            _ => None,
        }
    }

    fn bound_users(
        &self,
        UnboundedRunningValue { value, function, bound, readers, .. }: &UnboundedRunningValue<'c>,
    ) -> Result<(), ErrorReported> {
        let Some(at) = self.first.next_in_block() else { return Ok(()) };
        let bound = insert_scalar_before(at, self.first, *bound, value.r#type())?;
        let (context, location) = (self.first.ctx(), self.first.loc());
        let bounded =
            insert_before(at, build_pointwise(context, location, function, &[*value, bound], &[], value.r#type()))
                .output();
        for (reader, index) in
            readers.iter().flat_map(|reader| (0..reader.inputs().len()).map(move |index| (reader, index)))
        {
            if reader.inputs()[index] == *value {
                reader.set_input(index, bounded);
            }
        }
        Ok(())
    }

    fn find_unbounded(&self, of: &AccumulatedValue<'c>) -> Option<UnboundedRunningValue<'c>> {
        let value = of.carried.result;
        let (function, bound) = self.bound_function(value)?;
        let bounds = |op: Op<'c>| {
            op.is(spyre::POINTWISE)
                && op.text_attr(attr::FUNCTION) == function
                && op.inputs().into_iter().any(|value| finite_splat_number(value).is_some())
        };
        let inside = self.second.nested();
        let reads = |op: &Op<'c>| op.inputs().contains(&value);
        let readers: Vec<Op<'c>> =
            self.running.iter().chain(&inside).copied().filter(|op| reads(op) && !bounds(*op)).collect();
        let own_start = find_own_start(of);
        if readers.is_empty() || own_start.is_some_and(|(_, begun)| begun.is_finite()) {
            return None;
        }
        let is_read_after = value.users().iter().any(|user| !readers.contains(user));
        // A start value beyond the bound has no effect; any other start value must be kept.
        let start = own_start.filter(|(_, begun)| *begun == bound.signum() * f64::INFINITY).map(|(start, _)| start);
        Some(UnboundedRunningValue { value, start, function, bound, readers, is_read_after })
    }
}

impl BoundedRunningValue<'_> {
    /// Makes the running value start with the bound.
    fn move_bound_to_start(self) -> Result<(), ErrorReported> {
        set_start(self.start, self.number)?;
        self.op.output().replace_with(self.running);
        let read = self.op.inputs();
        self.op.erase();
        read.into_iter().for_each(erase_dead);
        Ok(())
    }
}

/// Returns the copy of a number that a running value starts with, and the number, if the copy has no other uses.
fn find_own_start<'c>(of: &AccumulatedValue<'c>) -> Option<(Op<'c>, f64)> {
    let start = of.carried.before.def().filter(|def| def.is(spyre::COPY) && def.output().users().len() == 1)?;
    Some((start, splat_number(start.inputs()[0])?))
}

/// Makes a running value start with a number instead of the source of `start`.
fn set_start(start: Op<'_>, number: f64) -> Result<(), ErrorReported> {
    let begun = start.output().r#type();
    let number = insert_scalar_before(start, start, number, begun)?;
    let Some(TensorType { shape, element, .. }) = TensorType::from_type(begun) else { return Ok(()) };
    let repeated = TensorType { element, encoding: None, shape: shape.clone() }.build();
    let indices = vec![AffineExpression::Constant(0); shape.len()];
    let map = map_from_exprs(start.ctx(), shape.len(), 0, &indices);
    let viewed = insert_before(start, build_view(start.ctx(), start.loc(), number, map, repeated)).output();
    let before = start.inputs()[0];
    start.set_input(0, viewed);
    erase_dead(before);
    Ok(())
}

/// Erases a constant without uses, and the views of it.
fn erase_dead(value: Value<'_>) {
    let Some(def) =
        value.def().filter(|def| value.users().is_empty() && (def.is(spyre::VIEW) || def.is(spyre::CONSTANT)))
    else {
        return;
    };
    let read = def.inputs();
    def.erase();
    read.into_iter().for_each(erase_dead);
}

/// Returns the number of a splat value, unless it is infinite.
fn finite_splat_number(value: Value<'_>) -> Option<f64> {
    splat_number(value).filter(|number| number.is_finite())
}

/// Returns the number of a splat value.
fn splat_number(value: Value<'_>) -> Option<f64> {
    let made = strip_views(value).def().filter(|def| def.is(spyre::CONSTANT))?;
    let numbers = read_dense_numbers(made.attr(EXACT_ATTR).or_else(|| made.attr(attr::VALUE))?, 1)?;
    numbers.first().copied()
}
