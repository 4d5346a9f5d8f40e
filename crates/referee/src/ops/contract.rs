//! Sums of products: matrix multiplication, batched or not, and convolution.
//!
//! Operands are unpacked once; products are added in the order of the contracted dimensions.
//!
//! A product with a zero is zero, whatever the other factor is. A contracted dimension is rounded up to whole sticks; the file does
//! not say to what length it was, and torch-spyre pads only the second operand with zeros: "hardware zeroes lanes past K in x's last
//! stick". So the padding of the first operand, NaN here, must meet those zeros and vanish (assumption); if the zeros are missing,
//! the NaN shows.

use super::{CoreView, ElementOf, Memory, Values};
use crate::plan::{Plan, Track, Walk, dense};
use element::Arithmetic;

/// The dimensions by the operands that have them.
struct Roles {
    batch: Vec<usize>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    contracted: Vec<usize>,
}

impl Roles {
    fn of(plan: &Plan) -> Self {
        let has = |tensor: usize, dim: usize| plan.tensors[tensor].present[dim];
        let select = |left: bool, right: bool, result: bool| {
            let same =
                |dim: &usize| (has(plan.inputs[0], *dim), has(plan.inputs[1], *dim), has(plan.output, *dim)) == (left, right, result);
            (0..plan.dims.len()).filter(same).collect::<Vec<_>>()
        };
        let mut contracted = select(true, true, false);
        // A dimension that only one operand has is summed over as well.
        contracted.extend(select(true, false, false));
        contracted.extend(select(false, true, false));
        Self { batch: select(true, true, true), rows: select(true, false, true), columns: select(false, true, true), contracted }
    }
}

pub(super) fn contract<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    let plan = view.plan;
    let roles = Roles::of(plan);
    let order = [&roles.batch[..], &roles.rows, &roles.columns].concat();
    let volume = |dims: &[usize]| plan.volume(dims);
    let (n_batch, m, n, k) = (volume(&roles.batch), volume(&roles.rows), volume(&roles.columns), volume(&roles.contracted));
    let left = unpack(view, plan.inputs[0], &[&roles.batch[..], &roles.rows, &roles.contracted].concat());
    let right = unpack(view, plan.inputs[1], &[&roles.batch[..], &roles.contracted, &roles.columns].concat());
    let arithmetic = view.arithmetic();
    let mut values = vec![arithmetic.number(0.0); n_batch * m * n];
    for batch in 0..n_batch {
        let (left, right) = (&left[batch * m * k..][..m * k], &right[batch * k * n..][..k * n]);
        arithmetic.multiply(left, right, &mut values[batch * m * n..][..m * n], k, n);
    }
    Values::Elements { values, order }
}

/// An operand as an array over some dimensions.
fn unpack<M: Memory>(view: CoreView<'_, M>, tensor: usize, order: &[usize]) -> Vec<ElementOf<M>> {
    let (plan, locals) = (view.plan, view.plan.locals());
    let entry = &plan.tensors[tensor];
    let (places, even) = (dense(&locals, order), vec![0; locals.len()]);
    let tracks = vec![entry.track(), Track { offsets: &places, even: &even }];
    let mut values = vec![view.arithmetic().number(0.0); plan.volume(order)];
    let mut piece_values = Vec::new();
    let inner = Some(entry.stick).filter(|dim| order.contains(dim)).or(order.last().copied());
    Walk::new(tracks, &locals, order, inner).each(|piece| {
        view.read_masked(tensor, &piece, piece.lanes[0], &mut piece_values);
        let (first, stride) = (piece.lanes[1].offset as usize, piece.lanes[1].stride.max(1) as usize);
        for (index, value) in piece_values.iter().enumerate() {
            values[first + index * stride] = *value;
        }
    });
    values
}

/// `out[m][n] += left[m][k] * right[k][n]` in `f32`.
pub(super) fn multiply(left: &[f32], right: &[f32], out: &mut [f32], k: usize, n: usize) {
    let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    let right_is_finite = finite(right);
    for (row, sums) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        if right_is_finite && finite(row) {
            add_products(row, right, sums, n);
        } else {
            add_gated_products(row, right, sums, n);
        }
    }
}

fn add_products(row: &[f32], right: &[f32], sums: &mut [f32], n: usize) {
    let (fours, rest) = row.as_chunks::<4>();
    for (factors, lines) in fours.iter().zip(right.chunks_exact(4 * n)) {
        let (first, others) = lines.split_at(n);
        let (second, others) = others.split_at(n);
        let (third, fourth) = others.split_at(n);
        for (index, sum) in sums.iter_mut().enumerate() {
            // One addition after the other: the same sum as without the unrolling.
            let sum_of_two = *sum + factors[0] * first[index] + factors[1] * second[index];
            *sum = sum_of_two + factors[2] * third[index] + factors[3] * fourth[index];
        }
    }
    let done = fours.len() * 4;
    for (factor, line) in rest.iter().zip(right[done * n..].chunks_exact(n)) {
        sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
    }
}

fn add_gated_products(row: &[f32], right: &[f32], sums: &mut [f32], n: usize) {
    for (factor, line) in row.iter().zip(right.chunks_exact(n)) {
        for (sum, value) in sums.iter_mut().zip(line) {
            *sum += if *factor == 0.0 || *value == 0.0 { 0.0 } else { factor * value };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_added_in_order() {
        let (k, n) = (7, 3);
        let left: Vec<f32> = (0..2 * k).map(|i| 1.0 + i as f32 * 0.37).collect();
        let right: Vec<f32> = (0..k * n).map(|i| 2.0 - i as f32 * 0.11).collect();
        let mut out = vec![0.0; 2 * n];
        multiply(&left, &right, &mut out, k, n);
        for (m, column) in [(0, 0), (0, 2), (1, 1)] {
            let sum = (0..k).fold(0f32, |sum, i| sum + left[m * k + i] * right[i * n + column]);
            assert_eq!(out[m * n + column], sum);
        }
    }

    #[test]
    fn zero_times_padding_is_zero() {
        let mut out = [0.0];
        multiply(&[2.0, f32::NAN], &[3.0, 0.0], &mut out, 2, 1);
        assert_eq!(out, [6.0]);
        multiply(&[2.0, f32::NAN], &[3.0, 1.0], &mut out, 2, 1);
        assert!(out[0].is_nan());
    }
}
