//! Removes dimensions of size 1 from op specs.
//!
//! Format rules that count device dimensions outwards from the stick (order, stride, gap: schema, sections 2.1 and 3)
//! treat every dimension except the stick as an iteration dimension. A dimension of size 1 between the sticks and their
//! count, as in `[16, 1, 64]` for a `1x1024` tensor, would be mistaken for the count. So, as the reference front end
//! does, iteration space and coordinates have no such dimensions, and all tensors have one rank (torch-spyre facts,
//! B.3).

use super::{Coordinate, CoordinateSource, IterationDim, OpSpec, OpSpecOperand};
use machine::MAX_MATMUL_DIMS_PER_ROLE;
use program::layout::CoordinateTerm;

/// Removes dimensions of size 1 from the iteration space and from the device sizes.
///
/// The last `num_reduced` dimensions of the space are reduced. A reduction of a single element becomes a copy.
pub(super) fn drop_unit_dims(op: &mut OpSpec, num_reduced: usize) {
    let free = op.iteration_space.len().saturating_sub(num_reduced);
    if num_reduced > 0 && op.iteration_space[free..].iter().all(|dim| dim.range == 1) {
        op.function = "identity".to_owned();
        op.is_reduction = false;
        // The factor of a mean of one element is 1.
        op.constants.clear();
    }
    drop_from_space(op);
    add_fixed_position_dims(op);
    complete_sparse_reference(op);
    let mut rank = 2;
    for operand in &mut op.operands {
        let unit = Coordinate::constant(0);
        let last = operand.device_size.len().saturating_sub(1);
        let dims = operand.device_size.drain(..).zip(operand.coordinates.drain(..)).enumerate();
        let kept = dims.filter(|(position, (size, coordinate))| *position == last || *size != 1 || *coordinate != unit);
        (operand.device_size, operand.coordinates) = kept.map(|(_, dim)| dim).unzip();
        rank = rank.max(operand.device_size.len());
    }
    for operand in &mut op.operands {
        let missing = rank - operand.device_size.len();
        operand.device_size.splice(0..0, vec![1; missing]);
        operand.coordinates.splice(0..0, vec![Coordinate::constant(0); missing]);
    }
}

/// Completes the operands of a matmul: the format infers the role of a dimension from the operands that have it
/// (specification, batched matmul).
///
/// A window may be at a fixed position of its buffer. That position becomes a point of a dimension of size 1 of the
/// operand; if there is none, of a new dimension that all operands get, like a batch dimension.
pub(super) fn complete_matmul(op: &mut OpSpec, used: &[Vec<usize>]) {
    let used = assign_fixed_position_dims(op, used);
    complete_unit_dims(op, &used);
}

/// Completes the operands of a gather whose index tensor is at a fixed position of its buffer, as a row of a 2-D index
/// tensor is. The position becomes the single point of a new dimension, which the result and, through its indices, the
/// table have as well.
pub(super) fn complete_gather(op: &mut OpSpec, used: &[Vec<usize>]) {
    let Some(index) = op.operands.iter().position(|operand| operand.name.is_some()) else {
        return complete_unit_dims(op, used);
    };
    let positions = find_fixed_positions(&op.operands[index]);
    let added = positions.len();
    shift_dims(op, added);
    for (dim, position) in positions.into_iter().enumerate() {
        op.operands[index].coordinates[position].term = Some(CoordinateSource::dim(dim));
    }
    add_unit_dims(op, added);
    let is_table =
        |operand: &OpSpecOperand| operand.coordinates.iter().any(|coordinate| coordinate.index_name().is_some());
    let with_added = |(operand, used): (&OpSpecOperand, &Vec<usize>)| {
        let own = if is_table(operand) { 0 } else { added };
        (0..own).chain(used.iter().map(|dim| dim + added)).collect()
    };
    let used: Vec<Vec<usize>> = op.operands.iter().zip(used).map(with_added).collect();
    complete_unit_dims(op, &used);
}

/// Shifts the dimension numbers in all coordinates by `added`.
fn shift_dims(op: &mut OpSpec, added: usize) {
    for coordinate in op.operands.iter_mut().flat_map(|operand| &mut operand.coordinates) {
        if let Some(CoordinateSource::Digits(CoordinateTerm { dim, .. })) = &mut coordinate.term {
            *dim += added;
        }
    }
}

