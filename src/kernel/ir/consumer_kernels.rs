//! Fuses a kernel into the kernel that produces its inputs, if both have the same loops.

use super::{
    dim_labels::LabelList,
    moves::fuse_consumer,
    neighbors::{KernelView, RequestedLoop, collect_views, trace_dims},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, strip_views},
    kernel::{Epilogue, FusionRejection, KernelNeighbor, NeighborKind},
    mlir::{Op, OpExt, Value, ValueExt, shape_of, strings},
};

/// Segment of a kernel that can be fused into another kernel on its own.
#[derive(Clone)]
pub(super) struct KernelSegment<'c> {
    /// Ops of the kernel's body: all of them, or one of its scopes with the ops that it depends on.
    pub(super) ops: Vec<Op<'c>>,
    /// Innermost of its nested scopes.
    innermost: Op<'c>,
}

impl<'c> KernelSegment<'c> {
    /// Returns the segments of a kernel. A kernel whose scopes are nested in one chain, or that has no scopes, is one
    /// segment. Otherwise each scope that depends on no other scope is a segment.
    pub(super) fn find_all(kernel: Op<'c>) -> Vec<Self> {
        let ops: Vec<Op<'c>> = kernel.body_ops().into_iter().filter(|op| !op.is(spyre::YIELD)).collect();
        let scopes: Vec<Op<'c>> = ops.iter().copied().filter(|op| op.is(spyre::HINT)).collect();
        match scopes.as_slice() {
            [] => vec![Self { ops, innermost: kernel }],
            [scope] => find_innermost_scope(*scope).map(|innermost| Self { ops, innermost }).into_iter().collect(),
            _ => scopes
                .iter()
                .filter_map(|scope| {
                    Some(Self { innermost: find_innermost_scope(*scope)?, ops: collect_dependencies(*scope)? })
                })
                .collect(),
        }
    }

    /// Returns its ops, at any nesting depth.
    pub(super) fn nested(&self) -> Vec<Op<'c>> {
        self.ops.iter().flat_map(|op| op.nested()).collect()
    }

    /// Returns the numbers of the kernel inputs that it reads.
    pub(super) fn inputs(&self, kernel: Op<'c>) -> Vec<usize> {
        let read: Vec<Value<'c>> = self.nested().into_iter().flat_map(OpExt::inputs).collect();
        (0..kernel.inputs().len()).filter(|&input| read.contains(&kernel.body_args()[input])).collect()
    }
}

