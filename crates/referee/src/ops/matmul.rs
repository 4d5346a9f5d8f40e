//! Inner loop of a matmul in single precision.

/// Adds `left[m][k] * right[k][n]` to `out[m][n]`, in `f32` and in the order of `k`.
pub(super) fn multiply(left: &[f32], right: &[f32], out: &mut [f32], k: usize, n: usize) {
    let all_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    let right_is_finite = all_finite(right);
    for (row, sums) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        if right_is_finite && all_finite(row) {
            add_products(row, right, sums, n);
        } else {
            add_gated_products(row, right, sums, n);
        }
    }
}

/// Adds the product of one row of the left operand with the right operand to `sums`. Unrolls four values of `k`.
fn add_products(row: &[f32], right: &[f32], sums: &mut [f32], n: usize) {
    let (chunks, rest) = row.as_chunks::<4>();
    for (factors, rows) in chunks.iter().zip(right.chunks_exact(4 * n)) {
        let (first, others) = rows.split_at(n);
        let (second, others) = others.split_at(n);
        let (third, fourth) = others.split_at(n);
        for (index, sum) in sums.iter_mut().enumerate() {
            // The additions stay sequential, so the result is bit-identical to that of the loop without unrolling.
            let sum_of_two = *sum + factors[0] * first[index] + factors[1] * second[index];
            *sum = sum_of_two + factors[2] * third[index] + factors[3] * fourth[index];
        }
    }
    let num_done = chunks.len() * 4;
    for (factor, right_row) in rest.iter().zip(right[num_done * n..].chunks_exact(n)) {
        sums.iter_mut().zip(right_row).for_each(|(sum, value)| *sum += factor * value);
    }
}

/// Adds products as [`add_products`], but a product with a zero factor is zero, even if the other factor is infinite or
/// NaN. The hardware is assumed to clear padding in this way.
fn add_gated_products(row: &[f32], right: &[f32], sums: &mut [f32], n: usize) {
    for (factor, right_row) in row.iter().zip(right.chunks_exact(n)) {
        for (sum, value) in sums.iter_mut().zip(right_row) {
            *sum += if *factor == 0.0 || *value == 0.0 { 0.0 } else { factor * value };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_products_in_order() {
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
    fn treats_zero_times_padding_as_zero() {
        let mut out = [0.0];
        multiply(&[2.0, f32::NAN], &[3.0, 0.0], &mut out, 2, 1);
        assert_eq!(out, [6.0]);
        multiply(&[2.0, f32::NAN], &[3.0, 1.0], &mut out, 2, 1);
        assert!(out[0].is_nan());
    }
}
