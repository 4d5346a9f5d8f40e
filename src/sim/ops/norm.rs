//! Layer normalisation in three operations, as torch-spyre splits it: `exx2`, `layernormscale`, `layernormnorm`.
//!
//! The result of `exx2` has two values in each stick. Which, and where, is not public: here the mean stands in lane 0 and the mean of
//! the squares in lane 1, each rounded to the tensor's format (assumption). No host ever reads such a tensor.

use super::pointwise::pointwise;
use super::reduce::visit;
use super::{CoreView, Values};
use crate::sim::number::encode_run;

/// The mean of the values and of their squares: sums times `exx2scale`.
pub(super) fn moments(view: CoreView<'_>) -> Values {
    let plan = view.plan;
    let order = plan.output_dims();
    let scale = plan.constant("exx2scale").unwrap_or(f32::NAN);
    let zero_mean = plan.constant("useZeroMean").unwrap_or(0.0) != 0.0;
    let mut values = vec![[0f32; 2]; plan.volume(&order)];
    visit(view, &order, |inputs, place, stride| {
        for (step, value) in inputs.iter().enumerate() {
            let [sum, squares] = &mut values[place + step * stride];
            *sum += value;
            *squares += value * value;
        }
    });
    for [sum, squares] in &mut values {
        *sum = if zero_mean { 0.0 } else { *sum * scale };
        *squares *= scale;
    }
    Values::Pairs { values, order }
}

/// The reciprocal square root of the variance plus `eps`.
pub(super) fn scale(view: CoreView<'_>) -> Values {
    let plan = view.plan;
    let (input, output) = (plan.inputs[0], &plan.tensors[plan.output]);
    let eps = plan.constant("eps").unwrap_or(f32::NAN);
    let (mut mean, mut squares, mut bits) = (Vec::new(), Vec::new(), Vec::new());
    plan.points_walk().each(|piece| {
        let lane = piece.lanes[input];
        mean.resize(piece.length, 0.0);
        squares.resize(piece.length, 0.0);
        view.read(input, lane, &mut mean);
        view.read(input, super::Lane { offset: lane.offset + 1, ..lane }, &mut squares);
        for (mean, squares) in mean.iter_mut().zip(&squares) {
            // Rounding can make the difference negative; the variance is not.
            let variance = *squares - *mean * *mean;
            let variance = if variance < 0.0 { 0.0 } else { variance };
            *mean = 1.0 / (variance + eps).sqrt();
        }
        encode_run(output.format, &mean, &mut bits);
    });
    Values::Bits(bits)
}

/// `(x - mean) * scale * weight + bias`.
pub(super) fn normalize(view: CoreView<'_>) -> Values {
    pointwise(view, 5, |inputs| {
        let (x, others) = inputs.split_at_mut(1);
        for (index, value) in x[0].iter_mut().enumerate() {
            *value = (*value - others[0][index]) * others[1][index] * others[2][index] + others[3][index];
        }
    })
}
