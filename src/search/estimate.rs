//! Estimated cost of a loop nest around some ops: the least times of the ops, and the values that fit into LX.

use super::{AxisTiling, ModeledCost, OpCosts, SearchedOp, TilingAxis};
use std::{collections::BTreeMap, ops::Range};

/// Value from outside of the segment that an op reads and that an earlier op of the segment has read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ReusedOperand {
    value: usize,
    reader: usize,
}

/// Value that is resident in LX.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ResidentValue {
    /// Result of an op before the segment.
    LiveIn(usize),
    /// Result of an op of the segment.
    Result(usize),
    /// Value from outside of the segment, for an op that reuses it.
    Input(ReusedOperand),
}

/// Values that are resident in LX for their users.
#[derive(Default)]
struct ResidentSet {
    /// For each op of the segment, whether its result is resident.
    results: Vec<bool>,
    /// Ops before the segment whose results are resident, ascending.
    before: Vec<usize>,
    /// Reused values from outside of the segment.
    inputs: Vec<ReusedOperand>,
}

/// One level of a loop nest around a segment.
struct SegmentLoop<'a> {
    count: i64,
    axis: &'a TilingAxis,
    /// For each op of the segment the dimension that the level tiles.
    dims: Vec<Option<usize>>,
    /// For each op of the segment the number of loops that must have ended before the op. Loops of a level are split
    /// where an op needs a complete value.
    loops_before: Vec<usize>,
}

/// Segment in a loop nest.
struct TiledSegment<'a> {
    ops: &'a [SearchedOp],
    /// Whether results of ops before the segment are in LX for it, if no loop tiles them.
    has_resident_live_ins: bool,
    segment: Range<usize>,
    levels: Vec<SegmentLoop<'a>>,
}

/// Estimates the cost of a segment in a nest. Assumes that every value that fits in the LX of all cores together is
/// resident, and that its users have the same core split. `keeps` extends this to untiled values from before the
/// segment.
pub(super) fn estimate_cost(
    ops: &[SearchedOp],
    segment: Range<usize>,
    axes: &[TilingAxis],
    nest: &[AxisTiling],
    keeps: bool,
    costs: &dyn OpCosts,
) -> ModeledCost {
    let tiled = TiledSegment::new(ops, segment, axes, nest, keeps);
    let in_lx = tiled.select_resident_values(costs.lx_bytes());
    let (mut cuts, mut places) = (Vec::with_capacity(nest.len()), Vec::new());
    let cost = tiled.segment.clone().map(|op| tiled.op_cost(op, &in_lx, costs, &mut cuts, &mut places)).sum();
    subtract_avoided_stores(ops, &tiled.segment, in_lx.before.iter().copied(), cost, costs)
}

/// Subtracts from the cost of a segment the HBM writes that ops before it avoid, because the segment reads their
/// results from LX. Each reader gets an equal share of the saving.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "bytes are far below 2^53")]
pub(super) fn subtract_avoided_stores(
    ops: &[SearchedOp],
    segment: &Range<usize>,
    makers: impl Iterator<Item = usize>,
    cost: ModeledCost,
    costs: &dyn OpCosts,
) -> ModeledCost {
    makers.fold(cost, |cost, maker| {
        let readers = &ops[maker].readers;
        let share =
            readers.iter().filter(|reader| segment.contains(reader)).count() as f64 / readers.len().max(1) as f64;
        let mut places = vec![false; ops[maker].operand_bytes.len()];
        let to_hbm = costs.op_cost(maker, &[], &places);
        places.iter_mut().last().into_iter().for_each(|result| *result = true);
        let to_lx = costs.op_cost(maker, &[], &places);
        // An op that needs a loop has infinite time without one.
        let saved_ns = if to_lx.ns.is_finite() { to_hbm.ns - to_lx.ns } else { 0.0 };
        let saved_bytes = (to_hbm.hbm_bytes - to_lx.hbm_bytes) as f64;
        ModeledCost { ns: cost.ns - share * saved_ns, hbm_bytes: cost.hbm_bytes - (share * saved_bytes) as i64 }
    })
}

