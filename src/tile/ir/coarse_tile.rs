//! `spyre-coarse-tile`: runs hinted ops tile by tile.
//!
//! Reads `hints`, `dims`, layouts and the sizes of names; writes nested `spyre.loop`s with the ops in them. A value
//! whose users are all in its loop gets a compact layout; any other value is a window of its full buffer, which the
//! loop yields, or is copied there.

use super::{build_loops::LoopBuilder, items::BlockItems};
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

pub(crate) const PASS: Pass = Pass { argument: "spyre-coarse-tile", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        tile_block(function, &DimDeclarations::from_function(function), &target)?;
    }
    Ok(())
}

/// Declarations of a function about dimension names.
pub(crate) struct DimDeclarations {
    /// Sizes of dimensions.
    sizes: BTreeMap<String, i64>,
    /// Maxima of counts.
    pub(crate) maxima: BTreeMap<String, i64>,
}

impl DimDeclarations {
    pub(crate) fn from_function(function: Op<'_>) -> Self {
        Self { sizes: declared_sizes(function), maxima: declared_maxima(function) }
    }
}

/// Tiles the ops in the body of `around`, and in the existing loops of that body.
pub(crate) fn tile_block<'c>(around: Op<'c>, declared: &DimDeclarations, target: &Target) -> Result<(), ErrorReported> {
    for inner in around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP)) {
        tile_block(inner, declared, target)?;
    }
    if around.body_ops().into_iter().all(|op| op.attr(attr::HINTS).is_none()) {
        return Ok(());
    }
    let items = BlockItems::from_block(around, &declared.maxima)?;
    let tree = LoopTree::build(&items.plain, &declared.sizes)
        .map_err(|(position, error)| error_at_location(error.code(), items.list[position].op, error).report())?;
    check_tilings(&items, &tree)?;
    // This must precede the writing of loops, which erases some ops.
    for (position, item) in items.list.iter().enumerate() {
        for op in item.preceding_ops().into_iter().chain([item.op]) {
            op.remove_attr(attr::HINTS);
        }
        let times = tree.num_computations(position);
        if times > 1 {
            item.op.set_attr(attr::SPYRE_TIMES, i64_attribute(item.op.ctx(), times));
        }
    }
    if tree.loops.is_empty() { Ok(()) } else { LoopBuilder::new(around, &items, &tree, target).build() }
}

/// Maximum tile count that is searched for advice.
const MAX_TRIED_TILES: i64 = 1 << 16;

/// Checks that no tile ends inside a stick of a tensor that it is a window of.
fn check_tilings(items: &BlockItems<'_>, tree: &LoopTree) -> Result<(), ErrorReported> {
    for (position, item) in items.list.iter().enumerate() {
        let cuts = &tree.cuts[position];
        for compute in item.computes().into_iter().filter(|_| !cuts.is_empty()) {
            check_op_tilings(compute, &items.plain[position], cuts)?;
        }
    }
    Ok(())
}

fn check_op_tilings(compute: ComputeOp<'_>, plain: &TiledOp, cuts: &[LevelTiling]) -> Result<(), ErrorReported> {
    let reject = |message: String| error_at_location(codes::TILE_STICK, compute.op, message).report();
    for access in compute.accesses().map_err(reject)? {
        access.layout().map_err(reject)?;
        for cut in cuts {
            let (Some(dim), Some(of_op)) = (TiledOp::find_tiled_dim(&access.dims, cut), cut.dim) else { continue };
            let (size, tile) = (plain.sizes[of_op], plain.tile_size(cuts, of_op));
            check_sticks(&access, dim, tile).map_err(|error| {
                let name = &cut.level.name;
                reject(format!("tiles of '{name}' {error}; {}", advise_max_tiles(&access, dim, (name, size))))
            })?;
        }
    }
    Ok(())
}

/// Returns advice: the maximum number of tiles that consist of complete sticks, or to leave the dimension untiled if
/// there is none.
fn advise_max_tiles(access: &OperandAccess<'_>, dim: usize, (name, size): (&str, i64)) -> String {
    let fits = |count: &i64| size % count == 0 && check_sticks(access, dim, size / count).is_ok();
    let most = (2..=size.min(MAX_TRIED_TILES)).rev().find(fits);
    most.map_or_else(|| format!("leave '{name}' whole"), |count| format!("use at most {count} tiles"))
}

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
