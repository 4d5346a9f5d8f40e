//! Elementwise functions: a result element from the inputs' elements at the same point.
//!
//! An input that lacks a dimension, or has one element in each stick, simply does not move along it.

use super::{CoreView, ElementOf, Memory, Values, copy::row_offset};
use crate::plan::Lane;
use element::{Arithmetic, Binary, Unary};

/// The inputs of a piece are read into buffers, and the function leaves its result in the first one.
pub(super) fn pointwise<M: Memory>(view: CoreView<'_, M>, n_inputs: usize, function: impl Fn(&mut [Vec<ElementOf<M>>])) -> Values<M> {
    let plan = view.plan;
    let format = plan.tensors[plan.output].format;
    let mut inputs = vec![Vec::new(); n_inputs];
    let mut cells = Vec::with_capacity(plan.points as usize * M::cells(format));
    plan.points_walk().each(|piece| {
        for (values, tensor) in inputs.iter_mut().zip(&plan.inputs) {
            let lane = piece.lanes[*tensor];
            let lane = Lane { offset: lane.offset + row_offset(view, *tensor, &piece), ..lane };
            view.read_masked(*tensor, &piece, lane, values);
        }
        function(&mut inputs);
        view.memory.encode(format, &inputs[0], &mut cells);
    });
    Values::Cells(cells)
}

/// The constants of softplus and clip are taken by position: their names differ between versions.
pub(super) fn unary<M: Memory>(view: CoreView<'_, M>, function: Unary) -> Values<M> {
    pointwise(view, 1, |inputs| view.arithmetic().unary(function, view.constants, &mut inputs[0]))
}

pub(super) fn binary<M: Memory>(view: CoreView<'_, M>, function: Binary) -> Values<M> {
    let arithmetic = view.arithmetic();
    if function == Binary::Mul && is_square(view) {
        return pointwise(view, 2, |inputs| inputs[0].iter_mut().for_each(|value| *value = arithmetic.square(*value)));
    }
    pointwise(view, 2, |inputs| {
        let (left, right) = inputs.split_at_mut(1);
        arithmetic.binary(function, &mut left[0], &right[0]);
    })
}

/// Whether both inputs are the same elements: a bound of a square knows more than that of a product.
fn is_square<M: Memory>(view: CoreView<'_, M>) -> bool {
    let [left, right] = [view.plan.inputs[0], view.plan.inputs[1]];
    let (one, other) = (&view.plan.tensors[left], &view.plan.tensors[right]);
    let place = |tensor: usize| (view.part(tensor).region, view.part(tensor).byte);
    place(left) == place(right) && one.offsets == other.offsets && one.format == other.format
}

/// The second input where the first is not 0, else the third.
pub(super) fn choose<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    pointwise(view, 3, |inputs| {
        let (condition, others) = inputs.split_at_mut(1);
        for (index, value) in condition[0].iter_mut().enumerate() {
            *value = view.arithmetic().select(*value, others[0][index], others[1][index]);
        }
    })
}