/// Adds dimensions of size 1 to the operands that use them, if another operand is a window along the dimension, which
/// then stays in the iteration space. A gather's table has all dimensions of its indices, and a result of the same
/// class must have them too (schema, section 3, step 7). `used` has the dimensions of each operand.
pub(super) fn complete_unit_dims(op: &mut OpSpec, used: &[Vec<usize>]) {
    for dim in (0..op.iteration_space.len()).filter(|dim| op.iteration_space[*dim].range == 1) {
        if !op.operands.iter().any(|operand| is_window(operand, dim)) {
            continue;
        }
        for (operand, used) in op.operands.iter_mut().zip(used) {
            let has_it = operand.coordinates.iter().any(|coordinate| coordinate.moving_dim() == Some(dim));
            if used.contains(&dim) && !has_it {
                operand.device_size.insert(0, 1);
                operand.coordinates.insert(0, Coordinate::dim(dim));
            }
        }
    }
}

/// Turns each fixed position of an operand, except in the stick, into the point of an iteration dimension of size 1.
/// New dimensions are prepended. Returns the dimensions of each operand.
fn assign_fixed_position_dims(op: &mut OpSpec, used: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let is_unit: Vec<bool> = op.iteration_space.iter().map(|dim| dim.range == 1).collect();
    merge_excess_fixed_positions(op, used);
    let free = |operand: &OpSpecOperand, used: &[usize]| -> Vec<usize> {
        let moves_with = |dim| operand.coordinates.iter().any(|coordinate| coordinate.moving_dim() == Some(dim));
        used.iter().copied().filter(|&dim| is_unit[dim] && !moves_with(dim)).collect()
    };
    let missing = op
        .operands
        .iter()
        .zip(used)
        .map(|(operand, used)| find_fixed_positions(operand).len().saturating_sub(free(operand, used).len()));
    let added = missing.max().unwrap_or(0);
    let points_of = |operand: &OpSpecOperand, used: &[usize]| -> Vec<usize> {
        free(operand, used).into_iter().map(|dim| dim + added).chain(0..added).collect()
    };
    let points: Vec<Vec<usize>> =
        op.operands.iter().zip(used).map(|(operand, used)| points_of(operand, used)).collect();
    shift_dims(op, added);
    for (operand, points) in op.operands.iter_mut().zip(points) {
        let pins = find_fixed_positions(operand);
        for (position, dim) in pins.into_iter().zip(points) {
            operand.coordinates[position].term = Some(CoordinateSource::dim(dim));
        }
    }
    add_unit_dims(op, added);
    used.iter().map(|used| (0..added).chain(used.iter().map(|dim| dim + added)).collect()).collect()
}

/// Merges fixed positions into the next inner device dimension, if one dimension per position would exceed the batch
/// dimensions of a matmul. At most the position next to the stick is left.
fn merge_excess_fixed_positions(op: &mut OpSpec, used: &[Vec<usize>]) {
    let num_batch = (0..op.iteration_space.len()).filter(|dim| used.iter().all(|used| used.contains(dim))).count();
    let most = op.operands.iter().map(|operand| find_fixed_positions(operand).len()).max().unwrap_or(0);
    if num_batch + most <= MAX_MATMUL_DIMS_PER_ROLE {
        return;
    }
    for operand in &mut op.operands {
        // The inner dimension may become a fixed position by the merge, if its size was 1 before.
        let beyond_room = |operand: &OpSpecOperand| {
            find_fixed_positions(operand).into_iter().rev().find(|position| position + 2 < operand.device_size.len())
        };
        while let Some(position) = beyond_room(operand) {
            let size = operand.device_size.remove(position);
            let pin = operand.coordinates.remove(position);
            operand.coordinates[position].offset += pin.offset * operand.device_size[position];
            operand.device_size[position] *= size;
        }
    }
}