/// Values that are resident at an op.
#[derive(Default)]
struct LiveValues {
    /// Each value with its last reader and its bytes.
    values: Vec<(ResidentValue, usize, i64)>,
    /// Bytes of all values.
    bytes: i64,
}

impl LiveValues {
    /// Adds a value, or replaces its last reader and bytes.
    fn insert(&mut self, value: ResidentValue, last: usize, bytes: i64) {
        self.remove(value);
        self.values.push((value, last, bytes));
        self.bytes += bytes;
    }

    fn remove(&mut self, value: ResidentValue) {
        if let Some(place) = self.values.iter().position(|(other, ..)| *other == value) {
            self.bytes -= self.values.swap_remove(place).2;
        }
    }

    /// Removes the values whose last reader does not fulfill a condition.
    fn retain(&mut self, intervals: impl Fn(usize) -> bool) {
        self.values.retain(|(_, last, _)| intervals(*last));
        self.bytes = self.values.iter().map(|(.., bytes)| bytes).sum();
    }

    /// Returns the value with the most bytes; of several the largest by order.
    fn largest(&self) -> Option<ResidentValue> {
        self.values.iter().max_by_key(|(value, _, bytes)| (*bytes, *value)).map(|(value, ..)| *value)
    }
}

impl<'a> TiledSegment<'a> {
    fn new(
        ops: &'a [SearchedOp],
        segment: Range<usize>,
        axes: &'a [TilingAxis],
        nest: &[AxisTiling],
        keeps: bool,
    ) -> Self {
        let level = |cut: &AxisTiling| {
            let axis = &axes[cut.axis];
            let dims = segment.clone().map(|op| axis.dims.get(&op).copied()).collect();
            SegmentLoop { count: cut.count, axis, dims, loops_before: Vec::new() }
        };
        let mut tiled = Self { ops, has_resident_live_ins: keeps, levels: nest.iter().map(level).collect(), segment };
        for level in 0..tiled.levels.len() {
            tiled.levels[level].loops_before = tiled.count_preceding_loops(level);
        }
        tiled
    }

    fn count_preceding_loops(&self, level: usize) -> Vec<usize> {
        let first = self.segment.start;
        let mut before: Vec<usize> = Vec::with_capacity(self.segment.len());
        // Ops that the level does not tile, and whose operands it does not tile, precede the first loop, which may read
        // tiles of them.
        let mut is_in_front: Vec<bool> = Vec::with_capacity(self.segment.len());
        for reader in self.segment.clone() {
            let waits = |maker: usize| !is_in_front[maker - first] && !self.can_pass_tiles(level, maker, reader);
            before.push(
                self.producers(reader)
                    .map(|maker| before[maker - first] + usize::from(waits(maker)))
                    .max()
                    .unwrap_or(0),
            );
            is_in_front.push(
                self.tiled_dim(level, reader).is_none()
                    && self.producers(reader).all(|maker| is_in_front[maker - first]),
            );
        }
        before
    }

    /// Returns the ops of the segment whose results an op reads.
    fn producers(&self, reader: usize) -> impl Iterator<Item = usize> {
        self.ops[reader]
            .tiled
            .inputs
            .iter()
            .filter_map(|input| input.producer)
            .filter(|maker| self.segment.contains(maker))
    }

    /// Returns the dimension of an op that a level tiles.
    fn tiled_dim(&self, level: usize, op: usize) -> Option<usize> {
        self.levels[level].dims[op - self.segment.start]
    }

    /// Returns whether a level lets the reader use the tile that an iteration computes: it tiles both ops or none, the
    /// reader reads the complete value each time, or the loop carries the running value.
    fn can_pass_tiles(&self, level: usize, maker: usize, reader: usize) -> bool {
        let Some(made) = self.tiled_dim(level, maker) else {
            let Some(read) = self.tiled_dim(level, reader) else { return true };
            let inputs = self.ops[reader].tiled.inputs.iter().filter(|input| input.producer == Some(maker));
            return inputs.into_iter().all(|input| !input.dims.contains(&Some(read)));
        };
        if self.ops[maker].is_reduced(made) {
            self.levels[level].axis.carried.contains(&reader)
        } else {
            self.tiled_dim(level, reader).is_some()
        }
    }

