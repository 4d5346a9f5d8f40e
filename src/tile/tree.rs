//! Assignment of ops to loops.

#[cfg(test)]
mod tests;

use super::{KnownDimNames, LevelTiling, LoopLevel, TiledOp, TilingError};
use std::collections::{BTreeMap, BTreeSet};

/// Op or loop, as an entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopTreeNode {
    /// Op, by its position in the program.
    Op(usize),
    /// Loop, by its number.
    Loop(usize),
}

/// Loop over the tiles of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeLoop {
    /// The level.
    pub level: LoopLevel,
    /// Loop body, in order.
    pub body: Vec<LoopTreeNode>,
}

/// Loop tree of the ops of a block.
///
/// A value is *at home* in the innermost loop in which it is complete: in the loop of its op, or for an accumulator
/// outside the outermost loop that tiles a reduced dimension. Ops in the same loop read the tile. For other readers,
/// the loops in between concatenate the tiles.
///
/// Worked example: the matmul `p[M, N] = x[M, K] y[K, N]` with `z = p + c` and hints M = 8, K = 4.
///
/// ```text
/// loop 8 "M" tiled(x0 = x[0], c0 = c[0]) {
///   zero = copy(0)                                                  // [M/8, N]
///   p = loop 4 "K" tiled(x1 = x0[1], y1 = y[0]) carried(acc = zero) {
///     part = matmul(x1, y1)
///     yield add(acc, part) }
///   yield add(p, c0)[0] }                                           // has no K: it is not in that loop
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopTree {
    /// Ops and loops outside of all loops, in order.
    pub roots: Vec<LoopTreeNode>,
    /// The loops; an outer one has a smaller number than the loops in it.
    pub loops: Vec<TreeLoop>,
    /// For each op, its tilings, outermost first.
    pub cuts: Vec<Vec<LevelTiling>>,
    /// For each op, the loops around it, outermost first, one per tiling.
    pub chains: Vec<Vec<usize>>,
}

impl LoopTree {
    /// Puts every op into the loops that its levels request. A loop that only recomputes an op contains it only if all
    /// its users are in that loop. An op joins an existing loop of its level, unless it needs a value that is complete
    /// only after that loop. Ops between the ops of a loop that do not depend on it precede the loop. `sizes` are those
    /// of names.
    ///
    /// # Errors
    /// Returns the position of an op that cannot be tiled, and the reason; or the first op of a level whose name no op
    /// has.
    pub fn build(ops: &[TiledOp], sizes: &BTreeMap<String, i64>) -> Result<Self, (usize, TilingError)> {
        let mut cuts = Vec::with_capacity(ops.len());
        for (position, op) in ops.iter().enumerate() {
            cuts.push(op.compute_tilings(sizes).map_err(|error| (position, error))?);
        }
        check_names(ops, sizes)?;
        loop {
            let tree = Self::from_tilings(ops, cuts);
            let outside = tree.find_read_outside(ops);
            if outside.is_empty() {
                return Ok(tree);
            }
            cuts = tree.cuts;
            outside.into_iter().for_each(|op| cuts[op].retain(|cut| cut.dim.is_some()));
        }
    }

    fn from_tilings(ops: &[TiledOp], cuts: Vec<Vec<LevelTiling>>) -> Self {
        let mut grower = LoopTreeBuilder::new(ops, &cuts);
        for op in 0..ops.len() {
            grower.place_op(op);
        }
        let LoopTreeBuilder { lists, levels, chains, .. } = grower;
        let mut bodies = lists.into_iter().map(BodyList::into_nodes);
        let roots = bodies.next().unwrap_or_default();
        let loops = levels.into_iter().zip(bodies).map(|(level, body)| TreeLoop { level, body }).collect();
        Self { roots, loops, cuts, chains }
    }

    /// Returns the ops that are recomputed in loops although an op outside of these loops reads them, or no op inside
    /// does: no iteration could yield such a value.
    fn find_read_outside(&self, ops: &[TiledOp]) -> Vec<usize> {
        let mut is_inside: Vec<Option<bool>> = vec![None; ops.len()];
        for (reader, op) in ops.iter().enumerate() {
            for maker in op.inputs.iter().filter_map(|input| input.producer) {
                let shares_all = self.chains[reader].starts_with(&self.chains[maker]);
                is_inside[maker] = Some(is_inside[maker].unwrap_or(true) && shares_all);
            }
        }
        (0..ops.len()).filter(|&op| self.num_computations(op) > 1 && is_inside[op] != Some(true)).collect()
    }

