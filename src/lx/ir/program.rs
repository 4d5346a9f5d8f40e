//! Reads functions whose work is divided.

use crate::{
    codes,
    dialect::{IrProgram, read_program, split_of},
    lx::values::{DividedProgram, Division},
    mlir::{Op, Reported, error_at},
    work::ir::operation::operation_with,
};
use std::rc::Rc;

/// Function whose work is divided.
pub(crate) struct LxProgram<'c> {
    pub(crate) ir: IrProgram<'c>,
    pub(crate) divided: DividedProgram,
}

impl<'c> LxProgram<'c> {
    /// Reads a function.
    pub(crate) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let ir = readable(function)?;
        let mut divisions = Vec::with_capacity(ir.ops.len());
        for (compute, op) in ir.ops.iter().zip(&ir.program.ops) {
            let refuse = |message: String| error_at(codes::MALFORMED_IR, compute.op, message).report();
            let operation = operation_with(*compute, op.operands.iter().map(|operand| &operand.access)).map_err(refuse)?;
            divisions.push(Division { operation: Rc::new(operation), split: split_of(*compute).map_err(refuse)? });
        }
        let divided = DividedProgram { program: Rc::clone(&ir.program), divisions };
        Ok(Self { ir, divided })
    }
}

/// Reads a function, and reports an access that is not supported.
pub(crate) fn readable(function: Op<'_>) -> Result<IrProgram<'_>, Reported> {
    read_program(function).map_err(|(op, message)| error_at(codes::MALFORMED_IR, op, message).report())
}
