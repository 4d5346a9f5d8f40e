//! `spyre-plan-lx`: writes the plan of the planner `exact` into the program, with the copies between LX and HBM that it needs.

use super::{
    clone_inputs::{CopyNames, insert_copy, type_of_copy},
    program::LxProgram,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Memory, Place, behind_views, view},
    lx::stay_plan::{Direction, PlannedCopy, ResultPlace, StayPlan},
    mlir::{Op, OpExt, OperationLike, TensorType, Value, ValueExt, ValueLike, insert_before, map_of},
};
use program::OperandOf;
use scratchpad::Capacity;

/// Reason in `place` of a value's copy in HBM.
const COPIED_OUT: &str = "it is the copy in HBM of a value in LX";

/// Plans the program, and writes places and copies.
///
/// # Errors
/// Returns an error if layouts are wrong, or if a copy does not have the predicted slices.
pub(crate) fn emit_stays(program: &LxProgram<'_>, capacity: &Capacity) -> Result<(), String> {
    let plan = StayPlan::new(&program.divided, capacity)?;
    for copy in plan.copies(&program.divided)? {
        program.insert(&copy)?;
    }
    for (time, place) in plan.places() {
        let place = match place {
            ResultPlace::Lx(address) => Place { memory: Memory::Lx(address), reason: String::new() },
            ResultPlace::Hbm(reason) => Place { memory: Memory::Hbm, reason },
        };
        program.place_result(time, &place);
    }
    Ok(())
}

impl<'c> LxProgram<'c> {
    fn insert(&self, copy: &PlannedCopy) -> Result<(), String> {
        match &copy.direction {
            Direction::Store { behind, others } => {
                let value = self.ir.values[copy.value.0];
                let next = self.ir.ops[*behind].op.next_in_block().ok_or("a block ends with a compute op")?;
                let stored = self.copy(copy, value, next)?;
                Place { memory: Memory::Hbm, reason: COPIED_OUT.to_owned() }.set_on(stored);
                value.replace_with(stored.output());
                stored.set_input(0, value);
                self.let_read(others, value)
            }
            Direction::Load { before, address, readers } => {
                let first = readers.first().ok_or("a residency interval begins without a reader")?;
                // After a loop that carries the value unchanged, this is the result of the loop.
                let from = behind_views(self.ir.ops[first.op].op.inputs()[first.operand]);
                let loaded = self.copy(copy, from, self.ir.ops[*before].op)?;
                Place { memory: Memory::Lx(*address), reason: String::new() }.set_on(loaded);
                self.let_read(readers, loaded.output())
            }
        }
    }

    fn copy(&self, copy: &PlannedCopy, from: Value<'c>, before: Op<'c>) -> Result<Op<'c>, String> {
        let user = self.ir.ops[copy.user.op];
        let output = type_of_copy(before.ctx(), self.ir.values[copy.value.0], &copy.copied)?;
        let dims = &self.ir.program.operand(copy.user).access.dims;
        Ok(insert_copy(before, from, output, &copy.split, &CopyNames { compute: user, dims }))
    }

    /// Makes operands read `value`.
    fn let_read(&self, operands: &[OperandOf], value: Value<'c>) -> Result<(), String> {
        for read in operands {
            let op = self.ir.ops[read.op].op;
            op.set_input(read.operand, shown_anew(op, op.inputs()[read.operand], value)?);
        }
        Ok(())
    }
}

/// Rebuilds on `value`, before an op, the chain of views of `shown`. If `value` has another layout, the views keep only their indices.
fn shown_anew<'c>(before: Op<'c>, shown: Value<'c>, value: Value<'c>) -> Result<Value<'c>, String> {
    let lies_alike = behind_views(shown).r#type() == value.r#type();
    let type_of = |old: Op<'c>| {
        let own = old.output().r#type();
        if lies_alike { Some(own) } else { TensorType::of(own).map(|own| TensorType { encoding: None, ..own }.build()) }
    };
    let is_view = |value: &Value<'c>| value.def().filter(|def| def.is(spyre::VIEW));
    let views: Vec<Op<'c>> = std::iter::successors(is_view(&shown), |view| is_view(&view.inputs()[0])).collect();
    views.into_iter().rev().try_fold(value, |behind, old| {
        let map = old.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
        let shown_as = type_of(old).ok_or("a view of what is no tensor")?;
        Ok(insert_before(before, view(old.ctx(), old.loc(), behind, map, shown_as)).output())
    })
}