    /// Returns how many times loops compute the same elements of an op.
    #[must_use]
    pub fn num_computations(&self, op: usize) -> i64 {
        self.cuts[op].iter().filter(|cut| cut.dim.is_none()).map(|cut| cut.level.count).product()
    }

    /// Returns the number of loops around the complete result of an op, its *home depth*: the loops outside the first
    /// one that tiles a reduced dimension.
    #[must_use]
    pub fn home_depth(&self, op: usize) -> usize {
        let first_reduced = self.cuts[op].iter().position(|cut| cut.is_reduced);
        first_reduced.unwrap_or(self.cuts[op].len())
    }

    /// Returns the number of loops, from the outermost on, whose bodies contain both a reader and the result of
    /// `maker`.
    #[must_use]
    pub fn common_depth(&self, reader: usize, maker: usize) -> usize {
        let both = self.chains[reader].iter().zip(&self.chains[maker]);
        both.take_while(|(one, other)| one == other).count().min(self.home_depth(maker))
    }
}

/// Rejects hints for unknown names, which would otherwise be ignored silently. Names that the program declares may
/// belong to dimensions of size 1, which no op has, since no index moves along them.
fn check_names(ops: &[TiledOp], sizes: &BTreeMap<String, i64>) -> Result<(), (usize, TilingError)> {
    let mut had: BTreeSet<i64> = BTreeSet::new();
    for op in ops {
        had.extend(
            op.levels
                .iter()
                .filter(|level| op.names.iter().any(|names| names.contains(&level.name)))
                .map(|level| level.id),
        );
    }
    let is_one_tile = |level: &LoopLevel| level.count == 1 && sizes.contains_key(&level.name);
    for (position, op) in ops.iter().enumerate() {
        if let Some(LoopLevel { id: _, name, count, symbol: _ }) =
            op.levels.iter().find(|level| !had.contains(&level.id) && !is_one_tile(level))
        {
            let in_scope = ops.iter().filter(|op| op.levels.iter().any(|level| level.name == *name));
            let known = KnownDimNames(in_scope.flat_map(|op| op.names.iter().flatten().cloned()).collect());
            return Err((position, TilingError::Unknown { dim: name.clone(), count: *count, known }));
        }
    }
    Ok(())
}

/// Position in a list: the slot, and the position before its node; the node itself is after all positions of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BodyPosition {
    slot: usize,
    before: usize,
}

const NODE_POSITION: usize = usize::MAX;

/// Node, with the nodes that were inserted before it later.
struct BodySlot {
    before: Vec<LoopTreeNode>,
    node: LoopTreeNode,
}

/// Ops and loops of one body.
#[derive(Default)]
struct BodyList {
    slots: Vec<BodySlot>,
    /// Last loop of each level.
    loops: BTreeMap<i64, usize>,
    /// Slots of the loops that later ops may join.
    open: BTreeSet<usize>,
}

impl BodyList {
    fn into_nodes(self) -> Vec<LoopTreeNode> {
        self.slots.into_iter().flat_map(|slot| slot.before.into_iter().chain([slot.node])).collect()
    }

    /// Inserts a node after `after`: before the first open loop after that position, or at the end.
    fn insert(&mut self, node: LoopTreeNode, after: Option<BodyPosition>) -> BodyPosition {
        let first = after.map_or(0, |after| if after.before == NODE_POSITION { after.slot + 1 } else { after.slot });
        if let Some(&slot) = self.open.range(first..).next() {
            let before = &mut self.slots[slot].before;
            before.push(node);
            return BodyPosition { slot, before: before.len() - 1 };
        }
        self.slots.push(BodySlot { before: Vec::new(), node });
        BodyPosition { slot: self.slots.len() - 1, before: NODE_POSITION }
    }
}

struct LoopTreeBuilder<'a> {
    ops: &'a [TiledOp],
    cuts: &'a [Vec<LevelTiling>],
    /// List outside all loops, followed by those of the loops.
    lists: Vec<BodyList>,
    levels: Vec<LoopLevel>,
    chains: Vec<Vec<usize>>,
    op_places: Vec<BodyPosition>,
    loop_places: Vec<BodyPosition>,
    /// Last op that each level tiles.
    last: BTreeMap<i64, usize>,
}

