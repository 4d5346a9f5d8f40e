//! Estimates the cost of a module. A copy of the module is compiled up to the division of work, and its cost is that
//! of the placement that the LX planner would choose.
//!
//! A copy that breaks a rule is rejected as a candidate, and counted. A compilation that fails for another reason is
//! an error: the candidate's cost is unknown, and "no better plan" would be a guess.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{ComputeOp, TileSearchSummary, target_of},
    joint::{ir::divide_jointly::compute_divided_op_costs, placed_costs::PlacedOpCost},
    mlir::{
        DetachedClone, ErrorReported, Op, OpExt, PassFailure, PassInstance, collect_diagnostics, error_at,
        find_defined_functions, num_bugs, record_bug, run_trial_passes,
    },
};
use cost::{ModeledCost, Objective};
use std::{cell::Cell, fmt, sync::Arc};

/// The passes that compile a candidate.
pub(crate) struct CandidatePasses {
    /// The passes.
    pub(crate) passes: Vec<PassInstance>,
    /// Number of passes that the program has been through already; none of these rejects a candidate.
    pub(crate) num_done: usize,
}

/// Compilation of candidates, with the options of the program; printed as these options.
pub(crate) trait CandidateCompilation: fmt::Display + Send + Sync {
    /// Passes up to the core split.
    fn passes(&self) -> CandidatePasses;
    /// Returns the objective by which programs are compared.
    fn objective(&self) -> Objective;
}

/// Pass option that holds a compilation of candidates.
#[derive(Clone)]
pub(crate) struct CandidateCompiler(Arc<dyn CandidateCompilation>);

impl CandidateCompiler {
    pub(crate) fn new(compilation: impl CandidateCompilation + 'static) -> Self {
        Self(Arc::new(compilation))
    }
}

impl fmt::Display for CandidateCompiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Evaluates modules by compiling them.
pub(crate) struct ModuleCostEvaluator {
    passes: CandidatePasses,
    pub(crate) objective: Objective,
    n_evaluated: Cell<usize>,
    n_infeasible: Cell<usize>,
    search_steps: Cell<usize>,
}

impl ModuleCostEvaluator {
    /// Creates an evaluator whose compilation fuses nothing.
    pub(crate) fn new(compiler: &CandidateCompiler) -> Self {
        let (passes, objective) = (compiler.0.passes(), compiler.0.objective());
        Self { passes, objective, n_evaluated: Cell::new(0), n_infeasible: Cell::new(0), search_steps: Cell::new(0) }
    }

    /// Returns the cost of the functions of a module; `None` if a rule rejects it.
    ///
    /// # Errors
    /// Returns any other failure of the compilation, located at the module.
    pub(crate) fn evaluate_cost(&self, module: Op<'_>) -> Result<Option<ModeledCost>, ErrorReported> {
        Ok(self.evaluate(module)?.map(|evaluated| evaluated.cost))
    }

    /// Like [`ModuleCostEvaluator::evaluate_cost`], including the cost of recomputation.
    pub(super) fn evaluate(&self, module: Op<'_>) -> Result<Option<ModuleCost>, ErrorReported> {
        let mut copy = DetachedClone::from_op(module);
        remove_numbers(copy.op());
        let bugs_of = num_bugs(module);
        let (evaluated, said) = collect_diagnostics(module.ctx(), || self.compile(&mut copy));
        self.n_evaluated.set(self.n_evaluated.get() + 1);
        match evaluated {
            Ok(evaluated) => Ok(Some(evaluated)),
            Err(EvaluationFailure::Infeasible) if num_bugs(module) == bugs_of => {
                self.n_infeasible.set(self.n_infeasible.get() + 1);
                Ok(None)
            }
            Err(_) => {
                let error = said.into_iter().find(|said| said.severity == "error");
                // Diagnostics about the candidate's module are attributed to the candidate.
                let said = error.map_or_else(|| "no reason was given".to_owned(), |error| error.message);
                let why = said.strip_prefix("'builtin.module' op ").unwrap_or(&said);
                record_bug(module);
                let message = format!("a candidate kernel cannot be compiled: {why}");
                Err(error_at(codes::INTERNAL, module, message).report())
            }
        }
    }

    fn compile(&self, copy: &mut DetachedClone<'_>) -> Result<ModuleCost, EvaluationFailure> {
        run_trial_passes(copy, &self.passes.passes).map_err(|stop| match stop {
            PassFailure::Rejected(pass) if pass >= self.passes.num_done => EvaluationFailure::Infeasible,
            PassFailure::Rejected(_) | PassFailure::CompilerBug => EvaluationFailure::Failed,
        })?;
        let target = target_of(copy.op()).map_err(|_| EvaluationFailure::Failed)?;
        let mut ops = Vec::new();
        for function in find_defined_functions(copy.op()) {
            self.record_search_steps(function);
            ops.extend(compute_divided_op_costs(function, &target).map_err(|_| EvaluationFailure::Infeasible)?);
        }
        Ok(ModuleCost {
            recomputation_ns: ops.iter().map(PlacedOpCost::repeated_ns).sum(),
            cost: ops.iter().map(|op| op.cost).sum(),
        })
    }

    /// Adds the plans that the tile search evaluated for a function, each with as many ops as the function has.
    fn record_search_steps(&self, function: Op<'_>) {
        let found = TileSearchSummary::from_function(function)
            .and_then(|found| usize::try_from(found.n_evaluated).ok())
            .unwrap_or(0);
        let steps = found.saturating_mul(ComputeOp::collect_in(function).len());
        self.search_steps.set(self.search_steps.get().saturating_add(steps));
    }

    /// Returns an upper bound of the ops that the tile searches of all compilations have evaluated.
    pub(super) fn search_steps(&self) -> usize {
        self.search_steps.get()
    }

    /// Returns the number of evaluated modules.
    pub(crate) fn num_evaluated(&self) -> usize {
        self.n_evaluated.get()
    }

    /// Returns the number of evaluated modules that a rule rejects.
    pub(crate) fn num_infeasible(&self) -> usize {
        self.n_infeasible.get()
    }
}

/// Reason why a module has no cost.
enum EvaluationFailure {
    /// A rule rejects the module.
    Infeasible,
    /// The compilation failed.
    Failed,
}

/// Modeled cost of a compiled module.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleCost {
    pub(super) cost: ModeledCost,
    /// Time of recomputed ops in loops, from the second execution on, in ns.
    pub(super) recomputation_ns: f64,
}

/// Removes the numbers from ops.
pub(super) fn remove_numbers(module: Op<'_>) {
    module.nested().into_iter().for_each(|op| op.remove_attr(attr::SPYRE_NUMBER));
}
