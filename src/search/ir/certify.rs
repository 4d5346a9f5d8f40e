//! Certificate of a lower bound on all loop plans, computed from the ops of a function before loops are chosen.

use super::searched_function::SearchedFunction;
use crate::{
    codes,
    dialect::{ComputeOp, declared_maxima, read_program, set_proof},
    mlir::{ErrorReported, Op, error_at, suppress_diagnostics},
    search::SearchedOp,
};
use cost::TileOp;
use machine::{Family, Target};
use program::BufferNumbering;
use tile_verify::{CertifiedDim, CertifiedInput, CertifiedProgram, TilingProof};

/// Records a lower bound on the cost of every loop plan, with the proof. Functions that cannot be read are left for
/// later passes to reject.
pub(super) fn record_certificate(function: Op<'_>, target: &Target) -> Result<(), ErrorReported> {
    let Some(program) = suppress_diagnostics(function, || build_program(function)) else { return Ok(()) };
    let proof = TilingProof::from_program(program, target)
        .map_err(|error| error_at(codes::INTERNAL, function, error).report())?;
    set_proof(function, &proof);
    Ok(())
}

fn build_program(function: Op<'_>) -> Option<CertifiedProgram> {
    let mut steps = SearchedFunction::from_function(function, &declared_maxima(function)).ok()?;
    steps.find_lx_eligible(function).ok()?;
    let ir = read_program(function).ok()?;
    let mut numbers = BufferNumbering::default();
    let mut priced = |op: Op<'_>| {
        let compute = ComputeOp::from_op(op).filter(must_run)?;
        let time = ir.ops.iter().position(|step| step.op == compute.op)?;
        let tile = ir.program.build_tile_op(&ir.program.ops[time], &mut numbers).ok()?;
        (!tile.is_irregular && tile.trips.is_empty()).then_some(tile)
    };
    let ops = steps.ops.iter().zip(&steps.plain).map(|(op, plain)| convert_op(plain, priced(*op))).collect();
    Some(CertifiedProgram { ops })
}

/// Returns whether an op must run, untiled or in tiles that a search may choose. Copies may be removed, an op that
/// writes a slice of a buffer may write any amount, and an op with hints runs as these request.
fn must_run(compute: &ComputeOp<'_>) -> bool {
    compute.family() != Family::Copy && !compute.is_insert() && compute.hints().is_empty()
}

fn convert_op(plain: &SearchedOp, priced: Option<TileOp>) -> tile_verify::CertifiedOp {
    let dim = |dim: usize| CertifiedDim {
        size: plain.tiled.sizes[dim],
        may_be_cut: plain.can_tile(dim),
        granule: plain.granules[dim],
    };
    // An op that is already a loop has no dimensions to tile.
    let known = |dims: &[Option<usize>]| dims.iter().map(|dim| dim.filter(|dim| *dim < plain.granules.len())).collect();
    let inputs = plain.tiled.inputs.iter().zip(&plain.values).map(|(input, &value)| CertifiedInput {
        value,
        maker: input.producer,
        dims: known(&input.dims),
        behind: input.source_dims.clone(),
    });
    let is_seen_alike = |tile: &TileOp| tile.dims.iter().map(|dim| dim.extent).eq(plain.tiled.sizes.iter().copied());
    let fits = |tile: &TileOp| tile.operands.len() == plain.tiled.inputs.len() + 1 && is_seen_alike(tile);
    tile_verify::CertifiedOp {
        priced: priced.filter(fits),
        dims: (0..plain.granules.len()).map(dim).collect(),
        inputs: inputs.collect(),
        output: known(&plain.tiled.output),
        may_be_in_lx: plain.may_be_in_lx,
        is_result: plain.is_result,
    }
}
