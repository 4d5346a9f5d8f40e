//! Description of a program for joint division.

use super::{JointMemo, JointOp, JointProgram, JointValue};
use crate::{
    lx::{
        LxIneligibility,
        values::{build_result_buffer, collect_input_reads, collect_users, find_ineligibility},
    },
    work::WorkError,
};
use cost::TileOp;
use machine::Target;
use program::{OperandRef, Program, UndividedOp, ValueDef, ValueId};
use scratchpad::{Buffer, Use, UseKind};
use std::{collections::BTreeMap, rc::Rc};

impl JointProgram {
    /// Describes a program. `ops` has each op in the form for work division and in that for the time model.
    ///
    /// # Errors
    /// Returns the op that cannot be divided, and the reason.
    pub(crate) fn new(
        program: &Program,
        ops: &[(Rc<UndividedOp>, TileOp)],
        target: &Target,
        memo: &mut JointMemo,
    ) -> Result<Self, (usize, WorkError)> {
        let mut found = ValueCollector {
            values: Vec::new(),
            of_ops: ops.iter().map(|(operation, _)| vec![None; operation.operands.len()]).collect(),
        };
        let mut copies = find_shared_inputs(program);
        let mut positions = vec![0; ops.len()];
        for (time, (operation, _)) in ops.iter().enumerate() {
            for copy in copies.remove(&time).unwrap_or_default() {
                found.add_value(describe_input_copy(program, &copy, time));
            }
            positions[time] = found.values.len();
            found.add_value(describe_result(program, operation, time, &positions));
        }
        let mut described = Self { values: found.values, ..Self::default() };
        for (time, ((operation, tile), values)) in ops.iter().zip(found.of_ops).enumerate() {
            let has_values = values.iter().any(Option::is_some);
            let kind = memo.find_op_class(operation, has_values, target).map_err(|error| (time, error))?;
            described.add_op(&kind, tile.clone(), values);
        }
        Ok(described)
    }
}

/// Values of a program, and for each operand of each op its value, if that could be in LX.
struct ValueCollector {
    values: Vec<JointValue>,
    of_ops: Vec<Vec<Option<usize>>>,
}

impl ValueCollector {
    /// Adds a value. An ineligible value is listed because others may refer to it as a parent, but no op refers to it.
    fn add_value(&mut self, value: JointValue) {
        if value.buffer.barred.is_none() {
            for &OperandRef { op, operand } in &value.users {
                self.of_ops[op][operand] = Some(self.values.len());
            }
        }
        self.values.push(value);
    }
}

/// Returns the result of an op. `positions` has for each earlier op the value that its result is.
fn describe_result(program: &Program, operation: &UndividedOp, time: usize, positions: &[usize]) -> JointValue {
    let bytes = operation.operands.last().map_or(0, |operand| operand.layout.bytes());
    let mut buffer = build_result_buffer(program, time, bytes, find_ineligibility(program, time));
    for one in &mut buffer.uses {
        one.time = JointOp::use_time(one.time);
    }
    for parent in &mut buffer.in_place_parents {
        *parent = positions[*parent];
    }
    JointValue { buffer, users: collect_users(program, time), copied_before: None }
}

/// Returns the inputs that several ops of one block read unchanged, so that one copy in LX could serve them, by first
/// reader.
fn find_shared_inputs(program: &Program) -> BTreeMap<usize, Vec<Vec<OperandRef>>> {
    let mut found: BTreeMap<usize, Vec<Vec<OperandRef>>> = BTreeMap::new();
    let is_read = |read: OperandRef, input: ValueId| {
        let (op, input) = (&program.ops[read.op], program.value(input));
        let is_input = matches!(input.def, ValueDef::Argument | ValueDef::Constant) && input.block == op.block;
        is_input && !op.accesses_partially(read.operand)
    };
    for (_, reads) in collect_input_reads(program, is_read) {
        if reads.len() > 1 {
            found.entry(reads[0].op).or_default().push(reads);
        }
    }
    found
}

/// Returns the value of an input's copy in LX.
fn describe_input_copy(program: &Program, reads: &[OperandRef], first: usize) -> JointValue {
    let tensor = &program.operand(reads[0]).access.tensor;
    let bytes = tensor.layout.as_ref().map_or(0, program::layout::DeviceLayout::bytes);
    let is_window = tensor.buffer_shape.as_ref().is_some_and(|shape| *shape != tensor.shape);
    let mut uses = vec![Use { time: JointOp::use_time(first) - 1, kind: UseKind::Write }];
    uses.extend(reads.iter().map(|read| Use { time: JointOp::use_time(read.op), kind: UseKind::Read }));
    let buffer = Buffer {
        name: format!("input of op{first}"),
        bytes,
        uses,
        in_place_parents: Vec::new(),
        starts_in_hbm: false,
        ends_in_hbm: false,
        barred: is_window.then(|| LxIneligibility::GraphInput.into()),
    };
    JointValue { buffer, users: reads.to_vec(), copied_before: Some(first) }
}
