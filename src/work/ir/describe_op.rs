//! Descriptions of compute ops, for work division and LX planning.

use crate::{
    dialect::{ComputeOp, is_computed_in_place, ods::spyre},
    mlir::OpExt,
    work::resolve_hinted_split,
};
use program::{AccessKind, DeviceOperand, DimKind, IterationDim, TensorAccess, UndividedOp, WorkSplit};

/// Describes a compute op for work division, with the core split that the user requests.
///
/// # Errors
/// If an operand has no layout, or one that its access does not fit; if a name in `work_div` does not identify one
/// dimension.
pub(crate) fn describe_op(compute: ComputeOp<'_>) -> Result<UndividedOp, String> {
    describe_op_with_accesses(compute, compute.accesses()?.iter().map(|access| &access.access))
}

/// Describes a compute op for work division, as [`describe_op`] does, from its precomputed accesses.
///
/// # Errors
/// Those of [`describe_op`].
pub(crate) fn describe_op_with_accesses<'a>(
    compute: ComputeOp<'_>,
    accesses: impl ExactSizeIterator<Item = &'a TensorAccess>,
) -> Result<UndividedOp, String> {
    let space = compute.iteration_space();
    let num_outputs = space.len() - compute.num_reduced_dims();
    let kind = |dim| if dim < num_outputs { DimKind::Output } else { DimKind::Reduction };
    let is_placed = is_computed_in_place(compute.op.output());
    let accesses: Vec<&TensorAccess> = accesses.collect();
    let last = accesses.len().saturating_sub(1);
    let operands = accesses.iter().enumerate().map(|(position, access)| {
        let (layout, coordinates) = (access.layout()?.clone(), access.coordinates(&space)?);
        let is_placed = is_placed && position == last;
        let part_of = match (is_placed, access.is_partial(&space)) {
            // A result that is computed in place is a slice of the buffer that its type is a window of.
            (true, _) => Some(layout.device_size().to_vec()),
            (false, true) => Some(compute_extents(access)?),
            (false, false) => None,
        };
        Ok(DeviceOperand { layout, coordinates, part_of, indexed: access.find_indexed_dim(&space)? })
    });
    let operands = operands.collect::<Result<Vec<_>, String>>()?;
    let is_blocked = |&dim: &usize| {
        is_blocked(compute, dim, space[dim], &operands) || is_blocked_in_gather(dim, space[dim], &accesses, &operands)
    };
    let blocked = (0..space.len()).filter(is_blocked).collect();
    let minima = match compute.min_work() {
        Some(slices) => WorkSplit::new(slices).map_err(|error| error.to_string())?,
        None => WorkSplit::single_core(space.len()),
    };
    Ok(UndividedOp {
        family: compute.family(),
        dims: space.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect(),
        operands,
        minima,
        hint: resolve_hinted_split(&compute.work_div(), &compute.dim_names())
            .map_err(|error| format!("cannot follow its 'work_div': {error}"))?,
        blocked,
    })
}

/// Returns the device sizes of a tensor; for a window, those of the tile and not of the buffer.
fn compute_extents(access: &TensorAccess) -> Result<Vec<i64>, String> {
    let compact = access.tensor.compact_layout().filter(|_| access.tensor.buffer_shape.is_some()).transpose();
    let compact = compact.map_err(|error| error.to_string())?;
    Ok(compact.as_ref().map_or(access.layout()?, |compact| compact).device_size().to_vec())
}

/// Returns whether the format forbids dividing a dimension: dimensions that a restickify pads, since the last slice
/// would hold padding only, and dimensions of symbolic size, whose slices would begin at constant offsets (schema,
/// section 7).
fn is_blocked(compute: ComputeOp<'_>, dim: usize, size: i64, operands: &[DeviceOperand]) -> bool {
    let is_padded = |operand: &DeviceOperand| operand.pads_last_stick(dim, size);
    !compute.symbolic_dims()[dim].is_empty() || (compute.op.is(spyre::RESTICKIFY) && operands.iter().any(is_padded))
}

/// Returns whether a gather must not divide a dimension (torch-spyre facts, gathers on several cores): a dimension
/// along which the table moves, because all cores read the table from one address, and one that ends inside a stick of
/// indices.
fn is_blocked_in_gather(dim: usize, size: i64, accesses: &[&TensorAccess], operands: &[DeviceOperand]) -> bool {
    accesses.iter().zip(operands).any(|(access, operand)| match access.used_as {
        AccessKind::Table(_) => {
            operand.coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == dim))
        }
        AccessKind::Indices => operand.pads_last_stick(dim, size),
        AccessKind::Data => false,
    })
}
