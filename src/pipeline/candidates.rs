//! The compilation of candidates, by whose cost a pass decides.

use super::{Options, Phase};
use crate::{
    kernel::{
        KernelMode,
        ir::{
            dissolve_kernels, fuse_prologue_epilogue,
            judge::{CandidatePasses, Compilation},
        },
    },
    mlir::PassInstance,
};
use cost::Objective;
use std::fmt;

/// Compiles programs that have come as far as the pass that asks, and whose kernels stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    options: Options,
    /// The argument of the pass that asks.
    asking: &'static str,
}

impl Candidates {
    /// Candidates of a program that is compiled under `options`. Its machine, entry and sizes are written on it by then.
    pub(super) fn of_imported(options: &Options, asking: &'static str) -> Self {
        let Options { entry, dim_sizes, knobs, plan, notes_plan, more_lx, proves, target, cores, lx_bytes, .. } = Options::default();
        let left = Options { entry, dim_sizes, knobs, plan, notes_plan, more_lx, proves, target, cores, lx_bytes, ..options.clone() };
        Self::new(left, asking)
    }

    /// Candidates that are compiled under `options`.
    pub(super) fn new(options: Options, asking: &'static str) -> Self {
        Self { options: Options { kernels: Some(KernelMode::Separate), compile_to: Phase::Work, ..options }, asking }
    }
}

impl Compilation for Candidates {
    fn passes(&self) -> CandidatePasses {
        let passes: Vec<PassInstance> =
            self.options.phases().flat_map(|phase| self.options.steps_of(phase, "")).map(|step| step.pass).collect();
        // While kernels are ops, the next pass is the one that dissolves them; who asks later asks behind the import.
        let n_done = if self.asking == fuse_prologue_epilogue::PASS.argument {
            passes.iter().take_while(|pass| pass.argument() != dissolve_kernels::PASS.argument).count()
        } else {
            self.options.steps_of(Phase::Import, "").len()
        };
        CandidatePasses { passes, n_done }
    }

    fn objective(&self) -> Objective {
        self.options.objective
    }
}

/// The options as `spyre-compile` reads them, but for the last phase, which goes without saying.
impl fmt::Display for Candidates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.words().join(" ").fmt(formatter)
    }
}