/// Prepends dimensions of size 1 to the iteration space.
fn add_unit_dims(op: &mut OpSpec, added: usize) {
    let divisor = op.iteration_space.iter().any(|dim| dim.divisor.is_some()).then_some(1);
    op.iteration_space.splice(0..0, vec![IterationDim { divisor, ..IterationDim::new(1, 1) }; added]);
}

/// Returns the device dimensions except the stick at which an operand has a fixed position.
fn find_fixed_positions(operand: &OpSpecOperand) -> Vec<usize> {
    let beside_stick = operand.coordinates.len().saturating_sub(1);
    let is_pinned =
        |position: &usize| operand.device_size[*position] > 1 && operand.coordinates[*position].term.is_none();
    (0..beside_stick).filter(is_pinned).collect()
}

/// Adds an iteration dimension of size 1 for every fixed position of an operand: the strides and gaps of the format
/// belong to dimensions (schema, section 3), so a position without a dimension would be lost.
fn add_fixed_position_dims(op: &mut OpSpec) {
    let is_pinned = |size: i64, coordinate: &Coordinate| size > 1 && coordinate.term.is_none();
    let num_pinned = |operand: &OpSpecOperand| {
        let beside_stick = operand.device_size.iter().zip(&operand.coordinates).rev().skip(1);
        beside_stick.filter(|(size, coordinate)| is_pinned(**size, coordinate)).count()
    };
    let added = op.operands.iter().map(num_pinned).max().unwrap_or(0);
    if added == 0 {
        return;
    }
    add_unit_dims(op, added);
    for operand in &mut op.operands {
        let last = operand.coordinates.len().saturating_sub(1);
        let mut free = 0..added;
        for (position, coordinate) in operand.coordinates.iter_mut().enumerate() {
            match &mut coordinate.term {
                Some(CoordinateSource::Digits(CoordinateTerm { dim, .. })) => *dim += added,
                None if position < last && operand.device_size[position] > 1 => {
                    coordinate.term = free.next().map(CoordinateSource::dim)
                }
                Some(CoordinateSource::Indirect(_)) | None => {}
            }
        }
    }
}

/// Adds all dimensions of size 1 to the reference operand of an op if that operand is sparse. In an all-sparse op the
/// first dimension that this operand lacks is taken for the one added for full sticks (schema, section 2.2), so it must
/// lack no dimension of the op.
fn complete_sparse_reference(op: &mut OpSpec) {
    let reference = if op.is_reduction { op.operands.first_mut() } else { op.operands.last_mut() };
    let Some(operand) = reference else { return };
    if operand.coordinates.last().is_none_or(|stick| stick.moving_dim().is_some()) {
        return;
    }
    let moving: Vec<usize> = operand.coordinates.iter().filter_map(Coordinate::moving_dim).collect();
    for dim in (0..op.iteration_space.len()).filter(|dim| op.iteration_space[*dim].range == 1 && !moving.contains(dim))
    {
        operand.device_size.insert(0, 1);
        operand.coordinates.insert(0, Coordinate::dim(dim));
    }
}

/// Returns whether `dim`, of size 1, is a position of a larger dimension of the operand's buffer: a tile of one row.
fn is_window(operand: &OpSpecOperand, dim: usize) -> bool {
    let beside_stick = operand.device_size.iter().zip(&operand.coordinates).rev().skip(1);
    beside_stick.into_iter().any(|(&size, coordinate)| size > 1 && coordinate.moving_dim() == Some(dim))
}

