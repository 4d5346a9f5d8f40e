//! Reads and changes the numbers in a kernel's hint scopes that no knob controls.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::Knob,
    kernel::{FixedNumberKind, UniqueNames, compute_loop_order},
    mlir::{Attribute, Op, OpExt, array_attribute, elements, i64_attribute, integer, string_array, strings},
};

/// Number in a scope.
pub(super) struct FixedNumber<'c> {
    pub(super) name: String,
    pub(super) kind: FixedNumberKind,
    pub(super) scope: Op<'c>,
    /// Index in the list of the scope.
    pub(super) position: usize,
    /// The dimension; `None` for an order.
    pub(super) dim: Option<&'c str>,
    /// Current value; 1 for an order.
    pub(super) value: i64,
    /// Number of loops that an order permutes.
    num_loops: usize,
}

/// Returns the fixed numbers of a kernel, from the outermost scope inwards and in program order. Numbers that have the
/// name of a knob are skipped.
pub(super) fn collect_fixed_numbers(kernel: Op<'_>) -> Vec<FixedNumber<'_>> {
    let mut numbered = UniqueNames::default();
    let mut found = Vec::new();
    for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
        found.extend(collect_listed_numbers(scope, FixedNumberKind::Tiles, &mut numbered));
        found.extend(find_loop_order(scope, &mut numbered));
        found.extend(collect_listed_numbers(scope, FixedNumberKind::Splits, &mut numbered));
    }
    let knobs = Knob::collect_from_kernel(kernel);
    found.retain(|number| knobs.iter().all(|knob| knob.name != number.name));
    found
}

fn list_attributes(kind: FixedNumberKind) -> (&'static str, &'static str) {
    if kind == FixedNumberKind::Splits {
        (attr::WORK_DIMS, attr::WORK_SLICES)
    } else {
        (attr::TILE_DIMS, attr::TILE_COUNTS)
    }
}

fn collect_listed_numbers<'c>(
    scope: Op<'c>,
    kind: FixedNumberKind,
    numbered: &mut UniqueNames,
) -> Vec<FixedNumber<'c>> {
    let (dims, numbers) = list_attributes(kind);
    let dims = scope.attr(dims).and_then(strings).unwrap_or_default();
    let numbers = scope.attr(numbers).and_then(elements).unwrap_or_default();
    let number = |(place, (dim, number)): (usize, (&'c str, Attribute<'c>))| {
        let (value, name) = (integer(number)?, numbered.make_unique(kind.name(dim)?));
        Some(FixedNumber { name, kind, scope, position: place, dim: Some(dim), value, num_loops: 0 })
    };
    dims.into_iter().zip(numbers).enumerate().filter_map(number).collect()
}

/// Returns the loop order of a scope with several loops, whatever its number.
fn find_loop_order<'c>(scope: Op<'c>, numbered: &mut UniqueNames) -> Option<FixedNumber<'c>> {
    let num_loops = scope.attr(attr::TILE_DIMS).and_then(strings).map_or(0, |dims| dims.len());
    let name = FixedNumberKind::Order.name("").filter(|_| num_loops > 1)?;
    Some(FixedNumber {
        name: numbered.make_unique(name),
        kind: FixedNumberKind::Order,
        scope,
        position: 0,
        dim: None,
        value: 1,
        num_loops,
    })
}

impl FixedNumber<'_> {
    /// Returns the values that the number may take, given the size of its dimension; empty if the size is unknown. An
    /// order uses its number of loops instead.
    pub(super) fn choices(&self, size: Option<i64>, cores: i64) -> Vec<i64> {
        let size = if self.kind == FixedNumberKind::Order { i64::try_from(self.num_loops).ok() } else { size };
        size.map_or_else(Vec::new, |size| self.kind.choices(size, self.value, cores))
    }

    /// Writes another number into the scope. Returns false if there is no order of that number.
    pub(super) fn set(&self, value: i64) -> bool {
        let (dims, numbers) = list_attributes(self.kind);
        let (context, mut known) = (self.scope.ctx(), self.scope.attr(numbers).and_then(elements).unwrap_or_default());
        if self.kind == FixedNumberKind::Order {
            let Some(places) = compute_loop_order(self.num_loops, value) else { return false };
            let names = self.scope.attr(dims).and_then(strings).unwrap_or_default();
            let names: Vec<String> = places.iter().map(|&place| names[place].to_owned()).collect();
            known = places.into_iter().map(|place| known[place]).collect();
            self.scope.set_attr(dims, string_array(context, &names));
        } else {
            known[self.position] = i64_attribute(context, value);
        }
        self.scope.set_attr(numbers, array_attribute(context, &known));
        true
    }
}