/// Returns the innermost scope of the nest that begins with this scope; `None` if two scopes are siblings.
fn find_innermost_scope(scope: Op<'_>) -> Option<Op<'_>> {
    let mut innermost = scope;
    for inner in scope.nested().into_iter().filter(|op| op.is(spyre::HINT) && *op != scope) {
        if inner.parent() != Some(innermost) {
            return None;
        }
        innermost = inner;
    }
    Some(innermost)
}

/// Returns the scope and the sibling ops that it depends on, in program order; `None` if another scope is among them.
fn collect_dependencies(scope: Op<'_>) -> Option<Vec<Op<'_>>> {
    let beside = scope.parent()?.body_ops();
    let mut needed = vec![scope];
    for op in beside.into_iter().rev().skip_while(|op| *op != scope).skip(1) {
        let read = needed
            .iter()
            .flat_map(|needed| needed.nested())
            .flat_map(OpExt::inputs)
            .any(|value| value.def() == Some(op));
        if read && op.is(spyre::HINT) {
            return None;
        }
        needed.extend(read.then_some(op));
    }
    needed.reverse();
    Some(needed)
}

impl<'c> KernelView<'c> {
    /// Returns the description, for the rules, of a segment of a kernel that reads outputs of this one.
    pub(super) fn describe_segment(&self, second: &Self, part: &KernelSegment<'c>) -> Epilogue {
        let innermost = part.innermost;
        let levels = second.enclosing_loops(innermost);
        let labels = innermost.yielded().first().map(|value| second.labels.labels_of(*value)).unwrap_or_default();
        let does = NeighborKind::ConsumerKernel { is_in_the_same_loops: self.has_same_loops(second, part) };
        let op = second.describe_neighbor(innermost, does, &labels, &levels);
        let divides =
            |scope: Op<'_>| scope.attr(attr::WORK_DIMS).and_then(strings).is_some_and(|names| !names.is_empty());
        let has_requests = op.has_hints || part.nested().into_iter().any(divides);
        let read: Vec<Value<'c>> = part.inputs(second.op).into_iter().map(|input| second.op.inputs()[input]).collect();
        let reads = |(input, output): (usize, usize)| {
            let mut read = self.describe_output_use(None, input, second.op.inputs()[input], output);
            // How the second kernel tiles its inputs is part of the loops, which are compared with each other.
            read.cuts.clear();
            read
        };
        Epilogue {
            op: KernelNeighbor {
                has_hints: has_requests,
                is_in_kernel_block: second.op.parent() == self.op.parent(),
                ..op
            },
            num_late_operands: self.num_late_operands(&read),
            num_scopes: self.collect_defining_scopes(&read).len(),
            reads: self.collect_output_reads(second, part).into_iter().map(reads).collect(),
        }
    }

    /// Returns the segment of another kernel that may be fused into this one, without ops that are to stay outside;
    /// otherwise the reason why the first segment that reads this kernel may not.
    ///
    /// # Errors
    /// Returns the first rule that the first segment breaks.
    pub(super) fn find_fusible_segment(
        &self,
        second: &Self,
        intervals: impl Fn(&KernelSegment<'c>) -> bool,
    ) -> Result<Option<KernelSegment<'c>>, FusionRejection> {
        let parts: Vec<KernelSegment<'c>> = KernelSegment::find_all(second.op)
            .into_iter()
            .filter(|part| !self.collect_output_reads(second, part).is_empty())
            .collect();
        let mut rejected = parts.is_empty().then(FusionRejection::from_different_loops);
        for part in parts {
            match self.describe_segment(second, &part).check() {
                Ok(()) if !intervals(&part) => return Ok(Some(part)),
                Ok(()) => {}
                Err(rejection) => rejected = rejected.or(Some(rejection)),
            }
        }
        rejected.map_or(Ok(None), Err)
    }

    /// Returns the inputs of a segment of another kernel that view outputs of this one, with the outputs.
    fn collect_output_reads(&self, second: &Self, part: &KernelSegment<'c>) -> Vec<(usize, usize)> {
        let viewed = |input: usize| Some((input, self.find_viewed_output(second.op.inputs()[input])?));
        part.inputs(second.op).into_iter().filter_map(viewed).collect()
    }

    /// Returns whether a segment of another kernel has the loops in which this kernel computes the segment's inputs:
    /// equal tile counts, along the same dimensions of these inputs. No op of the segment may depend on several tiles.
    fn has_same_loops(&self, second: &Self, part: &KernelSegment<'c>) -> bool {
        let reads = self.collect_output_reads(second, part);
        let Some((_, output)) = reads.first() else { return false };
        let (levels, of_second) =
            (self.enclosing_loops(self.find_definition(*output).scope), second.enclosing_loops(part.innermost));
        let counts = |levels: &[RequestedLoop]| levels.iter().map(|level| level.count.clone()).collect::<Vec<_>>();
        // Fusing kernels removes scopes, so an op marked with `recompute` would lose its mark.
        let is_again = |op: &Op<'_>| op.attr(attr::RECOMPUTE).and_then(strings).is_some_and(|names| !names.is_empty());
        let is_plain = |op: &Op<'_>| {
            ComputeOp::from_op(*op).is_some()
                || !is_again(op)
                    && [spyre::VIEW, spyre::CONSTANT, spyre::HINT, spyre::YIELD].iter().any(|name| op.is(name))
        };
        let is_whole = |op: &Op<'c>| {
            let summed = ComputeOp::from_op(*op).map(|compute| second.reduced_dim_names(compute)).unwrap_or_default();
            !of_second.iter().any(|level| summed.contains(&level.name))
        };
        let cuts_alike = |&(input, output): &(usize, usize)| {
            let value = second.op.inputs()[input];
            let made = self.op.outputs()[output];
            let of_made = find_tiling_levels(&self.labels.labels_of(self.op.yielded()[output]), &levels);
            let of_read = find_tiling_levels(&second.labels.labels_of(second.op.body_args()[input]), &of_second);
            let dims = trace_dims(&collect_views(value), shape_of(made).len());
            let is_viewed = |dim: usize| dims.contains(&Some(dim));
            let agrees =
                |(dim, read): (&Option<usize>, &Option<usize>)| dim.map_or(read.is_none(), |dim| of_made[dim] == *read);
            dims.iter().zip(&of_read).all(agrees)
                && (0..of_made.len()).all(|dim| of_made[dim].is_none() || is_viewed(dim))
        };
        let ops = part.nested();
        !levels.is_empty()
            && counts(&levels) == counts(&of_second)
            && ops.iter().all(is_plain)
            && ops.iter().all(is_whole)
            && reads.iter().all(cuts_alike)
    }
}

