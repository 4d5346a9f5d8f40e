//! Reads and changes the numbers in a kernel's hint scopes that no knob controls.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::Knob,
    kernel::{FixedKind, Numbered, order},
    mlir::{Attribute, Op, OpExt, array, elements, i64_attribute, integer, string_array, strings},
};

/// Number in a scope.
pub(super) struct FixedNumber<'c> {
    pub(super) name: String,
    pub(super) kind: FixedKind,
    pub(super) scope: Op<'c>,
    /// Index in the list of the scope.
    pub(super) place: usize,
    /// The dimension; none for an order.
    pub(super) dim: Option<&'c str>,
    /// Current value; 1 for an order.
    pub(super) value: i64,
    /// Number of loops that an order permutes.
    n_loops: usize,
}

/// Returns the fixed numbers of a kernel, from the outermost scope inwards and in program order. Numbers that have the
/// name of a knob are skipped.
pub(super) fn fixed_numbers(kernel: Op<'_>) -> Vec<FixedNumber<'_>> {
    let mut numbered = Numbered::default();
    let mut found = Vec::new();
    for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
        found.extend(listed(scope, FixedKind::Tiles, &mut numbered));
        found.extend(order_of(scope, &mut numbered));
        found.extend(listed(scope, FixedKind::Splits, &mut numbered));
    }
    let knobs = Knob::all_of(kernel);
    found.retain(|number| knobs.iter().all(|knob| knob.name != number.name));
    found
}

fn lists(kind: FixedKind) -> (&'static str, &'static str) {
    if kind == FixedKind::Splits { (attr::WORK_DIMS, attr::WORK_SLICES) } else { (attr::TILE_DIMS, attr::TILE_COUNTS) }
}

fn listed<'c>(scope: Op<'c>, kind: FixedKind, numbered: &mut Numbered) -> Vec<FixedNumber<'c>> {
    let (dims, numbers) = lists(kind);
    let dims = scope.attr(dims).and_then(strings).unwrap_or_default();
    let numbers = scope.attr(numbers).and_then(elements).unwrap_or_default();
    let number = |(place, (dim, number)): (usize, (&'c str, Attribute<'c>))| {
        let (value, name) = (integer(number)?, numbered.next(kind.name(dim)?));
        Some(FixedNumber { name, kind, scope, place, dim: Some(dim), value, n_loops: 0 })
    };
    dims.into_iter().zip(numbers).enumerate().filter_map(number).collect()
}

/// Returns the loop order of a scope with several loops, whatever its number.
fn order_of<'c>(scope: Op<'c>, numbered: &mut Numbered) -> Option<FixedNumber<'c>> {
    let n_loops = scope.attr(attr::TILE_DIMS).and_then(strings).map_or(0, |dims| dims.len());
    let name = FixedKind::Order.name("").filter(|_| n_loops > 1)?;
    Some(FixedNumber { name: numbered.next(name), kind: FixedKind::Order, scope, place: 0, dim: None, value: 1, n_loops })
}

impl FixedNumber<'_> {
    /// Returns the values that the number may take, given the size of its dimension; empty if the size is unknown. An
    /// order uses its number of loops instead.
    pub(super) fn choices(&self, size: Option<i64>, cores: i64) -> Vec<i64> {
        let size = if self.kind == FixedKind::Order { i64::try_from(self.n_loops).ok() } else { size };
        size.map_or_else(Vec::new, |size| self.kind.choices(size, self.value, cores))
    }

    /// Writes another number into the scope. Returns false if there is no order of that number.
    pub(super) fn set(&self, value: i64) -> bool {
        let (dims, numbers) = lists(self.kind);
        let (context, mut known) = (self.scope.ctx(), self.scope.attr(numbers).and_then(elements).unwrap_or_default());
        if self.kind == FixedKind::Order {
            let Some(places) = order(self.n_loops, value) else { return false };
            let names = self.scope.attr(dims).and_then(strings).unwrap_or_default();
            let names: Vec<String> = places.iter().map(|&place| names[place].to_owned()).collect();
            known = places.into_iter().map(|place| known[place]).collect();
            self.scope.set_attr(dims, string_array(context, &names));
        } else {
            known[self.place] = i64_attribute(context, value);
        }
        self.scope.set_attr(numbers, array(context, &known));
        true
    }
}
