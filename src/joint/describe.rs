//! Description of a program for joint division.

use super::{JointProgram, Memo, Op, Value};
use crate::{
    lx::{
        Ineligible,
        values::{buffer, ineligible, reads_of_inputs, users},
    },
    work::WorkError,
};
use cost::TileOp;
use machine::Target;
use program::{OperandOf, Operation, Program, ValueDef, ValueId};
use scratchpad::{Buffer, Use, UseKind};
use std::{collections::BTreeMap, rc::Rc};

impl JointProgram {
    /// Describes a program. `ops` has each op as work division and the model of time see it.
    ///
    /// # Errors
    /// The op that cannot be divided, and why.
    pub(crate) fn new(
        program: &Program,
        ops: &[(Rc<Operation>, TileOp)],
        target: &Target,
        memo: &mut Memo,
    ) -> Result<Self, (usize, WorkError)> {
        let mut found =
            Found { values: Vec::new(), of_ops: ops.iter().map(|(operation, _)| vec![None; operation.operands.len()]).collect() };
        let mut copies = copies_of(program);
        let mut positions = vec![0; ops.len()];
        for (time, (operation, _)) in ops.iter().enumerate() {
            for copy in copies.remove(&time).unwrap_or_default() {
                found.push(copied_input(program, &copy, time));
            }
            positions[time] = found.values.len();
            found.push(result(program, operation, time, &positions));
        }
        let mut described = Self { values: found.values, ..Self::default() };
        for (time, ((operation, tile), values)) in ops.iter().zip(found.of_ops).enumerate() {
            let has_values = values.iter().any(Option::is_some);
            let kind = memo.kind(operation, has_values, target).map_err(|error| (time, error))?;
            described.add_op(&kind, tile.clone(), values);
        }
        Ok(described)
    }
}

/// Values of a program, and for each operand of each op its value, if that could be in LX.
struct Found {
    values: Vec<Value>,
    of_ops: Vec<Vec<Option<usize>>>,
}

impl Found {
    /// Adds a value. An ineligible one is listed because others may name it as a parent, but no op refers to it.
    fn push(&mut self, value: Value) {
        if value.buffer.barred.is_none() {
            for &OperandOf { op, operand } in &value.users {
                self.of_ops[op][operand] = Some(self.values.len());
            }
        }
        self.values.push(value);
    }
}

/// Returns the result of an op. `positions` has for each earlier op the value that its result is.
fn result(program: &Program, operation: &Operation, time: usize, positions: &[usize]) -> Value {
    let bytes = operation.operands.last().map_or(0, |operand| operand.layout.bytes());
    let mut buffer = buffer(program, time, bytes, ineligible(program, time));
    for one in &mut buffer.uses {
        one.time = Op::time(one.time);
    }
    for parent in &mut buffer.in_place_parents {
        *parent = positions[*parent];
    }
    Value { buffer, users: users(program, time), copied_before: None }
}

/// Returns the inputs that several ops of one block read unchanged, so that one copy in LX could serve them, by first reader.
fn copies_of(program: &Program) -> BTreeMap<usize, Vec<Vec<OperandOf>>> {
    let mut found: BTreeMap<usize, Vec<Vec<OperandOf>>> = BTreeMap::new();
    let is_read = |read: OperandOf, input: ValueId| {
        let (op, input) = (&program.ops[read.op], program.value(input));
        let is_input = matches!(input.def, ValueDef::Argument | ValueDef::Constant) && input.block == op.block;
        is_input && !op.accesses_part(read.operand)
    };
    for (_, reads) in reads_of_inputs(program, is_read) {
        if reads.len() > 1 {
            found.entry(reads[0].op).or_default().push(reads);
        }
    }
    found
}

/// Returns the value of an input's copy in LX.
fn copied_input(program: &Program, reads: &[OperandOf], first: usize) -> Value {
    let tensor = &program.operand(reads[0]).access.tensor;
    let bytes = tensor.layout.as_ref().map_or(0, program::layout::DeviceLayout::bytes);
    let is_window = tensor.buffer_shape.as_ref().is_some_and(|shape| *shape != tensor.shape);
    let mut uses = vec![Use { time: Op::time(first) - 1, kind: UseKind::Write }];
    uses.extend(reads.iter().map(|read| Use { time: Op::time(read.op), kind: UseKind::Read }));
    let buffer = Buffer {
        name: format!("input of op{first}"),
        bytes,
        uses,
        in_place_parents: Vec::new(),
        starts_in_hbm: false,
        ends_in_hbm: false,
        barred: is_window.then(|| Ineligible::GraphInput.into()),
    };
    Value { buffer, users: reads.to_vec(), copied_before: Some(first) }
}
