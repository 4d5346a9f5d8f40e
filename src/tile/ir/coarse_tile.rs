//! `spyre-coarse-tile`: tiles ops with tile hints, and creates the loops over their tiles.
//!
//! Reads the attributes `hints` and `dims`, layouts, and the sizes that the function declares for dimension names.
//! Writes nested `spyre.loop` ops that contain the tiled ops. If all users of a value are in its loop, the value gets a
//! compact layout. Any other value is a window of its full buffer, which the loop yields, or it is copied into its full
//! buffer.

use super::{
    build_loops::{LoopBuilder, TILING_PASS},
    items::BlockItems,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, OperandAccess, declared_maxima, declared_sizes, target_of},
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, error_at, error_at_location, i64_attribute},
    tile::{LevelTiling, LoopTree, TiledOp},
};
use machine::Target;
use program::layout::LayoutError;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: TILING_PASS, run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        tile_block(function, &DimDeclarations::from_function(function), &target)?;
    }
    Ok(())
}

/// Numbers that a function declares for dimension names and trip counts.
pub(crate) struct DimDeclarations {
    /// Size of each named dimension.
    sizes: BTreeMap<String, i64>,
    /// Maximum of each named trip count.
    pub(crate) maxima: BTreeMap<String, i64>,
}

impl DimDeclarations {
    pub(crate) fn from_function(function: Op<'_>) -> Self {
        Self { sizes: declared_sizes(function), maxima: declared_maxima(function) }
    }
}

/// Tiles the ops in the body of `around`, and in the existing loops of that body.
pub(crate) fn tile_block<'c>(parent: Op<'c>, declared: &DimDeclarations, target: &Target) -> Result<(), ErrorReported> {
    for inner in parent.body_ops().into_iter().filter(|op| op.is(spyre::LOOP)) {
        tile_block(inner, declared, target)?;
    }
    if parent.body_ops().into_iter().all(|op| op.attr(attr::HINTS).is_none()) {
        return Ok(());
    }
    let items = BlockItems::from_block(parent, &declared.maxima)?;
    let tree = LoopTree::build(&items.plain, &declared.sizes)
        .map_err(|(position, error)| error_at_location(error.code(), items.list[position].op, error).report())?;
    check_tilings(&items, &tree)?;
    // Attributes are set before the loops are built, because the loop builder erases some of the ops.
    for (position, item) in items.list.iter().enumerate() {
        for op in item.preceding_ops().into_iter().chain([item.op]) {
            op.remove_attr(attr::HINTS);
        }
        let num_computations = tree.num_computations(position);
        if num_computations > 1 {
            item.op.set_attr(attr::SPYRE_TIMES, i64_attribute(item.op.ctx(), num_computations));
        }
    }
    if tree.loops.is_empty() { Ok(()) } else { LoopBuilder::new(parent, &items, &tree, target).build() }
}

/// Maximum tile count that the search for a suggested tile count tries.
const MAX_TRIED_TILES: i64 = 1 << 16;

/// Checks that the tiles of all tensors consist of complete sticks.
fn check_tilings(items: &BlockItems<'_>, tree: &LoopTree) -> Result<(), ErrorReported> {
    for (position, item) in items.list.iter().enumerate() {
        let tilings = &tree.cuts[position];
        for compute in item.computes().into_iter().filter(|_| !tilings.is_empty()) {
            check_op_tilings(compute, &items.plain[position], tilings)?;
        }
    }
    Ok(())
}

/// Checks that the tiles of all operands and results of an op consist of complete sticks.
fn check_op_tilings(compute: ComputeOp<'_>, tiled_op: &TiledOp, tilings: &[LevelTiling]) -> Result<(), ErrorReported> {
    let reject = |message: String| error_at_location(codes::TILE_STICK, compute.op, message).report();
    for access in compute.accesses().map_err(reject)? {
        access.layout().map_err(reject)?;
        for tiling in tilings {
            let (Some(dim), Some(op_dim)) = (TiledOp::find_tiled_dim(&access.dims, tiling), tiling.dim) else {
                continue;
            };
            let (size, tile) = (tiled_op.sizes[op_dim], tiled_op.tile_size(tilings, op_dim));
            check_sticks(&access, dim, tile).map_err(|error| {
                let name = &tiling.level.name;
                reject(format!("tiles of '{name}' {error}; {}", advise_max_tiles(&access, dim, (name, size))))
            })?;
        }
    }
    Ok(())
}

/// Returns advice for the error message: the maximum number of tiles that consist of complete sticks, or to leave the
/// dimension untiled if there is no such number.
fn advise_max_tiles(access: &OperandAccess<'_>, dim: usize, (name, size): (&str, i64)) -> String {
    let fits = |count: &i64| size % count == 0 && check_sticks(access, dim, size / count).is_ok();
    let largest_count = (2..=size.min(MAX_TRIED_TILES)).rev().find(fits);
    largest_count.map_or_else(|| format!("leave '{name}' whole"), |count| format!("use at most {count} tiles"))
}

/// Checks that a tile of `elements` positions along a dimension of a tensor consists of complete sticks.
fn check_sticks(access: &OperandAccess<'_>, dim: usize, elements: i64) -> Result<(), String> {
    let host = access.tensor.buffer().map_err(|error| error.to_string())?;
    let Some(layout) = &access.tensor.layout else { return Ok(()) };
    layout.compute_window_offset(&host, dim, elements).map(|_| ()).map_err(|error| match error {
        LayoutError::CutsStick { dim: _, elements, stick } => {
            format!("must be whole sticks ({stick} elements), found {elements} elements")
        }
        other => format!("have no device layout: {other}"),
    })
}
