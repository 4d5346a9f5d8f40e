//! Rejects ops outside the preconditions of the geometry rules, so that the rules need no checks.

use crate::bundle::OpFamily;
use crate::{
    bundle::{Coordinate, IterationDim, OpSpec, OpSpecOperand},
    launch::LaunchError,
};

/// Maximum number of elements of a tensor, and maximum byte offset of its start. With the limits below no address
/// overflows; a card has 2^37 bytes.
const MAX_ELEMENTS: i64 = 1 << 48;

/// Maximum number of points of a dimension.
const MAX_SIZE: i64 = 1 << 40;

/// Maximum number of points of a window, and maximum distance between them.
const MAX_WINDOW: i64 = 1 << 20;

/// Maximum number of slices of an op; far above the cores of any machine.
const MAX_CORES: i64 = 1024;

/// Checks an op: its space, and each operand against it.
pub(super) fn check(op: &OpSpec, family: OpFamily) -> Result<(), LaunchError> {
    let needed = if family.has_operand_dims() { 3 } else { 1 };
    if op.operands.len() < needed {
        return Err(LaunchError::TooFewOperands { found: op.operands.len(), needed });
    }
    check_space(&op.iteration_space)?;
    check_window(op)?;
    op.operands.iter().enumerate().try_for_each(|(index, operand)| check_operand(op, index, operand))
}

fn check_space(space: &[IterationDim]) -> Result<(), LaunchError> {
    let mut cores = 1_i64;
    for (dim, found) in space.iter().enumerate() {
        let max = found.symbolic.as_ref().map_or(found.range, |symbolic| symbolic.max);
        if found.range < 1 || found.split < 1 || max < 1 {
            return Err(LaunchError::EmptyDim { dim, range: found.range.min(max), split: found.split });
        }
        check_limit(MAX_SIZE, "the size of a dimension", found.range.max(max))?;
        cores = cores.saturating_mul(found.split);
    }
    if cores > MAX_CORES {
        return Err(LaunchError::TooManyCores { found: cores, limit: MAX_CORES });
    }
    Ok(())
}

fn check_window(op: &OpSpec) -> Result<(), LaunchError> {
    if let Some(ranges) = op.node_output_ranges {
        if ranges.iter().any(|range| *range < 1) {
            return Err(LaunchError::EmptyResult { ranges });
        }
        ranges.iter().try_for_each(|range| check_limit(MAX_SIZE, "a range of the result", *range))?;
    }
    let Some(window) = &op.window else { return Ok(()) };
    for axis in [window.height, window.width] {
        for (what, found) in [("kernel", axis.kernel), ("stride", axis.stride), ("dilation", axis.dilation)] {
            if found < 1 {
                return Err(LaunchError::BadWindow { what, found });
            }
            check_limit(MAX_WINDOW, "a window's size", found)?;
        }
        check_limit(MAX_WINDOW, "a window's padding", axis.padding)?;
        check_limit(MAX_SIZE, "a window's total size", axis.total_size.unwrap_or_default())?;
    }
    Ok(())
}

fn check_operand(op: &OpSpec, index: usize, operand: &OpSpecOperand) -> Result<(), LaunchError> {
    let sizes = operand.device_size.len();
    let coordinates = operand.coordinates.len();
    if coordinates != sizes || sizes == 0 {
        return Err(LaunchError::CoordinateCount { operand: index, coordinates, sizes });
    }
    let expected = operand.format.elements_per_stick();
    let found = operand.device_size[sizes - 1];
    if found != expected {
        return Err(LaunchError::NotAStick { operand: index, found, format: operand.format, expected });
    }
    if let Some(found) = operand.device_size.iter().find(|size| **size < 1) {
        return Err(LaunchError::EmptySize { operand: index, found: *found });
    }
    if operand.device_size.iter().fold(1_i64, |product, size| product.saturating_mul(*size)) > MAX_ELEMENTS {
        return Err(LaunchError::TensorTooLarge { operand: index });
    }
    check_coordinates(op, index, operand)?;
    operand
        .tile_advance
        .iter()
        .try_for_each(|elements| check_limit(MAX_ELEMENTS, "the advance of a tile", *elements))?;
    check_limit(MAX_ELEMENTS, "the offset of an allocation", operand.allocation.offset_bytes())
}

fn check_coordinates(op: &OpSpec, index: usize, operand: &OpSpecOperand) -> Result<(), LaunchError> {
    let dims = op.iteration_space.len();
    if let Some(dim) = operand.coordinates.iter().filter_map(Coordinate::moving_dim).find(|dim| *dim >= dims) {
        return Err(LaunchError::UnknownDim { operand: index, dim, dims });
    }
    for (position, (coordinate, size)) in operand.coordinates.iter().zip(&operand.device_size).enumerate() {
        if coordinate.offset.saturating_abs() > *size {
            return Err(LaunchError::OffsetOutside { operand: index, position, found: coordinate.offset, size: *size });
        }
    }
    // Addresses refer to complete sticks, so the file cannot express a position within a stick.
    let found = operand.coordinates.last().map_or(0, |coordinate| coordinate.offset);
    if found != 0 {
        return Err(LaunchError::StartsInsideStick {
            operand: index,
            found,
            elements: operand.format.elements_per_stick(),
        });
    }
    Ok(())
}