    /// Returns whether the reader finds the producer's tile of the same iteration in LX.
    fn reads_from_lx(&self, maker: usize, reader: usize) -> bool {
        let first = self.segment.start;
        (0..self.levels.len()).all(|level| {
            let before = &self.levels[level].loops_before;
            self.can_pass_tiles(level, maker, reader)
                && (self.tiled_dim(level, maker).is_none() || before[maker - first] == before[reader - first])
        })
    }

    fn tiled_dims_with_counts(&self, op: usize) -> impl Iterator<Item = (usize, i64)> {
        (0..self.levels.len()).filter_map(move |level| Some((self.tiled_dim(level, op)?, self.levels[level].count)))
    }

    /// Returns the bytes of an op's result that one iteration computes.
    fn tile_bytes(&self, op: usize) -> i64 {
        self.ops[op].result_bytes() / self.num_tiles(op, &self.ops[op].tiled.output)
    }

    /// Returns the bytes of an operand that one iteration reads.
    fn operand_tile_bytes(&self, op: usize, operand: usize) -> i64 {
        self.ops[op].operand_bytes[operand] / self.num_tiles(op, &self.ops[op].tiled.inputs[operand].dims)
    }

    /// Returns the number of tiles of a value that moves along these dimensions of an op.
    fn num_tiles(&self, op: usize, dims: &[Option<usize>]) -> i64 {
        self.tiled_dims_with_counts(op).filter(|(dim, _)| dims.contains(&Some(*dim))).map(|(_, count)| count).product()
    }

    /// Returns the last op that finds a result in LX, if any.
    fn last_user(&self, op: usize) -> Option<usize> {
        let readers = self.ops[op].readers.iter().copied().filter(|reader| self.segment.contains(reader));
        readers.filter(|&reader| self.ops[op].may_be_in_lx && self.reads_from_lx(op, reader)).max()
    }

    /// Returns the value from outside of the segment that an operand reuses, and the op of the segment that read it
    /// before.
    fn find_reused_operand(&self, op: usize, operand: usize) -> Option<(usize, ReusedOperand)> {
        let searched = &self.ops[op];
        let is_made_here = searched.tiled.inputs[operand].producer.is_some_and(|maker| self.segment.contains(&maker));
        let before =
            searched.read_before.get(operand).copied().flatten().filter(|before| *before >= self.segment.start);
        before
            .filter(|_| !is_made_here)
            .map(|before| (before, ReusedOperand { value: searched.values[operand], reader: op }))
    }

    /// Returns for each op of the segment the reused values that it reads first, with the bytes of each per iteration.
    fn collect_reused_operands(&self) -> Vec<Vec<(ReusedOperand, i64)>> {
        let mut kept: Vec<Vec<(ReusedOperand, i64)>> = vec![Vec::new(); self.segment.len()];
        for op in self.segment.clone() {
            for operand in 0..self.ops[op].tiled.inputs.len() {
                if let Some((before, again)) = self.find_reused_operand(op, operand) {
                    kept[before - self.segment.start].push((again, self.operand_tile_bytes(op, operand)));
                }
            }
        }
        kept
    }

    /// Returns the results of ops before the segment that no loop tiles for any op of the segment, by defining op, with
    /// the last reader and the bytes.
    fn resident_live_ins(&self) -> BTreeMap<usize, (usize, i64)> {
        let mut kept: BTreeMap<usize, Option<(usize, i64)>> = BTreeMap::new();
        for op in self.segment.clone() {
            for input in &self.ops[op].tiled.inputs {
                let Some(maker) = input.producer.filter(|maker| *maker < self.segment.start) else { continue };
                let is_kept = self.num_tiles(op, &input.dims) == 1 && self.ops[maker].may_be_in_lx;
                let found = is_kept.then_some((op, self.ops[maker].result_bytes()));
                let known = kept.entry(maker).or_insert(found);
                *known = known.and(found);
            }
        }
        kept.into_iter().filter_map(|(maker, found)| Some((maker, found?))).collect()
    }

