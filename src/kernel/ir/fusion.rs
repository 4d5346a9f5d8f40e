//! Moves all neighbors of kernels for which a move is legal and not excluded.

use super::{
    collect_kernels,
    consumer_kernels::{KernelSegment, fuse_kernels},
    dim_labels::compute_program_labels,
    moved_ops::{mark_for_recomputation, number_before_move},
    moves::{fuse_consumer, fuse_producer},
    neighbors::KernelView,
    split::split_off_segment,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::ComputeOp,
    kernel::NeighborSide,
    mlir::{Op, OpExt, find_defined_functions, format_location, integer},
};
use machine::Target;
use std::collections::BTreeSet;

/// Number of an op that has not moved.
pub(super) fn original_number(op: Op<'_>) -> Option<i64> {
    op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number >= 0)
}

/// Op next to a kernel, by its number.
pub(super) type EdgeId = (i64, NeighborSide);

/// Completed move.
#[derive(Clone, Debug)]
pub(super) struct CompletedMove {
    pub(super) id: EdgeId,
    /// Module-wide number of the kernel.
    pub(super) kernel: usize,
    pub(super) function: String,
    pub(super) location: String,
}

/// Choice of the moves and their modes.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct FusionChoice {
    /// Excluded moves: these ops stay in place.
    pub(super) excluded: BTreeSet<EdgeId>,
    /// Numbers of the ops that are recomputed in loops that do not tile them, where that is allowed.
    pub(super) inlined: BTreeSet<i64>,
}

impl FusionChoice {
    pub(super) fn with_excluded(&self, id: EdgeId) -> Self {
        let mut other = self.clone();
        other.excluded.insert(id);
        other
    }

    pub(super) fn with_allowed(&self, id: EdgeId) -> Self {
        let mut other = self.clone();
        other.excluded.remove(&id);
        other
    }

    /// Returns the choice with op `number` toggled between INLINE and STAGE.
    pub(super) fn with_toggled_mode(&self, number: i64) -> Self {
        let mut other = self.clone();
        if !other.inlined.remove(&number) {
            other.inlined.insert(number);
        }
        other
    }
}

/// Makes all moves that are legal and not excluded.
pub(super) struct NeighborFusion<'a> {
    pub(super) target: &'a Target,
    pub(super) choice: &'a FusionChoice,
}

