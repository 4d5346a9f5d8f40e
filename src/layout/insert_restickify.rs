//! `spyre-insert-restickify`: moves sticks where an op needs them elsewhere.
//!
//! Reads layouts and access maps. An elementwise op, a reduction and a copy need one stick dimension for all operands; a matmul needs K in
//! the sticks of the left operand and N in those of the right one and of the result; a gather needs one that no index moves for its table
//! and its result. An op whose operands disagree is refused: moving a stick is not supported yet. So is an insert whose window cuts a
//! stick of its buffer.

use super::{Coordinate, DeviceLayout, LayoutError, agreed_stick, stick_of};
use crate::{
    dialect::{Access, ComputeOp},
    mlir::{Op, Options, Pass, Reported, error_at},
    target::Family,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-insert-restickify", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for compute in ComputeOp::all_in(module) {
        check(compute).map_err(|message| error_at(compute.op, message).report())?;
    }
    Ok(())
}

fn check(compute: ComputeOp<'_>) -> Result<(), String> {
    let space = compute.iteration_space();
    let accesses = compute.accesses()?;
    if compute.is_insert() {
        check_window(&accesses, &space)?;
    }
    let coordinates = accesses.iter().map(|access| access.coordinates(&space)).collect::<Result<Vec<_>, _>>()?;
    match compute.family() {
        Family::Matmul => check_matmul(&coordinates, &space),
        Family::Gather => check_gather(&accesses, &coordinates),
        Family::Pointwise | Family::Reduce | Family::Copy => {
            let views: Vec<_> = coordinates.iter().map(Vec::as_slice).collect();
            let refuse = |conflict| format!("needs a restickify, which is not supported yet: {conflict}");
            agreed_stick(&views).map(|_| ()).map_err(refuse)
        }
    }
}

/// The index tensor takes no part in the agreement: it lies in memory as on the host.
fn check_gather(accesses: &[Access<'_>], coordinates: &[Vec<Coordinate>]) -> Result<(), String> {
    let ([table, index, _], [from, _, to]) = (accesses, coordinates) else { return Err("has not three tensors".to_owned()) };
    table.indexed_dim().map_err(|error| format!("needs another layout of its table: {error}"))?;
    let (found, shape) = (index.layout()?, index.tensor.buffer().map_err(|error| error.to_string())?);
    let expected = DeviceLayout::row_major(shape.sizes(), found.format()).map_err(|error| error.to_string())?;
    if *found != expected {
        return Err(format!("needs its index tensor in the layout {expected}, found {found}"));
    }
    match agreed_stick(&[from, to]) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err("gathers elements one a stick: not supported yet".to_owned()),
        Err(conflict) => Err(format!("needs a restickify, which is not supported yet: {conflict}")),
    }
}

/// The window that an insert writes, whose sizes are those of the part.
fn check_window(accesses: &[Access<'_>], sizes: &[i64]) -> Result<(), String> {
    let Some(written) = accesses.last() else { return Ok(()) };
    let text = |error: LayoutError| error.to_string();
    written.layout()?.check_written_window(&written.tensor.buffer().map_err(text)?, &written.offsets, sizes).map_err(text)
}

fn check_matmul(coordinates: &[Vec<Coordinate>], space: &[i64]) -> Result<(), String> {
    let [lhs, rhs, output] = coordinates else { return Err("has not three tensors".to_owned()) };
    let (n, k) = (space.len() - 2, space.len() - 1);
    for (name, tensor, dim, letter) in [("left operand", lhs, k, 'K'), ("right operand", rhs, n, 'N'), ("result", output, n, 'N')] {
        let found = stick_of(tensor).dim;
        // A dimension of size 1 moves nothing, so any stick will do.
        if space[dim] > 1 && found != Some(dim) {
            return Err(format!("needs a restickify, which is not supported yet: the {name} must have {letter} in its sticks"));
        }
    }
    Ok(())
}
