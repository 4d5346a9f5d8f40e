//! Elementwise functions: a result element depends on the input elements at the same point.
//!
//! An input that lacks a dimension, or has one element in each stick, has stride 0 along it.

use super::{CoreView, ElementMemory, MemoryElement, SliceValues, copy::find_row_offset};
use crate::plan::StridedRun;
use element::{Arithmetic, BinaryFunction, UnaryFunction};

/// Computes a function chunk by chunk: the inputs are read into buffers, and `function` leaves its result in the first
/// one.
pub(super) fn compute_pointwise<M: ElementMemory>(
    view: CoreView<'_, M>,
    num_inputs: usize,
    function: impl Fn(&mut [Vec<MemoryElement<M>>]),
) -> SliceValues<M> {
    let plan = view.plan;
    let format = plan.tensors[plan.output].format;
    let mut inputs = vec![Vec::new(); num_inputs];
    let mut cells = Vec::with_capacity(plan.points_per_core as usize * M::cells_per_element(format));
    plan.point_loop_nest().for_each_chunk(|piece| {
        for (values, tensor) in inputs.iter_mut().zip(&plan.inputs) {
            let lane = piece.lanes[*tensor];
            let lane = StridedRun { offset: lane.offset + find_row_offset(view, *tensor, &piece), ..lane };
            view.read_masked(*tensor, &piece, lane, values);
        }
        function(&mut inputs);
        view.memory.encode(format, &inputs[0], &mut cells);
    });
    SliceValues::Cells(cells)
}

/// Computes a function of one input. Softplus and clip take their constants by position: the names differ between
/// versions.
pub(super) fn compute_unary<M: ElementMemory>(view: CoreView<'_, M>, function: UnaryFunction) -> SliceValues<M> {
    compute_pointwise(view, 1, |inputs| view.arithmetic().apply_unary(function, view.constants, &mut inputs[0]))
}

pub(super) fn compute_binary<M: ElementMemory>(view: CoreView<'_, M>, function: BinaryFunction) -> SliceValues<M> {
    let arithmetic = view.arithmetic();
    if function == BinaryFunction::Mul && is_square(view) {
        return compute_pointwise(view, 2, |inputs| {
            inputs[0].iter_mut().for_each(|value| *value = arithmetic.square(*value))
        });
    }
    compute_pointwise(view, 2, |inputs| {
        let (left, right) = inputs.split_at_mut(1);
        arithmetic.apply_binary(function, &mut left[0], &right[0]);
    })
}

/// Returns whether both inputs are the same elements: the bounds of a square are tighter than those of a product.
fn is_square<M: ElementMemory>(view: CoreView<'_, M>) -> bool {
    let [left, right] = [view.plan.inputs[0], view.plan.inputs[1]];
    let (one, other) = (&view.plan.tensors[left], &view.plan.tensors[right]);
    let place = |tensor: usize| (view.tensor_slice(tensor).region, view.tensor_slice(tensor).byte);
    place(left) == place(right) && one.offsets == other.offsets && one.format == other.format
}

/// Selects the second input where the first is not 0, else the third.
pub(super) fn compute_select<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    compute_pointwise(view, 3, |inputs| {
        let (condition, others) = inputs.split_at_mut(1);
        for (index, value) in condition[0].iter_mut().enumerate() {
            *value = view.arithmetic().select(*value, others[0][index], others[1][index]);
        }
    })
}
