//! Merging of two loops for `spyre-fuse-online-reductions`: legality, and the merge itself.

use super::online_steps::{AccumulatedValue, LoopDependenceAnalysis};
use crate::dialect::ods::spyre;
use crate::{
    dialect::{
        ComputeOp, DeviceTensor, is_in_loop_of_buffer, loop_carried_values, plain_view_indices, tiled_dims, yield_slots,
    },
    mlir::{Op, OpExt, OperationLike, Value, ValueExt, ValueLike, ValueMap},
    tile::{Correction, RunningDependence},
};
use machine::DeviceFormat;

mod bound;
mod build;

/// Two loops that can be merged.
pub(super) struct LoopMerge<'c> {
    first: Op<'c>,
    second: Op<'c>,
    /// Ops between the loops that the second loop needs and that read nothing of the first one.
    early: Vec<Op<'c>>,
    /// Ops between the loops that the second loop needs and that read finished values of the first one.
    running: Vec<Op<'c>>,
    /// Tiled results of the first loop that the second one reads.
    forwarded: Vec<ForwardedTile<'c>>,
    analysis: LoopDependenceAnalysis<'c>,
    /// Values that each loop carries, with the correction if one is needed.
    carried: [Vec<(AccumulatedValue<'c>, Option<Correction>)>; 2],
}

/// Tile that the first loop computes and the second one reads.
struct ForwardedTile<'c> {
    /// Argument of the second loop.
    argument: Value<'c>,
    /// Tile that the first loop yields.
    left: Value<'c>,
    /// Index of that result of the first loop.
    position: usize,
    /// View through which the second loop reads it.
    view: Option<Op<'c>>,
}

impl<'c> LoopMerge<'c> {
    /// Returns the merge of a loop with an earlier one of the same block, once the values that its corrections read are
    /// bounded. `None` if the second loop reads nothing of the first one, or if their kind is not merged: with loops or
    /// slices of buffers inside, or over tiles that do not match. The error is an op of the second loop that needs a
    /// finished value of the first one.
    pub(super) fn analyze_pair(first: Op<'c>, second: Op<'c>) -> Option<Result<Self, Op<'c>>> {
        let OpsBetweenLoops { early, late } = OpsBetweenLoops::collect(first, second)?;
        let carried = [collect_accumulated(first)?, collect_accumulated(second)?];
        let handed = find_forwarded_tiles(first, second, &late)?;
        let is_handed_on = |op: &Op<'c>| handed.iter().any(|handed| handed.view == Some(*op));
        let running: Vec<Op<'c>> = late.into_iter().filter(|op| !is_handed_on(op)).collect();
        let given: Vec<Value<'c>> = yield_slots(first)
            .iter()
            .filter(|slot| !slot.is_carried)
            .map(|slot| first.outputs()[slot.position])
            .collect();
        let reads_whole = |op: Op<'c>| {
            op.inputs().iter().any(|value| given.contains(value) || value.def().is_some_and(|def| is_handed_on(&def)))
        };
        let in_second = second.body_ops();
        if !running.iter().all(|op| is_mergeable(*op)) || running.iter().chain(&in_second).any(|op| reads_whole(*op)) {
            return None;
        }
        let mut merge = Self {
            first,
            second,
            early,
            running,
            forwarded: handed,
            analysis: LoopDependenceAnalysis::default(),
            carried: [Vec::new(), Vec::new()],
        };
        if let Err(op) = merge.compute_corrections(carried) {
            return Some(Err(op));
        }
        // The bounded values are recognized as bounded in this call.
        if merge.bound_running_values().ok()? { Self::analyze_pair(first, second) } else { Some(Ok(merge)) }
    }

    /// Computes the corrections. The error is the first op that needs a finished value of the first loop.
    fn compute_corrections(&mut self, [of_first, of_second]: [Vec<AccumulatedValue<'c>>; 2]) -> Result<(), Op<'c>> {
        let analysis = &mut self.analysis;
        record_arguments(analysis, self.first, &of_first);
        analysis.analyze_body(self.first, &of_first);
        for AccumulatedValue { carried, .. } in &of_first {
            analysis.record_alias(carried.result, carried.after);
        }
        self.running.iter().for_each(|op| analysis.analyze_op(*op));
        record_arguments(analysis, self.second, &of_second);
        for ForwardedTile { argument, left, .. } in &self.forwarded {
            // A tile depends on a running value as its source does: nothing, or it needs the finished value.
            let form = if matches!(analysis.dependence(*left), RunningDependence::Outside | RunningDependence::Tile) {
                RunningDependence::Tile
            } else {
                RunningDependence::Finished
            };
            analysis.record(*argument, form);
        }
        let corrections = analysis.analyze_body(self.second, &of_second);
        // Carried values are now running or finished: their ops reduce the axis.
        let is_settled = |value: Value<'c>| {
            matches!(
                self.analysis.dependence(value),
                RunningDependence::Running(..) | RunningDependence::Outside | RunningDependence::Tile
            )
        };
        let has_infinities = |correction: &Option<Correction>, of: &AccumulatedValue<'c>| {
            correction.as_ref().is_some_and(|correction| {
                let (Correction::Multiply(term) | Correction::Add(term)) = correction;
                ![of.carried.after, self.analysis.value(term.value)].into_iter().all(has_device_format)
            })
        };
        let is_right = self.second.yielded().into_iter().all(is_settled)
            && !corrections.iter().zip(&of_second).any(|(correction, of)| has_infinities(correction, of));
        if !is_right {
            return Err(self.first_blocking_op());
        }
        let none = of_first.into_iter().map(|of| (of, None)).collect();
        self.carried = [none, of_second.into_iter().zip(corrections).collect()];
        Ok(())
    }

    /// Returns the first op of the second loop that needs a finished value of the first one; the terminator, if a
    /// dependent value is yielded uncorrected.
    fn first_blocking_op(&self) -> Op<'c> {
        let body = self.second.body_ops();
        let waits = |op: &&Op<'c>| {
            op.outputs().iter().any(|value| *self.analysis.dependence(*value) == RunningDependence::Finished)
        };
        body.iter().find(waits).or(body.last()).copied().unwrap_or(self.second)
    }
}

