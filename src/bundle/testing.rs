//! Operands and ops for unit tests.

use super::{Allocation, Coordinate, ElementArrangement, IterationDim, OpSpec, OpSpecOperand};
use machine::DeviceFormat;

/// Returns an fp16 operand at the start of kernel argument 0.
pub(crate) fn operand(device_size: &[i64], coordinates: Vec<Coordinate>) -> OpSpecOperand {
    OpSpecOperand {
        is_input: true,
        format: DeviceFormat::Sen169Fp16,
        arrangement: ElementArrangement::Standard,
        device_size: device_size.to_vec(),
        coordinates,
        allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    }
}

/// Returns a matrix in the default layout: `shape` has the host sizes, `row` and `column` the iteration dimensions.
pub(crate) fn dense_operand(shape: &[i64; 2], row: usize, column: usize) -> OpSpecOperand {
    let size = [(shape[1] + 63) / 64, shape[0], 64];
    operand(&size, vec![Coordinate::floordiv(column, 64), Coordinate::dim(row), Coordinate::modulo(column, 64)])
}

/// Returns an op on the given operands, of which only the last is a result.
pub(crate) fn op(function: &str, ranges: &[i64], mut operands: Vec<OpSpecOperand>) -> OpSpec {
    if let Some(last) = operands.last_mut() {
        last.is_input = false;
    }
    let iteration_space = ranges.iter().map(|range| IterationDim::new(*range, 1)).collect();
    let is_reduction = matches!(function, "batchmatmul" | "sum" | "max" | "topkvalue");
    OpSpec { function: function.to_owned(), is_reduction, iteration_space, operands, ..OpSpec::default() }
}
