//! Tunable parameters that the kernels of a program leave open.

use super::{
    collect_kernels,
    fixed_numbers::{FixedNumber, collect_fixed_numbers},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Knob, condition_holds, input_dims_of},
    kernel::{FixedNumberKind, KnobTiling, find_equivalent_order},
    mlir::{Op, OpExt, elements, integer, shape_of, string, strings},
};
use program::SymbolicCount;
use std::collections::{BTreeMap, BTreeSet};

/// Kernel with open parameters, or several kernels of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenKernel {
    pub(crate) name: String,
    /// Its knobs, and numbers that no knob controls, treated like knobs.
    pub(crate) knobs: Vec<Knob>,
    pub(crate) tilings: BTreeSet<KnobTiling>,
    /// Names of open loop orders, with the counts of the loops.
    orders: Vec<(String, Vec<SymbolicCount>)>,
}

impl OpenKernel {
    /// Returns the condition that knob values violate; `None` if they satisfy all.
    pub(crate) fn find_violated_condition(&self, values: &[i64]) -> Option<&str> {
        let names: Vec<&str> = self.knobs.iter().map(|knob| knob.name.as_str()).collect();
        let conditions =
            self.knobs.iter().map(|knob| knob.condition.as_str()).filter(|condition| !condition.is_empty());
        conditions.into_iter().find(|condition| !condition_holds(condition, &names, values))
    }

    /// Returns why tiles differ in size for these knob values; `None` if they are equal, as far as the kernel's inputs
    /// determine it.
    pub(crate) fn divisibility_error(&self, values: &[i64]) -> Option<String> {
        self.tilings.iter().find_map(|cuts| cuts.divisibility_error(|name| self.value_of(name, values)))
    }

    /// Returns a loop order that yields the same program as an earlier one for these knob values.
    pub(crate) fn find_equivalent_order(&self, values: &[i64]) -> Option<String> {
        let same = |(name, counts): &(String, Vec<SymbolicCount>)| {
            let number = |count: &SymbolicCount| match count {
                SymbolicCount::Number(number) => Some(*number),
                SymbolicCount::Symbol(name) => self.value_of(name, values),
            };
            let other = find_equivalent_order(
                &counts.iter().map(number).collect::<Option<Vec<i64>>>()?,
                self.value_of(name, values)?,
            )?;
            Some(format!("'{name}' is the same program as {other}"))
        };
        self.orders.iter().find_map(same)
    }

    fn value_of(&self, name: &str, values: &[i64]) -> Option<i64> {
        self.knobs.iter().position(|knob| knob.name == name).map(|number| values[number])
    }
}

/// Returns the kernels with knobs, or with uncontrolled numbers of these kinds, by name.
pub(crate) fn collect_open_kernels(around: Op<'_>, kinds: &[FixedNumberKind], cores: i64) -> Vec<OpenKernel> {
    let mut found: BTreeMap<&str, OpenKernel> = BTreeMap::new();
    for kernel in collect_kernels(around) {
        let (name, mut knobs, sizes) =
            (kernel.text_attr(attr::NAME), Knob::collect_from_kernel(kernel), dim_sizes(kernel));
        let mut fixed = collect_fixed_numbers(kernel);
        fixed.retain(|number| kinds.contains(&number.kind));
        knobs.extend(fixed.iter().map(|number| to_knob(number, &sizes, cores)));
        if knobs.is_empty() {
            continue;
        }
        let orders = fixed.iter().filter(|number| number.kind == FixedNumberKind::Order);
        let orders = orders.map(|order| (order.name.clone(), scope_counts(order.scope, &fixed))).collect();
        let open = found.entry(name).or_insert_with(|| OpenKernel {
            name: name.to_owned(),
            knobs,
            tilings: BTreeSet::new(),
            orders,
        });
        collect_tilings(kernel, (&sizes, &fixed), &[], &mut open.tilings);
    }
    found.into_values().collect()
}

/// Returns a number without a knob as an open parameter; it has one choice if the size of its dimension is unknown.
fn to_knob(number: &FixedNumber<'_>, sizes: &BTreeMap<String, i64>, cores: i64) -> Knob {
    let mut choices = number.choices(number.dim.and_then(|dim| sizes.get(dim).copied()), cores);
    if choices.is_empty() {
        choices.push(number.value);
    }
    Knob { name: number.name.clone(), value: number.value, choices, condition: String::new() }
}

/// Returns the sizes of the dimensions that the inputs name. A name with two different sizes has none.
fn dim_sizes(kernel: Op<'_>) -> BTreeMap<String, i64> {
    let mut sizes: BTreeMap<String, Option<i64>> = BTreeMap::new();
    for (input, names) in kernel.inputs().into_iter().zip(input_dims_of(kernel).unwrap_or_default()) {
        for (name, size) in names.into_iter().zip(shape_of(input)) {
            let Some(name) = name else { continue };
            let known = sizes.entry(name).or_insert(Some(size));
            *known = known.filter(|known| *known == size);
        }
    }
    sizes.into_iter().filter_map(|(name, size)| Some((name, size?))).collect()
}

/// Collects the tilings in the scopes of an operation, including those of the enclosing scopes in `outer`. `sizes` are
/// dimension sizes; an open number is represented by its name.
fn collect_tilings<'c>(
    around: Op<'c>,
    (sizes, open): (&BTreeMap<String, i64>, &[FixedNumber<'c>]),
    outer: &[(String, SymbolicCount)],
    found: &mut BTreeSet<KnobTiling>,
) {
    for scope in around.body_ops().into_iter().filter(|op| op.is(spyre::HINT)) {
        let dims = scope.attr(attr::TILE_DIMS).and_then(strings).unwrap_or_default();
        let mut levels = outer.to_vec();
        levels.extend(dims.into_iter().map(str::to_owned).zip(scope_counts(scope, open)));
        for (dim, _) in &levels {
            let Some(&size) = sizes.get(dim) else { continue };
            let counts = levels.iter().filter(|(name, _)| name == dim).map(|(_, count)| count.clone()).collect();
            found.insert(KnobTiling { dim: dim.clone(), size, counts });
        }
        collect_tilings(scope, (sizes, open), &levels, found);
    }
}

/// Returns the counts of a scope; open counts are represented by their names.
fn scope_counts<'c>(scope: Op<'c>, open: &[FixedNumber<'c>]) -> Vec<SymbolicCount> {
    let counts = scope.attr(attr::TILE_COUNTS).and_then(elements).unwrap_or_default();
    let name_at = |place: usize| {
        open.iter()
            .find(|number| number.kind == FixedNumberKind::Tiles && (number.scope, number.position) == (scope, place))
    };
    let count = |(place, attribute)| match (name_at(place), integer(attribute)) {
        (Some(number), _) => SymbolicCount::Symbol(number.name.clone()),
        (None, Some(number)) => SymbolicCount::Number(number),
        (None, None) => SymbolicCount::Symbol(string(attribute).unwrap_or_default().to_owned()),
    };
    counts.into_iter().enumerate().map(count).collect()
}
