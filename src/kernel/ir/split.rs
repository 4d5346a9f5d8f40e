//! Splits a segment off a kernel as a kernel of its own.

use super::{
    consumer_kernels::KernelSegment,
    moves::{NewInputs, add_inputs, prune_kernel},
    neighbors::KernelView,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, append_yield, build_kernel_before, input_dims_of, rebuild_scope, set_input_dims},
    mlir::{BlockExt, Op, OpExt, Type, Value, ValueExt, ValueLike, insert_before},
};

/// Returns the segment as a kernel before the remaining one, and whether nothing remains; in that case it is the
/// unchanged kernel.
pub(super) fn split_off_segment<'c>(view: &KernelView<'c>, part: &KernelSegment<'c>) -> (Op<'c>, bool) {
    let kernel = view.op;
    let others: Vec<Op<'c>> = kernel.body_ops().into_iter().filter(|op| !part.ops.contains(op)).collect();
    if others.iter().all(|op| op.is(spyre::YIELD)) {
        return (kernel, true);
    }
    others.iter().for_each(|other| copy_shared(*other, part));
    let given = collect_used_values(part, &others);
    let inputs = part.inputs(kernel);
    let values: Vec<Value<'c>> = inputs.iter().map(|&input| kernel.inputs()[input]).collect();
    let types: Vec<Type<'c>> = given.iter().map(ValueLike::r#type).collect();
    let front = build_kernel_before(kernel, kernel.text_attr(attr::NAME), &values, &types, kernel.attr(attr::KNOBS));
    if let Some(dims) = input_dims_of(kernel) {
        set_input_dims(front, &inputs.iter().map(|&input| dims[input].clone()).collect::<Vec<_>>());
    }
    let block = front.body().expect("a body was built");
    part.ops.iter().for_each(|op| op.move_to_end(block));
    for (number, argument) in inputs.iter().zip(block.args()) {
        replace_uses(&part.nested(), kernel.body_args()[*number], argument);
    }
    append_yield(front, &given);
    let after: NewInputs<'c> = front
        .outputs()
        .into_iter()
        .zip(&given)
        .map(|(output, value)| (output, view.labels.labels_of(*value)))
        .collect();
    rewire_remaining_kernel(add_inputs(kernel, &after), front, &given);
    (front, false)
}

/// Clones the constants and views of a segment that an op outside of it reads.
fn copy_shared<'c>(other: Op<'c>, part: &KernelSegment<'c>) {
    for reader in other.nested() {
        for (operand, value) in reader.inputs().into_iter().enumerate() {
            let shared = value
                .def()
                .filter(|def| part.ops.contains(def) && ComputeOp::from_op(*def).is_none() && !def.is(spyre::HINT));
            if let Some(def) = shared {
                let own = insert_before(other, (*def).clone());
                reader.set_input(operand, own.output());
                copy_shared(own, part);
            }
        }
    }
}

/// Returns the values of a segment that other ops of the kernel read, each once.
fn collect_used_values<'c>(part: &KernelSegment<'c>, others: &[Op<'c>]) -> Vec<Value<'c>> {
    let mut given: Vec<Value<'c>> = Vec::new();
    for value in others.iter().flat_map(|op| op.nested()).flat_map(OpExt::inputs) {
        if value.def().is_some_and(|def| part.ops.contains(&def)) && !given.contains(&value) {
            given.push(value);
        }
    }
    given
}

/// Makes the remaining ops read the results of the kernel before them. Users of a result that this kernel yields read
/// it from there, too.
fn rewire_remaining_kernel<'c>(rest: Op<'c>, front: Op<'c>, given: &[Value<'c>]) {
    let position = |value: Value<'c>| given.iter().position(|given| *given == value);
    let mut kept: Vec<(Value<'c>, Option<usize>)> = Vec::new();
    for (number, value) in rest.yielded().into_iter().enumerate() {
        match position(value) {
            Some(of_front) => rest.outputs()[number].replace_with(front.outputs()[of_front]),
            None => kept.push((value, Some(number))),
        }
    }
    for (value, output) in given.iter().zip(front.outputs()) {
        let argument = rest.inputs().iter().position(|input| *input == output).map(|number| rest.body_args()[number]);
        replace_uses(&rest.nested(), *value, argument.expect("it is an input"));
    }
    let dims = input_dims_of(rest);
    let inputs: Vec<(Value<'c>, Option<usize>)> =
        rest.inputs().into_iter().enumerate().map(|(number, value)| (value, Some(number))).collect();
    let rest = rebuild_scope(rest, &inputs, &kept);
    if let Some(dims) = dims {
        set_input_dims(rest, &dims);
    }
    prune_kernel(rest);
}

/// Replaces the uses of a value in ops by another value.
fn replace_uses<'c>(ops: &[Op<'c>], old: Value<'c>, new: Value<'c>) {
    for op in ops {
        for (operand, value) in op.inputs().into_iter().enumerate() {
            if value == old {
                op.set_input(operand, new);
            }
        }
    }
}
