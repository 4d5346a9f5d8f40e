//! `spyre-allocate-scratchpad`: writes the plan of the planner `exact` into the program, with the copies between LX and
//! HBM that it needs.

use super::{
    clone_inputs::{CopyOrigin, build_copy_type, insert_copy},
    lx_program::LxProgram,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{MemoryLocation, MemoryPlacement, build_view, strip_views, work_attribute},
    lx::program_residency::{CopyDirection, PlannedCopy, ProgramResidencyPlan, ResultLocation},
    mlir::{Op, OpExt, OperationLike, TensorType, Value, ValueExt, ValueLike, insert_before, map_of},
};
use machine::Target;
use program::OperandRef;

/// Reason in `place` of a value's copy in HBM.
const HBM_COPY_REASON: &str = "it is the copy in HBM of a value in LX";

/// Plans the program, and writes places and copies. `pass` is the pass that writes them.
///
/// # Errors
/// Returns an error if layouts are wrong, or if a copy does not have the predicted slices.
pub(crate) fn emit_residency(program: &LxProgram<'_>, target: &Target, pass: &'static str) -> Result<(), String> {
    let plan = ProgramResidencyPlan::new(&program.divided, target)?;
    for copy in plan.copies(&program.divided)? {
        program.insert_planned_copy(&copy, pass)?;
    }
    for (time, place) in plan.result_locations() {
        let place = match place {
            ResultLocation::Lx(address) => {
                MemoryPlacement { memory: MemoryLocation::Lx(address), reason: String::new() }
            }
            ResultLocation::Hbm(reason) => MemoryPlacement { memory: MemoryLocation::Hbm, reason },
        };
        program.place_result(time, &place);
    }
    Ok(())
}

impl<'c> LxProgram<'c> {
    fn insert_planned_copy(&self, copy: &PlannedCopy, pass: &'static str) -> Result<(), String> {
        match &copy.direction {
            CopyDirection::Store { after, others } => {
                let value = self.ir.values[copy.value.0];
                let next = self.ir.ops[*after].op.next_in_block().ok_or("a block ends with a compute op")?;
                let stored = self.build_copy(copy, value, next, pass)?;
                MemoryPlacement { memory: MemoryLocation::Hbm, reason: HBM_COPY_REASON.to_owned() }.set_on(stored);
                value.replace_with(stored.output());
                stored.set_input(0, value);
                self.redirect_reads(others, value)
            }
            CopyDirection::Load { before, address, readers } => {
                let first = readers.first().ok_or("a residency interval begins without a reader")?;
                // After a loop that carries the value unchanged, this is the result of the loop.
                let from = strip_views(self.ir.ops[first.op].op.inputs()[first.operand]);
                let loaded = self.build_copy(copy, from, self.ir.ops[*before].op, pass)?;
                MemoryPlacement { memory: MemoryLocation::Lx(*address), reason: String::new() }.set_on(loaded);
                self.redirect_reads(readers, loaded.output())
            }
            CopyDirection::Shuffle { before, address, shuffle } => {
                let value = self.ir.values[copy.value.0];
                let (writer, reader) = (self.ir.ops[copy.user.op].op, self.ir.ops[*before].op);
                let beside = std::iter::successors(Some(reader), |op| op.parent());
                let next = beside.into_iter().find(|op| op.parent() == writer.parent());
                let moved =
                    self.build_copy(copy, value, next.ok_or("a reader is outside of its writer's loops")?, pass)?;
                moved.set_attr(attr::DESTINATION, work_attribute(moved.ctx(), &shuffle.destination));
                MemoryPlacement { memory: MemoryLocation::Lx(*address), reason: String::new() }.set_on(moved);
                self.redirect_reads(&shuffle.readers, moved.output())
            }
        }
    }

    fn build_copy(
        &self,
        copy: &PlannedCopy,
        from: Value<'c>,
        before: Op<'c>,
        pass: &'static str,
    ) -> Result<Op<'c>, String> {
        let user = self.ir.ops[copy.user.op];
        let output = build_copy_type(before.ctx(), self.ir.values[copy.value.0], &copy.copied)?;
        let dims = &self.ir.program.operand(copy.user).access.dims;
        let origin = CopyOrigin { pass, compute: user, dims };
        Ok(insert_copy(before, from, output, &copy.split, &origin))
    }

    /// Makes operands read `value`.
    fn redirect_reads(&self, operands: &[OperandRef], value: Value<'c>) -> Result<(), String> {
        for read in operands {
            let op = self.ir.ops[read.op].op;
            op.set_input(read.operand, rebuild_views(op, op.inputs()[read.operand], value)?);
        }
        Ok(())
    }
}

/// Rebuilds on `value`, before an op, the chain of views of `shown`. If `value` has another layout, the views keep only
/// their indices.
fn rebuild_views<'c>(before: Op<'c>, viewed: Value<'c>, value: Value<'c>) -> Result<Value<'c>, String> {
    let lies_alike = strip_views(viewed).r#type() == value.r#type();
    let type_of = |old: Op<'c>| {
        let own = old.output().r#type();
        if lies_alike {
            Some(own)
        } else {
            TensorType::from_type(own).map(|own| TensorType { encoding: None, ..own }.build())
        }
    };
    let is_view = |value: &Value<'c>| value.def().filter(|def| def.is(spyre::VIEW));
    let views: Vec<Op<'c>> = std::iter::successors(is_view(&viewed), |view| is_view(&view.inputs()[0])).collect();
    views.into_iter().rev().try_fold(value, |after, old| {
        let map = old.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
        let viewed_as = type_of(old).ok_or("a view of what is no tensor")?;
        Ok(insert_before(before, build_view(old.ctx(), old.loc(), after, map, viewed_as)).output())
    })
}
