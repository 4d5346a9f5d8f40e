//! A kernel that reads what another one makes, in the same loops: its ops join the first one.

use super::{
    dim_labels::Labels,
    moves::move_behind,
    neighbours::{KernelView, Level, dims_through, views_between},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, behind_views},
    kernel::{Does, Epilogue, Neighbour},
    mlir::{Op, OpExt, Value, ValueExt, shape_of, strings},
};

impl<'c> KernelView<'c> {
    /// A kernel that reads outputs of this one, as the rules see it.
    pub(super) fn follower(&self, second: &Self) -> Epilogue {
        let levels = second.chain().map(|scope| second.levels_in(scope)).unwrap_or_default();
        let labels = second.op.yielded().first().map(|value| second.labels.of(*value)).unwrap_or_default();
        let does = Does::Follows { is_in_the_same_loops: self.has_the_loops_of(second) };
        let op = second.neighbour(second.op, does, &labels, &levels);
        let divides = |scope: Op<'_>| scope.attr(attr::WORK_DIMS).and_then(strings).is_some_and(|names| !names.is_empty());
        let has_wishes = op.has_wishes || second.op.nested().into_iter().any(divides);
        let reads = |(input, output): (usize, usize)| {
            let mut read = self.read_output(None, input, second.op.inputs()[input], output);
            // How the second kernel cuts what it reads is part of the loops, which are compared as a whole.
            read.cuts.clear();
            read
        };
        Epilogue {
            op: Neighbour { has_wishes, ..op },
            n_late_operands: self.n_late(&second.op.inputs()),
            n_scopes: self.scopes_read(&second.op.inputs()).len(),
            reads: self.reads_of(second).into_iter().map(reads).collect(),
        }
    }

    /// The inputs of another kernel that show outputs of this one, with the outputs.
    fn reads_of(&self, second: &Self) -> Vec<(usize, usize)> {
        second.op.inputs().into_iter().enumerate().filter_map(|(input, value)| Some((input, self.output_behind(value)?))).collect()
    }

    /// The innermost of the scopes of a kernel that stand one in the other and beside no other one.
    fn chain(&self) -> Option<Op<'c>> {
        let mut innermost = None;
        for scope in self.op.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
            if scope.parent() != Some(innermost.unwrap_or(self.op)) {
                return None;
            }
            innermost = Some(scope);
        }
        innermost
    }

    /// Whether the loops of another kernel are those in which this one makes what it reads: as many with as many tiles, which cut along the
    /// same dimensions what is read. Nothing in the other kernel may be computed of several tiles.
    fn has_the_loops_of(&self, second: &Self) -> bool {
        let reads = self.reads_of(second);
        let (Some(innermost), Some((_, output))) = (second.chain(), reads.first()) else { return false };
        let (levels, of_second) = (self.levels_in(self.made(*output).scope), second.levels_in(innermost));
        let counts = |levels: &[Level]| levels.iter().map(|level| level.count.clone()).collect::<Vec<_>>();
        // Scopes go as kernels are joined, so that what is to be computed again would not be.
        let is_again = |op: &Op<'_>| op.attr(attr::AGAIN).and_then(strings).is_some_and(|names| !names.is_empty());
        let is_plain = |op: &Op<'_>| {
            ComputeOp::of(*op).is_some()
                || !is_again(op) && [spyre::VIEW, spyre::CONSTANT, spyre::HINT, spyre::YIELD].iter().any(|name| op.is(name))
        };
        let is_whole = |op: &Op<'c>| {
            let summed = ComputeOp::of(*op).map(|compute| second.summed_by(compute)).unwrap_or_default();
            !of_second.iter().any(|level| summed.contains(&level.name))
        };
        let cuts_alike = |&(input, output): &(usize, usize)| {
            let value = second.op.inputs()[input];
            let made = self.op.outputs()[output];
            let of_made = positions(&self.labels.of(self.op.yielded()[output]), &levels);
            let of_read = positions(&second.labels.of(second.op.body_args()[input]), &of_second);
            let dims = dims_through(&views_between(value), shape_of(made).len());
            let is_shown = |dim: usize| dims.contains(&Some(dim));
            let agrees = |(dim, read): (&Option<usize>, &Option<usize>)| dim.map_or(read.is_none(), |dim| of_made[dim] == *read);
            dims.iter().zip(&of_read).all(agrees) && (0..of_made.len()).all(|dim| of_made[dim].is_none() || is_shown(dim))
        };
        let ops = inside(second.op);
        !levels.is_empty()
            && counts(&levels) == counts(&of_second)
            && ops.iter().all(is_plain)
            && ops.iter().all(is_whole)
            && reads.iter().all(cuts_alike)
    }
}

/// The ops of a kernel, at any depth.
fn inside(kernel: Op<'_>) -> Vec<Op<'_>> {
    kernel.nested().into_iter().filter(|op| *op != kernel).collect()
}

/// For each dimension the level that cuts it.
fn positions(labels: &Labels<String>, levels: &[Level]) -> Vec<Option<usize>> {
    labels.iter().map(|label| levels.iter().position(|level| Some(&level.name) == label.as_ref())).collect()
}

/// Joins the ops of a kernel to the one whose outputs it reads; gives those that moved behind the ops of the first one, before they are moved.
/// `view` describes the kernel that stands at a place now.
pub(super) fn join<'c>(first: Op<'c>, second: Op<'c>, view: impl Fn(Op<'c>) -> KernelView<'c>, mut moves: impl FnMut(Op<'c>)) {
    unwrapped(first, second).into_iter().fold(first, |kernel, op| {
        moves(op);
        move_behind(&view(kernel), op)
    });
}

/// Puts the ops of a kernel where it stands, and those in front of the first kernel that need none of what that one makes; gives the others that
/// compute.
fn unwrapped<'c>(first: Op<'c>, second: Op<'c>) -> Vec<Op<'c>> {
    let (scopes, ops): (Vec<Op<'c>>, Vec<Op<'c>>) =
        inside(second).into_iter().filter(|op| !op.is(spyre::YIELD)).partition(|op| op.is(spyre::HINT));
    scopes.into_iter().rev().for_each(OpExt::dissolve);
    second.body_args().into_iter().zip(second.inputs()).for_each(|(argument, input)| argument.replace_with(input));
    second.dissolve();
    let mut behind: Vec<Value<'c>> = first.outputs();
    let mut computing = Vec::new();
    for op in ops {
        let comes_behind = op
            .inputs()
            .into_iter()
            .any(|value| behind.contains(&value) || views_between(value).iter().any(|view| behind.contains(&view.inputs()[0])));
        if comes_behind {
            behind.extend(op.outputs());
            computing.extend(ComputeOp::of(op).map(|_| op));
        } else {
            bring(op, first);
        }
    }
    computing
}

/// Puts an op in front of another one, with the views and constants behind the other one that it reads.
fn bring<'c>(op: Op<'c>, first: Op<'c>) {
    for value in op.inputs() {
        let known = behind_views(value).def().filter(|def| def.is(spyre::CONSTANT));
        let late = known.into_iter().chain(views_between(value)).filter(|def| !def.is_before(first));
        late.for_each(|def| def.move_to_before(first));
    }
    op.move_to_before(first);
}
