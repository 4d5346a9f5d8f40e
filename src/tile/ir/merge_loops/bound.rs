//! Keeps what a correction subtracts from being infinite.

use super::Merge;
use crate::{
    dialect::{behind_views, pointwise},
    mlir::{Op, OpExt, OperationLike, Reported, Value, ValueExt, ValueLike, dense_numbers, insert_before},
    tile::{Course, Form, ir::number::number_before},
};

/// A running value that may be infinite, with the function and the number that bound it.
struct Unbounded<'c> {
    value: Value<'c>,
    function: &'static str,
    bound: f64,
    /// The ops that read it.
    readers: Vec<Op<'c>>,
}

impl<'c> Merge<'c> {
    /// Where the first loop has seen nothing but -inf, its maximum is -inf, and `-inf - -inf` is no number though the row may have one in a later
    /// tile. Bounds what the corrections read by the lowest finite number, which changes a row of -inf alone: of that the sum is 0 then. Gives whether
    /// anything was bounded.
    pub(super) fn bound(&self) -> Result<bool, Reported> {
        if self.carried[1].iter().all(|(_, correction)| correction.is_none()) {
            return Ok(false);
        }
        let unbounded: Vec<Unbounded<'c>> = self.carried[0].iter().filter_map(|(of, _)| self.unbounded(of.carried.result)).collect();
        for Unbounded { value, function, bound, readers } in &unbounded {
            let Some(at) = self.first.next_in_block() else { continue };
            let bound = number_before(at, self.first, *bound, value.r#type())?;
            let (context, location) = (self.first.ctx(), self.first.loc());
            let bounded = insert_before(at, pointwise(context, location, function, &[*value, bound], &[], value.r#type())).output();
            for (reader, index) in readers.iter().flat_map(|reader| (0..reader.inputs().len()).map(move |index| (reader, index))) {
                if reader.inputs()[index] == *value {
                    reader.set_input(index, bounded);
                }
            }
        }
        Ok(!unbounded.is_empty())
    }

    fn unbounded(&self, value: Value<'c>) -> Option<Unbounded<'c>> {
        let (function, bound) = match self.analysis.form(value) {
            Form::Running(_, Course::Grows) => ("maximum", f64::MIN),
            Form::Running(_, Course::Falls) => ("minimum", f64::MAX),
            _ => return None,
        };
        let bounds =
            |op: Op<'c>| op.is("spyre.pointwise") && op.text_attr("function") == function && op.inputs().into_iter().any(is_finite_number);
        let inside = self.second.nested();
        let readers: Vec<Op<'c>> =
            self.running.iter().chain(&inside).copied().filter(|op| op.inputs().contains(&value) && !bounds(*op)).collect();
        (!readers.is_empty()).then_some(Unbounded { value, function, bound, readers })
    }
}

/// Whether a value is one number that is not infinite.
fn is_finite_number(value: Value<'_>) -> bool {
    let made = behind_views(value).def().filter(|def| def.is("spyre.constant"));
    let numbers = made.and_then(|made| made.attr("value")).and_then(|value| dense_numbers(value, 1));
    numbers.is_some_and(|numbers| numbers.iter().all(|number| number.is_finite()))
}
