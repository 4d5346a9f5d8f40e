//! Shuffle: each core gets its slice of a tensor from the LX of the cores that hold it. Several cores may get the same slice.

use super::{Elements, Memory, Values};
use crate::machine::access::Parts;
use crate::plan::{Lane, Plan, TensorPlan, Track, Walk, dense};

/// The result of each core.
pub(crate) fn shuffle<M: Memory>(plan: &Plan, parts: &Parts, memory: &M) -> Vec<Values<M>> {
    let (input, output) = (plan.inputs[0], plan.output);
    let format = plan.tensors[input].format;
    let n_cells = M::cells(format);
    let sizes = sizes(plan);
    let mut whole = vec![memory.poison(); sizes.iter().product::<usize>() * n_cells];
    let mut element = Vec::new();
    for core in 0..plan.cores.len() {
        let part = &parts.0[core][input];
        each_point(&plan.tensors[input], core, &sizes, |offset, place| {
            element.clear();
            memory.copy(Elements { format, part, offset, stride: 1 }, 1, &mut element);
            whole[place * n_cells..][..n_cells].copy_from_slice(&element);
        });
    }
    let of_core = |core| {
        let mut cells = Vec::new();
        each_point(&plan.tensors[output], core, &sizes, |_, place| cells.extend_from_slice(&whole[place * n_cells..][..n_cells]));
        Values::Cells(cells)
    };
    (0..plan.cores.len()).map(of_core).collect()
}

/// Returns the number of bytes that move between cores.
pub(crate) fn moved_bytes(plan: &Plan) -> u64 {
    let (input, output) = (&plan.tensors[plan.inputs[0]], &plan.tensors[plan.output]);
    let sizes = sizes(plan);
    let mut owners = vec![usize::MAX; sizes.iter().product()];
    (0..plan.cores.len()).for_each(|core| each_point(input, core, &sizes, |_, place| owners[place] = core));
    let mut moved = 0;
    (0..plan.cores.len()).for_each(|core| each_point(output, core, &sizes, |_, place| moved += u64::from(owners[place] != core)));
    moved * input.format.bytes() as u64
}

fn sizes(plan: &Plan) -> Vec<usize> {
    plan.dims.iter().map(|dim| dim.size as usize).collect()
}

/// Visits the points that a core holds of a tensor: the element's offset in its part, and its place in the whole.
fn each_point(tensor: &TensorPlan, core: usize, sizes: &[usize], mut visit: impl FnMut(i64, usize)) {
    let locals: Vec<usize> = tensor.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..sizes.len()).collect();
    let strides: Vec<i64> = dims.iter().map(|dim| sizes[dim + 1..].iter().product::<usize>() as i64).collect();
    let Some(slots) = tensor.ownership.as_ref().and_then(|ownership| ownership[core].as_ref()) else { return };
    let first: i64 = dims.iter().map(|dim| slots[*dim] * locals[*dim] as i64 * strides[*dim]).sum();
    let mut places = dense(sizes, &dims);
    places.iter_mut().zip(&locals).for_each(|(table, local)| table.truncate(*local));
    let even = vec![0; dims.len()];
    let tracks = vec![tensor.track(), Track { offsets: &places, even: &even }];
    // The same loops as those that store the result.
    Walk::new(tracks, &locals, &dims, Some(tensor.stick)).each(|piece| {
        let [lane, place]: [Lane; 2] = [piece.lanes[0], piece.lanes[1]];
        for index in 0..piece.length as i64 {
            visit(lane.offset + lane.stride * index, (first + place.offset + place.stride * index) as usize);
        }
    });
}
