//! Descriptions of compute ops, for work division and LX planning.

use crate::{
    dialect::{ComputeOp, is_placed, ods::spyre},
    mlir::OpExt,
    work::hinted_split,
};
use program::{Access, DimKind, IterationDim, Operand, Operation, UsedAs, WorkSplit};

/// Describes a compute op for work division, with the core split that the user requests.
///
/// # Errors
/// If an operand has no layout, or one that its access does not fit; if a name in `work_div` means no one dimension.
pub(crate) fn operation_of(compute: ComputeOp<'_>) -> Result<Operation, String> {
    operation_with(compute, compute.accesses()?.iter().map(|access| &access.access))
}

/// Describes a compute op for work division, as [`operation_of`] does, from its precomputed accesses.
///
/// # Errors
/// As [`operation_of`].
pub(crate) fn operation_with<'a>(compute: ComputeOp<'_>, accesses: impl ExactSizeIterator<Item = &'a Access>) -> Result<Operation, String> {
    let space = compute.iteration_space();
    let n_outputs = space.len() - compute.n_reduced();
    let kind = |dim| if dim < n_outputs { DimKind::Output } else { DimKind::Reduction };
    let is_placed = is_placed(compute.op.output());
    let accesses: Vec<&Access> = accesses.collect();
    let last = accesses.len().saturating_sub(1);
    let operands = accesses.iter().enumerate().map(|(position, access)| {
        let (layout, coordinates) = (access.layout()?.clone(), access.coordinates(&space)?);
        let is_placed = is_placed && position == last;
        let part_of = match (is_placed, access.is_part(&space)) {
            // A result that is computed in place is a slice of the buffer that its type is a window of.
            (true, _) => Some(layout.device_size().to_vec()),
            (false, true) => Some(extents_of(access)?),
            (false, false) => None,
        };
        Ok(Operand { layout, coordinates, part_of, indexed: access.indexed_dim(&space)? })
    });
    let operands = operands.collect::<Result<Vec<_>, String>>()?;
    let is_blocked =
        |&dim: &usize| is_blocked(compute, dim, space[dim], &operands) || is_blocked_in_gather(dim, space[dim], &accesses, &operands);
    let blocked = (0..space.len()).filter(is_blocked).collect();
    let minima = match compute.min_work() {
        Some(slices) => WorkSplit::new(slices).map_err(|error| error.to_string())?,
        None => WorkSplit::whole(space.len()),
    };
    Ok(Operation {
        family: compute.family(),
        dims: space.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect(),
        operands,
        minima,
        hint: hinted_split(&compute.work_div(), &compute.dim_names()).map_err(|error| format!("cannot follow its 'work_div': {error}"))?,
        blocked,
    })
}

/// Returns the device sizes of a tensor; of a window, those of the tile and not of the buffer.
fn extents_of(access: &Access) -> Result<Vec<i64>, String> {
    let compact = access.tensor.compact_layout().filter(|_| access.tensor.buffer_shape.is_some()).transpose();
    let compact = compact.map_err(|error| error.to_string())?;
    Ok(compact.as_ref().map_or(access.layout()?, |compact| compact).device_size().to_vec())
}

/// Returns whether the format forbids dividing a dimension: dimensions that a restickify pads, since the last slice would hold padding only, and
/// dimensions of symbolic size, whose slices would begin at constant offsets (schema, section 7).
fn is_blocked(compute: ComputeOp<'_>, dim: usize, size: i64, operands: &[Operand]) -> bool {
    let is_padded = |operand: &Operand| operand.pads(dim, size);
    !compute.symbolic_dims()[dim].is_empty() || (compute.op.is(spyre::RESTICKIFY) && operands.iter().any(is_padded))
}

/// Returns whether a gather must not divide a dimension (torch-spyre facts, gathers on several cores): a dimension along which the table
/// moves, because all cores read the table from one address, and one that ends inside a stick of indices.
fn is_blocked_in_gather(dim: usize, size: i64, accesses: &[&Access], operands: &[Operand]) -> bool {
    accesses.iter().zip(operands).any(|(access, operand)| match access.used_as {
        UsedAs::Table(_) => operand.coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == dim)),
        UsedAs::Indices => operand.pads(dim, size),
        UsedAs::Data => false,
    })
}
