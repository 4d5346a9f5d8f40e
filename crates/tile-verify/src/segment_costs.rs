//! Minimum time of a segment in a loop nest, and the search for a nest that costs less than the claimed bound.

use super::{
    Violation,
    min_time::{MachineModel, TiledOp},
    program::CertifiedProgram,
    space::{MAX_SEGMENT_OPS, TilingAxis, enumerate_nests},
    traffic_bound::TrafficBound,
};
use machine::Target;
use std::{collections::BTreeMap, ops::Range};

/// Op, with the tile count of each tiled dimension. The order of the loops does not matter.
type TiledOpKey = (usize, Vec<(usize, i64)>);

/// Minimum times of segments, with the tiled ops computed so far.
pub(super) struct SegmentCosts<'a> {
    program: &'a CertifiedProgram,
    model: MachineModel<'a>,
    charges: TrafficBound<'a>,
    tiles: BTreeMap<TiledOpKey, TiledOp>,
    /// Number of ops in loop nests that were examined.
    pub(super) num_examined_ops: usize,
}

impl<'a> SegmentCosts<'a> {
    pub(super) fn new(program: &'a CertifiedProgram, target: &'a Target) -> Self {
        let model = MachineModel::new(target);
        Self {
            program,
            charges: TrafficBound::new(program, &model),
            model,
            tiles: BTreeMap::new(),
            num_examined_ops: 0,
        }
    }

    /// Visits all segments that begin with op `first`, with their axes.
    pub(super) fn visit_segments_from(
        &mut self,
        first: usize,
        mut visit: impl FnMut(Range<usize>, &[TilingAxis], &mut Self) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        for end in first + 1..=self.program.ops.len().min(first + MAX_SEGMENT_OPS) {
            let segment = first..end;
            let axes = TilingAxis::collect_from_segment(self.program, &segment);
            visit(segment, &axes, self)?;
        }
        Ok(())
    }

    /// Returns the minimum time of a segment, ns, and a description of its loops, if the time is below the limit. A
    /// segment without loops costs the sum of its ops, so segments of several ops are examined with loops only.
    pub(super) fn find_cheaper_nest(
        &mut self,
        segment: &Range<usize>,
        axes: &[TilingAxis],
        limit_ns: f64,
    ) -> Option<(f64, String)> {
        let mut found: Option<(f64, Vec<(usize, i64)>)> = None;
        let no_loop = (segment.len() == 1).then(Vec::new);
        for nest in no_loop.into_iter().chain(enumerate_nests(axes)) {
            let least_ns = found.as_ref().map_or(limit_ns, |(ns, _)| *ns);
            if let Some(ns) = self.compute_nest_time_below(segment, axes, &nest, least_ns) {
                found = Some((ns, nest));
            }
        }
        found.map(|(ns, nest)| (ns, format_nest(&nest, axes)))
    }

    fn compute_nest_time_below(
        &mut self,
        segment: &Range<usize>,
        axes: &[TilingAxis],
        nest: &[(usize, i64)],
        limit_ns: f64,
    ) -> Option<f64> {
        let levels: Vec<(&TilingAxis, i64)> = nest.iter().map(|&(axis, count)| (&axes[axis], count)).collect();
        let mut sum_ns = 0.0;
        for op in segment.clone() {
            self.num_examined_ops += 1;
            let Some(priced) = &self.program.ops[op].priced else { continue };
            let mut cuts: Vec<(usize, i64)> =
                levels.iter().filter_map(|(axis, count)| Some((*axis.dims.get(&op)?, *count))).collect();
            cuts.sort_unstable();
            let bytes = self.charges.hbm_bytes(op, segment, &levels);
            let model = &self.model;
            let tiles = self.tiles.entry((op, cuts)).or_insert_with_key(|(_, cuts)| TiledOp::new(priced, cuts, model));
            sum_ns += tiles.min_time_ns(bytes, model);
            if sum_ns >= limit_ns {
                return None;
            }
        }
        (sum_ns < limit_ns).then_some(sum_ns)
    }
}

fn format_nest(nest: &[(usize, i64)], axes: &[TilingAxis]) -> String {
    let level = |(axis, count): &(usize, i64)| {
        let (op, dim) = axes[*axis].dims.first_key_value().map_or((0, 0), |(op, dim)| (*op, *dim));
        format!("{count} tiles of dimension {dim} of op {op}")
    };
    if nest.is_empty() { "no loop".to_owned() } else { nest.iter().map(level).collect::<Vec<_>>().join(", ") }
}
