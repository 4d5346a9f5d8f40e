//! Op costs for an LX of unlimited size, each op in its own best tiling: a lower bound on the time of every plan, as
//! far as the estimates are accurate.

use super::{ModeledCost, OpCosts, SearchedOp, TilingAxis, find_axes, tilings::find_tile_counts};
use std::{cell::RefCell, collections::BTreeMap};

pub(super) struct UnlimitedLxCosts<'a> {
    costs: &'a dyn OpCosts,
    /// For each op its candidate tilings, each along one dimension.
    cuts: Vec<Vec<(usize, i64)>>,
    known: RefCell<BTreeMap<(usize, Vec<bool>), ModeledCost>>,
}

impl<'a> UnlimitedLxCosts<'a> {
    pub(super) fn new(ops: &[SearchedOp], costs: &'a dyn OpCosts) -> Self {
        let cuts = |op: usize| {
            let of_axis = |axis: TilingAxis| {
                find_tile_counts(ops, axis.size, &axis.dims).into_iter().map(move |count| (axis.dims[&op], count))
            };
            find_axes(ops, op..op + 1).into_iter().flat_map(of_axis).collect()
        };
        Self { costs, cuts: (0..ops.len()).map(cuts).collect(), known: RefCell::default() }
    }
}

impl OpCosts for UnlimitedLxCosts<'_> {
    fn lx_bytes(&self) -> i64 {
        i64::MAX
    }

    fn op_cost(&self, op: usize, _cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost {
        let key = (op, in_lx.to_vec());
        if let Some(&cost) = self.known.borrow().get(&key) {
            return cost;
        }
        let cut = self.cuts[op].iter().map(|cut| self.costs.op_cost(op, &[*cut], in_lx));
        let least = |one: ModeledCost, other: ModeledCost| ModeledCost {
            ns: one.ns.min(other.ns),
            hbm_bytes: one.hbm_bytes.min(other.hbm_bytes),
        };
        let mut cost = cut.fold(self.costs.op_cost(op, &[], in_lx), least);
        if cost.ns.is_infinite() {
            // No core can address its slices in a single loop.
            let pairs = self.cuts[op].iter().flat_map(|outer| self.cuts[op].iter().map(move |inner| [*outer, *inner]));
            let pairs = pairs.filter(|[(outer, _), (inner, _)]| outer != inner);
            cost = pairs.map(|cuts| self.costs.op_cost(op, &cuts, in_lx)).fold(cost, least);
        }
        self.known.borrow_mut().insert(key, cost);
        cost
    }

    /// Returns a cost of zero: an op may be tiled along no reduced dimension in its best tiling.
    fn combine_cost(&self, _op: usize, _cuts: &[(usize, i64)]) -> ModeledCost {
        ModeledCost::default()
    }
}
