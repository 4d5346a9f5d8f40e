//! Minimum time of a segment in a loop nest, and the check whether some nest costs less than the claimed bound.

use super::{
    Violation,
    charges::Charges,
    least::{Model, Tiles},
    program::Program,
    space::{Axis, MOST_OPS, nests},
};
use machine::Target;
use std::{collections::BTreeMap, ops::Range};

/// An op with the cuts of its dimensions, in the order of the dimensions: the order of loops does not matter.
type InTiles = (usize, Vec<(usize, i64)>);

/// The steps from a position to a later one.
pub(super) struct Steps<'a> {
    program: &'a Program,
    model: Model<'a>,
    charges: Charges<'a>,
    tiles: BTreeMap<InTiles, Tiles>,
    /// Number of ops in nests that were examined.
    pub(super) n_looked_at: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(program: &'a Program, target: &'a Target) -> Self {
        let model = Model::new(target);
        Self { program, charges: Charges::new(program, &model), model, tiles: BTreeMap::new(), n_looked_at: 0 }
    }

    /// Visits all segments that begin with an op, with their axes.
    pub(super) fn each_from(
        &mut self,
        first: usize,
        mut visit: impl FnMut(Range<usize>, &[Axis], &mut Self) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        for end in first + 1..=self.program.ops.len().min(first + MOST_OPS) {
            let segment = first..end;
            let axes = Axis::of(self.program, &segment);
            visit(segment, &axes, self)?;
        }
        Ok(())
    }

    /// Returns the minimum time of a segment, ns, and the loops around it, if it is below the limit. A segment without loops costs the sum
    /// of its ops, so that only segments of one op are examined without loops.
    pub(super) fn less_than(&mut self, segment: &Range<usize>, axes: &[Axis], limit_ns: f64) -> Option<(f64, String)> {
        let mut found: Option<(f64, Vec<(usize, i64)>)> = None;
        let no_loop = (segment.len() == 1).then(Vec::new);
        for nest in no_loop.into_iter().chain(nests(axes)) {
            let least_ns = found.as_ref().map_or(limit_ns, |(ns, _)| *ns);
            if let Some(ns) = self.nest_less_than(segment, axes, &nest, least_ns) {
                found = Some((ns, nest));
            }
        }
        found.map(|(ns, nest)| (ns, said(&nest, axes)))
    }

    fn nest_less_than(&mut self, segment: &Range<usize>, axes: &[Axis], nest: &[(usize, i64)], limit_ns: f64) -> Option<f64> {
        let levels: Vec<(&Axis, i64)> = nest.iter().map(|&(axis, count)| (&axes[axis], count)).collect();
        let mut sum_ns = 0.0;
        for op in segment.clone() {
            self.n_looked_at += 1;
            let Some(priced) = &self.program.ops[op].priced else { continue };
            let mut cuts: Vec<(usize, i64)> = levels.iter().filter_map(|(axis, count)| Some((*axis.dims.get(&op)?, *count))).collect();
            cuts.sort_unstable();
            let bytes = self.charges.bytes(op, segment, &levels);
            let model = &self.model;
            let tiles = self.tiles.entry((op, cuts)).or_insert_with_key(|(_, cuts)| Tiles::new(priced, cuts, model));
            sum_ns += tiles.ns(bytes, model);
            if sum_ns >= limit_ns {
                return None;
            }
        }
        (sum_ns < limit_ns).then_some(sum_ns)
    }
}

fn said(nest: &[(usize, i64)], axes: &[Axis]) -> String {
    let level = |(axis, count): &(usize, i64)| {
        let (op, dim) = axes[*axis].dims.first_key_value().map_or((0, 0), |(op, dim)| (*op, *dim));
        format!("{count} tiles of dimension {dim} of op {op}")
    };
    if nest.is_empty() { "no loop".to_owned() } else { nest.iter().map(level).collect::<Vec<_>>().join(", ") }
}
