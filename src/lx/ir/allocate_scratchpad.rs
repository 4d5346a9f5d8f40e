//! `spyre-allocate-scratchpad`: chooses LX or HBM for every value, and the address in LX.
//!
//! Reads `work` and program order; writes `place`. A value that may not be in LX, or does not fit, is placed in HBM
//! with the reason. The live range of a value defined in a loop iteration ends with the iteration; that of a value from
//! outside that the loop reads extends to the end of the loop.

use super::{emit_residency::emit_residency, lx_program::LxProgram};
use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{ComputeOp, MemoryLocation, MemoryPlacement, is_in_lx, target_of},
    lx::{
        LxIneligibility,
        values::{find_ineligibility, is_read_partially, overwrites_carried_value, writes_partially},
    },
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, ValueExt, error_at, record_bug},
    tile::ir::insert_loop_copies::check_settled,
};
use machine::Target;
use program::OpRole;
use scratchpad::{Buffer, Capacity, Placement, Planner, Violation, check, find_planner};

pub(crate) const PASS: Pass = Pass { argument: "spyre-allocate-scratchpad", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    check_settled(module)?;
    check_imported(module)?;
    let planner = match options.get_text(option::PLANNER) {
        "none" => None,
        name => Some(find_planner(name).map_err(|error| error_at(codes::LX_PLANNER, module, error).report())?),
    };
    let capacity = Capacity::from_target(&target);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let program = LxProgram::from_function(function)?;
        match &planner {
            Some(planner) if planner.chooses_residency() => {
                emit_residency(&program, &target, PASS.argument)
                    .map_err(|message| error_at(codes::INTERNAL, function, message).report())?;
                LxProgram::from_function(function)?.check_recorded_placement(planner.name(), &capacity)?;
            }
            Some(planner) => program.plan_placement(planner.as_ref(), &capacity)?,
            None => program.place_in_hbm("the LX planner is off"),
        }
    }
    Ok(())
}

/// Returns an error for a program of another dialect, which would otherwise pass without a plan.
fn check_imported(module: Op<'_>) -> Result<(), ErrorReported> {
    let ops = module.nested();
    let is_of = |op: &&Op<'_>, dialect: &str| op.full_name().starts_with(dialect);
    match ops.iter().find(|op| is_of(op, "linalg.")) {
        Some(foreign) if !ops.iter().any(|op| is_of(&op, "spyre.")) => {
            let message = "is not a 'spyre' op, which this pass requires; run --spyre-import-linalg and the passes after it first";
            Err(error_at(codes::LX_INPUT, *foreign, message).report())
        }
        _ => Ok(()),
    }
}

/// Checks the places (memory and address) recorded on the ops of a function: values with overlapping live ranges must
/// have disjoint LX addresses, and each core that uses a value in LX must use the slice that its writer left there.
///
/// # Errors
/// Returns the result of `refused` for the op and the error message.
pub(crate) fn check_lx_placement<'c>(
    function: Op<'c>,
    target: &Target,
    rejected: &dyn Fn(Op<'c>, &str) -> ErrorReported,
) -> Result<(), ErrorReported> {
    let program = LxProgram::from_function(function)?;
    let (buffers, placement) = program.recorded_placement();
    let Err(violation) = check(&buffers, &Capacity::from_target(target), &placement) else { return Ok(()) };
    let op_of = |buffer: usize| program.ir.ops.get(buffer).map_or(function, |compute| compute.op);
    let LxConflict { buffer, message } =
        explain_violation(&buffers, &violation, &|buffer| op_of(buffer).loc().to_string());
    Err(rejected(op_of(buffer), &codes::LX_PLACE.format(&message)))
}

/// LX placement error and the buffer that causes it.
struct LxConflict {
    buffer: usize,
    message: String,
}

fn explain_violation(buffers: &[Buffer], violation: &Violation, place_of: &dyn Fn(usize) -> String) -> LxConflict {
    let (buffer, message) = match *violation {
        Violation::Length { .. } => (0, violation.to_string()),
        Violation::Ineligible { buffer } => {
            let reason = buffers[buffer].barred.as_ref().map_or_else(String::new, |barred| format!(": {barred}"));
            (buffer, format!("expected a result in HBM, found a place in LX{reason}; remove the place"))
        }
        Violation::Misaligned { buffer, address } => {
            (buffer, format!("expected an address in LX that is aligned to a stick, found {address}; align it"))
        }
        Violation::OutOfBounds { buffer, address, end } => {
            (buffer, format!("expected a place inside LX, found bytes {address} to {end}; choose a lower address"))
        }
        Violation::Overlap { first, second } => (
            second,
            format!(
                "expected separate places of live values, found bytes shared with the result of the op at {}; choose another address",
                place_of(first)
            ),
        ),
    };
    LxConflict { buffer, message }
}

