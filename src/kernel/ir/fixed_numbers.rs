//! Reads and changes the fixed numbers of a kernel: tile counts, loop orders and core splits in hint scopes that no
//! knob controls.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::Knob,
    kernel::{FixedNumberKind, UniqueNames, compute_loop_order},
    mlir::{Attribute, Op, OpExt, array_attribute, elements, i64_attribute, integer, string_array, strings},
};

/// Tile count, loop order or core split in a hint scope.
pub(super) struct FixedNumber<'c> {
    pub(super) name: String,
    pub(super) kind: FixedNumberKind,
    pub(super) scope: Op<'c>,
    /// Index in the list attribute of the scope.
    pub(super) position: usize,
    /// Dimension that is tiled or split; `None` for a loop order.
    pub(super) dim: Option<&'c str>,
    /// Current value. Loop orders are numbered, and the current order has the number 1.
    pub(super) value: i64,
    /// Number of loops that a loop order permutes; 0 for other kinds.
    num_loops: usize,
}

/// Returns the fixed numbers of a kernel, from the outermost scope inwards and in program order. Numbers that have the
/// name of a knob are skipped.
pub(super) fn collect_fixed_numbers(kernel: Op<'_>) -> Vec<FixedNumber<'_>> {
    let mut unique_names = UniqueNames::default();
    let mut found = Vec::new();
    for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
        found.extend(collect_listed_numbers(scope, FixedNumberKind::Tiles, &mut unique_names));
        found.extend(find_loop_order(scope, &mut unique_names));
        found.extend(collect_listed_numbers(scope, FixedNumberKind::Splits, &mut unique_names));
    }
    let knobs = Knob::collect_from_kernel(kernel);
    found.retain(|number| knobs.iter().all(|knob| knob.name != number.name));
    found
}

/// Returns the names of the attributes that list the dimensions and the numbers of a kind.
fn find_list_attributes(kind: FixedNumberKind) -> (&'static str, &'static str) {
    if kind == FixedNumberKind::Splits {
        (attr::WORK_DIMS, attr::WORK_SLICES)
    } else {
        (attr::TILE_DIMS, attr::TILE_COUNTS)
    }
}

/// Returns the tile counts or the core splits that a scope lists.
fn collect_listed_numbers<'c>(
    scope: Op<'c>,
    kind: FixedNumberKind,
    unique_names: &mut UniqueNames,
) -> Vec<FixedNumber<'c>> {
    let (dims, numbers) = find_list_attributes(kind);
    let dims = scope.attr(dims).and_then(strings).unwrap_or_default();
    let numbers = scope.attr(numbers).and_then(elements).unwrap_or_default();
    let new_fixed_number = |(place, (dim, number)): (usize, (&'c str, Attribute<'c>))| {
        let (value, name) = (integer(number)?, unique_names.make_unique(kind.name(dim)?));
        Some(FixedNumber { name, kind, scope, position: place, dim: Some(dim), value, num_loops: 0 })
    };
    dims.into_iter().zip(numbers).enumerate().filter_map(new_fixed_number).collect()
}

/// Returns the loop order of a scope; `None` if the scope has fewer than two loops.
fn find_loop_order<'c>(scope: Op<'c>, unique_names: &mut UniqueNames) -> Option<FixedNumber<'c>> {
    let num_loops = scope.attr(attr::TILE_DIMS).and_then(strings).map_or(0, |dims| dims.len());
    let name = FixedNumberKind::Order.name("").filter(|_| num_loops > 1)?;
    Some(FixedNumber {
        name: unique_names.make_unique(name),
        kind: FixedNumberKind::Order,
        scope,
        position: 0,
        dim: None,
        value: 1,
        num_loops,
    })
}

impl FixedNumber<'_> {
    /// Returns the values that the number may take, given the size of its dimension; empty if the size is unknown. For
    /// a loop order, the number of loops replaces the size.
    pub(super) fn choices(&self, size: Option<i64>, cores: i64) -> Vec<i64> {
        let size = if self.kind == FixedNumberKind::Order { i64::try_from(self.num_loops).ok() } else { size };
        size.map_or_else(Vec::new, |size| self.kind.choices(size, self.value, cores))
    }

    /// Writes another value into the scope. Returns false if it is not the number of a loop order.
    pub(super) fn write_value(&self, value: i64) -> bool {
        let (dims, numbers) = find_list_attributes(self.kind);
        let (context, mut values) = (self.scope.ctx(), self.scope.attr(numbers).and_then(elements).unwrap_or_default());
        if self.kind == FixedNumberKind::Order {
            let Some(permutation) = compute_loop_order(self.num_loops, value) else { return false };
            let names = self.scope.attr(dims).and_then(strings).unwrap_or_default();
            let names: Vec<String> = permutation.iter().map(|&place| names[place].to_owned()).collect();
            values = permutation.into_iter().map(|place| values[place]).collect();
            self.scope.set_attr(dims, string_array(context, &names));
        } else {
            values[self.position] = i64_attribute(context, value);
        }
        self.scope.set_attr(numbers, array_attribute(context, &values));
        true
    }
}
