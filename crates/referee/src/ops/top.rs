//! The largest values along a dimension, one result for each rank.
//!
//! Ranks are in falling order; of equal values the one with the lower position comes first, and what is no number before all numbers
//! (assumptions).

use super::{CoreView, Memory, Values, reduce};
use crate::plan::Selected;
use element::{Arithmetic, Binary};

/// One core's part of a top-k: the ranks of its slice.
pub(super) fn select<M: Memory>(view: CoreView<'_, M>, selected: Selected) -> Values<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let Some((searched, ranks)) = plan.selection() else { return Values::Cells(Vec::new()) };
    let beside: Vec<usize> = plan.output_dims().into_iter().filter(|dim| *dim != ranks).collect();
    let rows = [&beside[..], &[searched]].concat();
    let mut values = vec![arithmetic.poison(); plan.volume(&rows)];
    reduce::visit(view, &rows, |inputs, place, stride| {
        inputs.iter().enumerate().for_each(|(step, input)| values[place + step * stride] = *input);
    });
    let n_ranks = plan.dims[ranks].local as usize;
    let first = plan.cores[view.core].slots[ranks] as usize * n_ranks;
    let found = values.chunks_exact(plan.dims[searched].local as usize).flat_map(|row| {
        let positions = largest(arithmetic, row, first + n_ranks);
        positions.into_iter().skip(first).map(move |position| match selected {
            Selected::Value => row[position],
            Selected::Position => arithmetic.number(position as f64),
        })
    });
    Values::Elements { values: found.collect(), order: [&beside[..], &[ranks]].concat() }
}

/// The positions of the `count` largest elements, one after the other.
fn largest<A: Arithmetic>(arithmetic: &A, row: &[A::Element], count: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..row.len()).collect();
    let next = |_| {
        let best = (1..left.len()).fold(0, |best, at| if is_before(arithmetic, row[left[at]], row[left[best]]) { at } else { best });
        left.remove(best)
    };
    (0..count).map(next).collect()
}

/// Whether an element ranks before one with a lower position.
fn is_before<A: Arithmetic>(arithmetic: &A, element: A::Element, best: A::Element) -> bool {
    match (arithmetic.is_poison(element), arithmetic.is_poison(best)) {
        (_, true) => false,
        (true, false) => true,
        (false, false) => !arithmetic.is_zero(arithmetic.compare(Binary::Greater, element, best)),
    }
}
