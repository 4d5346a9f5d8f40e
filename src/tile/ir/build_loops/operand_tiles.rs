//! `spyre-coarse-tile`, operand tiles: finds the tile that an operand reads in the loops around its op, and rebuilds
//! views on it.

use super::{LoopBuilder, LoopInsertionPoint};
use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{DeviceTensor, build_view},
    mlir::{ErrorReported, OpExt, Value, ValueLike, error_at, map_of, shape_of},
    tile::{TiledOp, ir::items::TracedView},
};

/// Tiling of a value's dimension by a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoopDimTiling {
    /// Number of loops around the loop.
    pub(super) level: usize,
    /// Tiled dimension of the value.
    pub(super) dim: usize,
}

/// Tile that a loop reads: its value, and the tilings by the levels, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OperandTile {
    pub(super) number: usize,
    pub(super) cuts: Vec<LoopDimTiling>,
}

/// Tile that a loop reads, with an operand that requires it.
pub(super) struct TileRequest {
    pub(super) tile: OperandTile,
    pub(super) op: usize,
    pub(super) operand: usize,
}

impl<'c> LoopBuilder<'_, 'c> {
    /// Returns, for each loop around an op, the tiled dimension of an operand.
    fn tiled_operand_dims(&self, op: usize, operand: usize) -> Vec<Option<usize>> {
        let dims = &self.items.plain[op].inputs[operand].dims;
        self.tree.cuts[op].iter().map(|cut| TiledOp::find_tiled_dim(dims, cut)).collect()
    }

    /// Returns the tilings of an operand by the loops that it does not share with its defining op.
    fn unshared_tilings(&self, op: usize, operand: usize) -> Vec<LoopDimTiling> {
        let maker = self.items.plain[op].inputs[operand].producer;
        let shared = maker.map_or(0, |maker| self.tree.common_depth(op, maker));
        let dims = self.tiled_operand_dims(op, operand).into_iter().enumerate().skip(shared);
        dims.filter_map(|(level, dim)| Some(LoopDimTiling { level, dim: dim? })).collect()
    }

    /// Returns the tile of an operand in the loops around an op. If the operand is one of several views of a value from
    /// outside, the tile is one of that value, so that all views share it.
    pub(super) fn operand_tile(&self, op: usize, operand: usize) -> OperandTile {
        let (read, cuts) = (&self.items.list[op].reads[operand], self.unshared_tilings(op, operand));
        let after = &self.items.plain[op].inputs[operand].source_dims;
        let of_source = |cut: &LoopDimTiling, value: Value<'c>| {
            let dim = after.get(cut.dim).copied()??;
            // Tiles of a slice are not tiles of the complete value.
            (shape_of(value)[dim] == shape_of(read.value)[cut.dim]).then_some(LoopDimTiling { dim, ..*cut })
        };
        let of_sources =
            |value: Value<'c>| cuts.iter().map(|cut| of_source(cut, value)).collect::<Option<Vec<LoopDimTiling>>>();
        let shared = read.source.and_then(|(value, number)| Some((number, of_sources(value)?)));
        let (number, cuts) = shared.unwrap_or((read.number, cuts));
        OperandTile { number, cuts }
    }

    /// Returns the tensors that a loop reads tile by tile, each with its tiled dimension.
    pub(super) fn collect_loop_reads(
        &mut self,
        around: usize,
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<Vec<(OperandTile, Value<'c>, usize)>, ErrorReported> {
        let mut reads = Vec::new();
        for wanted in std::mem::take(&mut self.wanted[around]) {
            let Some((last, outer)) = wanted.tile.cuts.split_last() else { continue };
            let outer = OperandTile { cuts: outer.to_vec(), ..wanted.tile };
            let (value, dim) = (self.find_tile((wanted.op, wanted.operand), &outer, depth, body, true)?, last.dim);
            reads.push((wanted.tile, value, dim));
        }
        Ok(reads)
    }

    /// Returns the value of an operand in a body, after the tilings in `cuts`; `is_tiled` if a loop there tiles it
    /// further.
    fn find_tile(
        &mut self,
        (op, operand): (usize, usize),
        tile: &OperandTile,
        depth: usize,
        body: LoopInsertionPoint<'c>,
        is_tiled: bool,
    ) -> Result<Value<'c>, ErrorReported> {
        let Some(last) = tile.cuts.last() else {
            let source = self.items.list[op].reads[operand].source.filter(|(_, number)| *number == tile.number);
            return source
                .map_or_else(|| self.find_base_value(op, operand, depth, body, is_tiled), |(value, _)| Ok(value));
        };
        let key = (tile.clone(), self.tree.chains[op][last.level]);
        let reject =
            || error_at(codes::TILE_READ, self.items.list[op].op, "reads a tile that no loop provides").report();
        self.tiles.get(&key).copied().ok_or_else(reject)
    }

    pub(super) fn find_operand(
        &mut self,
        op: usize,
        operand: usize,
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<Value<'c>, ErrorReported> {
        let tile = self.operand_tile(op, operand);
        let read = &self.items.list[op].reads[operand];
        if tile.cuts.is_empty() || tile.number == read.number {
            let tile = OperandTile { number: read.number, ..tile };
            return self.find_tile((op, operand), &tile, depth, body, false);
        }
        let key = (read.number, self.tree.chains[op][depth - 1], tile.clone());
        if let Some(known) = self.source_views.get(&key) {
            return Ok(*known);
        }
        let whole = self.find_tile((op, operand), &tile, depth, body, false)?;
        let cut = |LoopDimTiling { level, dim }: LoopDimTiling| (self.tree.cuts[op][level].level.count, dim);
        let cuts: Vec<(i64, usize)> = self.unshared_tilings(op, operand).into_iter().map(cut).collect();
        let viewed = self.rebuild_views_on_tile(&read.views, whole, &cuts, body)?;
        self.source_views.insert(key, viewed);
        Ok(viewed)
    }

    /// Returns the value that an operand reads, in the loops that the op shares with the operand's defining op.
    fn find_base_value(
        &mut self,
        op: usize,
        operand: usize,
        depth: usize,
        body: LoopInsertionPoint<'c>,
        is_tiled: bool,
    ) -> Result<Value<'c>, ErrorReported> {
        let items = self.items;
        let read = &items.list[op].reads[operand];
        let Some(maker) = items.plain[op].inputs[operand].producer else { return Ok(read.value) };
        let shared = self.tree.common_depth(op, maker);
        // A view of a complete value reads the results of the loops; a loop that existed before stays unchanged.
        if items.list[maker].compute.is_none() || shared == 0 && !read.views.is_empty() {
            self.move_views(read.value, self.block_anchor(body));
            return Ok(read.value);
        }
        let known = if is_tiled { &self.made[maker].far } else { &self.made[maker].near };
        let reject = || error_at(codes::TILE_READ, items.list[op].op, "uses a value that is defined later").report();
        let made = known[shared].ok_or_else(reject)?;
        if read.views.is_empty() {
            return Ok(made);
        }
        let key = (read.number, self.tree.chains[op][depth - 1], is_tiled);
        if let Some(known) = self.views.get(&key) {
            return Ok(*known);
        }
        let cuts: Vec<(i64, usize)> = self.shared_tilings(op, operand, shared);
        let viewed = self.rebuild_views_on_tile(&read.views, made, &cuts, body)?;
        self.views.insert(key, viewed);
        Ok(viewed)
    }

    /// Returns the counts and dimensions by which the loops that an operand shares with its defining op tile it.
    fn shared_tilings(&self, op: usize, operand: usize, shared: usize) -> Vec<(i64, usize)> {
        let dims = self.tiled_operand_dims(op, operand).into_iter().zip(&self.tree.cuts[op]).take(shared);
        dims.filter_map(|(dim, cut)| Some((cut.level.count, dim?))).collect()
    }

    /// Rebuilds `views`, outermost first, on a tile.
    fn rebuild_views_on_tile(
        &self,
        views: &[TracedView<'c>],
        made: Value<'c>,
        cuts: &[(i64, usize)],
        body: LoopInsertionPoint<'c>,
    ) -> Result<Value<'c>, ErrorReported> {
        let Some((TracedView { view: viewed, source_dims: after }, inner)) = views.split_first() else {
            return Ok(made);
        };
        let after: Vec<(i64, usize)> = cuts.iter().filter_map(|&(count, dim)| Some((count, after[dim]?))).collect();
        let input = self.rebuild_views_on_tile(inner, made, &after, body)?;
        let full = viewed.output().r#type();
        let mut window = full;
        for &(count, dim) in cuts {
            window = self.tile_type(*viewed, window, dim, count)?;
        }
        let is_window = DeviceTensor::from_type(made.r#type()).is_some_and(|tensor| tensor.buffer_shape.is_some());
        let tile = if is_window { window } else { self.compact_type(*viewed, full, window)? };
        let map = viewed
            .attr(attr::MAP)
            .and_then(map_of)
            .ok_or_else(|| error_at(codes::MALFORMED_IR, *viewed, "has no map").report())?;
        Ok(body.insert_at_end(build_view(viewed.ctx(), viewed.loc(), input, map, tile)).output())
    }
}
