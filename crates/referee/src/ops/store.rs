//! Final step of an operation: results are rounded and stored.

use super::copy::row_offset;
use super::{CoreView, Memory, Values, Written};
use crate::machine::access::Parts;
use crate::plan::{Lane, Plan, TensorPlan, Track, Walk, dense};

/// One core's part of a result as it is stored.
pub(crate) struct Stored<C> {
    cells: Vec<C>,
    runs: Vec<Run>,
    /// Values of a point.
    group: usize,
}

/// A run of elements to store: the element offset from the start of the part, and where the cells are.
struct Run {
    lane: Lane,
    first: usize,
}

impl<C> Stored<C> {
    /// Returns the stored cells; the values of all points are concatenated.
    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }
}

/// Rounds one core's part of the result, in the order in which it is stored.
pub(crate) fn arranged<M: Memory>(view: CoreView<'_, M>, values: Values<M>) -> Stored<M::Cell> {
    let plan = view.plan;
    let format = plan.tensors[plan.output].format;
    let mut encoded = Vec::new();
    match values {
        Values::Cells(cells) => Stored { cells, runs: point_runs(view), group: 1 },
        Values::Elements { values, order } => {
            view.memory.encode(format, &values, &mut encoded);
            let (cells, runs) = in_order(plan, &encoded, &order, M::cells(format));
            Stored { cells, runs, group: 1 }
        }
        Values::Pairs { values, order } => {
            view.memory.encode(format, values.as_flattened(), &mut encoded);
            let (cells, runs) = in_order(plan, &encoded, &order, 2 * M::cells(format));
            Stored { cells, runs, group: 2 }
        }
    }
}

/// Stores one core's part of the result; the rest of a stick that holds one point becomes poison.
pub(crate) fn write<W: Written>(plan: &Plan, core: usize, parts: &Parts, stored: &Stored<W::Cell>, poison: W::Cell, memory: &mut W) {
    let output = &plan.tensors[plan.output];
    let (part, format) = (&parts.0[core][plan.output], output.format);
    let n_cells = W::cells(format);
    for Run { lane, first } in &stored.runs {
        let cells = &stored.cells[*first..];
        let at = |index: usize| (part.byte + (lane.offset + index as i64 * lane.stride) * format.bytes()) as usize;
        if output.is_sparse {
            let mut stick = vec![poison; n_cells * format.elements_per_stick() as usize];
            for (index, element) in cells.chunks_exact(n_cells * stored.group).take(lane.valid).enumerate() {
                // The rest of the stick is undefined; a reader that uses it as values gets NaN.
                stick[..element.len()].copy_from_slice(element);
                memory.write(part.region, at(index), format, &stick);
            }
        } else if lane.stride == 1 {
            memory.write(part.region, at(0), format, &cells[..lane.valid * n_cells]);
        } else {
            let elements = cells.chunks_exact(n_cells).take(lane.valid).enumerate();
            elements.for_each(|(index, element)| memory.write(part.region, at(index), format, element));
        }
    }
}

/// The runs of a result in the order of the points.
fn point_runs<M: Memory>(view: CoreView<'_, M>) -> Vec<Run> {
    let plan = view.plan;
    let output = &plan.tensors[plan.output];
    let n_cells = M::cells(output.format);
    if output.ownership.is_some() {
        return owned_runs(output, n_cells);
    }
    let (mut runs, mut first) = (Vec::new(), 0);
    plan.points_walk().each(|piece| {
        let lane = piece.lanes[plan.output];
        let lane = Lane { offset: lane.offset + row_offset(view, plan.output, &piece), ..lane };
        runs.push(Run { lane, first });
        first += piece.length * n_cells;
    });
    runs
}

/// The runs of a result whose slices are not those of the op.
fn owned_runs(output: &TensorPlan, n_cells: usize) -> Vec<Run> {
    let locals: Vec<usize> = output.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..locals.len()).collect();
    let (mut runs, mut first) = (Vec::new(), 0);
    Walk::new(vec![output.track()], &locals, &dims, Some(output.stick)).each(|piece| {
        runs.push(Run { lane: piece.lanes[0], first });
        first += piece.length * n_cells;
    });
    runs
}

/// The runs of a result that is row-major over some dimensions, and its cells, `n_cells` of a point, in the order of the runs.
fn in_order<C: Copy>(plan: &Plan, cells: &[C], order: &[usize], n_cells: usize) -> (Vec<C>, Vec<Run>) {
    let output = &plan.tensors[plan.output];
    let locals = plan.locals();
    let (places, even) = (dense(&locals, order), vec![0; locals.len()]);
    let tracks = vec![output.track(), Track { offsets: &places, even: &even }];
    let inner = Some(output.stick).filter(|dim| order.contains(dim)).or(order.last().copied());
    let (mut sorted, mut runs) = (Vec::with_capacity(cells.len()), Vec::new());
    Walk::new(tracks, &locals, order, inner).each(|piece| {
        let [lane, place] = [piece.lanes[0], piece.lanes[1]];
        runs.push(Run { lane, first: sorted.len() });
        for index in 0..piece.length {
            let at = (place.offset + place.stride * index as i64) as usize * n_cells;
            sorted.extend_from_slice(&cells[at..at + n_cells]);
        }
    });
    (sorted, runs)
}
