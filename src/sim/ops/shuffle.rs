//! A change of ownership: every core gets its slice of a tensor whose slices other cores hold in their LX.

use super::Values;
use crate::sim::access::Parts;
use crate::sim::machine::Machine;
use crate::sim::number::{POISON, width};
use crate::sim::plan::{Lane, Plan, TensorPlan, Track, Walk, dense};

/// The result of each core, and the bytes that moved from one core to another, which do not depend on values.
pub(crate) fn shuffle(plan: &Plan, parts: &Parts, machine: &Machine) -> (Vec<Values>, u64) {
    let (input, output) = (plan.inputs[0], plan.output);
    let width = width(plan.tensors[input].format);
    let sizes: Vec<usize> = plan.dims.iter().map(|dim| dim.size as usize).collect();
    let n_points: usize = sizes.iter().product();
    let (mut whole, mut owners) = (vec![POISON; n_points * width], vec![usize::MAX; n_points]);
    for core in 0..plan.cores.len() {
        let part = &parts.0[core][input];
        let bytes = machine.region(part.region).map_or(&[][..], |region| region.bytes());
        each_point(&plan.tensors[input], core, &sizes, |lane, place| {
            let at = (part.byte + lane * width as i64) as usize;
            if let Some(element) = bytes.get(at..at + width) {
                whole[place * width..][..width].copy_from_slice(element);
            }
            owners[place] = core;
        });
    }
    let mut moved = 0;
    let mut results = Vec::new();
    for core in 0..plan.cores.len() {
        let mut bits = Vec::new();
        each_point(&plan.tensors[output], core, &sizes, |_, place| {
            bits.extend_from_slice(&whole[place * width..][..width]);
            moved += if owners[place] == core { 0 } else { width as u64 };
        });
        results.push(Values::Bits(bits));
    }
    (results, moved)
}

/// Visits the points that a core holds of a tensor: the element's offset in its part, and its place in the whole.
fn each_point(tensor: &TensorPlan, core: usize, sizes: &[usize], mut visit: impl FnMut(i64, usize)) {
    let locals: Vec<usize> = tensor.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..sizes.len()).collect();
    let strides: Vec<i64> = dims.iter().map(|dim| sizes[dim + 1..].iter().product::<usize>() as i64).collect();
    let slots = tensor.ownership.as_ref().map(|ownership| &ownership[core]);
    let first: i64 = dims.iter().map(|dim| slots.map_or(0, |slots| slots[*dim]) * locals[*dim] as i64 * strides[*dim]).sum();
    let mut places = dense(sizes, &dims);
    places.iter_mut().zip(&locals).for_each(|(table, local)| table.truncate(*local));
    let even = vec![0; dims.len()];
    let tracks = vec![tensor.track(), Track { offsets: &places, even: &even }];
    // The same loops as those that store the result.
    Walk::new(tracks, &locals, &dims, tensor.stick()).each(|piece| {
        let [lane, place]: [Lane; 2] = [piece.lanes[0], piece.lanes[1]];
        for index in 0..piece.length as i64 {
            visit(lane.offset + lane.stride * index, (first + place.offset + place.stride * index) as usize);
        }
    });
}
