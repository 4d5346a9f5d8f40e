//! Assignment of ops to loops.

#[cfg(test)]
mod tests;

use super::{Cut, CutError, KnownNames, Level, TiledOp};
use std::collections::{BTreeMap, BTreeSet};

/// Op or loop, as an entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Op, by its position in the program.
    Op(usize),
    /// Loop, by its number.
    Loop(usize),
}

/// Loop over the tiles of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The level.
    pub level: Level,
    /// Loop body, in order.
    pub body: Vec<Node>,
}

/// Loop tree of the ops of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Ops and loops outside of all loops, in order.
    pub roots: Vec<Node>,
    /// The loops; an outer one has a smaller number than the loops in it.
    pub loops: Vec<Loop>,
    /// For each op its cuts, outermost first.
    pub cuts: Vec<Vec<Cut>>,
    /// For each op the loops around it, outermost first, one per cut.
    pub chains: Vec<Vec<usize>>,
}

impl Tree {
    /// Puts every op into the loops that its levels request. Loops that only recompute an op contain it only if all
    /// its readers are in them. An op joins an existing loop of its level, unless it needs a value that is complete
    /// only after that loop. Ops between the ops of a loop that need nothing from it come before the loop. `sizes` are
    /// those of names.
    ///
    /// # Errors
    /// The position of an op that cannot be cut, and why; or of the first op of a level whose name no op has.
    pub fn grow(ops: &[TiledOp], sizes: &BTreeMap<String, i64>) -> Result<Self, (usize, CutError)> {
        let mut cuts = Vec::with_capacity(ops.len());
        for (position, op) in ops.iter().enumerate() {
            cuts.push(op.cuts(sizes).map_err(|error| (position, error))?);
        }
        check_names(ops, sizes)?;
        loop {
            let tree = Self::of_cuts(ops, cuts);
            let outside = tree.read_outside(ops);
            if outside.is_empty() {
                return Ok(tree);
            }
            cuts = tree.cuts;
            outside.into_iter().for_each(|op| cuts[op].retain(|cut| cut.dim.is_some()));
        }
    }

    fn of_cuts(ops: &[TiledOp], cuts: Vec<Vec<Cut>>) -> Self {
        let mut grower = Grower::new(ops, &cuts);
        for op in 0..ops.len() {
            grower.place(op);
        }
        let Grower { lists, levels, chains, .. } = grower;
        let mut bodies = lists.into_iter().map(List::into_nodes);
        let roots = bodies.next().unwrap_or_default();
        let loops = levels.into_iter().zip(bodies).map(|(level, body)| Loop { level, body }).collect();
        Self { roots, loops, cuts, chains }
    }

    /// Returns the ops that are recomputed in loops although an op outside of these loops reads them, or no op inside does: no
    /// iteration could yield such a value.
    fn read_outside(&self, ops: &[TiledOp]) -> Vec<usize> {
        let mut is_inside: Vec<Option<bool>> = vec![None; ops.len()];
        for (reader, op) in ops.iter().enumerate() {
            for maker in op.inputs.iter().filter_map(|input| input.maker) {
                let shares_all = self.chains[reader].starts_with(&self.chains[maker]);
                is_inside[maker] = Some(is_inside[maker].unwrap_or(true) && shares_all);
            }
        }
        (0..ops.len()).filter(|&op| self.times(op) > 1 && is_inside[op] != Some(true)).collect()
    }

    /// Returns how many times loops compute the same elements of an op.
    #[must_use]
    pub fn times(&self, op: usize) -> i64 {
        self.cuts[op].iter().filter(|cut| cut.dim.is_none()).map(|cut| cut.level.count).product()
    }

    /// Returns the number of loops around the complete result of an op: the loops outside the first one that tiles a
    /// reduced dimension.
    #[must_use]
    pub fn home_depth(&self, op: usize) -> usize {
        let first_reduced = self.cuts[op].iter().position(|cut| cut.is_reduced);
        first_reduced.unwrap_or(self.cuts[op].len())
    }

