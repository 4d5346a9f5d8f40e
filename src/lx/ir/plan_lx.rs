//! `spyre-plan-lx`: chooses LX or HBM for every value, and the address in LX.
//!
//! Reads `work` and program order; writes `place`. A value that may not be in LX, or does not fit, is placed in HBM with the reason. The
//! live range of a value defined in a loop iteration ends with the iteration; that of a value from outside that the loop reads extends to
//! the end of the loop.

use super::{emit_stays::emit_stays, program::LxProgram};
use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{ComputeOp, Memory, Place, is_in_lx, target_of},
    lx::{
        Ineligible,
        values::{ineligible, is_read_in_parts, overwrites, writes_part},
    },
    mlir::{Op, OpExt, Options, Pass, Reported, ValueExt, error_at, note_bug},
    tile::ir::settle_loops::check_settled,
};
use machine::Target;
use program::OpRole;
use scratchpad::{Buffer, Capacity, Placement, Planner, Violation, check, planner_named};

pub(crate) const PASS: Pass = Pass { argument: "spyre-plan-lx", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    check_settled(module)?;
    check_imported(module)?;
    let planner = match options.text(option::PLANNER) {
        "none" => None,
        name => Some(planner_named(name).map_err(|error| error_at(codes::LX_PLANNER, module, error).report())?),
    };
    let capacity = Capacity::of(&target);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let program = LxProgram::of(function)?;
        match &planner {
            Some(planner) if planner.chooses_stays() => {
                emit_stays(&program, &capacity).map_err(|message| error_at(codes::INTERNAL, function, message).report())?;
                LxProgram::of(function)?.check_places(planner.name(), &capacity)?;
            }
            Some(planner) => program.plan(planner.as_ref(), &capacity)?,
            None => program.place_in_hbm("the LX planner is off"),
        }
    }
    Ok(())
}

