//! The compute ops of a function in program order, and when values are alive.

use super::{Access, ComputeOp, written_home};
use crate::mlir::{Op, Value, ValueMap};
use program::OperandOf;
use std::ops::RangeInclusive;

/// One compute op with its tensors.
pub struct Step<'c> {
    /// The op.
    pub compute: ComputeOp<'c>,
    /// The accesses of its operands, then of its result.
    pub accesses: Vec<Access<'c>>,
    /// The loops around it, outermost first.
    pub loops: Vec<Op<'c>>,
}

/// The compute ops of a function; time is the position in the list.
pub struct Schedule<'c> {
    /// The ops in order.
    pub steps: Vec<Step<'c>>,
    /// By the buffer, or what loops carry it to, as the readers are.
    writers: ValueMap<Vec<usize>>,
    readers: ValueMap<Vec<OperandOf>>,
    /// For each loop the times of its body.
    loop_times: Vec<(Op<'c>, RangeInclusive<usize>)>,
}

impl<'c> Schedule<'c> {
    /// Reads the ops of a function.
    ///
    /// # Errors
    /// The op whose access is not supported, and why.
    pub fn of(function: Op<'c>) -> Result<Self, (Op<'c>, String)> {
        let mut schedule = Self { steps: Vec::new(), writers: ValueMap::default(), readers: ValueMap::default(), loop_times: Vec::new() };
        for compute in ComputeOp::all_in(function) {
            let accesses = compute.accesses().map_err(|message| (compute.op, message))?;
            schedule.push(Step { compute, accesses, loops: compute.loops() });
        }
        Ok(schedule)
    }

    fn push(&mut self, step: Step<'c>) {
        let time = self.steps.len();
        for (operand, access) in step.accesses.iter().enumerate() {
            if operand + 1 == step.accesses.len() {
                self.writers.get_or_default(written_home(access.value)).push(time);
            } else {
                self.readers.get_or_default(written_home(access.value)).push(OperandOf { op: time, operand });
            }
        }
        for around in &step.loops {
            match self.loop_times.iter_mut().rev().find(|(other, _)| other == around) {
                Some((_, times)) => *times = *times.start()..=time,
                None => self.loop_times.push((*around, time..=time)),
            }
        }
        self.steps.push(step);
    }

    /// The steps that write a value, in order: one; for a value that a loop carries the one that makes it and those that overwrite it; for a
    /// buffer that is written in parts those that write them.
    #[must_use]
    pub fn writers(&self, value: Value<'c>) -> &[usize] {
        self.writers.get(written_home(value)).map_or(&[], Vec::as_slice)
    }

    /// The reads of a value.
    #[must_use]
    pub fn readers(&self, value: Value<'c>) -> &[OperandOf] {
        self.readers.get(written_home(value)).map_or(&[], Vec::as_slice)
    }

    /// The times during which step `user` needs a value that was made outside `around_value`'s loops: a loop that the value is not made in
    /// needs it in every iteration, so from its first op to its last.
    #[must_use]
    pub fn times_of_use(&self, around_value: &[Op<'c>], user: usize) -> RangeInclusive<usize> {
        let entered = self.steps[user].loops.iter().find(|around| !around_value.contains(around));
        let times = entered.and_then(|entered| self.loop_times.iter().find(|(other, _)| other == entered));
        times.map_or(user..=user, |(_, times)| times.clone())
    }
}