impl NeighborFusion<'_> {
    pub(super) fn fuse_neighbors(&self, module: Op<'_>) -> Vec<CompletedMove> {
        let mut moves = Vec::new();
        while self.make_first_move(module, &mut moves) {}
        mark_for_recomputation(module, self.target, &self.choice.inlined);
        moves
    }

    /// Makes the first allowed move; returns false if there is none. Kernels are fused last, after the ops between them
    /// have moved into one of them.
    fn make_first_move(&self, module: Op<'_>, moves: &mut Vec<CompletedMove>) -> bool {
        let mut first_kernel = 0;
        for function in find_defined_functions(module) {
            let (labels, kernels) = (compute_program_labels(function), collect_kernels(function));
            let views: Vec<KernelView<'_>> =
                kernels.iter().map(|kernel| KernelView::new(*kernel, &labels, self.target)).collect();
            let moved = (first_kernel..).zip(&views).any(|(number, view)| self.fuse_neighbor_of(view, number, moves));
            if moved || self.fuse_kernel_pair(function, &views, first_kernel, moves) {
                return true;
            }
            first_kernel += kernels.len();
        }
        false
    }

    /// Fuses the first kernel for which it is allowed into the kernel that it reads; returns false if there is none.
    fn fuse_kernel_pair(
        &self,
        function: Op<'_>,
        views: &[KernelView<'_>],
        first_kernel: usize,
        moves: &mut Vec<CompletedMove>,
    ) -> bool {
        for (place, view) in views.iter().enumerate() {
            for consumer in view.collect_consumers() {
                let Some(next) = views.iter().position(|other| other.op == consumer) else { continue };
                let intervals = |part: &KernelSegment<'_>| has_excluded(part, &self.choice.excluded);
                let Ok(Some(part)) = view.find_fusible_segment(&views[next], intervals) else { continue };
                self.fuse_segment(
                    (first_kernel + place, view.op),
                    (first_kernel + next, &views[next]),
                    &part,
                    function,
                    moves,
                );
                return true;
            }
        }
        false
    }

    /// Fuses a segment of the second kernel into the first, each with its number; the remaining ops of the second one
    /// stay a kernel.
    fn fuse_segment<'c>(
        &self,
        (first, kernel): (usize, Op<'c>),
        (second, view): (usize, &KernelView<'c>),
        part: &KernelSegment<'c>,
        function: Op<'c>,
        moves: &mut Vec<CompletedMove>,
    ) {
        let moved_before: Vec<i64> = part.nested().into_iter().filter_map(number_before_move).collect();
        let (joining, is_all) = split_off_segment(view, part);
        let described = |kernel| KernelView::new(kernel, &compute_program_labels(function), self.target);
        fuse_kernels(kernel, joining, described, |op| {
            moves.extend(to_completed_move(op, NeighborSide::Epilogue, first))
        });
        for made in moves.iter_mut() {
            if made.kernel == second && (is_all || moved_before.contains(&made.id.0)) {
                // Ops that had moved into the segment are now in the first kernel.
                made.kernel = first;
            } else if is_all && made.kernel > second {
                made.kernel -= 1;
            }
        }
    }

    fn fuse_neighbor_of(&self, view: &KernelView<'_>, kernel: usize, moves: &mut Vec<CompletedMove>) -> bool {
        for producer in collect_producers(view) {
            if self.is_excluded(producer, NeighborSide::Prologue) || view.describe_prologue(producer).check().is_err() {
                continue;
            }
            moves.extend(to_completed_move(producer, NeighborSide::Prologue, kernel));
            fuse_producer(view, producer);
            return true;
        }
        for consumer in view.collect_consumers().into_iter().filter(|op| ComputeOp::from_op(*op).is_some()) {
            if self.is_excluded(consumer, NeighborSide::Epilogue) || view.describe_epilogue(consumer).check().is_err() {
                continue;
            }
            moves.extend(to_completed_move(consumer, NeighborSide::Epilogue, kernel));
            fuse_consumer(view, consumer);
            return true;
        }
        false
    }

    fn is_excluded(&self, op: Op<'_>, side: NeighborSide) -> bool {
        original_number(op).is_some_and(|number| self.choice.excluded.contains(&(number, side)))
    }
}

/// Returns whether a segment of a kernel contains an op that is excluded from fusion with another kernel.
pub(super) fn has_excluded(part: &KernelSegment<'_>, excluded: &BTreeSet<EdgeId>) -> bool {
    part.nested()
        .into_iter()
        .filter_map(original_number)
        .any(|number| excluded.contains(&(number, NeighborSide::Epilogue)))
}

/// Returns the producers of inputs, each once, in the order of the inputs. Kernels are excluded: the second of two
/// kernels is fused into the first.
pub(super) fn collect_producers<'c>(view: &KernelView<'c>) -> Vec<Op<'c>> {
    let mut found: Vec<Op<'c>> = Vec::new();
    for producer in (0..view.op.inputs().len()).filter_map(|input| view.producer(input)) {
        if !found.contains(&producer) && !producer.is(spyre::KERNEL) {
            found.push(producer);
        }
    }
    found
}

/// Returns the record of a move; `None` for the move of a constant.
fn to_completed_move(op: Op<'_>, side: NeighborSide, kernel: usize) -> Option<CompletedMove> {
    let id = (original_number(op)?, side);
    Some(CompletedMove { id, kernel, function: function_name(op), location: format_location(op.loc()) })
}

pub(super) fn function_name(op: Op<'_>) -> String {
    ComputeOp::from_op(op).map_or_else(|| op.full_name().to_owned(), |compute| compute.function().to_owned())
}
