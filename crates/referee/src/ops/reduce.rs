//! Reductions, which combine many values into one.

use super::{CoreView, ElementMemory, MemoryElement, SliceValues};
use crate::plan::{OffsetTables, OpPlan, PointLoopNest, build_dense_tables};
use element::{Arithmetic, Reduction};

/// Reduces one core's slice, without scaling.
pub(super) fn reduce<M: ElementMemory>(view: CoreView<'_, M>, reduction: Reduction) -> SliceValues<M> {
    let (order, arithmetic) = (view.plan.output_dims(), view.arithmetic());
    let mut values = vec![arithmetic.identity(reduction); view.plan.volume(&order)];
    visit_input(view, &order, |inputs, place, stride| {
        accumulate(arithmetic, reduction, inputs, &mut values, place, stride)
    });
    SliceValues::Elements { values, order }
}

/// Visits the elements of the input with their positions in an array over the dimensions `order`: the first position
/// and the stride.
pub(super) fn visit_input<M: ElementMemory>(
    view: CoreView<'_, M>,
    order: &[usize],
    mut each: impl FnMut(&[MemoryElement<M>], usize, usize),
) {
    let plan = view.plan;
    let tensor = plan.inputs[0];
    let (locals, dims) = (plan.local_sizes(), (0..plan.dims.len()).collect::<Vec<_>>());
    let (places, even) = (build_dense_tables(&locals, order), vec![0; locals.len()]);
    let tracks =
        vec![plan.tensors[tensor].offset_tables(), OffsetTables { offsets: &places, uniform_run_lengths: &even }];
    let mut values = Vec::new();
    PointLoopNest::new(tracks, &locals, &dims, Some(plan.tensors[tensor].stick_dim)).for_each_chunk(|piece| {
        view.read_masked(tensor, &piece, piece.lanes[0], &mut values);
        each(&values, piece.lanes[1].offset as usize, piece.lanes[1].stride as usize);
    });
}

fn accumulate<A: Arithmetic>(
    arithmetic: &A,
    reduction: Reduction,
    inputs: &[A::Element],
    values: &mut [A::Element],
    place: usize,
    stride: usize,
) {
    match reduction {
        Reduction::Sum | Reduction::Mean | Reduction::AveragePool => {
            fold_strided(inputs, values, place, stride, |a, b| arithmetic.add(a, b))
        }
        Reduction::Max => fold_strided(inputs, values, place, stride, |a, b| arithmetic.maximum(a, b)),
        Reduction::Min => fold_strided(inputs, values, place, stride, |a, b| arithmetic.minimum(a, b)),
        Reduction::Prod => fold_strided(inputs, values, place, stride, |a, b| arithmetic.mul(a, b)),
    }
}

fn fold_strided<E: Copy>(inputs: &[E], values: &mut [E], place: usize, stride: usize, combine: impl Fn(E, E) -> E) {
    match stride {
        0 => values[place] = inputs.iter().fold(values[place], |sum, value| combine(sum, *value)),
        1 => values[place..].iter_mut().zip(inputs).for_each(|(sum, value)| *sum = combine(*sum, *value)),
        _ => inputs.iter().enumerate().for_each(|(step, value)| {
            let sum = &mut values[place + step * stride];
            *sum = combine(*sum, *value);
        }),
    }
}

/// Adds the partial results of the cores in the order of the cores, and scales the sum.
pub(crate) fn combine_partial_results<A: Arithmetic>(
    arithmetic: &A,
    plan: &OpPlan,
    constants: &[A::Element],
    reduction: Reduction,
    parts: impl IntoIterator<Item = Vec<A::Element>>,
) -> Vec<A::Element> {
    let mut parts = parts.into_iter();
    let mut values = parts.next().unwrap_or_default();
    parts.for_each(|part| accumulate(arithmetic, reduction, &part, &mut values, 0, 1));
    let factor = match reduction {
        Reduction::Mean => plan.find_constant("scaling_factor"),
        Reduction::AveragePool => plan.find_constant("nmap"),
        Reduction::Sum | Reduction::Max | Reduction::Min | Reduction::Prod => None,
    };
    if let Some(factor) = factor {
        values.iter_mut().for_each(|value| *value = arithmetic.mul(*value, constants[factor]));
    }
    values
}
