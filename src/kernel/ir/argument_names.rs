//! The names of the dimensions of a program's or a kernel's arguments, and which dimensions of other values are those.

use super::dim_labels::{DimLabels, program_labels};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{declared_sizes, input_dims_of, set_input_dims},
    mlir::{Op, OpExt, argument_attribute, set_argument_attribute, shape_of, string_array, strings},
};
use std::collections::BTreeSet;

/// A dimension of an argument: the number of the argument, and of the dimension.
pub(super) type Origin = (usize, usize);

/// The names that the dimensions of the arguments of a function or of a kernel have, and those that they get.
pub(super) struct ArgumentNames<'c> {
    of: Op<'c>,
    /// For each argument the names of its dimensions, empty for none; none where names are no dimensions.
    names: Vec<Option<Vec<String>>>,
    taken: BTreeSet<String>,
}

impl<'c> ArgumentNames<'c> {
    pub(super) fn of_function(function: Op<'c>) -> Self {
        let mut taken: BTreeSet<String> = declared_sizes(function).into_keys().collect();
        let mut names = Vec::new();
        for (number, argument) in function.body_args().into_iter().enumerate() {
            let rank = shape_of(argument).len();
            let given = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
            taken.extend(given.iter().map(|name| (*name).to_owned()));
            let given: Vec<String> = given.into_iter().map(str::to_owned).collect();
            names.push(match given.len() {
                0 => Some(vec![String::new(); rank]),
                n_names if n_names == rank => Some(given),
                _ => None,
            });
        }
        Self { of: function, names, taken }
    }

    /// A kernel without names of its own has those of the function around it.
    pub(super) fn of_kernel(kernel: Op<'c>, function: Op<'c>) -> Self {
        let own = input_dims_of(kernel).unwrap_or_else(|| {
            let of_program = program_labels(function);
            kernel.inputs().into_iter().map(|input| of_program.of(input)).collect()
        });
        let of_scope = |scope: Op<'c>, list: &str| scope.attr(list).and_then(strings).unwrap_or_default();
        let scopes = kernel.nested().into_iter().filter(|op| op.is(spyre::HINT));
        let in_scopes = scopes.flat_map(|scope| [attr::TILE_DIMS, attr::WORK_DIMS].map(|list| of_scope(scope, list)).concat());
        let taken = in_scopes.map(str::to_owned).chain(own.iter().flatten().flatten().cloned()).collect();
        let names = own.into_iter().map(|names| Some(names.into_iter().map(Option::unwrap_or_default).collect())).collect();
        Self { of: kernel, names, taken }
    }

    fn get(&self, (argument, dim): Origin) -> Option<&str> {
        self.names[argument].as_ref().map(|names| names[dim].as_str())
    }

    /// The name that dimensions of arguments have together, which those without one get; none if none of them can have one.
    pub(super) fn settle(&mut self, wished: &str, origins: &[Origin]) -> Option<String> {
        let known = origins.iter().find_map(|origin| self.get(*origin).filter(|name| !name.is_empty()).map(str::to_owned));
        if origins.iter().all(|origin| self.get(*origin).is_none()) {
            return None;
        }
        let name = known.unwrap_or_else(|| self.fresh(wished));
        for &(argument, dim) in origins {
            if let Some(names) = &mut self.names[argument]
                && names[dim].is_empty()
            {
                names[dim].clone_from(&name);
            }
        }
        Some(name)
    }

    fn fresh(&mut self, wished: &str) -> String {
        let numbered = (1..).map(|number| format!("{wished}_{number}"));
        let name = std::iter::once(wished.to_owned()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = name.unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    pub(super) fn write(&self) {
        if self.of.is(spyre::KERNEL) {
            let named = |name: &String| (!name.is_empty()).then(|| name.clone());
            let dims = self.names.iter().map(|names| names.iter().flatten().map(named).collect());
            set_input_dims(self.of, &dims.collect::<Vec<_>>());
            return;
        }
        for (number, names) in self.names.iter().enumerate() {
            if let Some(names) = names.as_ref().filter(|names| names.iter().any(|name| !name.is_empty())) {
                set_argument_attribute(self.of, number, attr::SPYRE_DIMS, string_array(self.of.ctx(), names));
            }
        }
    }
}

/// Where the dimensions of all values of a function or of a kernel come from: the first dimension of an argument that they walk along as a whole.
pub(super) fn origins(around: Op<'_>) -> DimLabels<Origin> {
    let mut labels = DimLabels::new();
    for (number, argument) in around.body_args().into_iter().enumerate() {
        let all = shape_of(argument).into_iter().enumerate().map(|(dim, size)| (size > 1).then_some((number, dim)));
        labels.set(argument, all.collect());
    }
    labels.carry(around);
    labels
}
