//! Moves all neighbors of kernels for which a move is legal and not excluded.

use super::{
    dim_labels::program_labels,
    followers::{Part, join},
    kernels_of,
    moves::{move_behind, move_in_front},
    neighbours::KernelView,
    placed::{compute_again, number_before},
    split::split_off,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::ComputeOp,
    kernel::Side,
    mlir::{Op, OpExt, functions_of, integer, location_text},
};
use machine::Target;
use std::collections::BTreeSet;

/// Number of an op that has not moved.
pub(super) fn number_of(op: Op<'_>) -> Option<i64> {
    op.attr(attr::SPYRE_NUMBER).and_then(integer).filter(|number| *number >= 0)
}

/// Op next to a kernel, by its number.
pub(super) type EdgeId = (i64, Side);

/// Completed move.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) id: EdgeId,
    /// Module-wide number of the kernel.
    pub(super) kernel: usize,
    pub(super) function: String,
    pub(super) location: String,
}

/// Choice of the moves and their modes.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Excluded moves: these ops stay in place.
    pub(super) excluded: BTreeSet<EdgeId>,
    /// Numbers of the ops that are recomputed in loops that do not tile them, where that is allowed.
    pub(super) inlined: BTreeSet<i64>,
}

impl Choice {
    pub(super) fn without(&self, id: EdgeId) -> Self {
        let mut other = self.clone();
        other.excluded.insert(id);
        other
    }

    pub(super) fn with(&self, id: EdgeId) -> Self {
        let mut other = self.clone();
        other.excluded.remove(&id);
        other
    }

    /// Returns the choice with op `number` toggled between INLINE and STAGE.
    pub(super) fn turned(&self, number: i64) -> Self {
        let mut other = self.clone();
        if !other.inlined.remove(&number) {
            other.inlined.insert(number);
        }
        other
    }
}

/// Makes all moves that are legal and not excluded.
pub(super) struct Fusion<'a> {
    pub(super) target: &'a Target,
    pub(super) choice: &'a Choice,
}

impl Fusion<'_> {
    pub(super) fn run(&self, module: Op<'_>) -> Vec<Move> {
        let mut moves = Vec::new();
        while self.step(module, &mut moves) {}
        compute_again(module, self.target, &self.choice.inlined);
        moves
    }

    /// Makes the first allowed move; returns false if there is none. Kernels are fused last, after the ops between them have
    /// moved into one of them.
    fn step(&self, module: Op<'_>, moves: &mut Vec<Move>) -> bool {
        let mut first_kernel = 0;
        for function in functions_of(module) {
            let (labels, kernels) = (program_labels(function), kernels_of(function));
            let views: Vec<KernelView<'_>> = kernels.iter().map(|kernel| KernelView::of(*kernel, &labels, self.target)).collect();
            let moved = (first_kernel..).zip(&views).any(|(number, view)| self.step_of(view, number, moves));
            if moved || self.join_two(function, &views, first_kernel, moves) {
                return true;
            }
            first_kernel += kernels.len();
        }
        false
    }

    /// Fuses the first kernel for which it is allowed into the kernel that it reads; returns false if there is none.
    fn join_two(&self, function: Op<'_>, views: &[KernelView<'_>], first_kernel: usize, moves: &mut Vec<Move>) -> bool {
        for (place, view) in views.iter().enumerate() {
            for consumer in view.consumers() {
                let Some(next) = views.iter().position(|other| other.op == consumer) else { continue };
                let stays = |part: &Part<'_>| has_excluded(part, &self.choice.excluded);
                let Ok(Some(part)) = view.joining(&views[next], stays) else { continue };
                self.join_part((first_kernel + place, view.op), (first_kernel + next, &views[next]), &part, function, moves);
                return true;
            }
        }
        false
    }

    /// Fuses a segment of the second kernel into the first, each given with its number; the remaining ops of the second one stay
    /// a kernel.
    fn join_part<'c>(
        &self,
        (first, kernel): (usize, Op<'c>),
        (second, view): (usize, &KernelView<'c>),
        part: &Part<'c>,
        function: Op<'c>,
        moves: &mut Vec<Move>,
    ) {
        let moved_before: Vec<i64> = part.nested().into_iter().filter_map(number_before).collect();
        let (joining, is_all) = split_off(view, part);
        let described = |kernel| KernelView::of(kernel, &program_labels(function), self.target);
        join(kernel, joining, described, |op| moves.extend(made(op, Side::Epilogue, first)));
        for made in moves.iter_mut() {
            if made.kernel == second && (is_all || moved_before.contains(&made.id.0)) {
                // Ops that had moved into the segment are now in the first kernel.
                made.kernel = first;
            } else if is_all && made.kernel > second {
                made.kernel -= 1;
            }
        }
    }

    fn step_of(&self, view: &KernelView<'_>, kernel: usize, moves: &mut Vec<Move>) -> bool {
        for producer in producers(view) {
            if self.stays(producer, Side::Prologue) || view.prologue(producer).check().is_err() {
                continue;
            }
            moves.extend(made(producer, Side::Prologue, kernel));
            move_in_front(view, producer);
            return true;
        }
        for consumer in view.consumers().into_iter().filter(|op| ComputeOp::of(*op).is_some()) {
            if self.stays(consumer, Side::Epilogue) || view.epilogue(consumer).check().is_err() {
                continue;
            }
            moves.extend(made(consumer, Side::Epilogue, kernel));
            move_behind(view, consumer);
            return true;
        }
        false
    }

    fn stays(&self, op: Op<'_>, side: Side) -> bool {
        number_of(op).is_some_and(|number| self.choice.excluded.contains(&(number, side)))
    }
}

/// Whether a segment of a kernel contains an op that is excluded from fusion with another kernel.
pub(super) fn has_excluded(part: &Part<'_>, excluded: &BTreeSet<EdgeId>) -> bool {
    part.nested().into_iter().filter_map(number_of).any(|number| excluded.contains(&(number, Side::Epilogue)))
}

/// Returns the producers of inputs, each once, in the order of the inputs. Kernels are excluded: the second of two kernels is
/// fused into the first.
pub(super) fn producers<'c>(view: &KernelView<'c>) -> Vec<Op<'c>> {
    let mut found: Vec<Op<'c>> = Vec::new();
    for producer in (0..view.op.inputs().len()).filter_map(|input| view.producer(input)) {
        if !found.contains(&producer) && !producer.is(spyre::KERNEL) {
            found.push(producer);
        }
    }
    found
}

/// Returns the record of a move; None for the move of a constant.
fn made(op: Op<'_>, side: Side, kernel: usize) -> Option<Move> {
    let id = (number_of(op)?, side);
    Some(Move { id, kernel, function: function_of(op), location: location_text(op.loc()) })
}

pub(super) fn function_of(op: Op<'_>) -> String {
    ComputeOp::of(op).map_or_else(|| op.full_name().to_owned(), |compute| compute.function().to_owned())
}