/// Ops between two loops of a block that the second loop needs.
struct OpsBetweenLoops<'c> {
    early: Vec<Op<'c>>,
    late: Vec<Op<'c>>,
}

impl<'c> OpsBetweenLoops<'c> {
    /// Collects these ops; returns `None` if the second loop reads nothing of the first one.
    fn collect(first: Op<'c>, second: Op<'c>) -> Option<Self> {
        let ops: Vec<Op<'c>> = std::iter::successors(first.next_in_block(), |op| op.next_in_block())
            .take_while(|op| *op != second)
            .collect();
        let reads = |op: Op<'c>| op.nested().into_iter().flat_map(OpExt::inputs).collect::<Vec<_>>();
        let mut of_first = ValueSet::default();
        of_first.add(first.outputs());
        for op in &ops {
            if reads(*op).into_iter().any(|value| of_first.contains(value)) {
                of_first.add(op.outputs());
            }
        }
        let mut wanted = ValueSet::default();
        wanted.add(reads(second));
        let mut needed = Vec::new();
        for op in ops.into_iter().rev() {
            if op.outputs().into_iter().any(|value| wanted.contains(value)) {
                wanted.add(reads(op));
                needed.push(op);
            }
        }
        needed.reverse();
        let is_read = first.outputs().into_iter().any(|value| wanted.contains(value));
        let (late, early) =
            needed.into_iter().partition(|op| op.outputs().into_iter().any(|value| of_first.contains(value)));
        is_read.then_some(Self { early, late })
    }
}

/// Set of values.
#[derive(Default)]
struct ValueSet(ValueMap<()>);