/// Returns an error for a program of another dialect, which would otherwise pass without a plan.
fn check_imported(module: Op<'_>) -> Result<(), Reported> {
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
/// Returns the result of `refused`, which gets the op and the error message.
pub(crate) fn check_places<'c>(function: Op<'c>, target: &Target, refused: &dyn Fn(Op<'c>, &str) -> Reported) -> Result<(), Reported> {
    let program = LxProgram::of(function)?;
    let (buffers, placement) = program.placed();
    let Err(violation) = check(&buffers, &Capacity::of(target), &placement) else { return Ok(()) };
    let op_of = |buffer: usize| program.ir.ops.get(buffer).map_or(function, |compute| compute.op);
    let LxConflict { buffer, message } = explain(&buffers, &violation, &|buffer| op_of(buffer).loc().to_string());
    Err(refused(op_of(buffer), &codes::LX_PLACE.says(&message)))
}

/// LX placement error and the buffer that causes it.
struct LxConflict {
    buffer: usize,
    message: String,
}

fn explain(buffers: &[Buffer], violation: &Violation, place_of: &dyn Fn(usize) -> String) -> LxConflict {
    let (buffer, message) = match *violation {
        Violation::Length { .. } => (0, violation.to_string()),
        Violation::Barred { buffer } => {
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
    fn plan(&self, planner: &dyn Planner, capacity: &Capacity) -> Result<(), Reported> {
        let mut buffers = self.buffers();
        let program = &self.ir.program;
        for (time, buffer) in buffers.iter_mut().enumerate() {
            let is_written_in_parts = writes_part(&program.ops[time]).then_some(Ineligible::WrittenInParts);
            let in_parts = is_written_in_parts.or_else(|| is_read_in_parts(program, time).then_some(Ineligible::PartialRead));
            if let Some(in_parts) = in_parts.filter(|_| ineligible(program, time).is_none()) {
                buffer.barred = Some(in_parts.into());
                buffer.in_place_parents.clear();
            }
        }
        let placement = planner.plan(&buffers, capacity);
        self.check(planner.name(), &buffers, capacity, &placement)?;
        for (time, (address, reason)) in placement.addresses.iter().zip(&placement.reasons).enumerate() {
            let place = match address {
                Some(address) => Place { memory: Memory::Lx(*address), reason: String::new() },
                None => Place { memory: Memory::Hbm, reason: reason.as_ref().map_or_else(String::new, ToString::to_string) },
            };
            self.place_result(time, &place);
        }
        Ok(())
    }

    fn buffers(&self) -> Vec<Buffer> {
        (0..self.divided.divisions.len()).map(|time| self.divided.buffer(time)).collect()
    }

    /// Checks the places and copies that a planner has written, using only the program.
    fn check_places(&self, planner: &str, capacity: &Capacity) -> Result<(), Reported> {
        let (buffers, placement) = self.placed();
        self.check(planner, &buffers, capacity, &placement)
    }

    /// Returns the buffers and their recorded places.
    fn placed(&self) -> (Vec<Buffer>, Placement) {
        let address = |(time, compute): (usize, &ComputeOp<'c>)| match Place::on(compute.place_owner())
            .filter(|_| !overwrites(&self.ir.program, time))?
            .memory
        {
            Memory::Lx(address) => Some(address),
            Memory::Hbm | Memory::Pool(_) => None,
        };
        let addresses: Vec<Option<i64>> = self.ir.ops.iter().enumerate().map(address).collect();
        (self.buffers(), Placement { reasons: vec![None; addresses.len()], addresses })
    }

    fn check(&self, planner: &str, buffers: &[Buffer], capacity: &Capacity, placement: &Placement) -> Result<(), Reported> {
        match (check(buffers, capacity, placement), self.ir.ops.first()) {
            (Err(violation), Some(first)) => {
                let message = format!("internal error: planner '{planner}': {violation}; please report this program");
                note_bug(first.op);
                Err(error_at(codes::INTERNAL, first.op, message).report())
            }
            (Err(_), None) | (Ok(()), _) => Ok(()),
        }
    }

    fn place_in_hbm(&self, reason: &str) {
        for time in 0..self.ir.ops.len() {
            self.place_result(time, &Place { memory: Memory::Hbm, reason: reason.to_owned() });
        }
    }

    /// Writes the place of a result, or removes a copy that is not needed there.
    pub(super) fn place_result(&self, time: usize, place: &Place) {
        if overwrites(&self.ir.program, time) {
            return;
        }
        let op = self.ir.ops[time].op;
        let is_removable = self.ir.program.ops[time].role == OpRole::Copy { is_removable: true };
        // A copy from LX stays, because its source may be overwritten before the readers run.
        if place.memory == Memory::Hbm && is_removable && !is_in_lx(op.inputs()[0]) {
            op.output().replace_with(op.inputs()[0]);
            op.erase();
            return;
        }
        place.set_on(self.ir.ops[time].place_owner());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::{Module, bugs_of};

    /// The sum is still live when the exponential is written.
    const CHAIN: &str = "
      func.func @chain(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
        %sum = spyre.pointwise add(%x, %x) : tensor<64x64xf16>
        %exp = spyre.pointwise exp(%sum) : tensor<64x64xf16>
        %product = spyre.pointwise mul(%exp, %sum) : tensor<64x64xf16>
        return %product : tensor<64x64xf16>
      }";

    #[test]
    fn a_plan_that_is_wrong_is_a_bug_of_the_planner() {
        let session = crate::pipeline::session();
        let mut module = Module::parse(&session, CHAIN).unwrap();
        assert!(module.run("spyre-propagate-layouts,spyre-divide-work"));
        let function = module.op().body_ops().into_iter().find(|op| op.is("func.func")).unwrap();
        let Ok(program) = LxProgram::of(function) else { panic!("no program: {function}") };
        let (capacity, buffers) = (Capacity::of(&Target::spyre()), program.buffers());
        let judge = |addresses: [Option<i64>; 3]| {
            let placement = Placement { addresses: addresses.to_vec(), reasons: vec![None; 3] };
            program.check("best", &buffers, &capacity, &placement).is_ok()
        };
        assert!(judge([Some(0), Some(8192), None]));
        assert_eq!(bugs_of(module.op()), 0);
        assert!(!judge([Some(0), Some(0), None]));
        assert_eq!(bugs_of(module.op()), 1);
    }
}
