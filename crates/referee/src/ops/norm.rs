//! Layer normalization in three operations, as torch-spyre splits it: `exx2`, `layernormscale`, `layernormnorm`.
//!
//! The result of `exx2` has two values in each stick, whose positions are not public. Here the mean is in lane 0 and
//! the mean of the squares in lane 1, each rounded to the tensor's format (assumption). The host never reads this
//! tensor.

use super::pointwise::compute_pointwise;
use super::reduce::visit_input;
use super::{CoreView, ElementMemory, SliceValues, StridedRun};
use element::{Arithmetic, UnaryFunction};

/// Computes the mean of the values and the mean of their squares: sums times `exx2scale`.
pub(super) fn compute_moments<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let order = plan.output_dims();
    let (zero, scale) = (arithmetic.constant(0.0), view.constant("exx2scale"));
    let zero_mean = plan.constants.iter().any(|constant| constant.name == "useZeroMean" && constant.value != 0.0);
    let mut values = vec![[zero; 2]; plan.volume(&order)];
    visit_input(view, &order, |inputs, place, stride| {
        for (step, value) in inputs.iter().enumerate() {
            let [sum, squares] = &mut values[place + step * stride];
            *sum = arithmetic.add(*sum, *value);
            *squares = arithmetic.add(*squares, arithmetic.square(*value));
        }
    });
    for [sum, squares] in &mut values {
        *sum = if zero_mean { zero } else { arithmetic.mul(*sum, scale) };
        *squares = arithmetic.mul(*squares, scale);
    }
    SliceValues::Pairs { values, order }
}

/// Computes the reciprocal square root of the variance plus `eps`.
pub(super) fn compute_scale<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let (input, format) = (plan.inputs[0], plan.tensors[plan.output].format);
    let (zero, eps) = (arithmetic.constant(0.0), view.constant("eps"));
    let (mut mean, mut squares, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    plan.point_loop_nest().for_each_chunk(|piece| {
        let lane = piece.lanes[input];
        mean.resize(piece.length, zero);
        squares.resize(piece.length, zero);
        view.read(input, lane, &mut mean);
        view.read(input, StridedRun { offset: lane.offset + 1, ..lane }, &mut squares);
        for (mean, squares) in mean.iter_mut().zip(&squares) {
            let variance = arithmetic.sub(*squares, arithmetic.square(*mean));
            // Rounding can make the difference negative, which a variance cannot be.
            *mean = arithmetic.add(arithmetic.maximum(variance, zero), eps);
        }
        arithmetic.apply_unary(UnaryFunction::Rsqrt, &[], &mut mean);
        view.memory.encode(format, &mean, &mut cells);
    });
    SliceValues::Cells(cells)
}

/// Computes `(x - mean) * scale * weight + bias`.
pub(super) fn normalize<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    let arithmetic = view.arithmetic();
    compute_pointwise(view, 5, |inputs| {
        let (x, others) = inputs.split_at_mut(1);
        for (index, value) in x[0].iter_mut().enumerate() {
            let scaled = arithmetic.mul(arithmetic.sub(*value, others[0][index]), others[1][index]);
            *value = arithmetic.add(arithmetic.mul(scaled, others[2][index]), others[3][index]);
        }
    })
}
