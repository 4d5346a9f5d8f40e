//! Estimates the cost of a module. A copy of the module is compiled up to the division of work, and its cost is that
//! of the placement that the LX planner would choose.
//!
//! A copy that breaks a rule is rejected as a candidate, and counted. A compilation that fails for another reason is
//! an error: the candidate's cost is unknown, and "no better plan" would be a guess.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{ComputeOp, TileSearch, target_of},
    joint::{ir::divide_jointly::priced_ops, priced::PricedOp},
    mlir::{Op, OpExt, PassInstance, Reported, Scratch, Stop, bugs_of, collect, error_at, functions_of, note_bug, try_passes},
};
use cost::{Cost, Objective};
use std::{cell::Cell, fmt, sync::Arc};

/// The passes that compile a candidate.
pub(crate) struct CandidatePasses {
    /// The passes.
    pub(crate) passes: Vec<PassInstance>,
    /// Number of passes that the program has been through already; none of these rejects a candidate.
    pub(crate) n_done: usize,
}

/// Compilation of candidates, with the options of the program; printed as these options.
pub(crate) trait Compilation: fmt::Display + Send + Sync {
    /// Passes up to the core split.
    fn passes(&self) -> CandidatePasses;
    /// Returns the objective by which programs are compared.
    fn objective(&self) -> Objective;
}

/// Pass option that holds a compilation of candidates.
#[derive(Clone)]
pub(crate) struct CandidateCompiler(Arc<dyn Compilation>);

impl CandidateCompiler {
    pub(crate) fn new(compilation: impl Compilation + 'static) -> Self {
        Self(Arc::new(compilation))
    }
}

impl fmt::Display for CandidateCompiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Evaluates modules by compiling them.
pub(crate) struct Judge {
    passes: CandidatePasses,
    pub(crate) objective: Objective,
    n_judged: Cell<usize>,
    n_infeasible: Cell<usize>,
    search_steps: Cell<usize>,
}

impl Judge {
    /// Creates an evaluator whose compilation fuses nothing.
    pub(crate) fn new(compiler: &CandidateCompiler) -> Self {
        let (passes, objective) = (compiler.0.passes(), compiler.0.objective());
        Self { passes, objective, n_judged: Cell::new(0), n_infeasible: Cell::new(0), search_steps: Cell::new(0) }
    }

    /// Returns the cost of the functions of a module; None if a rule rejects it.
    ///
    /// # Errors
    /// Returns any other failure of the compilation, located at the module.
    pub(crate) fn cost(&self, module: Op<'_>) -> Result<Option<Cost>, Reported> {
        Ok(self.judged(module)?.map(|judged| judged.cost))
    }

    /// Like [`Judge::cost`], including the cost of recomputation.
    pub(super) fn judged(&self, module: Op<'_>) -> Result<Option<Judged>, Reported> {
        let mut copy = Scratch::of(module);
        unnumber(copy.op());
        let n_bugs = bugs_of(module);
        let (judged, said) = collect(module.ctx(), || self.compile(&mut copy));
        self.n_judged.set(self.n_judged.get() + 1);
        match judged {
            Ok(judged) => Ok(Some(judged)),
            Err(Unjudged::Infeasible) if bugs_of(module) == n_bugs => {
                self.n_infeasible.set(self.n_infeasible.get() + 1);
                Ok(None)
            }
            Err(_) => {
                let error = said.into_iter().find(|said| said.severity == "error");
                // Diagnostics about the candidate's module are attributed to the candidate.
                let said = error.map_or_else(|| "no reason was given".to_owned(), |error| error.message);
                let why = said.strip_prefix("'builtin.module' op ").unwrap_or(&said);
                note_bug(module);
                let message = format!("a candidate kernel cannot be compiled: {why}");
                Err(error_at(codes::INTERNAL, module, message).report())
            }
        }
    }

    fn compile(&self, copy: &mut Scratch<'_>) -> Result<Judged, Unjudged> {
        try_passes(copy, &self.passes.passes).map_err(|stop| match stop {
            Stop::Refused(pass) if pass >= self.passes.n_done => Unjudged::Infeasible,
            Stop::Refused(_) | Stop::Broken => Unjudged::Failed,
        })?;
        let target = target_of(copy.op()).map_err(|_| Unjudged::Failed)?;
        let mut ops = Vec::new();
        for function in functions_of(copy.op()) {
            self.note_search(function);
            ops.extend(priced_ops(function, &target).map_err(|_| Unjudged::Infeasible)?);
        }
        Ok(Judged { again_ns: ops.iter().map(PricedOp::again_ns).sum(), cost: ops.iter().map(|op| op.cost).sum() })
    }

    /// Adds the plans that the tile search evaluated for a function, each with as many ops as the function has.
    fn note_search(&self, function: Op<'_>) {
        let found = TileSearch::of(function).and_then(|found| usize::try_from(found.n_judged).ok()).unwrap_or(0);
        let steps = found.saturating_mul(ComputeOp::all_in(function).len());
        self.search_steps.set(self.search_steps.get().saturating_add(steps));
    }

    /// Returns an upper bound of the ops that the tile searches of all compilations have evaluated.
    pub(super) fn search_steps(&self) -> usize {
        self.search_steps.get()
    }

    /// Returns the number of evaluated modules.
    pub(crate) fn n_judged(&self) -> usize {
        self.n_judged.get()
    }

    /// Returns the number of evaluated modules that a rule rejects.
    pub(crate) fn n_infeasible(&self) -> usize {
        self.n_infeasible.get()
    }
}

/// Reason why a module has no cost.
enum Unjudged {
    /// A rule rejects the module.
    Infeasible,
    /// The compilation failed.
    Failed,
}

/// Modeled cost of a compiled module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) cost: Cost,
    /// Time of recomputed ops in loops, from the second execution on, in ns.
    pub(super) again_ns: f64,
}

/// Removes the numbers from ops.
pub(super) fn unnumber(module: Op<'_>) {
    module.nested().into_iter().for_each(|op| op.remove_attr(attr::SPYRE_NUMBER));
}
