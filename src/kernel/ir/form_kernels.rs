//! `spyre-form-kernels`: forms kernels from hint scopes, matmuls and groups of reductions.
//!
//! Reads the blocks of functions; moves hint scopes and ops into `spyre.kernel` ops. `groups.rs` determines the groups.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, append_yield, build_kernel_before, strip_views},
    kernel::{GroupOp, find_groups},
    mlir::{
        BlockExt, ErrorReported, Op, OpExt, Pass, PassOptions, Type, Value, ValueExt, ValueLike, ValueMap,
        find_defined_functions,
    },
};
use machine::Family;
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass { argument: "spyre-form-kernels", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for function in find_defined_functions(module) {
        for group in collect_scopes(function).into_iter().chain(collect_grouped_ops(function)) {
            form_kernel(&group);
        }
    }
    Ok(())
}

/// Returns the outermost hint scopes that are not in a kernel and contain none, each as a group of its own.
fn collect_scopes(function: Op<'_>) -> Vec<Vec<Op<'_>>> {
    let is_free = |op: &Op<'_>| op.is(spyre::HINT) && !op.nested().into_iter().any(|op| op.is(spyre::KERNEL));
    function.body_ops().into_iter().filter(is_free).map(|scope| vec![scope]).collect()
}

/// Returns the groups of ops of a function.
fn collect_grouped_ops(function: Op<'_>) -> Vec<Vec<Op<'_>>> {
    let ops: Vec<Op<'_>> =
        function.body_ops().into_iter().filter(|op| !op.is(spyre::VIEW) && !op.is(spyre::CONSTANT)).collect();
    let mut numbers: ValueMap<usize> = ValueMap::default();
    for (number, op) in ops.iter().enumerate() {
        for output in op.outputs() {
            numbers.insert(output, number);
        }
    }
    let plain: Vec<GroupOp> = ops.iter().map(|op| to_group_op(*op, &numbers)).collect();
    find_groups(&plain).into_iter().map(|group| group.into_iter().map(|number| ops[number]).collect()).collect()
}

fn to_group_op(op: Op<'_>, numbers: &ValueMap<usize>) -> GroupOp {
    let compute = ComputeOp::from_op(op).filter(|compute| op.attr(attr::HINTS).is_none() && !compute.is_insert());
    let reads =
        op.nested().into_iter().flat_map(OpExt::inputs).filter_map(|value| numbers.get(strip_views(value)).copied());
    GroupOp {
        is_product: compute.is_some_and(|compute| compute.family() == Family::Matmul),
        is_reduction: compute.is_some_and(|compute| compute.family() == Family::Reduce),
        is_elementwise: compute.is_some_and(|compute| compute.family() == Family::Pointwise),
        reads: reads.collect::<BTreeSet<_>>().into_iter().collect(),
    }
}

/// Moves ops of one block, in order, into a kernel placed before their users. Views between the ops move along.
fn form_kernel<'c>(ops: &[Op<'c>]) {
    let Some(&last) = ops.last() else { return };
    let inside = collect_with_views(ops);
    let makes = |value: Value<'c>| value.def().is_some_and(|def| inside.contains(&def));
    let (mut inputs, mut outputs): (Vec<Value<'c>>, Vec<Value<'c>>) = Default::default();
    for op in inside.iter().flat_map(|op| op.nested()) {
        for value in op.inputs().into_iter().filter(|value| is_defined_outside(*value, &inside)) {
            inputs.extend((!inputs.contains(&value)).then_some(value));
        }
    }
    for output in inside.iter().flat_map(|op| op.outputs()) {
        let is_read_outside =
            output.users().into_iter().any(|user| !inside.iter().any(|op| *op == user || op.nested().contains(&user)));
        outputs.extend((is_read_outside && makes(output)).then_some(output));
    }
    if outputs.is_empty() {
        return;
    }
    let types: Vec<Type<'c>> = outputs.iter().map(ValueLike::r#type).collect();
    let name =
        if last.is(spyre::HINT) { "scope" } else { ComputeOp::from_op(last).map_or("group", ComputeOp::function) };
    let readers: Vec<Op<'c>> =
        outputs.iter().flat_map(|output| output.users()).filter_map(|user| find_ancestor_beside(user, last)).collect();
    let first_reader = readers
        .into_iter()
        .filter(|op| !inside.contains(op))
        .reduce(|one, other| if other.is_before(one) { other } else { one });
    let place = first_reader.filter(|reader| reader.is_before(last)).unwrap_or(last);
    let kernel = build_kernel_before(place, name, &inputs, &types, None);
    inputs.iter().for_each(|input| move_views_before(*input, kernel));
    let Some(block) = kernel.body() else { return };
    for output in &outputs {
        let number = outputs.iter().position(|other| other == output).unwrap_or(0);
        for user in output.users() {
            if !inside.iter().any(|op| *op == user || op.nested().contains(&user)) {
                replace_operands(user, *output, kernel.outputs()[number]);
            }
        }
    }
    inside.iter().for_each(|op| op.move_to_end(block));
    for op in inside.iter().flat_map(|op| op.nested()) {
        for (input, argument) in inputs.iter().zip(block.args()) {
            replace_operands(op, *input, argument);
        }
    }
    append_yield(kernel, &outputs);
}

/// Returns the op in the block of `other` that is, or contains, an op.
fn find_ancestor_beside<'c>(op: Op<'c>, other: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(Some(op), |op| op.parent()).find(|op| op.parent() == other.parent())
}

/// Moves views and constants after the kernel that its ops read before it, to where their sources are defined.
fn move_views_before<'c>(value: Value<'c>, kernel: Op<'c>) {
    let Some(def) = value.def().filter(|def| def.parent() == kernel.parent() && kernel.is_before(*def)) else { return };
    def.inputs().into_iter().for_each(|input| move_views_before(input, kernel));
    def.move_to_before(kernel);
}

/// Returns whether a value is defined neither by one of these ops nor inside one of them.
fn is_defined_outside(value: Value<'_>, inside: &[Op<'_>]) -> bool {
    let owner = value
        .def()
        .or_else(|| value.as_block_arg().and_then(|(block, _)| crate::mlir::BlockLike::parent_operation(&block)));
    let mut around = std::iter::successors(owner, |op| op.parent());
    !around.any(|op| inside.contains(&op))
}

fn replace_operands<'c>(op: Op<'c>, old: Value<'c>, new: Value<'c>) {
    for (number, value) in op.inputs().into_iter().enumerate() {
        if value == old {
            op.set_input(number, new);
        }
    }
}

/// Returns the ops with the views between them, in program order.
fn collect_with_views<'c>(ops: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut found: Vec<Op<'c>> = Vec::new();
    for op in ops {
        for value in op.inputs() {
            let made_inside = strip_views(value).def().is_some_and(|def| ops.contains(&def));
            let views = std::iter::successors(value.def().filter(|def| def.is(spyre::VIEW)), |view| {
                view.inputs()[0].def().filter(|def| def.is(spyre::VIEW))
            });
            let mut views: Vec<Op<'c>> = views.collect();
            views.reverse();
            found.extend(views.into_iter().filter(|view| made_inside && !found.contains(view)).collect::<Vec<_>>());
        }
        found.push(*op);
    }
    found
}
