//! `spyre-coarse-tile`: writes the loops of a tree.
//!
//! Existing ops are moved, never copied. New ops are loops, copies of tiles for readers elsewhere, and, for reductions,
//! the neutral element and the op that combines partial results.

use super::{compact_type, items::BlockItems};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{DeviceTensor, build_loop, build_loop_copy, build_yield, tile_type},
    mlir::{
        DerivationKind, ErrorReported, Location, Op, OpExt, Type, Value, ValueExt, ValueLike, ValueMap, append_op,
        derived_location, error_at, insert_before, new_block, string_array, string_attribute,
    },
    tile::{LoopTree, LoopTreeNode, TiledOp},
};
use machine::Target;
use std::collections::{BTreeMap, BTreeSet};

mod accumulate;
mod operand_tiles;

use accumulate::order_yielded_ops;
use operand_tiles::{OperandTile, TileRequest};

/// Name of the pass that tiles ops.
pub(super) const TILING_PASS: &str = "spyre-coarse-tile";

/// Reason that is recorded for the copy of a tile.
const REASON_USED_ON_BOTH_SIDES: &str = "used inside and outside of the loop: the tile may stay in LX";
const REASON_CONCATENATED: &str = "used outside and concatenated from parts: the tile may stay in LX";

/// Uses of an op's result.
struct ResultUses {
    /// Minimum number of loops around the value that a reader accesses.
    depth: usize,
    /// Whether an op reads it in its home loop.
    at_home: bool,
    /// Whether a nested loop reads it tile by tile, or the block returns it.
    in_hbm: bool,
}

/// Handles of an op's result that exist so far.
struct ResultHandles<'c> {
    /// Value for each number of loops around it, for readers at that depth.
    near: Vec<Option<Value<'c>>>,
    /// Value for each number of loops around it, for readers outside the loop, tiled readers, and results; a copy
    /// where `near` is to stay in LX.
    far: Vec<Option<Value<'c>>>,
    /// Accumulator that loops carry.
    accumulator: Option<Value<'c>>,
}

