//! Dimension names of the arguments of a program or kernel, and the dimensions of other values that correspond to them.

use super::{
    collect_kernels,
    dim_labels::{DimLabels, compute_program_labels},
    dim_name_groups::{ArgumentDim, DimNameGroups},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{declared_sizes, input_dims_of, set_input_dims},
    mlir::{Op, OpExt, argument_attribute, set_argument_attribute, shape_of, string_array, strings},
};
use std::collections::BTreeSet;

/// Existing and assigned dimension names of the arguments of a function or kernel.
pub(super) struct ArgumentNames<'c> {
    op: Op<'c>,
    /// For each argument, the names of its dimensions (empty: unnamed). `None` if the names are not dimension names.
    names: Vec<Option<Vec<String>>>,
    taken: BTreeSet<String>,
    groups: DimNameGroups,
}

impl<'c> ArgumentNames<'c> {
    pub(super) fn from_function(function: Op<'c>, known: &DimLabels<ArgumentDim>) -> Self {
        let mut taken: BTreeSet<String> = declared_sizes(function).into_keys().collect();
        let mut names = Vec::new();
        for (number, argument) in function.body_args().into_iter().enumerate() {
            let rank = shape_of(argument).len();
            let given = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
            taken.extend(given.iter().map(|name| (*name).to_owned()));
            let given: Vec<String> = given.into_iter().map(str::to_owned).collect();
            names.push(match given.len() {
                0 => Some(vec![String::new(); rank]),
                num_names if num_names == rank => Some(given),
                _ => None,
            });
        }
        Self { op: function, names, taken, groups: DimNameGroups::new(function, known) }
    }

    /// Returns the names of a kernel's arguments; a kernel without names uses those of the enclosing function.
    pub(super) fn from_kernel(kernel: Op<'c>, function: Op<'c>, known: &DimLabels<ArgumentDim>) -> Self {
        let own = input_dims_of(kernel).unwrap_or_else(|| {
            let of_program = compute_program_labels(function);
            kernel.inputs().into_iter().map(|input| of_program.labels_of(input)).collect()
        });
        let of_scope = |scope: Op<'c>, list: &str| scope.attr(list).and_then(strings).unwrap_or_default();
        let scopes = kernel.nested().into_iter().filter(|op| op.is(spyre::HINT));
        let in_scopes =
            scopes.flat_map(|scope| [attr::TILE_DIMS, attr::WORK_DIMS].map(|list| of_scope(scope, list)).concat());
        let taken = in_scopes.map(str::to_owned).chain(own.iter().flatten().flatten().cloned()).collect();
        let names =
            own.into_iter().map(|names| Some(names.into_iter().map(Option::unwrap_or_default).collect())).collect();
        Self { op: kernel, names, taken, groups: DimNameGroups::new(kernel, known) }
    }

    /// Returns the name of a dimension; `None` if it has none.
    fn get(&self, (argument, dim): ArgumentDim) -> Option<&str> {
        let name = self.names[argument].as_ref().map(|names| names[dim].as_str());
        name.filter(|name| !name.is_empty())
    }

    pub(super) fn is_named(&self, origin: ArgumentDim, name: &str) -> bool {
        self.get(origin) == Some(name)
    }

    /// Requests one name for several dimensions, as far as possible: a name that one of them gets later is given to all
    /// of them.
    pub(super) fn unify_names(&mut self, origins: &[ArgumentDim]) {
        for (number, &other) in origins.iter().enumerate().skip(1) {
            if let Some(&one) = origins[..number].iter().find(|one| self.may_unify(**one, other)) {
                self.groups.merge(one, other);
            }
        }
    }

    /// Joins all dimensions for which the kernels of a function use one name, as `unify_names` does.
    pub(super) fn unify_kernel_names(&mut self, function: Op<'c>, known: &DimLabels<ArgumentDim>) {
        for (_, origins) in collect_kernels(function).into_iter().flat_map(|kernel| collect_dims_by_name(kernel, known))
        {
            self.unify_names(&origins);
        }
    }

    fn may_unify(&self, one: ArgumentDim, other: ArgumentDim) -> bool {
        let (ones, others) = (self.groups.group_of(one), self.groups.group_of(other));
        let names: BTreeSet<&str> = ones.iter().chain(&others).filter_map(|origin| self.get(*origin)).collect();
        names.len() <= 1 && ones.iter().all(|one| others.iter().all(|other| self.groups.may_share_name(*one, *other)))
    }

