//! Index maps whose results are dimensions, or dimensions plus a constant.

use crate::mlir::{AffineMap, map_results};
use program::{affine::AffineExpression, layout::TensorIndex};

/// Returns the dimension of each result of a map; `None` for the constant 0 and for a dimension of size 1.
///
/// # Errors
/// If the map has other results.
pub fn plain_dims(map: AffineMap<'_>, sizes: &[i64]) -> Result<Vec<Option<usize>>, String> {
    let at_start = |(dim, offset)| if offset == 0 { Ok(dim) } else { Err(unsupported_map_error(map)) };
    plain_indices(map, sizes)?.into_iter().map(at_start).collect()
}

/// Returns, for each result of a map, its dimension and its constant offset; the dimension is `None` for a constant and
/// for one of size 1.
pub(super) fn plain_indices(map: AffineMap<'_>, sizes: &[i64]) -> Result<Vec<(Option<usize>, i64)>, String> {
    let plain = |expr: AffineExpression| {
        let index = TensorIndex::from_expr(&expr, sizes).map_err(|_| unsupported_map_error(map))?;
        match index.digits.as_slice() {
            [] => Ok((None, index.offset)),
            [digit] if digit.divisor == 1 && digit.factor == 1 && digit.size == sizes[digit.dim] => {
                Ok((Some(digit.dim), index.offset))
            }
            _ => Err(unsupported_map_error(map)),
        }
    };
    map_results(map).into_iter().map(plain).collect()
}

fn unsupported_map_error(map: AffineMap<'_>) -> String {
    format!("reads through {map}: only permuted, shifted, added or dropped dimensions are supported here")
}
