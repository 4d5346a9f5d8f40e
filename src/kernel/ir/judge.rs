//! What a module costs as it is: the compiler compiles a copy of it, up to where work is divided, and prices that as the planner of LX would place it.

use crate::dialect::ods::attr;
use crate::{
    dialect::{ComputeOp, TileSearch, target_of},
    joint::ir::try_splits::{PricedOp, priced_ops},
    mlir::{Op, OpExt, Scratch, compile_copy, functions_of, quietly},
};
use cost::{Cost, Objective};
use std::cell::Cell;

/// Judges modules by compiling them.
pub(crate) struct Judge {
    /// The options of the compilation.
    options: String,
    pub(crate) objective: Objective,
    n_judged: Cell<usize>,
    search_steps: Cell<usize>,
}

impl Judge {
    /// With the options of `spyre-compile`; nothing is fused on the way.
    pub(crate) fn new(options: &str) -> Self {
        let is_by_bytes = options.split_whitespace().any(|option| option == "objective=bytes");
        Self {
            options: format!("{options} kernels=separate compile-to=work"),
            objective: if is_by_bytes { Objective::Bytes } else { Objective::Time },
            n_judged: Cell::new(0),
            search_steps: Cell::new(0),
        }
    }

    /// What the functions of a module cost; none if it cannot be compiled.
    pub(crate) fn cost(&self, module: Op<'_>) -> Option<Cost> {
        self.judged(module).map(|judged| judged.cost)
    }

    /// The same, with the part that is computed again.
    pub(super) fn judged(&self, module: Op<'_>) -> Option<Judged> {
        self.n_judged.set(self.n_judged.get() + 1);
        let mut copy = Scratch::of(module);
        unnumber(copy.op());
        quietly(module, || {
            if !compile_copy(&mut copy, &self.options) {
                return None;
            }
            let target = target_of(copy.op()).ok()?;
            let mut ops = Vec::new();
            for function in functions_of(copy.op()) {
                self.note_search(function);
                ops.extend(priced_ops(function, &target).ok()?);
            }
            Some(Judged { again_ns: ops.iter().map(PricedOp::again_ns).sum(), cost: ops.iter().map(|op| op.cost).sum() })
        })
    }

    /// Adds what the search for tiles has judged of a function: plans, each of as many ops at the most.
    fn note_search(&self, function: Op<'_>) {
        let found = TileSearch::of(function).and_then(|found| usize::try_from(found.n_judged).ok()).unwrap_or(0);
        let steps = found.saturating_mul(ComputeOp::all_in(function).len());
        self.search_steps.set(self.search_steps.get().saturating_add(steps));
    }

    pub(super) fn n_judged(&self) -> usize {
        self.n_judged.get()
    }

    /// Ops that the searches for tiles of all compilations have judged, at the most.
    pub(super) fn search_steps(&self) -> usize {
        self.search_steps.get()
    }
}

/// What a compiled module costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) cost: Cost,
    /// The time of what loops compute again, from the second time on.
    pub(super) again_ns: f64,
}

/// Takes the numbers from ops.
pub(super) fn unnumber(module: Op<'_>) {
    module.nested().into_iter().for_each(|op| op.remove_attr(attr::SPYRE_NUMBER));
}
