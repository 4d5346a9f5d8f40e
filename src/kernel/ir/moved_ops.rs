//! Loops around the ops that moved into a kernel, and recomputation in loops that do not tile them.
//!
//! An op that the loops around its users do not tile runs outside of these loops, and its result stays resident
//! (STAGE). Alternatively it runs in all of them, provided that all of its users are in them, too: an enclosing hint
//! scope with `recompute` requests this (INLINE).

use super::{
    collect_kernels,
    dim_labels::compute_program_labels,
    neighbors::{KernelView, RequestedLoop},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, collect_users_through_views, wrap_in_recompute_scope},
    kernel::FusionMode,
    mlir::{Op, OpExt, find_defined_functions, i64_attribute, integer, strings},
};
use machine::Target;
use program::SymbolicCount;
use std::collections::{BTreeMap, BTreeSet};

/// Loops around an op that moved into a kernel, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MovedOpLoops {
    /// Each loop with whether it tiles the op.
    around: Vec<(RequestedLoop, bool)>,
    /// Whether the op is recomputed in the loops that do not tile it.
    is_recomputed: bool,
    /// Whether such recomputation is allowed.
    pub(super) may_recompute: bool,
}

impl MovedOpLoops {
    /// Returns the loops that contain the op.
    pub(super) fn loops(&self) -> Vec<RequestedLoop> {
        self.around.iter().filter(|(_, is_cut)| *is_cut || self.is_recomputed).map(|(level, _)| level.clone()).collect()
    }

    pub(super) fn mode(&self) -> FusionMode {
        if self.is_recomputed || self.around.iter().all(|(_, is_cut)| *is_cut) {
            FusionMode::Inline
        } else {
            FusionMode::Stage
        }
    }

    /// Returns how many times each element is computed.
    pub(super) fn num_computations(&self) -> i64 {
        if self.is_recomputed { self.num_recomputations().unwrap_or(1) } else { 1 }
    }

    /// Returns the product of the trip counts of the loops that do not tile the op; `None` if a count is unknown.
    fn num_recomputations(&self) -> Option<i64> {
        let count =
            |level: &RequestedLoop| if let SymbolicCount::Number(count) = level.count { Some(count) } else { None };
        self.around
            .iter()
            .filter(|(_, is_cut)| !is_cut)
            .try_fold(1_i64, |turns, (level, _)| turns.checked_mul(count(level)?))
    }
}

/// Marks an op as moved into a kernel: its number becomes negative, and it is no longer a neighbor.
pub(super) fn mark_moved(op: Op<'_>) {
    if let Some(number) = op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number >= 0) {
        op.set_attr(attr::SPYRE_NUMBER, i64_attribute(op.ctx(), -1 - number));
    }
}

/// Returns the number that an op had before it moved into a kernel; `None` for other ops.
pub(super) fn number_before_move(op: Op<'_>) -> Option<i64> {
    op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number < 0).map(|number| -1 - number)
}

/// Returns the loops around every op that moved, by the original numbers of the ops.
pub(super) fn collect_moved_op_loops(module: Op<'_>, target: &Target) -> BTreeMap<i64, MovedOpLoops> {
    let mut found = BTreeMap::new();
    visit_moved_ops(module, target, |number, _, placed| {
        found.insert(number, placed);
    });
    found
}

/// Marks the ops of these numbers for recomputation in all loops around their users, where allowed. Users are marked
/// before the ops that they read.
pub(super) fn mark_for_recomputation(module: Op<'_>, target: &Target, numbers: &BTreeSet<i64>) {
    visit_moved_ops(module, target, |number, op, placed| {
        if numbers.contains(&number) && placed.may_recompute {
            let names: Vec<String> =
                placed.around.into_iter().filter(|(_, is_cut)| !is_cut).map(|(level, _)| level.name).collect();
            wrap_in_recompute_scope(op, &names);
        }
    });
}

/// Visits each op that moved into a kernel, last one first, with its surrounding loops.
fn visit_moved_ops<'c>(module: Op<'c>, target: &Target, mut show: impl FnMut(i64, Op<'c>, MovedOpLoops)) {
    for function in find_defined_functions(module) {
        let labels = compute_program_labels(function);
        for kernel in collect_kernels(function) {
            let view = KernelView::new(kernel, &labels, target);
            for op in kernel.nested().into_iter().rev() {
                if let (Some(number), Some(compute)) = (number_before_move(op), ComputeOp::from_op(op)) {
                    show(number, op, view.describe_moved_op(compute));
                }
            }
        }
    }
}

impl<'c> KernelView<'c> {
    fn describe_moved_op(&self, compute: ComputeOp<'c>) -> MovedOpLoops {
        let around = self.enclosing_levels_with_tiling(compute);
        let mut placed =
            MovedOpLoops { around, is_recomputed: is_marked_for_recomputation(compute.op), may_recompute: false };
        let all: Vec<String> = placed.around.iter().map(|(level, _)| level.name.clone()).collect();
        let readers = collect_users_through_views(compute.op.output());
        placed.may_recompute = compute.num_reduced_dims() == 0
            && placed.num_recomputations().is_some_and(|turns| turns > 1)
            && readers.into_iter().all(|reader| self.enclosing_loop_names(reader).starts_with(&all));
        placed
    }

    /// Returns the names of the loops that contain an op, outermost first.
    fn enclosing_loop_names(&self, op: Op<'c>) -> Vec<String> {
        let Some(compute) = ComputeOp::from_op(op) else { return Vec::new() };
        let placed = MovedOpLoops {
            around: self.enclosing_levels_with_tiling(compute),
            is_recomputed: is_marked_for_recomputation(op),
            may_recompute: false,
        };
        placed.loops().into_iter().map(|level| level.name).collect()
    }

    fn enclosing_levels_with_tiling(&self, compute: ComputeOp<'c>) -> Vec<(RequestedLoop, bool)> {
        let labels = self.labels.iteration_labels(compute);
        let levels = compute.op.parent().map(|scope| self.enclosing_loops(scope)).unwrap_or_default();
        levels.into_iter().map(|level| (level.clone(), labels.contains(&Some(level.name)))).collect()
    }
}

fn is_marked_for_recomputation(op: Op<'_>) -> bool {
    op.parent()
        .filter(|scope| scope.is(spyre::HINT))
        .and_then(|scope| strings(scope.attr(attr::RECOMPUTE)?))
        .is_some_and(|names| !names.is_empty())
}
