//! `spyre-propagate-dims`, for values that are computed from constants alone: these inherit no names from arguments,
//! and get the names that their users have.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, strip_views},
    mlir::{Op, OpExt, Value, ValueExt, ValueMap, string_array},
};
use machine::Family;

/// Names the dimensions of elementwise ops on constants, such as those that compute a mask, after the first user. Each
/// op is visited once, in reverse program order.
pub(super) fn name_constant_ops(function: Op<'_>) {
    let mut known: ValueMap<()> = ValueMap::default();
    let mut of_constants = Vec::new();
    for compute in ComputeOp::collect_in(function).into_iter().filter(|compute| compute.family() == Family::Pointwise) {
        let is_known =
            |value: Value<'_>| known.get(value).is_some() || value.def().is_some_and(|def| def.is(spyre::CONSTANT));
        if compute.read_operands().into_iter().map(strip_views).all(is_known) {
            known.insert(compute.op.output(), ());
            of_constants.push(compute);
        }
    }
    of_constants.into_iter().rev().for_each(name_by_user);
}

fn name_by_user(compute: ComputeOp<'_>) {
    let result = compute.op.output();
    let Some(reader) = result.users().into_iter().find_map(ComputeOp::from_op) else { return };
    let Some(operand) = reader.read_operands().iter().position(|value| *value == result) else { return };
    let (own, labels) = (compute.operand_dims(compute.read_operands().len()), reader.dim_names());
    let mut names = vec![String::new(); compute.iteration_space().len()];
    for (dim, read_by) in own.into_iter().zip(reader.operand_dims(operand)) {
        if let (Some(dim), Some(read_by)) = (dim, read_by) {
            names[dim].clone_from(&labels[read_by]);
        }
    }
    if names.iter().any(|name| !name.is_empty()) {
        compute.op.set_attr(attr::DIMS, string_array(compute.op.ctx(), &names));
    }
}
