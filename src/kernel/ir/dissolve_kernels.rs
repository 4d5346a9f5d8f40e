//! `spyre-dissolve-kernels`: puts the bodies of kernels in their places.
//!
//! Reads `spyre.kernel` ops; writes the values of their knobs as counts of the hint scopes in them, gives the names that they have for
//! dimensions to the arguments of the function, and leaves the ops of their bodies. Each value is looked at once.

use super::{
    argument_names::{ArgumentNames, Origin, origins},
    dim_labels::DimLabels,
    kernels_of,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Knob, input_dims_of},
    mlir::{
        Attribute, Op, OpExt, Options, Pass, Reported, ValueExt, array, elements, functions_of, i64_attribute, string, string_array,
        strings, warning_at,
    },
};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-dissolve-kernels", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    functions_of(module).into_iter().filter(|function| !kernels_of(*function).is_empty()).for_each(dissolve_all);
    Ok(())
}

fn dissolve_all(function: Op<'_>) {
    let origins = origins(function);
    let mut names = ArgumentNames::of_function(function);
    for kernel in kernels_of(function) {
        let renamed = program_names(kernel, &origins, &mut names);
        let numbers: BTreeMap<String, i64> = Knob::all_of(kernel).into_iter().map(|knob| (knob.name, knob.value)).collect();
        for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
            settle_scope(scope, renamed.as_ref(), &numbers);
        }
        kernel.body_args().into_iter().zip(kernel.inputs()).for_each(|(argument, input)| argument.replace_with(input));
        kernel.dissolve();
    }
    names.write();
}

/// For each name of a kernel the program's; none if they are the same.
fn program_names(kernel: Op<'_>, origins: &DimLabels<Origin>, names: &mut ArgumentNames<'_>) -> Option<BTreeMap<String, String>> {
    let dims = input_dims_of(kernel)?;
    let mut by_name: Vec<(String, Vec<Origin>)> = Vec::new();
    for (input, labels) in kernel.inputs().into_iter().zip(dims) {
        let known = origins.of(input);
        for (dim, label) in labels.into_iter().enumerate() {
            let Some(label) = label else { continue };
            let place = by_name.iter().position(|(name, _)| *name == label).unwrap_or_else(|| {
                by_name.push((label, Vec::new()));
                by_name.len() - 1
            });
            by_name[place].1.extend(known[dim]);
        }
    }
    let all = by_name.clone();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (name, origins) in by_name {
        // What two names meet in, such as the angles of queries and of keys, is left to the values that only one has.
        let is_shared = |origin: &Origin| all.iter().any(|(other, origins)| *other != name && origins.contains(origin));
        let own: Vec<Origin> = origins.iter().copied().filter(|origin| !is_shared(origin)).collect();
        let origins = if own.is_empty() { origins } else { own };
        match names.settle(&name, &origins) {
            Some(of_program) if found.values().all(|other| *other != of_program) => {
                found.insert(name, of_program);
            }
            Some(of_program) => {
                let other = found.iter().find(|(_, other)| **other == of_program).map_or("", |(name, _)| name.as_str());
                let message = format!("is not cut along '{name}', which is the same dimension of the program as '{other}'");
                warning_at(kernel, message).emit();
            }
            None if is_cut_along(kernel, &name) => {
                let message = format!("is not cut along '{name}': no argument of the program has that dimension");
                warning_at(kernel, message).emit();
            }
            None => {}
        }
    }
    Some(found)
}

fn is_cut_along(kernel: Op<'_>, name: &str) -> bool {
    let names = |scope: Op<'_>, list: &str| scope.attr(list).and_then(strings).unwrap_or_default().contains(&name);
    kernel.nested().into_iter().any(|op| op.is(spyre::HINT) && (names(op, attr::TILE_DIMS) || names(op, attr::WORK_DIMS)))
}

/// Writes the program's names and numbers into a scope; wishes for what has no name in the program go.
fn settle_scope(scope: Op<'_>, renamed: Option<&BTreeMap<String, String>>, numbers: &BTreeMap<String, i64>) {
    let context = scope.ctx();
    let name_of = |name: &str| renamed.map_or_else(|| Some(name.to_owned()), |renamed| renamed.get(name).cloned());
    let names = |list: &str| scope.attr(list).and_then(strings).unwrap_or_default();
    let settled = |dims: &str, numbers_of: &str| {
        let wished = scope.attr(numbers_of).and_then(elements).unwrap_or_default();
        let number_of = |wished| string(wished).and_then(|knob| numbers.get(knob)).map_or(wished, |number| i64_attribute(context, *number));
        let named = names(dims).into_iter().zip(wished).filter_map(|(name, wished)| Some((name_of(name)?, number_of(wished))));
        named.unzip::<String, Attribute<'_>, Vec<_>, Vec<_>>()
    };
    let (dims, counts) = settled(attr::TILE_DIMS, attr::TILE_COUNTS);
    let (work_dims, slices) = settled(attr::WORK_DIMS, attr::WORK_SLICES);
    let again: Vec<String> = names(attr::AGAIN).into_iter().filter_map(name_of).collect();
    if dims.is_empty() && work_dims.is_empty() && again.is_empty() {
        scope.dissolve();
        return;
    }
    scope.set_attr(attr::TILE_DIMS, string_array(context, &dims));
    scope.set_attr(attr::TILE_COUNTS, array(context, &counts));
    scope.set_attr(attr::WORK_DIMS, string_array(context, &work_dims));
    scope.set_attr(attr::WORK_SLICES, array(context, &slices));
    scope.set_attr(attr::AGAIN, string_array(context, &again));
}