    /// Returns the values in LX for their readers: all results with readers, and all reused inputs. Evicts the largest
    /// value while they exceed `lx_bytes`.
    fn select_resident_values(&self, lx_bytes: i64) -> ResidentSet {
        let first = self.segment.start;
        let mut kept = ResidentSet { results: vec![false; self.segment.len()], ..ResidentSet::default() };
        let mut live = LiveValues::default();
        let mut inputs = self.collect_reused_operands();
        if self.has_resident_live_ins {
            for (maker, (last, bytes)) in self.resident_live_ins() {
                live.insert(ResidentValue::LiveIn(maker), last, bytes);
                kept.before.push(maker);
            }
        }
        for op in self.segment.clone() {
            let takes_over = self.ops[op].may_reuse_operand;
            live.retain(|last| last > op || last == op && !takes_over);
            for (again, bytes) in std::mem::take(&mut inputs[op - first]) {
                // This value was resident for the op already.
                live.remove(ResidentValue::Input(ReusedOperand { reader: op, ..again }));
                live.insert(ResidentValue::Input(again), again.reader, bytes);
                kept.inputs.push(again);
            }
            if let Some(last) = self.last_user(op) {
                live.insert(ResidentValue::Result(op), last, self.tile_bytes(op));
                kept.results[op - first] = true;
            }
            while live.bytes > lx_bytes {
                let Some(largest) = live.largest() else { break };
                live.remove(largest);
                match largest {
                    ResidentValue::LiveIn(maker) => kept.before.retain(|other| *other != maker),
                    ResidentValue::Result(maker) => kept.results[maker - first] = false,
                    ResidentValue::Input(again) => kept.inputs.retain(|other| *other != again),
                }
            }
        }
        kept
    }

    fn op_cost(
        &self,
        op: usize,
        in_lx: &ResidentSet,
        costs: &dyn OpCosts,
        cuts: &mut Vec<(usize, i64)>,
        places: &mut Vec<bool>,
    ) -> ModeledCost {
        let first = self.segment.start;
        let searched = &self.ops[op];
        let is_in_lx =
            |input: usize| match searched.tiled.inputs[input].producer.filter(|maker| self.segment.contains(maker)) {
                Some(maker) => in_lx.results[maker - first] && self.reads_from_lx(maker, op),
                // A copy that an earlier op has read serves this op too.
                None => {
                    self.find_reused_operand(op, input).is_some_and(|(_, again)| in_lx.inputs.contains(&again))
                        || searched.tiled.inputs[input].producer.is_some_and(|maker| in_lx.before.contains(&maker))
                }
            };
        places.clear();
        places.extend((0..searched.operand_bytes.len() - 1).map(is_in_lx));
        let finds = |&reader: &usize| self.segment.contains(&reader) && self.reads_from_lx(op, reader);
        places.push(in_lx.results[op - first] && !searched.is_result && searched.readers.iter().all(finds));
        cuts.clear();
        cuts.extend(self.tiled_dims_with_counts(op));
        let cost = costs.op_cost(op, cuts, places);
        let combined = (0..self.num_combinations(op)).map(|_| costs.combine_cost(op, cuts));
        let cost: ModeledCost = std::iter::once(cost).chain(combined).sum();
        ModeledCost { ns: cost.ns.max(costs.measured_ns(op, cuts)), ..cost }
    }

    /// Returns the number of values that an iteration combines with its running result: its partial result, and
    /// possibly a correction.
    fn num_combinations(&self, op: usize) -> usize {
        let is_cut = self.tiled_dims_with_counts(op).any(|(dim, _)| self.ops[op].is_reduced(dim));
        let is_corrected = self.levels.iter().any(|level| level.axis.corrected.contains(&op));
        usize::from(is_cut) + usize::from(is_corrected)
    }
}