fn check_limit(limit: i64, what: &'static str, found: i64) -> Result<(), LaunchError> {
    if found.saturating_abs() > limit { Err(LaunchError::TooLarge { what, found, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use super::*;
    use crate::bundle::{
        OpWindow, SymbolicDim, WindowAxis,
        testing::{dense_operand, op, operand},
    };

    fn check_error(change: impl FnOnce(&mut OpSpec)) -> String {
        let mut op = op("neg", &[8, 64], vec![dense_operand(&[8, 64], 0, 1), dense_operand(&[8, 64], 0, 1)]);
        change(&mut op);
        Geometry::new(&op).unwrap_err().to_string()
    }

    #[test]
    fn names_violated_precondition() {
        assert_eq!(check_error(|op| op.operands.clear()), "0 operands; this op needs at least 1");
        assert_eq!(
            check_error(|op| op.iteration_space[1].split = 0),
            "iteration dimension 1 has range 64 and split 0; both must be at least 1"
        );
        assert_eq!(
            check_error(|op| op.operands[1] = operand(&[8, 32], vec![Coordinate::dim(0), Coordinate::dim(1)])),
            "operand 1 ends in a device dimension of 32; a stick of SEN169_FP16 has 64 elements"
        );
        assert_eq!(
            check_error(|op| op.operands[0].coordinates.truncate(2)),
            "operand 0 has 2 coordinates for 3 device dimensions; each dimension needs one"
        );
        assert_eq!(
            check_error(|op| op.operands[0] = operand(&[], Vec::new())),
            "operand 0 has 0 coordinates for 0 device dimensions; each dimension needs one"
        );
        assert_eq!(
            check_error(|op| op.operands[0].coordinates[1] = Coordinate::dim(2)),
            "operand 0 refers to iteration dimension 2; the op has 2"
        );
        assert_eq!(
            check_error(|op| op.operands[0].coordinates[2].offset = 3),
            "operand 0 starts at position 3 of a stick of 64 elements; an operand starts at the beginning of a stick"
        );
        assert_eq!(
            check_error(|op| op.iteration_space[0].split = 1 << 40),
            "the splits make 1099511627776 slices; each core computes one slice, and there are 1024 cores"
        );
        let symbolic = |max: i64| SymbolicDim { symbol: "s".to_owned(), max, granularity: 1 };
        assert_eq!(
            check_error(|op| op.iteration_space[0].symbolic = Some(symbolic(0))),
            "iteration dimension 0 has range 0 and split 1; both must be at least 1"
        );
        assert_eq!(
            check_error(|op| op.iteration_space[0].symbolic = Some(symbolic(MAX_SIZE + 1))),
            "the size of a dimension is 1099511627777; it must not exceed 1099511627776",
            "though it is small at the moment"
        );
    }

    #[test]
    fn rejects_numbers_that_would_overflow() {
        assert_eq!(
            check_error(|op| op.operands[0].device_size = vec![1 << 40, 1 << 40, 64]),
            "operand 0 has more than 2^48 elements"
        );
        assert_eq!(
            check_error(|op| op.operands[0].coordinates[0].offset = 7),
            "coordinate 0 of operand 0 starts at 7; its device dimension has 1 positions"
        );
        assert!(
            check_error(|op| op.iteration_space[0].range = i64::MAX).starts_with("the size of a dimension is 92233")
        );
    }

    #[test]
    fn accepts_numbers_at_limit() {
        let axis = WindowAxis {
            kernel: MAX_WINDOW,
            stride: MAX_WINDOW,
            dilation: MAX_WINDOW,
            padding: MAX_WINDOW,
            total_size: Some(MAX_SIZE),
        };
        let checked = |more: i64| {
            let mut op = op("neg", &[8, 64], vec![dense_operand(&[8, 64], 0, 1), dense_operand(&[8, 64], 0, 1)]);
            op.iteration_space[0].split = MAX_CORES + more;
            let cores = check_space(&op.iteration_space);
            op.iteration_space[0] = IterationDim::new(MAX_SIZE + more, 1);
            let size = check_space(&op.iteration_space);
            op.node_output_ranges = Some([MAX_SIZE + more; 4]);
            let ranges = check_window(&op);
            op.node_output_ranges = None;
            let mut wide = axis;
            wide.padding += more;
            op.window = Some(OpWindow { height: axis, width: wide, pad_type: None });
            let window = check_window(&op);
            op.operands[0].coordinates[1].offset = 8 + more;
            let offset = check_coordinates(&op, 0, &op.operands[0]);
            op.operands[0].tile_advance = vec![MAX_ELEMENTS + more];
            op.operands[0].coordinates[1].offset = 0;
            let advance = check_operand(&op, 0, &op.operands[0]);
            [cores, size, ranges, window, offset, advance].map(|checked| checked.is_ok())
        };
        assert_eq!((checked(0), checked(1)), ([true; 6], [false; 6]));
    }
}
