//! `spyre-inline-kernels`: inlines the bodies of kernels.
//!
//! Reads `spyre.kernel` ops; writes their knob values as counts of the hint scopes in them, transfers their dimension
//! names to the function's arguments, and inlines their bodies. Each value is visited once.

use super::{
    argument_names::{ArgumentNames, collect_dims_by_name, compute_origins},
    collect_kernels,
    dim_labels::DimLabels,
    dim_name_groups::ArgumentDim,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Knob, input_dims_of},
    mlir::{
        Attribute, ErrorReported, Op, OpExt, Pass, PassOptions, ValueExt, array_attribute, elements,
        find_defined_functions, i64_attribute, string, string_array, strings, warning_at,
    },
};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-inline-kernels", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    find_defined_functions(module)
        .into_iter()
        .filter(|function| !collect_kernels(*function).is_empty())
        .for_each(inline_kernels_of);
    Ok(())
}

fn inline_kernels_of(function: Op<'_>) {
    let known = compute_origins(function);
    let mut names = ArgumentNames::from_function(function, &known);
    names.unify_kernel_names(function, &known);
    for kernel in collect_kernels(function) {
        let renamed = map_to_program_names(kernel, &known, &mut names);
        let numbers: BTreeMap<String, i64> =
            Knob::collect_from_kernel(kernel).into_iter().map(|knob| (knob.name, knob.value)).collect();
        for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
            resolve_scope(scope, renamed.as_ref(), &numbers);
        }
        kernel.body_args().into_iter().zip(kernel.inputs()).for_each(|(argument, input)| argument.replace_with(input));
        kernel.inline_body();
    }
    names.write();
}

/// Maps each name of a kernel to the program's name; `None` if they are identical.
fn map_to_program_names(
    kernel: Op<'_>,
    known: &DimLabels<ArgumentDim>,
    names: &mut ArgumentNames<'_>,
) -> Option<BTreeMap<String, String>> {
    let dims = input_dims_of(kernel)?;
    let mut names_in_kernel = DimLabels::new();
    kernel.body_args().into_iter().zip(dims).for_each(|(argument, labels)| names_in_kernel.set(argument, labels));
    names_in_kernel.propagate(kernel);
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, origins) in collect_dims_by_name(kernel, known) {
        match names.resolve_name(&name, &origins) {
            Some(of_program) => {
                let met = found.iter().find(|(other, of_other)| {
                    **of_other == of_program && must_interval_distinct(kernel, &names_in_kernel, &name, other)
                });
                let Some((other, _)) = met else {
                    found.insert(name, of_program);
                    continue;
                };
                let message = format!(
                    "kernel is not tiled along '{name}', which is the same dimension of the program as '{other}'"
                );
                warning_at(codes::KERNEL_DIM, kernel, message).emit();
            }
            None if is_tiled_along(kernel, &name) => {
                let message =
                    format!("kernel is not tiled along '{name}': no argument of the program has that dimension");
                warning_at(codes::KERNEL_DIM, kernel, message).emit();
            }
            None => {}
        }
    }
    Some(found)
}

/// Returns whether two names of a kernel must stay distinct: those of two dimensions of an op, or of two nested loops.
fn must_interval_distinct(kernel: Op<'_>, known: &DimLabels<String>, one: &str, other: &str) -> bool {
    let in_op = |compute| {
        let dims = known.all_iteration_labels(compute);
        let place = |name: &str| {
            dims.iter()
                .enumerate()
                .filter(|(_, names)| names.iter().any(|known| known == name))
                .map(|(dim, _)| dim)
                .collect::<Vec<_>>()
        };
        let (ones, others) = (place(one), place(other));
        ones.iter().any(|one| others.iter().any(|other| one != other))
    };
    let in_scopes = |scope: Op<'_>| {
        let around: Vec<Op<'_>> =
            std::iter::successors(Some(scope), |op| op.parent()).take_while(|op| *op != kernel).collect();
        [one, other].into_iter().all(|name| around.iter().any(|scope| requests_dim(*scope, name)))
    };
    kernel
        .nested()
        .into_iter()
        .any(|op| if op.is(spyre::HINT) { in_scopes(op) } else { ComputeOp::from_op(op).is_some_and(in_op) })
}

fn is_tiled_along(kernel: Op<'_>, name: &str) -> bool {
    kernel.nested().into_iter().any(|op| op.is(spyre::HINT) && requests_dim(op, name))
}

/// Returns whether a scope tiles a dimension or splits it over the cores.
fn requests_dim(scope: Op<'_>, name: &str) -> bool {
    [attr::TILE_DIMS, attr::WORK_DIMS]
        .iter()
        .any(|list| scope.attr(list).and_then(strings).unwrap_or_default().contains(&name))
}

/// Writes the program's names and numbers into a scope. Hints for dimensions without a name in the program are dropped.
fn resolve_scope(scope: Op<'_>, renamed: Option<&BTreeMap<String, String>>, numbers: &BTreeMap<String, i64>) {
    let context = scope.ctx();
    let name_of = |name: &str| renamed.map_or_else(|| Some(name.to_owned()), |renamed| renamed.get(name).cloned());
    let names = |list: &str| scope.attr(list).and_then(strings).unwrap_or_default();
    let settled = |dims: &str, numbers_of: &str| {
        let wished = scope.attr(numbers_of).and_then(elements).unwrap_or_default();
        let number_of = |wished| {
            string(wished).and_then(|knob| numbers.get(knob)).map_or(wished, |number| i64_attribute(context, *number))
        };
        let named =
            names(dims).into_iter().zip(wished).filter_map(|(name, wished)| Some((name_of(name)?, number_of(wished))));
        named.unzip::<String, Attribute<'_>, Vec<_>, Vec<_>>()
    };
    let (dims, counts) = settled(attr::TILE_DIMS, attr::TILE_COUNTS);
    let (work_dims, slices) = settled(attr::WORK_DIMS, attr::WORK_SLICES);
    let again: Vec<String> = names(attr::RECOMPUTE).into_iter().filter_map(name_of).collect();
    if dims.is_empty() && work_dims.is_empty() && again.is_empty() {
        scope.inline_body();
        return;
    }
    scope.set_attr(attr::TILE_DIMS, string_array(context, &dims));
    scope.set_attr(attr::TILE_COUNTS, array_attribute(context, &counts));
    scope.set_attr(attr::WORK_DIMS, string_array(context, &work_dims));
    scope.set_attr(attr::WORK_SLICES, array_attribute(context, &slices));
    scope.set_attr(attr::RECOMPUTE, string_array(context, &again));
}
