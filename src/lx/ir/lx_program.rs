//! Reads functions whose work is divided.

use crate::{
    codes,
    dialect::{IrProgram, core_split_of, read_program, shuffle_destination_of},
    lx::values::{DividedProgram, OpCoreSplit},
    mlir::{ErrorReported, Op, error_at},
    work::ir::describe_op::describe_op_with_accesses,
};
use std::rc::Rc;

/// Function whose work is divided.
pub(crate) struct LxProgram<'c> {
    pub(crate) ir: IrProgram<'c>,
    pub(crate) divided: DividedProgram,
}

impl<'c> LxProgram<'c> {
    /// Reads a function.
    pub(crate) fn from_function(function: Op<'c>) -> Result<Self, ErrorReported> {
        let ir = read_function(function)?;
        let mut divisions = Vec::with_capacity(ir.ops.len());
        for (compute, op) in ir.ops.iter().zip(&ir.program.ops) {
            let reject = |message: String| error_at(codes::MALFORMED_IR, compute.op, message).report();
            let operation = describe_op_with_accesses(*compute, op.operands.iter().map(|operand| &operand.access))
                .map_err(reject)?;
            divisions.push(OpCoreSplit {
                operation: Rc::new(operation),
                split: core_split_of(*compute).map_err(reject)?,
                destination: shuffle_destination_of(*compute).map_err(reject)?,
            });
        }
        let divided = DividedProgram { program: Rc::clone(&ir.program), divisions };
        Ok(Self { ir, divided })
    }
}

/// Reads a function, and reports an access that is not supported.
pub(crate) fn read_function(function: Op<'_>) -> Result<IrProgram<'_>, ErrorReported> {
    read_program(function).map_err(|(op, message)| error_at(codes::MALFORMED_IR, op, message).report())
}
