//! `spyre-verify-phase`: rejects sizes whose products exceed 64 bits, because passes multiply sizes, trip counts and
//! stick bytes.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::ComputeOp,
    mlir::{ErrorReported, Op, OpExt, TensorType, ValueLike, error_at, error_at_location, integer},
};
use machine::STICK_BYTES;

/// Reports every op that has a tensor of 2^56 elements or more, or executes 2^56 points or more, loops included.
pub(super) fn check_sizes(module: Op<'_>) -> Result<(), ErrorReported> {
    let broken = module.nested().into_iter().filter_map(|op| check_tensors(op).and_then(|()| check_points(op)).err());
    broken.last().map_or(Ok(()), Err)
}

/// Returns whether the product of `sizes` and `STICK_BYTES` fits in `i64`. The sizes are those of a tensor, or an
/// iteration space and the trip counts of its loops.
fn fits_in_i64(sizes: impl IntoIterator<Item = i64>) -> bool {
    sizes.into_iter().try_fold(STICK_BYTES, i64::checked_mul).is_some()
}

fn check_tensors(op: Op<'_>) -> Result<(), ErrorReported> {
    let arguments = if op.is("func.func") && op.body().is_some() { op.body_args() } else { Vec::new() };
    let mut tensors =
        op.outputs().into_iter().chain(arguments).filter_map(|value| TensorType::from_type(value.r#type()));
    let Some(tensor) = tensors.find(|tensor| !fits_in_i64(tensor.shape.iter().copied())) else { return Ok(()) };
    let message =
        format!("expected a tensor of fewer than 2^56 elements, found {}; use a smaller shape", tensor.build());
    Err(error_at(codes::TENSOR_SIZE, op, message).report())
}

fn check_points(op: Op<'_>) -> Result<(), ErrorReported> {
    let Some(compute) = ComputeOp::from_op(op) else { return Ok(()) };
    let space = compute.iteration_space();
    let counts: Vec<i64> =
        compute.enclosing_loops().into_iter().filter_map(|around| around.attr(attr::COUNT).and_then(integer)).collect();
    if fits_in_i64(space.iter().chain(&counts).copied()) {
        return Ok(());
    }
    let sizes: Vec<String> = counts.iter().chain(&space).map(ToString::to_string).collect();
    let message = format!(
        "expected an operation over fewer than 2^56 points, found one over {}; compute it in several functions of smaller tensors",
        sizes.join(" x ")
    );
    Err(error_at_location(codes::TENSOR_SIZE, op, message).report())
}
