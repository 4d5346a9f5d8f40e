//! Order in which a view accesses the elements of a tensor, by their row-major positions in the tensor.

use super::{IndexDigit, TensorIndex, is_whole_dim};

/// Returns the row-major position in a tensor of shape `shape` of the element at `indices`, as an index over dimensions
/// of sizes `space`. `None` if the position is no sum of digits. The offset of the result is the sum of the offsets
/// without strides, so it only tells whether all offsets are 0.
#[must_use]
pub fn compute_row_major_position(indices: &[TensorIndex], shape: &[i64], space: &[i64]) -> Option<TensorIndex> {
    let mut stride = shape.iter().product::<i64>();
    let mut digits = Vec::new();
    for (index, size) in indices.iter().zip(shape) {
        stride /= size;
        digits.extend(index.digits.iter().map(|digit| IndexDigit { factor: digit.factor * stride, ..*digit }));
    }
    TensorIndex::new(&digits, indices.iter().map(|index| index.offset).sum(), space).ok()
}

/// Returns dimensions of the space, outermost first, whose row-major order is the row-major order of a tensor of shape
/// `shape`. The reader accesses all elements, and splits or merges dimensions of the tensor; the other dimensions of
/// the space repeat the accesses. `None` for other accesses, for example if no dimension is split or merged.
#[must_use]
pub fn find_row_major_dims(indices: &[TensorIndex], shape: &[i64], space: &[i64]) -> Option<Vec<usize>> {
    if indices.iter().zip(shape).all(|(index, &size)| size == 1 || index.digits.is_empty() || is_whole_dim(index, size))
    {
        return None;
    }
    let position = compute_row_major_position(indices, shape, space).filter(|place| place.offset == 0)?;
    let mut stride = 1;
    for digit in position.digits.iter().rev() {
        let is_contiguous = digit.divisor == 1 && digit.size == space[digit.dim] && digit.factor == stride;
        stride *= Some(digit.size).filter(|_| is_contiguous)?;
    }
    (stride == shape.iter().product::<i64>()).then(|| position.digits.iter().map(|digit| digit.dim).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestExpr, checked_index, d};
    use super::*;

    fn find_dims(exprs: &[TestExpr], shape: &[i64], space: &[i64]) -> Option<Vec<usize>> {
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| checked_index(expr, space)).collect();
        find_row_major_dims(&indices, shape, space)
    }

    #[test]
    fn orders_merged_dimensions_as_in_the_tensor() {
        // The matrices of four experts next to each other: [4, 256, 64] as [64, 1024].
        assert_eq!(
            find_dims(&[d(1).floordiv(256).modulo(4), d(1).modulo(256), d(0)], &[4, 256, 64], &[64, 1024]),
            Some(vec![1, 0])
        );
        // The weights of a convolution as those of a matmul, for each of 5 rows.
        let columns = [d(2), d(1).floordiv(64).modulo(3), d(1).floordiv(8).modulo(8), d(1).modulo(8)];
        assert_eq!(find_dims(&columns, &[128, 3, 8, 8], &[5, 192, 128]), Some(vec![2, 1]));
    }

    #[test]
    fn keeps_split_dimensions_adjacent() {
        assert_eq!(find_dims(&[d(1) * 32 + d(2), d(0)], &[128, 64], &[64, 4, 32]), Some(vec![1, 2, 0]));
    }

    #[test]
    fn finds_no_dims_for_plain_or_partial_view() {
        assert_eq!(find_dims(&[d(1), d(0)], &[8, 16], &[16, 8]), None, "nothing is taken apart");
        assert_eq!(find_dims(&[d(0) * 4 + d(1)], &[16], &[2, 4]), None, "half of it");
        assert_eq!(find_dims(&[d(0) * 4 + d(1) + 4], &[16], &[3, 4]), None, "all but the beginning");
        assert_eq!(find_dims(&[d(0) * 4 + d(1), d(1)], &[16, 4], &[4, 4]), None, "a diagonal");
        assert_eq!(find_dims(&[d(0).floordiv(4).modulo(4), d(0).modulo(4)], &[4, 4], &[8]), None, "half of the rows");
    }
}
