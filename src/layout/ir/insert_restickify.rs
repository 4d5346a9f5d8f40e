//! `spyre-insert-restickify`: relayouts operands whose sticks do not fit their users.
//!
//! Reads layouts and access maps ([`crate::layout::StickRule`] has the requirements of ops). Writes the cheapest chain
//! of copies of an operand into new buffers: a `spyre.restickify`, or a `spyre.copy` marked `spyre.for_layout` if
//! elements keep their sticks. Users of the same elements share it. A constant is emitted in the new layout instead of
//! a first copy.

use super::program::LayoutProgram;
use crate::{
    codes,
    dialect::{ComputeOp, DeviceTensor, build_relayout_copy, build_restickify, build_view, clone_constant, ods::spyre},
    layout::{RelayoutBuffer, StickStrategy},
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueExt, ValueLike, ValueMap,
        derived_location, error_at, insert_before, map_from_exprs,
    },
};
use machine::Family;
use program::layout::DeviceLayout;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-insert-restickify", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let program = LayoutProgram::from_function(function)?;
        if let Some(op) =
            program.ops.iter().zip(&program.flow.ops).find(|(_, op)| program.flow.buffers[op.result].given.is_none())
        {
            return Err(error_at(
                codes::LAYOUT_MISSING,
                op.0.op,
                "has a result without a device layout; run spyre-propagate-layouts first",
            )
            .report());
        }
        // Every layout is fixed, so the problem only chooses the moves.
        let choice = program
            .flow
            .choose_sticks(StickStrategy::Global)
            .map_err(|error| error_at(codes::LAYOUT_GATHER, program.ops[error.op].op, error).report())?;
        for compute in program.ops.iter().filter(|compute| compute.family() == Family::Gather) {
            check_gather(*compute).map_err(|message| error_at(codes::LAYOUT_GATHER, compute.op, message).report())?;
        }
        let mut mover = RelayoutBuilder { program: &program, moved: ValueMap::default() };
        for (number, ways) in choice.relayouts.into_iter().enumerate() {
            let reader = program.ops[number].op;
            for (operand, way) in ways.into_iter().enumerate() {
                let Some(form) = &way.buffer else { continue };
                let of = (program.flow.ops[number].reads[operand].buffer, program.sources[number][operand]);
                let reject = |message: String| {
                    error_at(codes::LAYOUT_CONFLICT, reader, format_args!("operand {operand} {message}")).report()
                };
                let value = mover.materialize(form, of, reader).map_err(reject)?;
                let viewed = mover
                    .view_as_operand(value, &way.indices, operand, reader, &program.flow.ops[number].ranges)
                    .map_err(reject)?;
                reader.set_input(operand, viewed);
            }
        }
    }
    Ok(())
}

/// Checks that the table of a gather has a layout in which an index can address rows, and the index tensor the layout
/// of the host.
fn check_gather(compute: ComputeOp<'_>) -> Result<(), String> {
    let accesses = compute.accesses()?;
    let [table, index, _] = accesses.as_slice() else { return Err("has not three tensors".to_owned()) };
    table.find_indexed_dim(&compute.iteration_space()).map_err(|error| {
        codes::LAYOUT_GATHER.format(format_args!("requires another layout of its table: {error}; copy the table"))
    })?;
    let (found, shape) = (index.layout()?, index.tensor.buffer().map_err(|error| error.to_string())?);
    let expected = DeviceLayout::row_major(shape.sizes(), found.format()).map_err(|error| error.to_string())?;
    if *found != expected {
        return Err(codes::LAYOUT_GATHER.format(format_args!(
            "requires its index tensor in the layout {expected}, found {found}; copy the indices"
        )));
    }
    Ok(())
}

struct RelayoutBuilder<'a, 'c> {
    program: &'a LayoutProgram<'c>,
    /// For each value, its relayouts that exist already.
    moved: ValueMap<BTreeMap<RelayoutBuffer, Value<'c>>>,
}

impl<'c> RelayoutBuilder<'_, 'c> {
    /// Returns the value of a relayout of a buffer; inserts its copy before the first user.
    fn materialize(
        &mut self,
        form: &RelayoutBuffer,
        (buffer, value): (usize, Value<'c>),
        reader: Op<'c>,
    ) -> Result<Value<'c>, String> {
        if let Some(known) = self.moved.get(value).and_then(|forms| forms.get(form)) {
            return Ok(*known);
        }
        let (context, at) = (reader.ctx(), derived_location(reader, DerivationKind::Rewrite, PASS.argument));
        let source = match &form.from {
            Some(from) => self.materialize(from, (buffer, value), reader)?,
            None => value,
        };
        let tensor = TensorType::from_type(source.r#type()).ok_or("is no tensor")?;
        let viewed = tensor.with_shape(form.dims.sizes.clone());
        let of = form.target_buffer(&self.program.flow.buffers[buffer]);
        let layout = of.layout(Some(form.stick)).map_err(|error| error.to_string())?;
        let is_plain = form.is_plain_copy(&tensor.shape);
        let constant = value.def().filter(|def| is_plain && form.from.is_none() && def.is(spyre::CONSTANT));
        let output = |host: TensorType<'c>| {
            DeviceTensor { host, layout: None, buffer_shape: None }.with_layout(context, &layout, None)
        };
        let new = if let Some(constant) = constant {
            clone_constant(constant, output(tensor)).output()
        } else {
            let mut input = source;
            if !is_plain {
                let exprs =
                    form.source.iter().map(|index| index.to_expr(&form.dims.sizes)).collect::<Result<Vec<_>, _>>();
                let map = map_from_exprs(context, form.dims.sizes.len(), 0, &exprs.map_err(|error| error.to_string())?);
                input = insert_before(reader, build_view(context, at, source, map, viewed.build())).output();
            }
            let output = output(viewed);
            let moved = if form.is_restickify {
                build_restickify(context, at, input, output)
            } else {
                build_relayout_copy(context, at, input, output)
            };
            insert_before(reader, moved).output()
        };
        self.moved.get_or_default(value).insert(form.clone(), new);
        Ok(new)
    }

    /// Views a relayout as the user's operand.
    fn view_as_operand(
        &self,
        value: Value<'c>,
        indices: &[program::layout::TensorIndex],
        operand: usize,
        reader: Op<'c>,
        ranges: &[i64],
    ) -> Result<Value<'c>, String> {
        let old = TensorType::from_type(reader.inputs()[operand].r#type()).ok_or("is no tensor")?;
        let compute = ComputeOp::from_op(reader).ok_or("is read by no op of the device")?;
        let exprs = compute.operand_exprs(operand, indices, ranges)?;
        let map = map_from_exprs(reader.ctx(), old.shape.len(), 0, &exprs);
        let output = old.with_shape(old.shape.clone()).build();
        Ok(insert_before(reader, build_view(reader.ctx(), reader.loc(), value, map, output)).output())
    }
}