fn drop_from_space(op: &mut OpSpec) {
    let is_kept =
        |&dim: &usize| op.iteration_space[dim].range != 1 || op.operands.iter().any(|operand| is_window(operand, dim));
    let kept: Vec<usize> = (0..op.iteration_space.len()).filter(is_kept).collect();
    for coordinate in op.operands.iter_mut().flat_map(|operand| &mut operand.coordinates) {
        if let Some(CoordinateSource::Digits(CoordinateTerm { dim, .. })) = &mut coordinate.term {
            match kept.iter().position(|known| known == dim) {
                Some(position) => *dim = position,
                // The only index is 0, and so is every quotient and remainder of it.
                None => coordinate.term = None,
            }
        }
    }
    let owned = op.operands.iter_mut().filter_map(|operand| operand.ownership.as_mut());
    for owned in owned.flat_map(|ownership| &mut ownership.dims) {
        // A dimension of size 1 is not divided.
        owned.dim = kept.iter().position(|known| *known == owned.dim).unwrap_or_default();
    }
    op.iteration_space = kept.into_iter().map(|dim| op.iteration_space[dim].clone()).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate as C, testing};

    fn operand(dims: &[(i64, C)]) -> OpSpecOperand {
        let (sizes, coordinates): (Vec<i64>, Vec<C>) = dims.iter().cloned().unzip();
        testing::operand(&sizes, coordinates)
    }

    fn op(ranges: &[i64], operands: Vec<OpSpecOperand>, num_reduced: usize) -> OpSpec {
        let iteration_space = ranges.iter().map(|&range| IterationDim::new(range, 1)).collect();
        let mut op = OpSpec {
            function: "sum".to_owned(),
            is_reduction: num_reduced > 0,
            iteration_space,
            operands,
            ..OpSpec::default()
        };
        drop_unit_dims(&mut op, num_reduced);
        op
    }

    #[test]
    fn prepends_unit_dim_of_row() {
        let matrix = operand(&[(16, C::floordiv(1, 64)), (512, C::dim(0)), (64, C::modulo(1, 64))]);
        let row = operand(&[(16, C::floordiv(1, 64)), (1, C::constant(0)), (64, C::modulo(1, 64))]);
        let sum = op(&[512, 1024], vec![matrix.clone(), row, matrix.clone()], 0);
        assert_eq!(sum.operands[0], matrix);
        assert_eq!(sum.operands[1].device_size, [1, 16, 64]);
        assert_eq!(sum.operands[1].coordinates, [C::constant(0), C::floordiv(1, 64), C::modulo(1, 64)]);
    }

    #[test]
    fn keeps_stick_of_one_element() {
        let sparse = operand(&[(1, C::constant(0)), (512, C::dim(0)), (1, C::constant(0))]);
        let copied = op(&[512], vec![sparse.clone(), sparse], 0);
        assert_eq!(copied.operands[0].device_size, [512, 1]);
        assert_eq!(copied.operands[0].coordinates, [C::dim(0), C::constant(0)]);
    }

    #[test]
    fn drops_single_row_of_matmul() {
        let x = operand(&[(2, C::floordiv(2, 64)), (1, C::dim(0)), (64, C::modulo(2, 64))]);
        let y = operand(&[(4, C::floordiv(1, 64)), (128, C::dim(2)), (64, C::modulo(1, 64))]);
        let product = op(&[1, 256, 128], vec![x, y], 1);
        assert_eq!(product.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [256, 128]);
        assert_eq!(product.operands[0].device_size, [1, 2, 64]);
        assert_eq!(product.operands[0].coordinates, [C::constant(0), C::floordiv(1, 64), C::modulo(1, 64)]);
        assert_eq!(product.operands[1].coordinates, [C::floordiv(0, 64), C::dim(1), C::modulo(0, 64)]);
    }

    #[test]
    fn keeps_rows_of_single_row_tile() {
        let window = operand(&[(4, C::floordiv(1, 64)), (2, C::dim(0)), (64, C::modulo(1, 64))]);
        let exp = op(&[1, 128], vec![window.clone()], 0);
        assert_eq!(exp.iteration_space.len(), 2);
        assert_eq!(exp.operands[0], window);
    }

    #[test]
    fn adds_one_point_dim_for_fixed_position() {
        let slab = operand(&[(4, C::constant(2)), (2, C::floordiv(1, 64)), (8, C::dim(0)), (64, C::modulo(1, 64))]);
        let dense = operand(&[(2, C::floordiv(1, 64)), (8, C::dim(0)), (64, C::modulo(1, 64))]);
        let exp = op(&[8, 128], vec![slab, dense], 0);
        assert_eq!(exp.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [1, 8, 128]);
        assert_eq!(
            exp.operands[0].coordinates,
            [C::dim(0).shifted_by(2), C::floordiv(2, 64), C::dim(1), C::modulo(2, 64)]
        );
        assert_eq!(exp.operands[1].coordinates, [C::constant(0), C::floordiv(2, 64), C::dim(1), C::modulo(2, 64)]);
    }

    #[test]
    fn adds_one_point_dims_to_sparse_result() {
        let slab = operand(&[(4, C::constant(2)), (8, C::dim(0)), (64, C::constant(0))]);
        let sparse = operand(&[(8, C::dim(0)), (64, C::constant(0))]);
        let exp = op(&[8], vec![slab, sparse], 0);
        assert_eq!(exp.operands[0].coordinates, [C::dim(0).shifted_by(2), C::dim(1), C::constant(0)]);
        assert_eq!(exp.operands[1].device_size, [1, 8, 64]);
        assert_eq!(exp.operands[1].coordinates, [C::dim(0), C::dim(1), C::constant(0)]);
    }

    #[test]
    fn omits_position_selected_by_single_index() {
        let index = operand(&[(1, C::floordiv(0, 32)), (32, C::modulo(0, 32))]);
        let table = operand(&[(128, C::indirect("index")), (4, C::floordiv(1, 64)), (64, C::modulo(1, 64))]);
        let row = operand(&[(4, C::floordiv(1, 64)), (1, C::dim(0)), (64, C::modulo(1, 64))]);
        let gather = op(&[1, 256], vec![index, table, row], 0);
        assert_eq!(gather.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [256]);
        assert_eq!(gather.operands[0].coordinates, [C::constant(0), C::constant(0), C::constant(0)]);
        assert_eq!(gather.operands[1].coordinates, [C::indirect("index"), C::floordiv(0, 64), C::modulo(0, 64)]);
        assert_eq!(gather.operands[2].coordinates, [C::constant(0), C::floordiv(0, 64), C::modulo(0, 64)]);
    }

    #[test]
    fn keeps_row_selected_by_row_of_indices() {
        let index = operand(&[(1, C::floordiv(1, 32)), (2, C::dim(0)), (32, C::modulo(1, 32))]);
        let table = operand(&[(128, C::indirect("index")), (1, C::floordiv(2, 64)), (64, C::modulo(2, 64))]);
        let rows = operand(&[(4, C::dim(1)), (1, C::floordiv(2, 64)), (1, C::constant(0)), (64, C::modulo(2, 64))]);
        let iteration_space = [1, 4, 64].map(|range| IterationDim::new(range, 1)).to_vec();
        let mut gather = OpSpec { iteration_space, operands: vec![index, table, rows], ..OpSpec::default() };
        complete_unit_dims(&mut gather, &[vec![0, 1], vec![2], vec![0, 1, 2]]);
        assert_eq!(gather.operands[2].coordinates[0], C::dim(0));
        assert_eq!((gather.operands[0].coordinates.len(), gather.operands[1].coordinates.len()), (3, 3));
    }

    /// Returns a matmul of dimensions m, n, k with the operands [m, k], [k, n], [m, n].
    fn matmul(ranges: &[i64], operands: Vec<OpSpecOperand>) -> OpSpec {
        completed_matmul(ranges, operands, &[vec![0, 2], vec![2, 1], vec![0, 1]])
    }

    fn completed_matmul(ranges: &[i64], operands: Vec<OpSpecOperand>, used: &[Vec<usize>]) -> OpSpec {
        let iteration_space = ranges.iter().map(|&range| IterationDim::new(range, 1)).collect();
        let mut op = OpSpec {
            function: "batchmatmul".to_owned(),
            is_reduction: true,
            iteration_space,
            operands,
            ..OpSpec::default()
        };
        complete_matmul(&mut op, used);
        op
    }

    fn single_row_matmul(rows_of_x: i64, rows_of_result: i64) -> OpSpec {
        let row = |rows: i64| if rows == 1 { C::constant(0) } else { C::dim(0) };
        let x = operand(&[(2, C::floordiv(2, 64)), (rows_of_x, row(rows_of_x)), (64, C::modulo(2, 64))]);
        let y = operand(&[(4, C::floordiv(1, 64)), (128, C::dim(2)), (64, C::modulo(1, 64))]);
        let result = operand(&[(4, C::floordiv(1, 64)), (rows_of_result, row(rows_of_result)), (64, C::modulo(1, 64))]);
        matmul(&[1, 256, 128], vec![x, y, result])
    }

    #[test]
    fn uses_one_row_as_row_of_matmul() {
        let x = operand(&[(2, C::floordiv(2, 64)), (8, C::constant(3)), (64, C::modulo(2, 64))]);
        let y = operand(&[(4, C::floordiv(1, 64)), (128, C::dim(2)), (64, C::modulo(1, 64))]);
        let result = operand(&[(4, C::floordiv(1, 64)), (1, C::constant(0)), (64, C::modulo(1, 64))]);
        let product = matmul(&[1, 256, 128], vec![x, y, result]);
        assert_eq!(product.operands[0].coordinates[1], Coordinate { offset: 3, ..C::dim(0) });
        assert_eq!((product.operands[1].device_size.len(), product.operands[2].device_size[0]), (3, 1));
        assert_eq!(product.operands[2].coordinates[0], C::dim(0));
        assert_eq!(product.iteration_space.len(), 3);
    }

    #[test]
    fn uses_one_matrix_as_batch_of_all_operands() {
        let x = operand(&[(2, C::floordiv(2, 64)), (8, C::dim(0)), (64, C::modulo(2, 64))]);
        let y = operand(&[(5, C::constant(2)), (4, C::floordiv(1, 64)), (128, C::dim(2)), (64, C::modulo(1, 64))]);
        let result = operand(&[(4, C::floordiv(1, 64)), (8, C::dim(0)), (64, C::modulo(1, 64))]);
        let product = matmul(&[8, 256, 128], vec![x, y, result]);
        assert_eq!(product.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [1, 8, 256, 128]);
        assert_eq!(product.operands[1].coordinates[0], Coordinate { offset: 2, ..C::dim(0) });
        for other in [0, 2] {
            assert_eq!(
                (product.operands[other].device_size[0], &product.operands[other].coordinates[0]),
                (1, &C::dim(0))
            );
        }
    }

    #[test]
    fn merges_positions_beyond_batch_dimensions() {
        // x has fixed positions in two dimensions outside its rows, and in one between rows and columns.
        let x = operand(&[
            (2, C::constant(1)),
            (3, C::constant(2)),
            (4, C::dim(0)),
            (2, C::constant(1)),
            (1, C::floordiv(2, 64)),
            (64, C::modulo(2, 64)),
        ]);
        let y = operand(&[(1, C::floordiv(1, 64)), (64, C::dim(2)), (64, C::modulo(1, 64))]);
        let result = operand(&[(1, C::floordiv(1, 64)), (4, C::dim(0)), (64, C::modulo(1, 64))]);
        let product = matmul(&[4, 64, 64], vec![x, y, result]);
        assert_eq!(product.iteration_space.len(), 3);
        assert_eq!(product.operands[0].device_size, [24, 2, 64]);
        assert_eq!(product.operands[0].coordinates[..2], [C::dim(0).shifted_by(20), C::floordiv(2, 64).shifted_by(1)]);
    }

    #[test]
    fn merges_excess_position_through_unit_dim() {
        // Dimensions 0 and 1 are batches, 2 is rows. Between rows and columns x has a fixed position in a dimension of
        // size 6, then a dimension of size 1.
        let rows = [(4, C::dim(1)), (4, C::dim(2))];
        let lies = [(1, C::floordiv(4, 64)), (4, C::dim(0)), (64, C::modulo(4, 64))];
        let x = operand(&[&rows[..], &[(6, C::constant(5)), (1, C::constant(0))], &lies].concat());
        let y = operand(&[
            (4, C::dim(1)),
            (64, C::dim(4)),
            (1, C::floordiv(3, 64)),
            (4, C::dim(0)),
            (64, C::modulo(3, 64)),
        ]);
        let result = operand(&[&rows[..], &[(1, C::floordiv(3, 64)), (4, C::dim(0)), (64, C::modulo(3, 64))]].concat());
        let product = completed_matmul(
            &[4, 4, 4, 64, 64],
            vec![x, y, result],
            &[vec![0, 1, 2, 4], vec![0, 1, 4, 3], vec![0, 1, 2, 3]],
        );
        assert_eq!(product.iteration_space.len(), 5);
        assert_eq!(product.operands[0].device_size, [4, 4, 6, 4, 64]);
        assert_eq!(product.operands[0].coordinates[2], C::floordiv(4, 64).shifted_by(5));
    }

    #[test]
    fn keeps_one_position_per_batch_dimension() {
        let x = operand(&[
            (2, C::constant(1)),
            (3, C::constant(2)),
            (4, C::dim(0)),
            (1, C::floordiv(2, 64)),
            (64, C::modulo(2, 64)),
        ]);
        let y = operand(&[(1, C::floordiv(1, 64)), (64, C::dim(2)), (64, C::modulo(1, 64))]);
        let result = operand(&[(1, C::floordiv(1, 64)), (4, C::dim(0)), (64, C::modulo(1, 64))]);
        let product = matmul(&[4, 64, 64], vec![x, y, result]);
        assert_eq!(product.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [1, 1, 4, 64, 64]);
        assert_eq!(product.operands[0].device_size, [2, 3, 4, 1, 64]);
        assert_eq!(product.operands[0].coordinates[..3], [C::dim(0).shifted_by(1), C::dim(1).shifted_by(2), C::dim(2)]);
    }

    #[test]
    fn adds_window_row_to_other_users() {
        // The result is one row of eight; the left factor has a buffer for one row.
        let product = single_row_matmul(1, 8);
        assert_eq!(product.operands[0].device_size, [1, 2, 1, 64]);
        assert_eq!(product.operands[0].coordinates[0], C::dim(0));
        assert_eq!(product.operands[2].device_size, [4, 8, 64]);
        // The right factor has no rows of the result.
        assert_eq!(product.operands[1].device_size, [4, 128, 64]);
        // The left factor is one row of eight; the result has a buffer for one row.
        let product = single_row_matmul(8, 1);
        assert_eq!(product.operands[0].device_size, [2, 8, 64]);
        assert_eq!(product.operands[2].device_size, [1, 4, 1, 64]);
        assert_eq!(product.operands[2].coordinates[0], C::dim(0));
    }

    #[test]
    fn leaves_non_window_rows_unchanged() {
        let product = single_row_matmul(1, 1);
        assert!(product.operands.iter().all(|operand| operand.device_size.len() == 3));
        let product = single_row_matmul(8, 8);
        assert!(product.operands.iter().all(|operand| operand.device_size.len() == 3));
    }

    #[test]
    fn keeps_completed_row_when_dropping_unit_dims() {
        let mut product = single_row_matmul(1, 8);
        drop_unit_dims(&mut product, 1);
        assert_eq!(product.iteration_space.iter().map(|dim| dim.range).collect::<Vec<_>>(), [1, 256, 128]);
        let rows = |operand: &OpSpecOperand| {
            operand.coordinates.iter().filter(|coordinate| coordinate.moving_dim() == Some(0)).count()
        };
        assert_eq!(product.operands.iter().map(rows).collect::<Vec<_>>(), [1, 0, 1]);
    }

    #[test]
    fn turns_sum_of_one_element_into_copy() {
        let x = operand(&[(1, C::constant(0)), (64, C::dim(0)), (64, C::modulo(1, 64))]);
        let sum = op(&[64, 1], vec![x], 1);
        assert_eq!((sum.function.as_str(), sum.is_reduction), ("identity", false));
        assert_eq!(sum.iteration_space.len(), 1);
        assert_eq!(sum.operands[0].device_size, [64, 64]);
        assert_eq!(sum.operands[0].coordinates, [C::dim(0), C::constant(0)]);
    }

    #[test]
    fn drops_all_dims_of_scalar_op() {
        let scalar = operand(&[(1, C::constant(0)), (1, C::dim(0)), (64, C::modulo(1, 64))]);
        let exp = op(&[1, 1], vec![scalar], 0);
        assert!(exp.iteration_space.is_empty());
        assert_eq!(exp.operands[0].device_size, [1, 64]);
        assert_eq!(exp.operands[0].coordinates, [C::constant(0), C::constant(0)]);
    }
}
