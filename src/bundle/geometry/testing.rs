//! Operands and ops for the unit tests of the emission rules.

use super::super::{Allocation, Arrangement, Coordinate, IterationDim, OpSpec, Operand};
use super::order::OpView;
use super::{OpFamily, access, label};
use machine::DeviceFormat;

/// An fp16 operand at the start of kernel argument 0.
pub(crate) fn operand(device_size: &[i64], coordinates: Vec<Coordinate>) -> Operand {
    Operand {
        is_input: true,
        format: DeviceFormat::Sen169Fp16,
        arrangement: Arrangement::Standard,
        device_size: device_size.to_vec(),
        coordinates,
        allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    }
}

/// A matrix in the default layout: `shape` are the host sizes, `row` and `column` the iteration dimensions.
pub(crate) fn dense(shape: &[i64; 2], row: usize, column: usize) -> Operand {
    let size = [(shape[1] + 63) / 64, shape[0], 64];
    operand(&size, vec![Coordinate::floordiv(column, 64), Coordinate::dim(row), Coordinate::modulo(column, 64)])
}

/// An op on those operands, of which only the last is a result.
pub(crate) fn op(function: &str, ranges: &[i64], mut operands: Vec<Operand>) -> OpSpec {
    if let Some(last) = operands.last_mut() {
        last.is_input = false;
    }
    let iteration_space = ranges.iter().map(|range| IterationDim::new(*range, 1)).collect();
    let is_reduction = matches!(function, "batchmatmul" | "sum" | "max" | "topkvalue");
    OpSpec { function: function.to_owned(), is_reduction, iteration_space, operands, ..OpSpec::default() }
}

/// Calls `check` with the view of an op.
pub(super) fn view<R>(function: &str, ranges: &[i64], operands: Vec<Operand>, check: impl FnOnce(&OpView<'_>) -> R) -> R {
    let op = op(function, ranges, operands);
    let family = OpFamily::of(&op);
    let labels = label::assign(&op, family).unwrap();
    let accesses = access::classify(&op).unwrap();
    check(&OpView { op: &op, family, labels, accesses })
}
