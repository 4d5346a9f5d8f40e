//! Compiles candidate programs, whose costs decide a pass.

use super::{CompileOptions, Phase};
use crate::{
    kernel::{
        KernelMode,
        ir::{
            cost_evaluator::{CandidateCompilation, CandidatePasses},
            fuse_prologue_epilogue, inline_kernels,
        },
    },
    mlir::PassInstance,
};
use cost::Objective;
use std::fmt;

/// Compiler of candidates that start at the requesting pass, with their kernels unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CandidatePipeline {
    options: CompileOptions,
    /// Argument of the requesting pass.
    asking: &'static str,
}

impl CandidatePipeline {
    /// Returns the compiler of candidates for a program under `options`, whose target, entry and sizes are already
    /// recorded in the IR.
    pub(super) fn from_imported(options: &CompileOptions, asking: &'static str) -> Self {
        let CompileOptions {
            entry, dim_sizes, knobs, plan, notes_plan, more_lx, proves, target, cores, lx_bytes, ..
        } = CompileOptions::default();
        let left = CompileOptions {
            entry,
            dim_sizes,
            knobs,
            plan,
            notes_plan,
            more_lx,
            proves,
            target,
            cores,
            lx_bytes,
            ..options.clone()
        };
        Self::new(left, asking)
    }

    /// Returns the compiler of candidates under `options`.
    pub(super) fn new(options: CompileOptions, asking: &'static str) -> Self {
        Self {
            options: CompileOptions { kernels: Some(KernelMode::Separate), compile_to: Phase::Work, ..options },
            asking,
        }
    }
}

impl CandidateCompilation for CandidatePipeline {
    fn passes(&self) -> CandidatePasses {
        let passes: Vec<PassInstance> =
            self.options.phases().flat_map(|phase| self.options.steps_of(phase, "")).map(|step| step.pass).collect();
        // While kernels are ops, the next pass is the one that inlines them; later passes resume after the import.
        let num_done = if self.asking == fuse_prologue_epilogue::PASS.argument {
            passes.iter().take_while(|pass| pass.argument() != inline_kernels::PASS.argument).count()
        } else {
            self.options.steps_of(Phase::Import, "").len()
        };
        CandidatePasses { passes, num_done }
    }

    fn objective(&self) -> Objective {
        self.options.objective
    }
}

/// Prints the options in the syntax of `spyre-compile`, except the last phase, which is implied.
impl fmt::Display for CandidatePipeline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.explicit_words().join(" ").fmt(formatter)
    }
}