impl ValueSet {
    fn add<'c>(&mut self, values: Vec<Value<'c>>) {
        for value in values {
            self.0.insert(value, ());
        }
    }

    fn contains(&self, value: Value<'_>) -> bool {
        self.0.get(value).is_some()
    }
}

/// Returns the values that a loop carries; `None` unless it is a loop of plain ops that combine partial results.
fn collect_accumulated(around: Op<'_>) -> Option<Vec<AccumulatedValue<'_>>> {
    let is_written_over = yield_slots(around).iter().any(|slot| !slot.is_carried && !slot.found.is_empty());
    let ops = around.body_ops();
    let (_, body) = ops.split_last()?;
    if is_written_over || !body.iter().all(|op| is_mergeable(*op)) {
        return None;
    }
    loop_carried_values(around).into_iter().map(|carried| AccumulatedValue::find(around, carried)).collect()
}

/// Returns whether an op may run once per iteration anywhere in the loop: it has no nested ops, and writes a buffer of
/// its own, or one of its iteration.
fn is_mergeable(op: Op<'_>) -> bool {
    let is_compute = || ComputeOp::from_op(op).is_some_and(|compute| !compute.is_insert() || is_in_loop_of_buffer(op));
    op.body().is_none() && (is_compute() || op.is(spyre::VIEW) || op.is(spyre::CONSTANT) || op.is(spyre::EMPTY))
}

/// Returns the tiled results of the first loop that the second one reads; `None` if it reads one in other tiles than
/// the first loop writes.
fn find_forwarded_tiles<'c>(first: Op<'c>, second: Op<'c>, late: &[Op<'c>]) -> Option<Vec<ForwardedTile<'c>>> {
    let is_late = |value: Value<'c>| value.def().is_some_and(|def| def == first || late.contains(&def));
    let mut handed = Vec::new();
    let dims = tiled_dims(second);
    let late_ones =
        second.body_args().into_iter().zip(second.inputs()).enumerate().filter(|(_, (_, whole))| is_late(*whole));
    for (at, (argument, whole)) in late_ones {
        let dim = *dims.get(at)?;
        let view = whole.def().filter(|def| def.is(spyre::VIEW));
        let made = view.map_or(whole, |view| view.inputs()[0]);
        let position = first.outputs().iter().position(|output| *output == made)?;
        let left = first.yielded()[position];
        let made_dim = *tiled_dims(*first.body_ops().last()?).get(position)?;
        let is_same_tile = match view {
            None => made_dim == dim,
            Some(view) => shows_full_dim(view, made_dim, dim),
        };
        if !is_same_tile {
            return None;
        }
        handed.push(ForwardedTile { argument, left, position, view });
    }
    Some(handed)
}

/// Returns whether a view without a layout has all of its input's dimension `behind` as its dimension `dim`.
fn shows_full_dim(view: Op<'_>, behind: usize, dim: usize) -> bool {
    let (Some(viewed), Some(input)) =
        (DeviceTensor::from_type(view.output().r#type()), DeviceTensor::from_type(view.inputs()[0].r#type()))
    else {
        return false;
    };
    let is_moved = plain_view_indices(view).is_some_and(|indices| indices.get(behind) == Some(&(Some(dim), 0)));
    viewed.layout.is_none() && is_moved && viewed.host.shape[dim] == input.host.shape[behind]
}

fn record_arguments<'c>(
    analysis: &mut LoopDependenceAnalysis<'c>,
    around: Op<'c>,
    accumulated: &[AccumulatedValue<'c>],
) {
    around.body_args().into_iter().for_each(|argument| analysis.record(argument, RunningDependence::Tile));
    // Only combining ops and corrections read these values.
    accumulated.iter().for_each(|of| analysis.record(of.carried.argument, RunningDependence::Finished));
}

/// Returns whether a value has the device's format, which has no infinities: their difference is a number.
fn has_device_format(value: Value<'_>) -> bool {
    let layout = DeviceTensor::from_type(value.r#type()).and_then(|tensor| tensor.layout);
    layout.is_some_and(|layout| layout.format() == DeviceFormat::Sen169Fp16)
}
