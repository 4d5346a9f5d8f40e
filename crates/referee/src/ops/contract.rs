//! Contractions: matmul, batch matmul and convolution.
//!
//! Operands are unpacked once, and products are added in the order of the contracted dimensions.
//!
//! A product with a zero is zero, even if the other factor is NaN. A contracted dimension is rounded up to complete
//! sticks; the file does not record its original size, and torch-spyre pads only the second operand with zeros:
//! "hardware zeroes lanes past K in x's last stick". So the NaN padding of the first operand must meet those zeros and
//! vanish (assumption). If the zeros are missing, the NaN remains in the result.

use super::{CoreView, ElementMemory, MemoryElement, SliceValues};
use crate::plan::{OffsetTables, OpPlan, PointLoopNest, build_dense_tables};
use element::Arithmetic;

/// Dimensions of a contraction, by the operands that have them.
struct DimRoles {
    batch: Vec<usize>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    contracted: Vec<usize>,
}

impl DimRoles {
    fn from_plan(plan: &OpPlan) -> Self {
        let has = |tensor: usize, dim: usize| plan.tensors[tensor].has_dim[dim];
        let select = |left: bool, right: bool, result: bool| {
            let same = |dim: &usize| {
                (has(plan.inputs[0], *dim), has(plan.inputs[1], *dim), has(plan.output, *dim)) == (left, right, result)
            };
            (0..plan.dims.len()).filter(same).collect::<Vec<_>>()
        };
        let mut contracted = select(true, true, false);
        // A dimension that only one operand has is summed over, too.
        contracted.extend(select(true, false, false));
        contracted.extend(select(false, true, false));
        Self {
            batch: select(true, true, true),
            rows: select(true, false, true),
            columns: select(false, true, true),
            contracted,
        }
    }
}

pub(super) fn contract<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    let plan = view.plan;
    let roles = DimRoles::from_plan(plan);
    let order = [&roles.batch[..], &roles.rows, &roles.columns].concat();
    let volume = |dims: &[usize]| plan.volume(dims);
    let (num_batch, m, n, k) =
        (volume(&roles.batch), volume(&roles.rows), volume(&roles.columns), volume(&roles.contracted));
    let left = unpack(view, plan.inputs[0], &[&roles.batch[..], &roles.rows, &roles.contracted].concat());
    let right = unpack(view, plan.inputs[1], &[&roles.batch[..], &roles.contracted, &roles.columns].concat());
    let arithmetic = view.arithmetic();
    let mut values = vec![arithmetic.constant(0.0); num_batch * m * n];
    for batch in 0..num_batch {
        let (left, right) = (&left[batch * m * k..][..m * k], &right[batch * k * n..][..k * n]);
        arithmetic.multiply(left, right, &mut values[batch * m * n..][..m * n], k, n);
    }
    SliceValues::Elements { values, order }
}

/// Unpacks an operand to a row-major array over the dimensions `order`.
fn unpack<M: ElementMemory>(view: CoreView<'_, M>, tensor: usize, order: &[usize]) -> Vec<MemoryElement<M>> {
    let (plan, locals) = (view.plan, view.plan.local_sizes());
    let entry = &plan.tensors[tensor];
    let (places, even) = (build_dense_tables(&locals, order), vec![0; locals.len()]);
    let tracks = vec![entry.offset_tables(), OffsetTables { offsets: &places, uniform_run_lengths: &even }];
    let mut values = vec![view.arithmetic().constant(0.0); plan.volume(order)];
    let mut piece_values = Vec::new();
    let inner = Some(entry.stick_dim).filter(|dim| order.contains(dim)).or(order.last().copied());
    PointLoopNest::new(tracks, &locals, order, inner).for_each_chunk(|piece| {
        view.read_masked(tensor, &piece, piece.lanes[0], &mut piece_values);
        let (first, stride) = (piece.lanes[1].offset as usize, piece.lanes[1].stride.max(1) as usize);
        for (index, value) in piece_values.iter().enumerate() {
            values[first + index * stride] = *value;
        }
    });
    values
}
