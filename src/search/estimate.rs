//! What a nest of loops around some ops is likely to take: the least times of the ops, and what fits into LX.

use super::{Axis, Cut, Judge, SearchedOp};
use std::{collections::BTreeMap, ops::Range};

/// The ops of a segment in a nest.
struct Tiled<'a> {
    ops: &'a [SearchedOp],
    segment: Range<usize>,
    axes: &'a [Axis],
    nest: &'a [Cut],
}

/// The time, ns, that a segment takes in a nest if cores agree on every value that all cores together have room for.
pub(super) fn estimate_ns(ops: &[SearchedOp], segment: Range<usize>, axes: &[Axis], nest: &[Cut], judge: &dyn Judge) -> f64 {
    let tiled = Tiled { ops, segment, axes, nest };
    let in_lx = tiled.values_in_lx(judge.lx_bytes());
    tiled.segment.clone().map(|op| tiled.op_ns(op, &in_lx, judge)).sum()
}

impl Tiled<'_> {
    /// Whether the levels cut an op, outermost first.
    fn cuts(&self, op: usize) -> impl Iterator<Item = (Cut, usize)> {
        self.nest.iter().filter_map(move |cut| Some((*cut, *self.axes[cut.axis].dims.get(&op)?)))
    }

    /// Bytes of what one iteration makes of an op's result.
    fn tile_bytes(&self, op: usize) -> i64 {
        let tiled = &self.ops[op].tiled;
        let tiles: i64 = self.cuts(op).filter(|(_, dim)| tiled.output.contains(&Some(*dim))).map(|(cut, _)| cut.count).product();
        self.ops[op].result_bytes() / tiles
    }

    /// The last op of the segment that reads a result, if one does.
    fn last_reader(&self, op: usize) -> Option<usize> {
        self.ops[op].readers.iter().copied().filter(|reader| self.segment.contains(reader)).max()
    }

    /// The ops whose results stay in LX for their readers in the segment: all that have some, but for the largest where there is no room.
    fn values_in_lx(&self, lx_bytes: i64) -> BTreeMap<usize, i64> {
        let mut kept: BTreeMap<usize, i64> = BTreeMap::new();
        let mut live: BTreeMap<usize, i64> = BTreeMap::new();
        for op in self.segment.clone() {
            if self.ops[op].may_take_over {
                live.retain(|&value, _| self.last_reader(value) > Some(op));
            } else {
                live.retain(|&value, _| self.last_reader(value) >= Some(op));
            }
            if self.last_reader(op).is_some() {
                live.insert(op, self.tile_bytes(op));
                kept.insert(op, self.tile_bytes(op));
            }
            while live.values().sum::<i64>() > lx_bytes {
                let Some((&largest, _)) = live.iter().max_by_key(|(value, bytes)| (**bytes, **value)) else { break };
                live.remove(&largest);
                kept.remove(&largest);
            }
        }
        kept
    }

    fn op_ns(&self, op: usize, in_lx: &BTreeMap<usize, i64>, judge: &dyn Judge) -> f64 {
        let searched = &self.ops[op];
        let is_in_lx = |maker: Option<usize>| maker.is_some_and(|maker| in_lx.contains_key(&maker));
        let mut places: Vec<bool> = searched.tiled.inputs.iter().map(|input| is_in_lx(input.maker)).collect();
        places.truncate(searched.operand_bytes.len() - 1);
        let is_read_outside = searched.is_result || searched.readers.iter().any(|reader| !self.segment.contains(reader));
        places.push(in_lx.contains_key(&op) && !is_read_outside);
        let cuts: Vec<(usize, i64)> = self.cuts(op).map(|(cut, dim)| (dim, cut.count)).collect();
        judge.op_ns(op, &cuts, &places)
    }
}