impl<'a> LoopTreeBuilder<'a> {
    fn new(ops: &'a [TiledOp], cuts: &'a [Vec<LevelTiling>]) -> Self {
        let mut last = BTreeMap::new();
        for (op, cuts) in cuts.iter().enumerate() {
            last.extend(cuts.iter().map(|cut| (cut.level.id, op)));
        }
        let (op_places, loop_places) = (Vec::new(), Vec::new());
        Self {
            ops,
            cuts,
            lists: vec![BodyList::default()],
            levels: Vec::new(),
            chains: Vec::new(),
            op_places,
            loop_places,
            last,
        }
    }

    fn place_op(&mut self, op: usize) {
        let mut chain = Vec::new();
        for cut in self.cuts[op].iter() {
            let around = self.find_or_create_loop(op, cut, &chain);
            chain.push(around);
        }
        let place = self.insert_node(op, LoopTreeNode::Op(op), &chain);
        self.op_places.push(place);
        self.chains.push(chain);
    }

    /// Returns the loop of the tiling `cut` in the body of the last loop of `chain`; creates it if the op can join
    /// none.
    fn find_or_create_loop(&mut self, op: usize, cut: &LevelTiling, chain: &[usize]) -> usize {
        let known = self.lists[body_index(chain)].loops.get(&cut.level.id).copied();
        if let Some(known) = known.filter(|&known| self.can_join(op, cut, chain, known)) {
            return known;
        }
        let new = self.levels.len();
        let place = self.insert_node(op, LoopTreeNode::Loop(new), chain);
        let list = &mut self.lists[body_index(chain)];
        list.loops.insert(cut.level.id, new);
        if place.before == NODE_POSITION && self.last.get(&cut.level.id).is_some_and(|&last| last > op) {
            list.open.insert(place.slot);
        }
        self.levels.push(cut.level.clone());
        self.loop_places.push(place);
        self.lists.push(BodyList::default());
        new
    }

    /// Returns whether all operands of the op are complete before `around`, or are computed in it and read tile by
    /// tile.
    fn can_join(&self, op: usize, cut: &LevelTiling, chain: &[usize], around: usize) -> bool {
        self.ops[op].inputs.iter().all(|input| {
            let Some(maker) = input.producer else { return true };
            if self.chains[maker].get(chain.len()) == Some(&around) {
                return self.reads_tile_of_same_iteration(op, cut, maker, chain.len());
            }
            self.find_position_in(maker, chain).is_none_or(|place| place < self.loop_places[around])
        })
    }

    /// Returns whether an iteration of the loop at `depth` computes exactly the tile that `op` reads in that iteration.
    fn reads_tile_of_same_iteration(&self, op: usize, cut: &LevelTiling, maker: usize, depth: usize) -> bool {
        let made = &self.cuts[maker][depth];
        // A recomputed value is complete in each iteration.
        if made.dim.is_none() {
            return true;
        }
        let inputs = self.ops[op].inputs.iter().filter(|input| input.producer == Some(maker));
        let written = TiledOp::find_tiled_dim(&self.ops[maker].output, made);
        // A dimension that the producer reduces is not a dimension of its result.
        inputs.into_iter().all(|input| {
            let read = TiledOp::find_tiled_dim(&input.dims, cut);
            written.is_some() && read.is_some_and(|read| input.source_dims.get(read).copied().flatten() == written)
        })
    }

    /// Returns the position of a producer, at any loop depth, in the body of the last loop of `chain`; `None` if it is
    /// not in that body.
    fn find_position_in(&self, maker: usize, chain: &[usize]) -> Option<BodyPosition> {
        let inner = self.chains[maker].strip_prefix(chain)?;
        Some(inner.first().map_or(self.op_places[maker], |&around| self.loop_places[around]))
    }

    fn insert_node(&mut self, op: usize, node: LoopTreeNode, chain: &[usize]) -> BodyPosition {
        let after = self.ops[op].inputs.iter().filter_map(|input| self.find_position_in(input.producer?, chain)).max();
        self.close_loops(op, body_index(chain));
        self.lists[body_index(chain)].insert(node, after)
    }

    /// Closes the loops of a list that neither `op` nor a later op can join.
    fn close_loops(&mut self, op: usize, list: usize) {
        let Self { lists, levels, last, .. } = self;
        let BodyList { slots, open, .. } = &mut lists[list];
        open.retain(|&slot| match slots[slot].node {
            LoopTreeNode::Loop(around) => last.get(&levels[around].id).is_some_and(|&last| last >= op),
            LoopTreeNode::Op(_) => false,
        });
    }
}

/// Returns the list of the innermost loop of a chain.
fn body_index(chain: &[usize]) -> usize {
    chain.last().map_or(0, |around| around + 1)
}
