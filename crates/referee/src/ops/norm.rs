//! Layer normalisation in three operations, as torch-spyre splits it: `exx2`, `layernormscale`, `layernormnorm`.
//!
//! The result of `exx2` has two values in each stick. Which, and where, is not public: here the mean stands in lane 0 and the mean of
//! the squares in lane 1, each rounded to the tensor's format (assumption). No host ever reads such a tensor.

use super::pointwise::pointwise;
use super::reduce::visit;
use super::{CoreView, Lane, Memory, Values};
use element::{Arithmetic, Unary};

/// The mean of the values and of their squares: sums times `exx2scale`.
pub(super) fn moments<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let order = plan.output_dims();
    let (zero, scale) = (arithmetic.number(0.0), view.constant("exx2scale"));
    let zero_mean = plan.constants.iter().any(|constant| constant.name == "useZeroMean" && constant.value != 0.0);
    let mut values = vec![[zero; 2]; plan.volume(&order)];
    visit(view, &order, |inputs, place, stride| {
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
    Values::Pairs { values, order }
}

/// The reciprocal square root of the variance plus `eps`.
pub(super) fn scale<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    let (plan, arithmetic) = (view.plan, view.arithmetic());
    let (input, format) = (plan.inputs[0], plan.tensors[plan.output].format);
    let (zero, eps) = (arithmetic.number(0.0), view.constant("eps"));
    let (mut mean, mut squares, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    plan.points_walk().each(|piece| {
        let lane = piece.lanes[input];
        mean.resize(piece.length, zero);
        squares.resize(piece.length, zero);
        view.read(input, lane, &mut mean);
        view.read(input, Lane { offset: lane.offset + 1, ..lane }, &mut squares);
        for (mean, squares) in mean.iter_mut().zip(&squares) {
            let variance = arithmetic.sub(*squares, arithmetic.square(*mean));
            // Rounding can make the difference negative; the variance is not.
            *mean = arithmetic.add(arithmetic.maximum(variance, zero), eps);
        }
        arithmetic.unary(Unary::Rsqrt, &[], &mut mean);
        view.memory.encode(format, &mean, &mut cells);
    });
    Values::Cells(cells)
}

/// `(x - mean) * scale * weight + bias`.
pub(super) fn normalize<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    let arithmetic = view.arithmetic();
    pointwise(view, 5, |inputs| {
        let (x, others) = inputs.split_at_mut(1);
        for (index, value) in x[0].iter_mut().enumerate() {
            let scaled = arithmetic.mul(arithmetic.sub(*value, others[0][index]), others[1][index]);
            *value = arithmetic.add(arithmetic.mul(scaled, others[2][index]), others[3][index]);
        }
    })
}