/// Returns, for each dimension, the level that tiles it.
fn find_tiling_levels(labels: &LabelList<String>, levels: &[RequestedLoop]) -> Vec<Option<usize>> {
    labels.iter().map(|label| levels.iter().position(|level| Some(&level.name) == label.as_ref())).collect()
}

/// Fuses the ops of a kernel into the kernel whose outputs it reads. Calls `moves` with each op that is placed after
/// the ops of the first kernel, before moving it. `view` describes the kernel that is currently at a position.
pub(super) fn fuse_kernels<'c>(
    first: Op<'c>,
    second: Op<'c>,
    view: impl Fn(Op<'c>) -> KernelView<'c>,
    mut moves: impl FnMut(Op<'c>),
) {
    inline_kernel(first, second).into_iter().fold(first, |kernel, op| {
        moves(op);
        fuse_consumer(&view(kernel), op)
    });
}

/// Inlines the ops of a kernel at its position, and moves those that do not depend on the first kernel before it.
/// Returns the other compute ops.
fn inline_kernel<'c>(first: Op<'c>, second: Op<'c>) -> Vec<Op<'c>> {
    let (scopes, ops): (Vec<Op<'c>>, Vec<Op<'c>>) = second
        .nested()
        .into_iter()
        .filter(|op| *op != second && !op.is(spyre::YIELD))
        .partition(|op| op.is(spyre::HINT));
    scopes.into_iter().rev().for_each(OpExt::inline_body);
    second.body_args().into_iter().zip(second.inputs()).for_each(|(argument, input)| argument.replace_with(input));
    second.inline_body();
    let mut after: Vec<Value<'c>> = first.outputs();
    let mut computing = Vec::new();
    for op in ops {
        let comes_after = op.inputs().into_iter().any(|value| {
            after.contains(&value) || collect_views(value).iter().any(|view| after.contains(&view.inputs()[0]))
        });
        if comes_after {
            after.extend(op.outputs());
            computing.extend(ComputeOp::from_op(op).map(|_| op));
        } else {
            hoist_before(op, first);
        }
    }
    computing
}

/// Hoists an op before another one, with the views and constants after the other op that it reads.
fn hoist_before<'c>(op: Op<'c>, first: Op<'c>) {
    for value in op.inputs() {
        let known = strip_views(value).def().filter(|def| def.is(spyre::CONSTANT));
        let late = known.into_iter().chain(collect_views(value)).filter(|def| !def.is_before(first));
        late.for_each(|def| def.move_to_before(first));
    }
    op.move_to_before(first);
}
