//! Merging of two loops for `spyre-make-online`: legality, and the merge itself.

use super::online_steps::{Accumulated, Analysis};
use crate::dialect::ods::spyre;
use crate::{
    dialect::{ComputeOp, Tensor, carried_by, is_beside_its_buffer, plain_view, slots_of, tiled_dims},
    mlir::{Op, OpExt, OperationLike, Value, ValueExt, ValueLike, ValueMap},
    tile::{Correction, Form},
};
use machine::DeviceFormat;

mod bound;
mod build;

/// Two loops that can be merged.
pub(super) struct Merge<'c> {
    first: Op<'c>,
    second: Op<'c>,
    /// Ops between the loops that the second loop needs and that read nothing of the first one.
    early: Vec<Op<'c>>,
    /// Ops between the loops that the second loop needs and that read finished values of the first one.
    running: Vec<Op<'c>>,
    /// Tiled results of the first loop that the second one reads.
    handed: Vec<Handed<'c>>,
    analysis: Analysis<'c>,
    /// Values that each loop carries, with the correction if one is needed.
    carried: [Vec<(Accumulated<'c>, Option<Correction>)>; 2],
}

/// Tile that the first loop computes and the second one reads.
struct Handed<'c> {
    /// Argument of the second loop.
    argument: Value<'c>,
    /// Tile that the first loop yields.
    left: Value<'c>,
    /// Index of that result of the first loop.
    position: usize,
    /// View through which the second loop reads it.
    view: Option<Op<'c>>,
}

impl<'c> Merge<'c> {
    /// Returns the merge of a loop with an earlier one of the same block, once the values that its corrections read
    /// are bounded. None if the second loop reads nothing of the first one, or if their kind is not merged: with loops
    /// or slices of buffers inside, or over tiles that do not match. The error is an op of the second loop that needs
    /// a finished value of the first one.
    pub(super) fn of(first: Op<'c>, second: Op<'c>) -> Option<Result<Self, Op<'c>>> {
        let Between { early, late } = Between::of(first, second)?;
        let carried = [accumulated(first)?, accumulated(second)?];
        let handed = handed(first, second, &late)?;
        let is_handed_on = |op: &Op<'c>| handed.iter().any(|handed| handed.view == Some(*op));
        let running: Vec<Op<'c>> = late.into_iter().filter(|op| !is_handed_on(op)).collect();
        let given: Vec<Value<'c>> =
            slots_of(first).iter().filter(|slot| !slot.is_carried).map(|slot| first.outputs()[slot.position]).collect();
        let reads_whole =
            |op: Op<'c>| op.inputs().iter().any(|value| given.contains(value) || value.def().is_some_and(|def| is_handed_on(&def)));
        let in_second = second.body_ops();
        if !running.iter().all(|op| is_plain(*op)) || running.iter().chain(&in_second).any(|op| reads_whole(*op)) {
            return None;
        }
        let mut merge = Self { first, second, early, running, handed, analysis: Analysis::default(), carried: [Vec::new(), Vec::new()] };
        if let Err(op) = merge.analyse(carried) {
            return Some(Err(op));
        }
        // The bounded values are recognized as bounded in this call.
        if merge.bound().ok()? { Self::of(first, second) } else { Some(Ok(merge)) }
    }

    /// Computes the corrections. The error is the first op that needs a finished value of the first loop.
    fn analyse(&mut self, [of_first, of_second]: [Vec<Accumulated<'c>>; 2]) -> Result<(), Op<'c>> {
        let analysis = &mut self.analysis;
        note_arguments(analysis, self.first, &of_first);
        analysis.read_body(self.first, &of_first);
        for Accumulated { carried, .. } in &of_first {
            analysis.same(carried.result, carried.after);
        }
        self.running.iter().for_each(|op| analysis.read(*op));
        note_arguments(analysis, self.second, &of_second);
        for Handed { argument, left, .. } in &self.handed {
            // A tile shows as much of a running value as its source does: nothing, or it needs the finished value.
            let form = if matches!(analysis.form(*left), Form::Outside | Form::Tile) { Form::Tile } else { Form::Finished };
            analysis.note(*argument, form);
        }
        let corrections = analysis.read_body(self.second, &of_second);
        // Carried values are now running or finished: their ops reduce the axis.
        let is_settled = |value: Value<'c>| matches!(self.analysis.form(value), Form::Running(..) | Form::Outside | Form::Tile);
        let has_infinities = |correction: &Option<Correction>, of: &Accumulated<'c>| {
            correction.as_ref().is_some_and(|correction| {
                let (Correction::Times(term) | Correction::Plus(term)) = correction;
                ![of.carried.after, self.analysis.value(term.value)].into_iter().all(is_of_device_format)
            })
        };
        let is_right = self.second.yielded().into_iter().all(is_settled)
            && !corrections.iter().zip(&of_second).any(|(correction, of)| has_infinities(correction, of));
        if !is_right {
            return Err(self.first_that_waits());
        }
        let none = of_first.into_iter().map(|of| (of, None)).collect();
        self.carried = [none, of_second.into_iter().zip(corrections).collect()];
        Ok(())
    }

    /// Returns the first op of the second loop that needs a finished value of the first one; the terminator, if a form is yielded
    /// uncorrected.
    fn first_that_waits(&self) -> Op<'c> {
        let body = self.second.body_ops();
        let waits = |op: &&Op<'c>| op.outputs().iter().any(|value| *self.analysis.form(*value) == Form::Finished);
        body.iter().find(waits).or(body.last()).copied().unwrap_or(self.second)
    }
}

