//! Loops around the ops that moved into a kernel, and recomputation in loops that do not tile them.
//!
//! An op that the loops around its readers do not tile runs outside of these loops, and its result is kept (STAGE). Alternatively
//! it runs in all of them, provided that all of its readers are in them, too: an enclosing hint scope with `again` requests this
//! (INLINE).

use super::{
    dim_labels::program_labels,
    kernels_of,
    neighbours::{KernelView, Level},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, computed_again, readers_through_views},
    kernel::FusionMode,
    mlir::{Op, OpExt, functions_of, i64_attribute, integer, strings},
};
use machine::Target;
use program::Count;
use std::collections::{BTreeMap, BTreeSet};

/// Loops around an op that moved into a kernel, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Each loop with whether it tiles the op.
    around: Vec<(Level, bool)>,
    /// Whether the op is recomputed in the loops that do not tile it.
    is_again: bool,
    /// Whether such recomputation is allowed.
    pub(super) may_be_again: bool,
}

impl Placed {
    /// Returns the loops that contain the op.
    pub(super) fn loops(&self) -> Vec<Level> {
        self.around.iter().filter(|(_, is_cut)| *is_cut || self.is_again).map(|(level, _)| level.clone()).collect()
    }

    pub(super) fn mode(&self) -> FusionMode {
        if self.is_again || self.around.iter().all(|(_, is_cut)| *is_cut) { FusionMode::Inline } else { FusionMode::Stage }
    }

    /// Returns how many times each element is computed.
    pub(super) fn times(&self) -> i64 {
        if self.is_again { self.turns().unwrap_or(1) } else { 1 }
    }

    /// Returns the product of the trip counts of the loops that do not tile the op; None if a count is unknown.
    fn turns(&self) -> Option<i64> {
        let count = |level: &Level| if let Count::Number(count) = level.count { Some(count) } else { None };
        self.around.iter().filter(|(_, is_cut)| !is_cut).try_fold(1_i64, |turns, (level, _)| turns.checked_mul(count(level)?))
    }
}

/// Marks an op as moved into a kernel: its number becomes negative, and it is no neighbor any more.
pub(super) fn mark_moved(op: Op<'_>) {
    if let Some(number) = op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number >= 0) {
        op.set_attr(attr::SPYRE_NUMBER, i64_attribute(op.ctx(), -1 - number));
    }
}

/// Returns the number that an op had before it moved into a kernel; None for other ops.
pub(super) fn number_before(op: Op<'_>) -> Option<i64> {
    op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number < 0).map(|number| -1 - number)
}

/// Returns the loops around every op that moved, by the original numbers of the ops.
pub(super) fn placed(module: Op<'_>, target: &Target) -> BTreeMap<i64, Placed> {
    let mut found = BTreeMap::new();
    each_moved(module, target, |number, _, placed| {
        found.insert(number, placed);
    });
    found
}

/// Marks the ops of these numbers for recomputation in all loops around their readers, where allowed. Readers are marked before
/// the ops that they read.
pub(super) fn compute_again(module: Op<'_>, target: &Target, numbers: &BTreeSet<i64>) {
    each_moved(module, target, |number, op, placed| {
        if numbers.contains(&number) && placed.may_be_again {
            let names: Vec<String> = placed.around.into_iter().filter(|(_, is_cut)| !is_cut).map(|(level, _)| level.name).collect();
            computed_again(op, &names);
        }
    });
}

/// Visits each op that moved into a kernel, last one first, with its surrounding loops.
fn each_moved<'c>(module: Op<'c>, target: &Target, mut show: impl FnMut(i64, Op<'c>, Placed)) {
    for function in functions_of(module) {
        let labels = program_labels(function);
        for kernel in kernels_of(function) {
            let view = KernelView::of(kernel, &labels, target);
            for op in kernel.nested().into_iter().rev() {
                if let (Some(number), Some(compute)) = (number_before(op), ComputeOp::of(op)) {
                    show(number, op, view.placed(compute));
                }
            }
        }
    }
}

impl<'c> KernelView<'c> {
    fn placed(&self, compute: ComputeOp<'c>) -> Placed {
        let around = self.levels_cutting(compute);
        let mut placed = Placed { around, is_again: is_again(compute.op), may_be_again: false };
        let all: Vec<String> = placed.around.iter().map(|(level, _)| level.name.clone()).collect();
        let readers = readers_through_views(compute.op.output());
        placed.may_be_again = compute.n_reduced() == 0
            && placed.turns().is_some_and(|turns| turns > 1)
            && readers.into_iter().all(|reader| self.loops_of(reader).starts_with(&all));
        placed
    }

    /// Returns the names of the loops that contain an op, outermost first.
    fn loops_of(&self, op: Op<'c>) -> Vec<String> {
        let Some(compute) = ComputeOp::of(op) else { return Vec::new() };
        let placed = Placed { around: self.levels_cutting(compute), is_again: is_again(op), may_be_again: false };
        placed.loops().into_iter().map(|level| level.name).collect()
    }

    fn levels_cutting(&self, compute: ComputeOp<'c>) -> Vec<(Level, bool)> {
        let labels = self.labels.of_iteration(compute);
        let levels = compute.op.parent().map(|scope| self.levels_in(scope)).unwrap_or_default();
        levels.into_iter().map(|level| (level.clone(), labels.contains(&Some(level.name)))).collect()
    }
}

fn is_again(op: Op<'_>) -> bool {
    op.parent()
        .filter(|scope| scope.is(spyre::HINT))
        .and_then(|scope| strings(scope.attr(attr::AGAIN)?))
        .is_some_and(|names| !names.is_empty())
}