    /// Returns the common name of several argument dimensions, and assigns it to unnamed ones where allowed. `None` if
    /// none of them can have a name.
    pub(super) fn resolve_name(&mut self, wished: &str, origins: &[ArgumentDim]) -> Option<String> {
        if origins.iter().all(|(argument, _)| self.names[*argument].is_none()) {
            return None;
        }
        let together: Vec<ArgumentDim> = origins.iter().flat_map(|origin| self.groups.group_of(*origin)).collect();
        let known = origins.iter().chain(&together).find_map(|origin| self.get(*origin)).map(str::to_owned);
        let name = known.unwrap_or_else(|| self.make_unique_name(wished));
        for origin in together {
            if self.may_be_named(origin, &name)
                && let Some(names) = &mut self.names[origin.0]
            {
                names[origin.1].clone_from(&name);
            }
        }
        Some(name)
    }

    /// Returns whether an unnamed dimension may get a name that other dimensions may already have.
    fn may_be_named(&self, origin: ArgumentDim, name: &str) -> bool {
        let places = self
            .names
            .iter()
            .enumerate()
            .flat_map(|(argument, names)| (0..names.as_ref().map_or(0, Vec::len)).map(move |dim| (argument, dim)));
        let named = |other: &ArgumentDim| self.is_named(*other, name);
        self.get(origin).is_none() && places.filter(named).all(|other| self.groups.may_share_name(origin, other))
    }

    fn make_unique_name(&mut self, wished: &str) -> String {
        let numbered = (1..).map(|number| format!("{wished}_{number}"));
        let name = std::iter::once(wished.to_owned()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = name.unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    pub(super) fn write(&self) {
        if self.op.is(spyre::KERNEL) {
            let named = |name: &String| (!name.is_empty()).then(|| name.clone());
            let dims = self.names.iter().map(|names| names.iter().flatten().map(named).collect());
            set_input_dims(self.op, &dims.collect::<Vec<_>>());
            return;
        }
        for (number, names) in self.names.iter().enumerate() {
            if let Some(names) = names.as_ref().filter(|names| names.iter().any(|name| !name.is_empty())) {
                set_argument_attribute(self.op, number, attr::SPYRE_DIMS, string_array(self.op.ctx(), names));
            }
        }
    }
}

/// Origin of the dimensions of all values in a function or kernel: the first argument dimension that each of them
/// indexes in full.
pub(super) fn compute_origins(around: Op<'_>) -> DimLabels<ArgumentDim> {
    let mut labels = DimLabels::new();
    for (number, argument) in around.body_args().into_iter().enumerate() {
        let all = shape_of(argument).into_iter().enumerate().map(|(dim, size)| (size > 1).then_some((number, dim)));
        labels.set(argument, all.collect());
    }
    labels.propagate(around);
    labels
}

/// Returns a kernel's names for dimensions of its inputs, each with the argument dimensions that correspond to it.
pub(super) fn collect_dims_by_name(kernel: Op<'_>, known: &DimLabels<ArgumentDim>) -> Vec<(String, Vec<ArgumentDim>)> {
    let mut all: Vec<(String, Vec<ArgumentDim>)> = Vec::new();
    for (input, labels) in kernel.inputs().into_iter().zip(input_dims_of(kernel).unwrap_or_default()) {
        let origins = known.labels_of(input);
        for (dim, label) in labels.into_iter().enumerate() {
            let Some(label) = label else { continue };
            let place = all.iter().position(|(name, _)| *name == label).unwrap_or_else(|| {
                all.push((label, Vec::new()));
                all.len() - 1
            });
            all[place].1.extend(origins[dim]);
        }
    }
    let own = |(name, origins): &(String, Vec<ArgumentDim>)| {
        // If two names meet in one value, such as the angles of queries and of keys, the name is derived from the
        // values that have only one.
        let is_shared =
            |origin: &ArgumentDim| all.iter().any(|(other, origins)| other != name && origins.contains(origin));
        let own: Vec<ArgumentDim> = origins.iter().copied().filter(|origin| !is_shared(origin)).collect();
        (name.clone(), if own.is_empty() { origins.clone() } else { own })
    };
    all.iter().map(own).collect()
}