    /// Returns the number of loops, from the outermost on, whose bodies contain both a reader and the result of `maker`.
    #[must_use]
    pub fn common_depth(&self, reader: usize, maker: usize) -> usize {
        let both = self.chains[reader].iter().zip(&self.chains[maker]);
        both.take_while(|(one, other)| one == other).count().min(self.home_depth(maker))
    }
}

/// Rejects hints for unknown names, which would otherwise be ignored silently. Names that the program declares may belong to
/// dimensions of size 1, which no op has, since no index moves along them.
fn check_names(ops: &[TiledOp], sizes: &BTreeMap<String, i64>) -> Result<(), (usize, CutError)> {
    let mut had: BTreeSet<i64> = BTreeSet::new();
    for op in ops {
        had.extend(op.levels.iter().filter(|level| op.names.iter().any(|names| names.contains(&level.name))).map(|level| level.id));
    }
    let is_one_tile = |level: &Level| level.count == 1 && sizes.contains_key(&level.name);
    for (position, op) in ops.iter().enumerate() {
        if let Some(Level { id: _, name, count, symbol: _ }) =
            op.levels.iter().find(|level| !had.contains(&level.id) && !is_one_tile(level))
        {
            let in_scope = ops.iter().filter(|op| op.levels.iter().any(|level| level.name == *name));
            let known = KnownNames(in_scope.flat_map(|op| op.names.iter().flatten().cloned()).collect());
            return Err((position, CutError::Unknown { dim: name.clone(), count: *count, known }));
        }
    }
    Ok(())
}

/// Position in a list: the slot, and the position before its node; the node itself is after all positions of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    slot: usize,
    before: usize,
}

const NODE: usize = usize::MAX;

/// Node, with the nodes that were inserted before it later.
struct Slot {
    before: Vec<Node>,
    node: Node,
}

/// Ops and loops of one body.
#[derive(Default)]
struct List {
    slots: Vec<Slot>,
    /// Last loop of each level.
    loops: BTreeMap<i64, usize>,
    /// Slots of the loops that later ops may join.
    open: BTreeSet<usize>,
}

impl List {
    fn into_nodes(self) -> Vec<Node> {
        self.slots.into_iter().flat_map(|slot| slot.before.into_iter().chain([slot.node])).collect()
    }

    /// Inserts a node after `after`: before the first open loop after that position, or at the end.
    fn insert(&mut self, node: Node, after: Option<Place>) -> Place {
        let first = after.map_or(0, |after| if after.before == NODE { after.slot + 1 } else { after.slot });
        if let Some(&slot) = self.open.range(first..).next() {
            let before = &mut self.slots[slot].before;
            before.push(node);
            return Place { slot, before: before.len() - 1 };
        }
        self.slots.push(Slot { before: Vec::new(), node });
        Place { slot: self.slots.len() - 1, before: NODE }
    }
}

struct Grower<'a> {
    ops: &'a [TiledOp],
    cuts: &'a [Vec<Cut>],
    /// List outside all loops, followed by those of the loops.
    lists: Vec<List>,
    levels: Vec<Level>,
    chains: Vec<Vec<usize>>,
    op_places: Vec<Place>,
    loop_places: Vec<Place>,
    /// Last op that each level tiles.
    last: BTreeMap<i64, usize>,
}

impl<'a> Grower<'a> {
    fn new(ops: &'a [TiledOp], cuts: &'a [Vec<Cut>]) -> Self {
        let mut last = BTreeMap::new();
        for (op, cuts) in cuts.iter().enumerate() {
            last.extend(cuts.iter().map(|cut| (cut.level.id, op)));
        }
        let (op_places, loop_places) = (Vec::new(), Vec::new());
        Self { ops, cuts, lists: vec![List::default()], levels: Vec::new(), chains: Vec::new(), op_places, loop_places, last }
    }

