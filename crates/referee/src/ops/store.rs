//! Final step of an operation: rounds and stores the results.

use super::copy::find_row_offset;
use super::{CoreView, ElementMemory, ElementStore, SliceValues};
use crate::machine::access::TensorSlices;
use crate::plan::{OffsetTables, OpPlan, PointLoopNest, StridedRun, TensorPlan, build_dense_tables};

/// One core's slice of a result in its stored format.
pub(crate) struct EncodedSlice<C> {
    cells: Vec<C>,
    runs: Vec<StoreRun>,
    /// Number of values per point.
    group: usize,
}

/// Run of elements to store: the strided positions in the slice, and the index of the first cell.
struct StoreRun {
    lane: StridedRun,
    first: usize,
}

impl<C> EncodedSlice<C> {
    /// Returns the stored cells. The values of all points are concatenated.
    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }
}

/// Rounds one core's slice of the result, and arranges it in the order of the store.
pub(crate) fn encode_slice<M: ElementMemory>(view: CoreView<'_, M>, values: SliceValues<M>) -> EncodedSlice<M::Cell> {
    let plan = view.plan;
    let format = plan.tensors[plan.output].format;
    let mut encoded = Vec::new();
    match values {
        SliceValues::Cells(cells) => EncodedSlice { cells, runs: build_point_runs(view), group: 1 },
        SliceValues::Elements { values, order } => {
            view.memory.encode(format, &values, &mut encoded);
            let (cells, runs) = arrange_cells(plan, &encoded, &order, M::cells_per_element(format));
            EncodedSlice { cells, runs, group: 1 }
        }
        SliceValues::Pairs { values, order } => {
            view.memory.encode(format, values.as_flattened(), &mut encoded);
            let (cells, runs) = arrange_cells(plan, &encoded, &order, 2 * M::cells_per_element(format));
            EncodedSlice { cells, runs, group: 2 }
        }
    }
}

/// Stores one core's slice of the result. The remainder of a stick that holds one point becomes poison.
pub(crate) fn store_slice<W: ElementStore>(
    plan: &OpPlan,
    core: usize,
    parts: &TensorSlices,
    stored: &EncodedSlice<W::Cell>,
    poison: W::Cell,
    memory: &mut W,
) {
    let output = &plan.tensors[plan.output];
    let (part, format) = (&parts.0[core][plan.output], output.format);
    let num_cells = W::cells_per_element(format);
    for StoreRun { lane, first } in &stored.runs {
        let cells = &stored.cells[*first..];
        let at = |index: usize| (part.byte + (lane.offset + index as i64 * lane.stride) * format.bytes()) as usize;
        if output.is_sparse {
            let mut stick = vec![poison; num_cells * format.elements_per_stick() as usize];
            for (index, element) in cells.chunks_exact(num_cells * stored.group).take(lane.valid).enumerate() {
                // The remainder of the stick is undefined; an op that uses it gets NaN.
                stick[..element.len()].copy_from_slice(element);
                memory.write(part.region, at(index), format, &stick);
            }
        } else if lane.stride == 1 {
            memory.write(part.region, at(0), format, &cells[..lane.valid * num_cells]);
        } else {
            let elements = cells.chunks_exact(num_cells).take(lane.valid).enumerate();
            elements.for_each(|(index, element)| memory.write(part.region, at(index), format, element));
        }
    }
}

/// Builds the runs of a result, in the order of the points.
fn build_point_runs<M: ElementMemory>(view: CoreView<'_, M>) -> Vec<StoreRun> {
    let plan = view.plan;
    let output = &plan.tensors[plan.output];
    let num_cells = M::cells_per_element(output.format);
    if output.ownership.is_some() {
        return build_owned_runs(output, num_cells);
    }
    let (mut runs, mut first) = (Vec::new(), 0);
    plan.point_loop_nest().for_each_chunk(|piece| {
        let lane = piece.lanes[plan.output];
        let lane = StridedRun { offset: lane.offset + find_row_offset(view, plan.output, &piece), ..lane };
        runs.push(StoreRun { lane, first });
        first += piece.length * num_cells;
    });
    runs
}

/// Builds the runs of a result that has its own slices, which differ from the slices of the op.
fn build_owned_runs(output: &TensorPlan, num_cells: usize) -> Vec<StoreRun> {
    let locals: Vec<usize> = output.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..locals.len()).collect();
    let (mut runs, mut first) = (Vec::new(), 0);
    PointLoopNest::new(vec![output.offset_tables()], &locals, &dims, Some(output.stick_dim)).for_each_chunk(|piece| {
        runs.push(StoreRun { lane: piece.lanes[0], first });
        first += piece.length * num_cells;
    });
    runs
}

/// Builds the runs of a result that is row-major over the dimensions `order`, and arranges its cells in the order of
/// the runs. A point has `num_cells` cells.
fn arrange_cells<C: Copy>(plan: &OpPlan, cells: &[C], order: &[usize], num_cells: usize) -> (Vec<C>, Vec<StoreRun>) {
    let output = &plan.tensors[plan.output];
    let locals = plan.local_sizes();
    let (places, even) = (build_dense_tables(&locals, order), vec![0; locals.len()]);
    let tracks = vec![output.offset_tables(), OffsetTables { offsets: &places, uniform_run_lengths: &even }];
    let inner = Some(output.stick_dim).filter(|dim| order.contains(dim)).or(order.last().copied());
    let (mut sorted, mut runs) = (Vec::with_capacity(cells.len()), Vec::new());
    PointLoopNest::new(tracks, &locals, order, inner).for_each_chunk(|piece| {
        let [lane, place] = [piece.lanes[0], piece.lanes[1]];
        runs.push(StoreRun { lane, first: sorted.len() });
        for index in 0..piece.length {
            let at = (place.offset + place.stride * index as i64) as usize * num_cells;
            sorted.extend_from_slice(&cells[at..at + num_cells]);
        }
    });
    (sorted, runs)
}
