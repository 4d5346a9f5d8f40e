//! `spyre-form-kernels`: forms kernels from hint scopes, products and groups of reductions.
//!
//! Reads the blocks of functions; moves hint scopes and ops into `spyre.kernel` ops. `groups.rs` determines the groups.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, behind_views, end_with, kernel_before},
    kernel::{GroupOp, groups},
    mlir::{BlockExt, Op, OpExt, Options, Pass, Reported, Type, Value, ValueExt, ValueLike, ValueMap, functions_of},
};
use machine::Family;
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass { argument: "spyre-form-kernels", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in functions_of(module) {
        for group in scopes(function).into_iter().chain(ops_in_groups(function)) {
            form(&group);
        }
    }
    Ok(())
}

/// Returns the outermost hint scopes that are not in a kernel and contain none, each as a group of its own.
fn scopes(function: Op<'_>) -> Vec<Vec<Op<'_>>> {
    let is_free = |op: &Op<'_>| op.is(spyre::HINT) && !op.nested().into_iter().any(|op| op.is(spyre::KERNEL));
    function.body_ops().into_iter().filter(is_free).map(|scope| vec![scope]).collect()
}

/// Returns the groups of ops of a function.
fn ops_in_groups(function: Op<'_>) -> Vec<Vec<Op<'_>>> {
    let ops: Vec<Op<'_>> = function.body_ops().into_iter().filter(|op| !op.is(spyre::VIEW) && !op.is(spyre::CONSTANT)).collect();
    let mut numbers: ValueMap<usize> = ValueMap::default();
    for (number, op) in ops.iter().enumerate() {
        for output in op.outputs() {
            numbers.insert(output, number);
        }
    }
    let plain: Vec<GroupOp> = ops.iter().map(|op| plain(*op, &numbers)).collect();
    groups(&plain).into_iter().map(|group| group.into_iter().map(|number| ops[number]).collect()).collect()
}

fn plain(op: Op<'_>, numbers: &ValueMap<usize>) -> GroupOp {
    let compute = ComputeOp::of(op).filter(|compute| op.attr(attr::HINTS).is_none() && !compute.is_insert());
    let reads = op.nested().into_iter().flat_map(OpExt::inputs).filter_map(|value| numbers.get(behind_views(value)).copied());
    GroupOp {
        is_product: compute.is_some_and(|compute| compute.family() == Family::Matmul),
        is_reduction: compute.is_some_and(|compute| compute.family() == Family::Reduce),
        is_elementwise: compute.is_some_and(|compute| compute.family() == Family::Pointwise),
        reads: reads.collect::<BTreeSet<_>>().into_iter().collect(),
    }
}

/// Moves ops of one block, in order, into a kernel placed before their users. Views between the ops move along.
fn form<'c>(ops: &[Op<'c>]) {
    let Some(&last) = ops.last() else { return };
    let inside = with_views(ops);
    let makes = |value: Value<'c>| value.def().is_some_and(|def| inside.contains(&def));
    let (mut inputs, mut outputs): (Vec<Value<'c>>, Vec<Value<'c>>) = Default::default();
    for op in inside.iter().flat_map(|op| op.nested()) {
        for value in op.inputs().into_iter().filter(|value| is_outside(*value, &inside)) {
            inputs.extend((!inputs.contains(&value)).then_some(value));
        }
    }
    for output in inside.iter().flat_map(|op| op.outputs()) {
        let is_read_outside = output.users().into_iter().any(|user| !inside.iter().any(|op| *op == user || op.nested().contains(&user)));
        outputs.extend((is_read_outside && makes(output)).then_some(output));
    }
    if outputs.is_empty() {
        return;
    }
    let types: Vec<Type<'c>> = outputs.iter().map(ValueLike::r#type).collect();
    let name = if last.is(spyre::HINT) { "scope" } else { ComputeOp::of(last).map_or("group", ComputeOp::function) };
    let readers: Vec<Op<'c>> = outputs.iter().flat_map(|output| output.users()).filter_map(|user| beside(user, last)).collect();
    let first_reader =
        readers.into_iter().filter(|op| !inside.contains(op)).reduce(|one, other| if other.is_before(one) { other } else { one });
    let place = first_reader.filter(|reader| reader.is_before(last)).unwrap_or(last);
    let kernel = kernel_before(place, name, &inputs, &types, None);
    inputs.iter().for_each(|input| move_views_in_front(*input, kernel));
    let Some(block) = kernel.body() else { return };
    for output in &outputs {
        let number = outputs.iter().position(|other| other == output).unwrap_or(0);
        for user in output.users() {
            if !inside.iter().any(|op| *op == user || op.nested().contains(&user)) {
                replace_in(user, *output, kernel.outputs()[number]);
            }
        }
    }
    inside.iter().for_each(|op| op.move_to_end(block));
    for op in inside.iter().flat_map(|op| op.nested()) {
        for (input, argument) in inputs.iter().zip(block.args()) {
            replace_in(op, *input, argument);
        }
    }
    end_with(kernel, &outputs);
}

/// Returns the op in the block of `other` that is, or contains, an op.
fn beside<'c>(op: Op<'c>, other: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(Some(op), |op| op.parent()).find(|op| op.parent() == other.parent())
}

/// Views and constants after the kernel that its ops read are moved before it, where their sources are defined.
fn move_views_in_front<'c>(value: Value<'c>, kernel: Op<'c>) {
    let Some(def) = value.def().filter(|def| def.parent() == kernel.parent() && kernel.is_before(*def)) else { return };
    def.inputs().into_iter().for_each(|input| move_views_in_front(input, kernel));
    def.move_to_before(kernel);
}

/// Whether a value is defined neither by one of these ops nor inside one of them.
fn is_outside(value: Value<'_>, inside: &[Op<'_>]) -> bool {
    let owner = value.def().or_else(|| value.arg_of().and_then(|(block, _)| crate::mlir::BlockLike::parent_operation(&block)));
    let mut around = std::iter::successors(owner, |op| op.parent());
    !around.any(|op| inside.contains(&op))
}

fn replace_in<'c>(op: Op<'c>, old: Value<'c>, new: Value<'c>) {
    for (number, value) in op.inputs().into_iter().enumerate() {
        if value == old {
            op.set_input(number, new);
        }
    }
}

/// Returns the ops with the views between them, in program order.
fn with_views<'c>(ops: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut found: Vec<Op<'c>> = Vec::new();
    for op in ops {
        for value in op.inputs() {
            let made_inside = behind_views(value).def().is_some_and(|def| ops.contains(&def));
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