    fn place(&mut self, op: usize) {
        let mut chain = Vec::new();
        for cut in self.cuts[op].iter() {
            let around = self.loop_for(op, cut, &chain);
            chain.push(around);
        }
        let place = self.insert(op, Node::Op(op), &chain);
        self.op_places.push(place);
        self.chains.push(chain);
    }

    /// Returns the loop of a cut in the body of the last loop of `chain`; creates it if the op can join none.
    fn loop_for(&mut self, op: usize, cut: &Cut, chain: &[usize]) -> usize {
        let known = self.lists[list_of(chain)].loops.get(&cut.level.id).copied();
        if let Some(known) = known.filter(|&known| self.can_join(op, cut, chain, known)) {
            return known;
        }
        let new = self.levels.len();
        let place = self.insert(op, Node::Loop(new), chain);
        let list = &mut self.lists[list_of(chain)];
        list.loops.insert(cut.level.id, new);
        if place.before == NODE && self.last.get(&cut.level.id).is_some_and(|&last| last > op) {
            list.open.insert(place.slot);
        }
        self.levels.push(cut.level.clone());
        self.loop_places.push(place);
        self.lists.push(List::default());
        new
    }

    /// Whether all operands of the op are complete before `around`, or are computed in it and read tile by tile.
    fn can_join(&self, op: usize, cut: &Cut, chain: &[usize], around: usize) -> bool {
        self.ops[op].inputs.iter().all(|input| {
            let Some(maker) = input.maker else { return true };
            if self.chains[maker].get(chain.len()) == Some(&around) {
                return self.reads_the_tile_made(op, cut, maker, chain.len());
            }
            self.place_in(maker, chain).is_none_or(|place| place < self.loop_places[around])
        })
    }

    /// Whether an iteration of the loop at `depth` computes exactly the tile that `op` reads in that iteration.
    fn reads_the_tile_made(&self, op: usize, cut: &Cut, maker: usize, depth: usize) -> bool {
        let made = &self.cuts[maker][depth];
        // A recomputed value is complete in each iteration.
        if made.dim.is_none() {
            return true;
        }
        let inputs = self.ops[op].inputs.iter().filter(|input| input.maker == Some(maker));
        let written = TiledOp::cut_dim(&self.ops[maker].output, made);
        // A dimension that the producer reduces is not a dimension of its result.
        inputs.into_iter().all(|input| {
            let read = TiledOp::cut_dim(&input.dims, cut);
            written.is_some() && read.is_some_and(|read| input.behind.get(read).copied().flatten() == written)
        })
    }

    /// Returns the position of a producer, at any loop depth, in the body of the last loop of `chain`; None if it is not in that
    /// body.
    fn place_in(&self, maker: usize, chain: &[usize]) -> Option<Place> {
        let inner = self.chains[maker].strip_prefix(chain)?;
        Some(inner.first().map_or(self.op_places[maker], |&around| self.loop_places[around]))
    }

    fn insert(&mut self, op: usize, node: Node, chain: &[usize]) -> Place {
        let after = self.ops[op].inputs.iter().filter_map(|input| self.place_in(input.maker?, chain)).max();
        self.close_loops(op, list_of(chain));
        self.lists[list_of(chain)].insert(node, after)
    }

    /// Closes the loops of a list that neither `op` nor a later op can join.
    fn close_loops(&mut self, op: usize, list: usize) {
        let Self { lists, levels, last, .. } = self;
        let List { slots, open, .. } = &mut lists[list];
        open.retain(|&slot| match slots[slot].node {
            Node::Loop(around) => last.get(&levels[around].id).is_some_and(|&last| last >= op),
            Node::Op(_) => false,
        });
    }
}

/// Returns the list of the innermost loop of a chain.
fn list_of(chain: &[usize]) -> usize {
    chain.last().map_or(0, |around| around + 1)
}