/// Ops between two loops of a block that the second loop needs.
struct Between<'c> {
    early: Vec<Op<'c>>,
    late: Vec<Op<'c>>,
}

impl<'c> Between<'c> {
    /// None if the second loop reads nothing of the first one.
    fn of(first: Op<'c>, second: Op<'c>) -> Option<Self> {
        let ops: Vec<Op<'c>> =
            std::iter::successors(first.next_in_block(), |op| op.next_in_block()).take_while(|op| *op != second).collect();
        let reads = |op: Op<'c>| op.nested().into_iter().flat_map(OpExt::inputs).collect::<Vec<_>>();
        let mut of_first = Values::default();
        of_first.add(first.outputs());
        for op in &ops {
            if reads(*op).into_iter().any(|value| of_first.has(value)) {
                of_first.add(op.outputs());
            }
        }
        let mut wanted = Values::default();
        wanted.add(reads(second));
        let mut needed = Vec::new();
        for op in ops.into_iter().rev() {
            if op.outputs().into_iter().any(|value| wanted.has(value)) {
                wanted.add(reads(op));
                needed.push(op);
            }
        }
        needed.reverse();
        let is_read = first.outputs().into_iter().any(|value| wanted.has(value));
        let (late, early) = needed.into_iter().partition(|op| op.outputs().into_iter().any(|value| of_first.has(value)));
        is_read.then_some(Self { early, late })
    }
}

/// Set of values.
#[derive(Default)]
struct Values(ValueMap<()>);

impl Values {
    fn add<'c>(&mut self, values: Vec<Value<'c>>) {
        for value in values {
            self.0.insert(value, ());
        }
    }

    fn has(&self, value: Value<'_>) -> bool {
        self.0.get(value).is_some()
    }
}

/// Returns the values that a loop carries; None unless it is a loop of plain ops that combine partial results.
fn accumulated(around: Op<'_>) -> Option<Vec<Accumulated<'_>>> {
    let is_written_over = slots_of(around).iter().any(|slot| !slot.is_carried && !slot.found.is_empty());
    let ops = around.body_ops();
    let (_, body) = ops.split_last()?;
    if is_written_over || !body.iter().all(|op| is_plain(*op)) {
        return None;
    }
    carried_by(around).into_iter().map(|carried| Accumulated::of(around, carried)).collect()
}

/// Whether an op may run once per iteration anywhere in the loop: it has no nested ops, and writes a buffer of its own, or one of
/// its iteration.
fn is_plain(op: Op<'_>) -> bool {
    let is_compute = || ComputeOp::of(op).is_some_and(|compute| !compute.is_insert() || is_beside_its_buffer(op));
    op.body().is_none() && (is_compute() || op.is(spyre::VIEW) || op.is(spyre::CONSTANT) || op.is(spyre::EMPTY))
}

/// Returns the tiled results of the first loop that the second one reads; None if it reads one in other tiles than the
/// first loop writes.
fn handed<'c>(first: Op<'c>, second: Op<'c>, late: &[Op<'c>]) -> Option<Vec<Handed<'c>>> {
    let is_late = |value: Value<'c>| value.def().is_some_and(|def| def == first || late.contains(&def));
    let mut handed = Vec::new();
    let dims = tiled_dims(second);
    let late_ones = second.body_args().into_iter().zip(second.inputs()).enumerate().filter(|(_, (_, whole))| is_late(*whole));
    for (at, (argument, whole)) in late_ones {
        let dim = *dims.get(at)?;
        let view = whole.def().filter(|def| def.is(spyre::VIEW));
        let made = view.map_or(whole, |view| view.inputs()[0]);
        let position = first.outputs().iter().position(|output| *output == made)?;
        let left = first.yielded()[position];
        let made_dim = *tiled_dims(*first.body_ops().last()?).get(position)?;
        let is_same_tile = match view {
            None => made_dim == dim,
            Some(view) => shows_all_along(view, made_dim, dim),
        };
        if !is_same_tile {
            return None;
        }
        handed.push(Handed { argument, left, position, view });
    }
    Some(handed)
}

/// Whether a view without a layout shows all of its input's dimension `behind` as its dimension `dim`.
fn shows_all_along(view: Op<'_>, behind: usize, dim: usize) -> bool {
    let (Some(shown), Some(input)) = (Tensor::of(view.output().r#type()), Tensor::of(view.inputs()[0].r#type())) else { return false };
    let is_moved = plain_view(view).is_some_and(|indices| indices.get(behind) == Some(&(Some(dim), 0)));
    shown.layout.is_none() && is_moved && shown.host.shape[dim] == input.host.shape[behind]
}

fn note_arguments<'c>(analysis: &mut Analysis<'c>, around: Op<'c>, accumulated: &[Accumulated<'c>]) {
    around.body_args().into_iter().for_each(|argument| analysis.note(argument, Form::Tile));
    // Only combining ops and corrections read these values.
    accumulated.iter().for_each(|of| analysis.note(of.carried.argument, Form::Finished));
}

/// Whether a value has the device's format, which has no infinities: their difference is a number.
fn is_of_device_format(value: Value<'_>) -> bool {
    let layout = Tensor::of(value.r#type()).and_then(|tensor| tensor.layout);
    layout.is_some_and(|layout| layout.format() == DeviceFormat::Sen169Fp16)
}