impl<'c> LxProgram<'c> {
    /// Plans like torch-spyre's planners, which leave partially read or written buffers in HBM.
    fn plan_placement(&self, planner: &dyn Planner, capacity: &Capacity) -> Result<(), ErrorReported> {
        let mut buffers = self.buffers();
        let program = &self.ir.program;
        for (time, buffer) in buffers.iter_mut().enumerate() {
            let is_written_in_parts = writes_partially(&program.ops[time]).then_some(LxIneligibility::WrittenInParts);
            let in_parts = is_written_in_parts
                .or_else(|| is_read_partially(program, time).then_some(LxIneligibility::PartialRead));
            if let Some(in_parts) = in_parts.filter(|_| find_ineligibility(program, time).is_none()) {
                buffer.barred = Some(in_parts.into());
                buffer.in_place_parents.clear();
            }
        }
        let placement = planner.plan(&buffers, capacity);
        self.check_placement(planner.name(), &buffers, capacity, &placement)?;
        for (time, (address, reason)) in placement.addresses.iter().zip(&placement.reasons).enumerate() {
            let place = match address {
                Some(address) => MemoryPlacement { memory: MemoryLocation::Lx(*address), reason: String::new() },
                None => MemoryPlacement {
                    memory: MemoryLocation::Hbm,
                    reason: reason.as_ref().map_or_else(String::new, ToString::to_string),
                },
            };
            self.place_result(time, &place);
        }
        Ok(())
    }

    fn buffers(&self) -> Vec<Buffer> {
        (0..self.divided.divisions.len()).map(|time| self.divided.buffer(time)).collect()
    }

    /// Checks the places and copies that a planner has written, using only the program.
    fn check_recorded_placement(&self, planner: &str, capacity: &Capacity) -> Result<(), ErrorReported> {
        let (buffers, placement) = self.recorded_placement();
        self.check_placement(planner, &buffers, capacity, &placement)
    }

    /// Returns the buffers and their recorded places.
    fn recorded_placement(&self) -> (Vec<Buffer>, Placement) {
        let address =
            |(time, compute): (usize, &ComputeOp<'c>)| match MemoryPlacement::from_op(compute.placement_owner())
                .filter(|_| !overwrites_carried_value(&self.ir.program, time))?
                .memory
            {
                MemoryLocation::Lx(address) => Some(address),
                MemoryLocation::Hbm | MemoryLocation::Pool(_) => None,
            };
        let addresses: Vec<Option<i64>> = self.ir.ops.iter().enumerate().map(address).collect();
        (self.buffers(), Placement { reasons: vec![None; addresses.len()], addresses })
    }

    fn check_placement(
        &self,
        planner: &str,
        buffers: &[Buffer],
        capacity: &Capacity,
        placement: &Placement,
    ) -> Result<(), ErrorReported> {
        match (check(buffers, capacity, placement), self.ir.ops.first()) {
            (Err(violation), Some(first)) => {
                let message = format!("internal error: planner '{planner}': {violation}; please report this program");
                record_bug(first.op);
                Err(error_at(codes::INTERNAL, first.op, message).report())
            }
            (Err(_), None) | (Ok(()), _) => Ok(()),
        }
    }

    fn place_in_hbm(&self, reason: &str) {
        for time in 0..self.ir.ops.len() {
            self.place_result(time, &MemoryPlacement { memory: MemoryLocation::Hbm, reason: reason.to_owned() });
        }
    }

    /// Writes the place of a result, or removes a copy that is not needed there.
    pub(super) fn place_result(&self, time: usize, place: &MemoryPlacement) {
        if overwrites_carried_value(&self.ir.program, time) {
            return;
        }
        let op = self.ir.ops[time].op;
        let is_removable = self.ir.program.ops[time].role == OpRole::Copy { is_removable: true };
        // A copy from LX stays, because its source may be overwritten before the readers run.
        if place.memory == MemoryLocation::Hbm && is_removable && !is_in_lx(op.inputs()[0]) {
            op.output().replace_with(op.inputs()[0]);
            op.erase();
            return;
        }
        place.set_on(self.ir.ops[time].placement_owner());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::{Module, num_bugs};

    /// The sum is still live when the exponential is written.
    const CHAIN: &str = "
      func.func @chain(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
        %sum = spyre.pointwise add(%x, %x) : tensor<64x64xf16>
        %exp = spyre.pointwise exp(%sum) : tensor<64x64xf16>
        %product = spyre.pointwise mul(%exp, %sum) : tensor<64x64xf16>
        return %product : tensor<64x64xf16>
      }";

    #[test]
    fn reports_wrong_plan_as_planner_bug() {
        let session = crate::pipeline::create_session();
        let mut module = Module::parse(&session, CHAIN).unwrap();
        assert!(module.run_pipeline("spyre-propagate-layouts,spyre-divide-work"));
        let function = module.op().body_ops().into_iter().find(|op| op.is("func.func")).unwrap();
        let Ok(program) = LxProgram::from_function(function) else { panic!("no program: {function}") };
        let (capacity, buffers) = (Capacity::from_target(&Target::spyre()), program.buffers());
        let evaluator = |addresses: [Option<i64>; 3]| {
            let placement = Placement { addresses: addresses.to_vec(), reasons: vec![None; 3] };
            program.check_placement("best", &buffers, &capacity, &placement).is_ok()
        };
        assert!(evaluator([Some(0), Some(8192), None]));
        assert_eq!(num_bugs(module.op()), 0);
        assert!(!evaluator([Some(0), Some(0), None]));
        assert_eq!(num_bugs(module.op()), 1);
    }
}
