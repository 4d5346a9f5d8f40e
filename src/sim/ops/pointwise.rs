//! Elementwise functions: a result element from the inputs' elements at the same point.
//!
//! An input that lacks a dimension, or has one element in each stick, simply does not move along it.

use super::function::{self, Constants};
use super::{CoreView, Values};
use crate::element::{Binary, Unary};
use crate::sim::number::encode_run;

/// The inputs of a piece are read into buffers, and the function leaves its result in the first one.
pub(super) fn pointwise(view: CoreView<'_>, n_inputs: usize, function: impl Fn(&mut [Vec<f32>])) -> Values {
    let plan = view.plan;
    let format = plan.tensors[plan.output].format;
    let mut inputs = vec![Vec::new(); n_inputs];
    let mut bits = Vec::with_capacity(plan.points as usize * format.bytes() as usize);
    plan.points_walk().each(|piece| {
        for (values, tensor) in inputs.iter_mut().zip(&plan.inputs) {
            values.resize(piece.length, 0.0);
            view.read_masked(*tensor, &piece, piece.lanes[*tensor], values);
        }
        function(&mut inputs);
        encode_run(format, &inputs[0], &mut bits);
    });
    Values::Bits(bits)
}

pub(super) fn unary(view: CoreView<'_>, function: Unary) -> Values {
    // The constants of softplus and clip are taken by position: their names differ between versions.
    let constant = |index: usize| view.plan.constants.get(index).map_or(f32::NAN, |(_, value)| *value);
    let constants = Constants { first: constant(0), second: constant(1) };
    pointwise(view, 1, |inputs| function::unary(function, &constants, &mut inputs[0]))
}

pub(super) fn binary(view: CoreView<'_>, function: Binary) -> Values {
    pointwise(view, 2, |inputs| {
        let (left, right) = inputs.split_at_mut(1);
        function::binary(function, &mut left[0], &right[0]);
    })
}

/// The second input where the first is not 0, else the third.
pub(super) fn choose(view: CoreView<'_>) -> Values {
    pointwise(view, 3, |inputs| {
        let (condition, others) = inputs.split_at_mut(1);
        for (index, value) in condition[0].iter_mut().enumerate() {
            // A condition that is NaN is nobody's choice.
            let chosen = if *value != 0.0 { others[0][index] } else { others[1][index] };
            *value = if value.is_nan() { f32::NAN } else { chosen };
        }
    })
}