/// Insertion point of ops.
#[derive(Clone, Copy)]
enum LoopInsertionPoint<'c> {
    /// Before the terminator of the block.
    Block(Op<'c>),
    /// At the end of a loop.
    Loop(Op<'c>),
}

pub(super) struct LoopBuilder<'a, 'c> {
    around: Op<'c>,
    items: &'a BlockItems<'c>,
    tree: &'a LoopTree,
    lx_bytes: i64,
    uses: Vec<ResultUses>,
    /// For each loop, the tiles that it reads.
    wanted: Vec<Vec<TileRequest>>,
    /// For each loop, its ops in program order.
    members: Vec<Vec<usize>>,
    made: Vec<ResultHandles<'c>>,
    tiles: BTreeMap<(OperandTile, usize), Value<'c>>,
    /// Views of tiles, by the complete value and the loop that contains the view.
    views: BTreeMap<(usize, usize, bool), Value<'c>>,
    /// Views of tiles of values from outside, by the view, the loop that contains it, and the tile.
    source_views: BTreeMap<(usize, usize, OperandTile), Value<'c>>,
    moved_views: ValueMap<()>,
    /// Results that are replaced by others.
    replaced: ValueMap<()>,
    /// Type of the complete result of each op.
    full: Vec<Type<'c>>,
}

impl<'a, 'c> LoopBuilder<'a, 'c> {
    pub(super) fn new(around: Op<'c>, items: &'a BlockItems<'c>, tree: &'a LoopTree, target: &Target) -> Self {
        let n_ops = items.list.len();
        let none = |op: usize| ResultUses { depth: tree.home_depth(op), at_home: false, in_hbm: false };
        let mut members = vec![Vec::new(); tree.loops.len()];
        for (op, chain) in tree.chains.iter().enumerate() {
            chain.iter().for_each(|&around| members[around].push(op));
        }
        let mut builder = Self {
            around,
            items,
            tree,
            lx_bytes: target.lx_bytes * target.cores,
            uses: (0..n_ops).map(none).collect(),
            wanted: (0..tree.loops.len()).map(|_| Vec::new()).collect(),
            members,
            made: (0..n_ops).map(|op| ResultHandles::with_depths(tree.chains[op].len() + 1)).collect(),
            tiles: BTreeMap::new(),
            views: BTreeMap::new(),
            source_views: BTreeMap::new(),
            moved_views: ValueMap::default(),
            replaced: ValueMap::default(),
            full: items.list.iter().map(|item| item.op.outputs()[0].r#type()).collect(),
        };
        builder.record_uses();
        builder
    }

    pub(super) fn build(mut self) -> Result<(), ErrorReported> {
        let Some(terminator) = self.around.body_ops().pop() else { return Ok(()) };
        let tree = self.tree;
        self.write_nodes(&tree.roots, 0, LoopInsertionPoint::Block(terminator))?;
        for value in terminator.inputs() {
            self.move_views(value, terminator);
        }
        self.erase_unused();
        Ok(())
    }

    /// Erases views of values that now exist only tile by tile, and replaced ops, which have no users other than these
    /// views.
    fn erase_unused(&self) {
        for op in self.around.body_ops().into_iter().rev() {
            let Some(&output) = op.outputs().first() else { continue };
            if op.is(spyre::VIEW) && output.users().is_empty() || self.replaced.get(output).is_some() {
                op.erase();
            }
        }
    }

    /// Determines from the tree which readers need which value at which depth.
    fn record_uses(&mut self) {
        let mut known = BTreeSet::new();
        for (op, plain) in self.items.plain.iter().enumerate() {
            for (operand, input) in plain.inputs.iter().enumerate() {
                let OperandTile { number, cuts } = self.operand_tile(op, operand);
                for (last, cut) in cuts.iter().enumerate() {
                    let (tile, around) =
                        (OperandTile { number, cuts: cuts[..=last].to_vec() }, self.tree.chains[op][cut.level]);
                    if known.insert((around, tile.clone())) {
                        self.wanted[around].push(TileRequest { tile, op, operand });
                    }
                }
                if let Some(maker) = input.producer {
                    let depth = self.tree.common_depth(op, maker);
                    let is_at_home = depth == self.tree.home_depth(maker);
                    let uses = &mut self.uses[maker];
                    uses.depth = uses.depth.min(depth);
                    uses.at_home |= is_at_home && cuts.is_empty();
                    uses.in_hbm |= is_at_home && !cuts.is_empty();
                }
            }
        }
        for value in self.around.yielded() {
            if let Some(maker) = self.items.find_producer(value) {
                self.uses[maker].depth = 0;
                self.uses[maker].in_hbm = true;
            }
        }
    }

    /// Returns, for each loop around an op, the tiled dimension of its result.
    fn tiled_result_dims(&self, op: usize) -> Vec<Option<usize>> {
        let cuts = self.tree.cuts[op].iter();
        cuts.map(|cut| TiledOp::find_tiled_dim(&self.items.plain[op].output, cut).filter(|_| !cut.is_reduced)).collect()
    }

    fn write_nodes(
        &mut self,
        nodes: &'a [LoopTreeNode],
        depth: usize,
        body: LoopInsertionPoint<'c>,
    ) -> Result<(), ErrorReported> {
        for node in nodes {
            match *node {
                LoopTreeNode::Op(op) => self.write_op(op, depth, body)?,
                LoopTreeNode::Loop(around) => self.write_loop(around, depth, body)?,
            }
        }
        Ok(())
    }

    /// Moves an op into its loop, and updates its operands to the values available there.
    fn write_op(&mut self, op: usize, depth: usize, body: LoopInsertionPoint<'c>) -> Result<(), ErrorReported> {
        let item = &self.items.list[op];
        if self.is_single_element_mean(op) {
            let value = self.find_operand(op, 0, depth, body)?;
            return self.combine_mean_share(op, value, depth, body);
        }
        if item.compute.is_some() {
            for (operand, read) in item.reads.iter().enumerate() {
                let value = self.find_operand(op, operand, depth, body)?;
                read.reader.set_input(read.position, value);
            }
        } else {
            let values: Vec<Value<'c>> = item.reads.iter().map(|read| read.value).collect();
            values.into_iter().for_each(|value| self.move_views(value, self.block_anchor(body)));
        }
        item.preceding_ops().into_iter().for_each(|other| body.move_to_end(other));
        body.move_to_end(item.op);
        let Some(&output) = item.op.outputs().first().filter(|_| item.compute.is_some()) else { return Ok(()) };
        if depth == 0 {
            (self.made[op].near[0], self.made[op].far[0]) = (Some(output), Some(output));
            return Ok(());
        }
        let window = self.window_type(op, depth)?;
        let compact = self.compact_window_type(op, window)?;
        if self.tree.home_depth(op) < depth {
            output.retype(compact);
            return self.combine_partial_result(op, output, body);
        }
        let is_given = self.uses[op].depth < depth;
        let why = if item.assembly.is_some() { REASON_CONCATENATED } else { REASON_USED_ON_BOTH_SIDES };
        let is_copied = is_given && (item.assembly.is_some() || self.uses[op].at_home && self.fits_lx(compact));
        let own = if is_given && !is_copied { window } else { compact };
        item.preceding_ops()
            .into_iter()
            .map(|other| other.output())
            .chain([output])
            .for_each(|written| written.retype(own));
        self.made[op].near[depth] = Some(output);
        self.made[op].far[depth] =
            Some(if is_copied { self.insert_copy(op, output, window, why, body) } else { output });
        Ok(())
    }

    fn insert_copy(
        &self,
        op: usize,
        from: Value<'c>,
        to: Type<'c>,
        why: &str,
        body: LoopInsertionPoint<'c>,
    ) -> Value<'c> {
        let of = self.items.list[op].op;
        let copied = body.insert_at_end(build_loop_copy(
            of.ctx(),
            derived_location(of, DerivationKind::Clone, TILING_PASS),
            from,
            to,
            why,
        ));
        self.copy_dim_names(op, copied);
        copied.output()
    }

    /// Copies the dimension names of another op's result to an op over the same dimensions.
    fn copy_dim_names(&self, op: usize, on: Op<'c>) {
        let plain = &self.items.plain[op];
        let name = |dim: &Option<usize>| dim.map_or_else(String::new, |dim| plain.names[dim].join("*"));
        let names: Vec<String> = plain.output.iter().map(name).collect();
        on.set_attr(attr::DIMS, string_array(on.ctx(), &names));
    }

    /// Writes a loop with its body.
    fn write_loop(&mut self, around: usize, depth: usize, body: LoopInsertionPoint<'c>) -> Result<(), ErrorReported> {
        let tree = self.tree;
        let first = &self.items.list[self.members[around][0]];
        let (context, location) = (first.op.ctx(), first.op.loc());
        let level = &tree.loops[around].level;
        let reads = self.collect_loop_reads(around, depth, body)?;
        let accumulated = self.collect_accumulators(around, depth);
        self.initialize_accumulators(&accumulated, depth, body)?;
        let mut tiled: Vec<(Value<'c>, usize)> = reads.iter().map(|(_, value, dim)| (*value, *dim)).collect();
        let mut carried = Vec::new();
        // Tiled operands come first, and so do their accumulators.
        let accumulators = order_yielded_ops(&accumulated, &[]);
        for &(op, dim) in &accumulators {
            let value = self.made[op]
                .accumulator
                .ok_or_else(|| error_at(codes::MALFORMED_IR, first.op, "has no accumulator").report())?;
            match dim {
                Some(dim) => tiled.push((value, dim)),
                None => carried.push(value),
            }
        }
        let given = self.yielded_results(around, depth);
        let mut outputs = Vec::new();
        for (op, _) in order_yielded_ops(&accumulated, &given) {
            match self.made[op].accumulator.filter(|_| self.has_accumulator(op, depth)) {
                Some(accumulator) => outputs.push(accumulator.r#type()),
                None => outputs.push(self.window_type(op, depth)?),
            }
        }
        let mut arguments = Vec::new();
        for &(value, dim) in &tiled {
            arguments.push(self.tile_type(first.op, value.r#type(), dim, level.count)?);
        }
        arguments.extend(carried.iter().map(ValueLike::r#type));
        let inside = new_block(&arguments, location);
        let built = body.insert_at_end(build_loop(
            context,
            location,
            (&level.name, level.count),
            &tiled,
            &carried,
            &outputs,
            inside,
        ));
        if let Some(symbol) = &level.symbol {
            built.set_attr(attr::SYMBOL, string_attribute(context, symbol));
        }
        let arguments = built.body_args();
        let (of_reads, of_accumulators) = arguments.split_at(reads.len());
        for ((tile, _, _), &argument) in reads.iter().zip(of_reads) {
            self.tiles.insert((tile.clone(), around), argument);
        }
        for (&(op, _), &argument) in accumulators.iter().zip(of_accumulators) {
            self.made[op].accumulator = Some(argument);
        }
        self.write_nodes(&tree.loops[around].body, depth + 1, LoopInsertionPoint::Loop(built))?;
        self.write_terminator(built, location, depth, &accumulated, &given);
        self.record_results(built, depth, body, &accumulated, &given)
    }

    /// Returns the ops with this home loop whose results have uses outside of it, each with the tiled dimension.
    fn yielded_results(&self, around: usize, depth: usize) -> Vec<(usize, usize)> {
        let members =
            self.members[around].iter().filter(|&&op| self.tree.home_depth(op) > depth && self.uses[op].depth <= depth);
        members.filter_map(|&op| Some((op, self.tiled_result_dims(op)[depth]?))).collect()
    }

    /// Yields the carried values and the tiled results of a loop.
    fn write_terminator(
        &self,
        built: Op<'c>,
        location: Location<'c>,
        depth: usize,
        accumulated: &[(usize, Option<usize>)],
        given: &[(usize, usize)],
    ) {
        let (mut tiles, mut carried) = (Vec::new(), Vec::new());
        for (op, dim) in order_yielded_ops(accumulated, given) {
            let made = &self.made[op];
            let left = if self.has_accumulator(op, depth) { made.accumulator } else { made.far[depth + 1] };
            match dim {
                Some(dim) => tiles.extend(left.map(|left| (left, dim))),
                None => carried.extend(left),
            }
        }
        append_op(built, build_yield(built.ctx(), location, &tiles, &carried));
    }

    /// Records the results of a loop.
    fn record_results(
        &mut self,
        built: Op<'c>,
        depth: usize,
        body: LoopInsertionPoint<'c>,
        accumulated: &[(usize, Option<usize>)],
        given: &[(usize, usize)],
    ) -> Result<(), ErrorReported> {
        let results: BTreeMap<usize, Value<'c>> = order_yielded_ops(accumulated, given)
            .into_iter()
            .zip(built.outputs())
            .map(|((op, _), result)| (op, result))
            .collect();
        for &(op, _) in accumulated {
            let result = results[&op];
            self.made[op].accumulator = Some(result);
            if self.tree.home_depth(op) == depth {
                let far = self.finish_accumulator(op, result, depth, body)?;
                (self.made[op].near[depth], self.made[op].far[depth]) = (Some(result), Some(far));
            }
        }
        for &(op, _) in given {
            (self.made[op].near[depth], self.made[op].far[depth]) = (Some(results[&op]), Some(results[&op]));
        }
        if depth == 0 {
            for op in accumulated.iter().map(|(op, _)| *op).chain(given.iter().map(|(op, _)| *op)) {
                self.replace_outer_uses(op, built);
            }
        }
        Ok(())
    }

    /// Replaces uses of results and views in the block by results of the outermost loop.
    fn replace_outer_uses(&self, op: usize, built: Op<'c>) {
        let Some(given) = self.made[op].far[0] else { return };
        let output = self.items.list[op].op.output();
        for user in output.users() {
            let is_inside = std::iter::successors(Some(user), |user| user.parent()).any(|around| around == built);
            if !is_inside {
                for (index, _) in user.inputs().iter().enumerate().filter(|(_, input)| **input == output) {
                    user.set_input(index, given);
                }
            }
        }
    }

    /// Moves the views of a value after the op that defines it.
    fn move_views(&mut self, value: Value<'c>, before: Op<'c>) {
        let Some(view) = value.def().filter(|def| def.is(spyre::VIEW)) else { return };
        if self.moved_views.insert(value, ()).is_none() {
            self.move_views(view.inputs()[0], before);
            view.move_to_before(before);
        }
    }

    /// Returns the op before which values of the block must be defined to dominate a body.
    fn block_anchor(&self, body: LoopInsertionPoint<'c>) -> Op<'c> {
        match body {
            LoopInsertionPoint::Block(terminator) => terminator,
            LoopInsertionPoint::Loop(around) => {
                let outermost = std::iter::successors(Some(around), |around| around.parent())
                    .find(|op| op.parent() == Some(self.around));
                outermost.unwrap_or(around)
            }
        }
    }

    /// Returns the type of a result inside the first `depth` loops around its op, as a window of the complete result.
    fn window_type(&self, op: usize, depth: usize) -> Result<Type<'c>, ErrorReported> {
        let mut window = self.full[op];
        for (dim, cut) in self.tiled_result_dims(op).into_iter().zip(&self.tree.cuts[op]).take(depth) {
            if let Some(dim) = dim {
                window = self.tile_type(self.items.list[op].op, window, dim, cut.level.count)?;
            }
        }
        Ok(window)
    }

    /// Returns the type of a window of a result as a buffer of its own.
    fn compact_window_type(&self, op: usize, window: Type<'c>) -> Result<Type<'c>, ErrorReported> {
        self.compact_type(self.items.list[op].op, self.full[op], window)
    }

    fn compact_type(&self, at: Op<'c>, full: Type<'c>, window: Type<'c>) -> Result<Type<'c>, ErrorReported> {
        compact_type(at, full, window).map_err(|error| error_at(codes::LAYOUT_STICK, at, error).report())
    }

    fn tile_type(&self, at: Op<'c>, full: Type<'c>, dim: usize, count: i64) -> Result<Type<'c>, ErrorReported> {
        let reject = || {
            error_at(
                codes::TILE_COUNT,
                at,
                format_args!("tile count {count} does not divide dimension {dim} of size {full}; use a divisor"),
            )
            .report()
        };
        tile_type(full, dim, count).ok_or_else(reject)
    }

    /// Returns whether a tensor fits into the LX of all cores together.
    fn fits_lx(&self, tensor: Type<'c>) -> bool {
        DeviceTensor::from_type(tensor)
            .and_then(|tensor| tensor.layout)
            .is_some_and(|layout| layout.bytes() <= self.lx_bytes)
    }
}

impl<'c> ResultHandles<'c> {
    fn with_depths(num_depths: usize) -> Self {
        Self { near: vec![None; num_depths], far: vec![None; num_depths], accumulator: None }
    }
}

impl<'c> LoopInsertionPoint<'c> {
    /// Inserts a new op at the end.
    fn insert_at_end(self, op: melior::ir::Operation<'c>) -> Op<'c> {
        match self {
            Self::Block(terminator) => insert_before(terminator, op),
            Self::Loop(around) => append_op(around, op),
        }
    }

    /// Moves an op to the end.
    fn move_to_end(self, op: Op<'c>) {
        match self {
            Self::Block(terminator) => op.move_to_before(terminator),
            Self::Loop(around) => around.body().into_iter().for_each(|body| op.move_to_end(body)),
        }
    }
}
