//! Shuffle: each core gets its slice of a tensor from the LX of the cores that hold it. Several cores may get the same
//! slice.

use super::{ElementMemory, SliceValues, StridedElements};
use crate::machine::access::TensorSlices;
use crate::plan::{OffsetTables, OpPlan, PointLoopNest, StridedRun, TensorPlan, build_dense_tables};

/// Computes the result slice of each core.
pub(crate) fn shuffle<M: ElementMemory>(plan: &OpPlan, parts: &TensorSlices, memory: &M) -> Vec<SliceValues<M>> {
    let (input, output) = (plan.inputs[0], plan.output);
    let format = plan.tensors[input].format;
    let num_cells = M::cells_per_element(format);
    let sizes = dim_sizes(plan);
    let mut whole = vec![memory.poison(); sizes.iter().product::<usize>() * num_cells];
    let mut cells = Vec::new();
    for core in 0..plan.cores.len() {
        let part = &parts.0[core][input];
        for_each_run(&plan.tensors[input], core, &sizes, |run| {
            cells.clear();
            memory.copy(
                StridedElements { format, part, offset: run.offset, stride: run.stride },
                run.length,
                &mut cells,
            );
            let places = run.indices();
            places
                .zip(cells.chunks_exact(num_cells))
                .for_each(|(place, cells)| whole[place * num_cells..][..num_cells].copy_from_slice(cells));
        });
    }
    let of_core = |core| {
        let mut cells = Vec::new();
        for_each_run(&plan.tensors[output], core, &sizes, |run| {
            run.indices().for_each(|place| cells.extend_from_slice(&whole[place * num_cells..][..num_cells]));
        });
        SliceValues::Cells(cells)
    };
    (0..plan.cores.len()).map(of_core).collect()
}

/// Visits the elements of the source, each with the position of its core and its offset in the core's slice, that
/// needed elements of the destination copy.
pub(crate) fn for_each_needed_source(
    plan: &OpPlan,
    is_needed: impl Fn(usize, i64) -> bool,
    mut visit: impl FnMut(usize, i64),
) {
    let sizes = dim_sizes(plan);
    let mut is_place_needed = vec![false; sizes.iter().product()];
    for core in 0..plan.cores.len() {
        for_each_run(&plan.tensors[plan.output], core, &sizes, |run| {
            run.elements()
                .filter(|(_, offset)| is_needed(core, *offset))
                .for_each(|(place, _)| is_place_needed[place] = true);
        });
    }
    for core in 0..plan.cores.len() {
        for_each_run(&plan.tensors[plan.inputs[0]], core, &sizes, |run| {
            run.elements().filter(|(place, _)| is_place_needed[*place]).for_each(|(_, offset)| visit(core, offset));
        });
    }
}

/// Returns the number of bytes that move between cores.
pub(crate) fn count_moved_bytes(plan: &OpPlan) -> u64 {
    let (input, output) = (&plan.tensors[plan.inputs[0]], &plan.tensors[plan.output]);
    let sizes = dim_sizes(plan);
    let mut owners = vec![None; sizes.iter().product()];
    for (position, core) in plan.cores.iter().enumerate() {
        let owner = Some(core.id);
        for_each_run(input, position, &sizes, |run| run.indices().for_each(|place| owners[place] = owner));
    }
    let mut moved = 0;
    for (position, core) in plan.cores.iter().enumerate() {
        for_each_run(output, position, &sizes, |run| {
            moved += run.indices().filter(|place| owners[*place] != Some(core.id)).count() as u64
        });
    }
    moved * input.format.bytes() as u64
}

fn dim_sizes(plan: &OpPlan) -> Vec<usize> {
    plan.dims.iter().map(|dim| dim.size as usize).collect()
}

/// Strided run of points of a tensor that one core holds.
struct ShuffleRun {
    /// Offset of the first point in the core's slice, in elements.
    offset: i64,
    /// Distance of two points in the core's slice, in elements.
    stride: i64,
    /// Row-major index of the first point in the complete tensor.
    place: i64,
    /// Distance of two points in the complete tensor, in row-major indices.
    place_stride: i64,
    length: usize,
}

impl ShuffleRun {
    fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        let (place, stride) = (self.place, self.place_stride);
        (0..self.length as i64).map(move |index| (place + stride * index) as usize)
    }

    /// Returns the points, each with its index in the complete tensor and its offset in the core's slice.
    fn elements(&self) -> impl Iterator<Item = (usize, i64)> + use<> {
        let (offset, stride) = (self.offset, self.stride);
        self.indices().zip(0..).map(move |(place, index)| (place, offset + stride * index))
    }
}

/// Visits the points of a tensor that a core holds.
fn for_each_run(tensor: &TensorPlan, core: usize, sizes: &[usize], mut visit: impl FnMut(ShuffleRun)) {
    let locals: Vec<usize> = tensor.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..sizes.len()).collect();
    let strides: Vec<i64> = dims.iter().map(|dim| sizes[dim + 1..].iter().product::<usize>() as i64).collect();
    let Some(slots) = tensor.ownership.as_ref().and_then(|ownership| ownership[core].as_ref()) else { return };
    let first: i64 = dims.iter().map(|dim| slots[*dim] * locals[*dim] as i64 * strides[*dim]).sum();
    let mut places = build_dense_tables(sizes, &dims);
    places.iter_mut().zip(&locals).for_each(|(table, local)| table.truncate(*local));
    let even = vec![0; dims.len()];
    let tracks = vec![tensor.offset_tables(), OffsetTables { offsets: &places, uniform_run_lengths: &even }];
    // Iterates in the order in which the result is stored.
    PointLoopNest::new(tracks, &locals, &dims, Some(tensor.stick_dim)).for_each_chunk(|piece| {
        let [lane, place]: [StridedRun; 2] = [piece.lanes[0], piece.lanes[1]];
        visit(ShuffleRun {
            offset: lane.offset,
            stride: lane.stride,
            place: first + place.offset,
            place_stride: place.stride,
            length: piece.length,
        });
    });
}
