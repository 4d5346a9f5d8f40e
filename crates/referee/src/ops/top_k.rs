//! Top-k: the largest values along a dimension, one result for each rank.
//!
//! Ranks descend. Of equal values the one at the lower position ranks first, and NaN ranks before all numbers
//! (assumptions).

use super::{CoreView, ElementMemory, SliceValues, reduce};
use crate::plan::TopKOutput;
use element::{Arithmetic, BinaryFunction};

/// Computes one core's slice of a top-k: the ranks of its slice.
pub(super) fn compute_top_k<M: ElementMemory>(view: CoreView<'_, M>, selected: TopKOutput) -> SliceValues<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let Some((searched, ranks)) = plan.find_top_k_dims() else { return SliceValues::Cells(Vec::new()) };
    let beside: Vec<usize> = plan.output_dims().into_iter().filter(|dim| *dim != ranks).collect();
    let rows = [&beside[..], &[searched]].concat();
    let mut values = vec![arithmetic.poison(); plan.volume(&rows)];
    reduce::visit_input(view, &rows, |inputs, place, stride| {
        inputs.iter().enumerate().for_each(|(step, input)| values[place + step * stride] = *input);
    });
    let num_ranks = plan.dims[ranks].local_size as usize;
    let first = plan.cores[view.core].slice_indices[ranks] as usize * num_ranks;
    let found = values.chunks_exact(plan.dims[searched].local_size as usize).flat_map(|row| {
        let positions = find_largest(arithmetic, row, first + num_ranks);
        positions.into_iter().skip(first).map(move |position| match selected {
            TopKOutput::Value => row[position],
            TopKOutput::Position => arithmetic.constant(position as f64),
        })
    });
    SliceValues::Elements { values: found.collect(), order: [&beside[..], &[ranks]].concat() }
}

/// Returns the positions of the `count` largest elements, largest first.
fn find_largest<A: Arithmetic>(arithmetic: &A, row: &[A::Element], count: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..row.len()).collect();
    let next = |_| {
        let best = (1..left.len())
            .fold(0, |best, at| if ranks_before(arithmetic, row[left[at]], row[left[best]]) { at } else { best });
        left.remove(best)
    };
    (0..count).map(next).collect()
}

/// Returns whether an element ranks before `best`, which has a lower position.
fn ranks_before<A: Arithmetic>(arithmetic: &A, element: A::Element, best: A::Element) -> bool {
    match (arithmetic.is_poison(element), arithmetic.is_poison(best)) {
        (_, true) => false,
        (true, false) => true,
        (false, false) => !arithmetic.is_zero(arithmetic.compare(BinaryFunction::Greater, element, best)),
    }
}
