//! Reductions: one value out of many, accumulated in `f32`.

use super::function::maximum;
use super::{CoreView, Values};
use crate::element::Reduction;
use crate::sim::plan::{Plan, Track, Walk, dense};

/// One core's part of a reduction, not scaled yet.
pub(super) fn reduce(view: CoreView<'_>, reduction: Reduction) -> Values {
    let order = view.plan.output_dims();
    let mut values = vec![identity(reduction); view.plan.volume(&order)];
    let mut inputs = Vec::new();
    visit(view, &order, |piece_inputs, acc, stride| {
        inputs.clear();
        inputs.extend_from_slice(piece_inputs);
        accumulate(reduction, &inputs, &mut values, acc, stride);
    });
    Values::Floats { values, order }
}

/// Visits the elements of the input with their places in an array over the dimensions `order`: the first place, and its step.
pub(super) fn visit(view: CoreView<'_>, order: &[usize], mut each: impl FnMut(&[f32], usize, usize)) {
    let plan = view.plan;
    let tensor = plan.inputs[0];
    let (locals, dims) = (plan.locals(), (0..plan.dims.len()).collect::<Vec<_>>());
    let (places, even) = (dense(&locals, order), vec![0; locals.len()]);
    let tracks = vec![plan.tensors[tensor].track(), Track { offsets: &places, even: &even }];
    let mut values = Vec::new();
    Walk::new(tracks, &locals, &dims, plan.tensors[tensor].stick()).each(|piece| {
        values.resize(piece.length, 0.0);
        view.read_masked(tensor, &piece, piece.lanes[0], &mut values);
        each(&values, piece.lanes[1].offset as usize, piece.lanes[1].stride as usize);
    });
}

fn identity(reduction: Reduction) -> f32 {
    match reduction {
        Reduction::Sum | Reduction::Mean | Reduction::AveragePool => 0.0,
        Reduction::Max => f32::NEG_INFINITY,
        Reduction::Min => f32::INFINITY,
        Reduction::Prod => 1.0,
    }
}

fn accumulate(reduction: Reduction, inputs: &[f32], values: &mut [f32], place: usize, stride: usize) {
    match reduction {
        Reduction::Sum | Reduction::Mean | Reduction::AveragePool => fold(inputs, values, place, stride, |a, b| a + b),
        Reduction::Max => fold(inputs, values, place, stride, maximum),
        Reduction::Min => fold(inputs, values, place, stride, |a, b| -maximum(-a, -b)),
        Reduction::Prod => fold(inputs, values, place, stride, |a, b| a * b),
    }
}

fn fold(inputs: &[f32], values: &mut [f32], place: usize, stride: usize, combine: impl Fn(f32, f32) -> f32) {
    match stride {
        0 => values[place] = inputs.iter().fold(values[place], |sum, value| combine(sum, *value)),
        1 => values[place..].iter_mut().zip(inputs).for_each(|(sum, value)| *sum = combine(*sum, *value)),
        _ => inputs.iter().enumerate().for_each(|(step, value)| {
            let sum = &mut values[place + step * stride];
            *sum = combine(*sum, *value);
        }),
    }
}

/// Adds the parts that cores computed of the same result, in the order of the cores, and scales the sum.
pub(crate) fn combine(plan: &Plan, reduction: Reduction, parts: impl IntoIterator<Item = Vec<f32>>) -> Vec<f32> {
    let mut parts = parts.into_iter();
    let mut values = parts.next().unwrap_or_default();
    parts.for_each(|part| accumulate(reduction, &part, &mut values, 0, 1));
    let factor = match reduction {
        Reduction::Mean => plan.constant("scaling_factor"),
        Reduction::AveragePool => plan.constant("nmap"),
        Reduction::Sum | Reduction::Max | Reduction::Min | Reduction::Prod => None,
    };
    if let Some(factor) = factor {
        values.iter_mut().for_each(|value| *value *= factor);
    }
    values
}
