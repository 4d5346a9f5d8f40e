//! The passes of each phase with their options: the pipeline.

use super::{CompileOptions, Phase, candidates::CandidatePipeline};
use crate::dialect::ods::option;
use crate::{
    bundle::ir::{form_bundles, lower_to_sdsc},
    gate::verify_phase,
    hint::ir::{flatten_hints, propagate_dims},
    import::{
        Rounding,
        ir::{
            check_input, expand_functions, fuse_gathers, import_linalg, lower_stablehlo, lower_tosa, relax_roundings,
            select_program, set_target,
        },
    },
    joint::ir::divide_jointly,
    kernel::{
        KernelMode,
        ir::{
            cost_evaluator::CandidateCompiler, form_kernels, fuse_prologue_epilogue, inline_kernels, make_kernels,
            raise_loops_to_hints,
        },
    },
    launch::ir::lower_to_sdscbundle,
    layout::ir::{
        clone_constants, copy_aliased_results, defer_divisions, insert_restickify, layout_gather_tables,
        materialize_views, pad_contractions, propagate_layouts, split_views,
    },
    lx::ir::{allocate_scratchpad, clone_inputs},
    mlir::{Pass, PassInstance, PassOptionValue, UpstreamPass},
    peel::ir::peel_remainders,
    remark::emit_remarks,
    sdsc::ir::emit_bundle,
    search::ir::search_tiling,
    tile::ir::{coarse_tile, fuse_online_reductions, insert_loop_copies, write_in_place},
    work::ir::{divide_work, reduce_span},
};
use sdsc_check::Profile;
use std::fmt;

/// Default maximum number of ops that the tile search evaluates; `spyre-search-tiling` has the same default.
const DEFAULT_TILE_STEPS: i64 = 3000;

/// Pass with its options, and the state of the program after it.
#[derive(Clone)]
pub struct PipelineStep {
    /// The pass.
    pub pass: PassInstance,
    /// State of the program after the pass, for callers that report about it; `None` if it is no milestone.
    pub milestone: Option<IrStage>,
}

/// State of the program at a point of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IrStage {
    /// The program is in spyre ops, as its author wrote it.
    Imported,
    /// No source dialect is left: the ops alone define the semantics.
    SpyreOpsOnly,
    /// The constants are those that a launch reads, but their layouts are not chosen.
    ConstantsPadded,
    /// Every value has its memory.
    MemoryAssigned,
    /// All decisions are made, including the locations of pools.
    BundlesFormed,
    /// Each launch is a list of op specs.
    Lowered,
}

impl PipelineStep {
    /// A pass of ours.
    const fn from_pass(pass: Pass) -> Self {
        Self { pass: PassInstance::from_pass(pass), milestone: None }
    }

    /// A pass of MLIR.
    const fn from_upstream(pass: UpstreamPass) -> Self {
        Self { pass: PassInstance::from_upstream(pass), milestone: None }
    }

    fn with_option(self, name: &'static str, value: PassOptionValue) -> Self {
        Self { pass: self.pass.with_option(name, value), ..self }
    }

    fn with_stage(mut self, milestone: IrStage) -> Self {
        self.milestone = Some(milestone);
        self
    }
}

/// Prints the step in MLIR's pipeline syntax.
impl fmt::Display for PipelineStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pass.fmt(formatter)
    }
}

impl CompileOptions {
    /// Returns the steps of a phase, including the check after it, for a program after all previous phases. `output` is
    /// the bundle directory.
    #[must_use]
    pub fn steps_of(&self, phase: Phase, output: &str) -> Vec<PipelineStep> {
        let mut steps = match phase {
            Phase::Import => self.import_steps(),
            Phase::Layout => self.layout_steps(),
            Phase::Hint => self.hint_steps(),
            Phase::Tile => tile_steps(),
            Phase::Work => self.work_steps(),
            Phase::Lx => self.lx_steps(),
            Phase::Bundle => self.bundle_steps(),
            Phase::Emit => return vec![build_emit_step(output, true, self.bundle_format)],
        };
        steps.push(build_check_step(phase));
        steps
    }

    fn import_steps(&self) -> Vec<PipelineStep> {
        let target = PipelineStep::from_pass(set_target::PASS)
            .with_option(option::FILE, PassOptionValue::from_text(&self.target))
            .with_option(option::CORES, PassOptionValue::from_number(self.cores))
            .with_option(option::LX_BYTES, PassOptionValue::from_number(self.lx_bytes))
            .with_option(option::BUNDLE_FORMAT, PassOptionValue::from_enum(self.bundle_format));
        let flatten = PipelineStep::from_pass(flatten_hints::PASS)
            .with_option(option::TILES, PassOptionValue::from_list(&self.tiles))
            .with_option(option::BIND, PassOptionValue::from_list(&self.bind));
        let mut steps = vec![
            // Functions that the program does not call are dropped.
            PipelineStep::from_pass(select_program::PASS)
                .with_option(option::ENTRY, PassOptionValue::from_text(&self.entry))
                .with_option(option::DIM_SIZE, PassOptionValue::from_list(&self.dim_sizes)),
            // Source dialects are lowered first: the stablehlo ops that JAX leaves, and TOSA with upstream's passes.
            PipelineStep::from_pass(lower_stablehlo::PASS),
            PipelineStep::from_pass(lower_tosa::PASS),
            // Unsupported ops are reported with their names in the program, before other passes rewrite them.
            PipelineStep::from_pass(check_input::PASS),
            // The target machine is an attribute of the module, which all passes read.
            target,
            // Calls of user kernels become kernel ops, so they are not inlined.
            PipelineStep::from_pass(make_kernels::PASS)
                .with_option(option::KNOBS, PassOptionValue::from_list(&self.knobs)),
            // JAX calls helper functions. No folding: it would round numbers that the referee needs unrounded.
            PipelineStep::from_upstream(UpstreamPass::Inline),
            // Removes functions whose calls are all inlined.
            PipelineStep::from_upstream(UpstreamPass::SymbolDce),
        ];
        if self.rounding == Rounding::Relaxed {
            // Round trips of casts exist before the import only.
            steps.push(
                PipelineStep::from_pass(relax_roundings::PASS)
                    .with_option(option::PRECISION, PassOptionValue::from_enum(self.precision)),
            );
        }
        steps.extend([
            // After the import, every op is a device function.
            PipelineStep::from_pass(import_linalg::PASS)
                .with_option(option::PRECISION, PassOptionValue::from_enum(self.precision))
                .with_stage(IrStage::Imported),
            // Producers leave reshapes that cancel, and unused results.
            PipelineStep::from_upstream(UpstreamPass::Canonicalize),
            PipelineStep::from_upstream(UpstreamPass::Cse),
        ]);
        // Hand-written loops become hint scopes, so that there is one way to tile.
        steps.push(PipelineStep::from_pass(raise_loops_to_hints::PASS));
        steps.extend(self.fusion_steps());
        steps.extend([
            // Kernel ops are inlined: after this pass, hints keep the ops of a kernel in shared loops.
            PipelineStep::from_pass(inline_kernels::PASS),
            // Hint scopes become attributes of their ops, so that later passes only read attributes.
            flatten,
            // A gather writes to HBM. Fusing the function of its only user avoids a reload. Done before functions are
            // expanded: a fused function is not expanded.
            PipelineStep::from_pass(fuse_gathers::PASS).with_stage(IrStage::SpyreOpsOnly),
        ]);
        // Expanding functions whose results cannot be in LX pays only with a planner that chooses residency.
        let into_lx = self.chooses_residency();
        if into_lx || self.bundle_format.is_release() {
            let expand = PipelineStep::from_pass(expand_functions::PASS)
                .with_option(option::INTO_LX, PassOptionValue::from_flag(into_lx));
            steps.push(expand.with_option(option::BUNDLE_FORMAT, PassOptionValue::from_enum(self.bundle_format)));
        }
        steps
    }

    /// Returns the passes that fuse ops into kernels, while kernels are ops; empty if kernels are kept separate.
    fn fusion_steps(&self) -> Vec<PipelineStep> {
        // A fusion is profitable if the compilation with it is cheaper than the same compilation without it.
        let fuse = PipelineStep::from_pass(fuse_prologue_epilogue::PASS)
            .with_option(option::COMPILE, self.build_candidate_option(fuse_prologue_epilogue::PASS));
        match self.kernel_mode() {
            KernelMode::Separate => Vec::new(),
            KernelMode::Fuse => vec![fuse],
            // Kernels formed by the compiler are treated like user kernels.
            KernelMode::Form => vec![PipelineStep::from_pass(form_kernels::PASS), fuse],
        }
    }

    fn layout_steps(&self) -> Vec<PipelineStep> {
        let mut steps = Vec::new();
        if self.searches_tiles() && self.dims.is_empty() {
            // If no tile count and no core count divides a size, they may divide most of it.
            steps.push(
                PipelineStep::from_pass(peel_remainders::PASS)
                    .with_option(option::COMPILE, self.build_candidate_option(peel_remainders::PASS)),
            );
        }
        if self.precision.is_narrow() {
            // Moving a division after a matmul changes the rounding.
            steps.push(PipelineStep::from_pass(defer_divisions::PASS));
        }
        steps.extend([
            // Views that no layout makes readable become copies, before layouts are chosen.
            PipelineStep::from_pass(materialize_views::PASS),
            // Each user of a constant gets its own copy, whose layout it may choose.
            PipelineStep::from_pass(clone_constants::PASS),
            // An index selects along the outermost device dimension only, so tables have no choice of layout.
            PipelineStep::from_pass(layout_gather_tables::PASS),
            // Padding creates buffers, which need layouts.
            PipelineStep::from_pass(pad_contractions::PASS).with_stage(IrStage::ConstantsPadded),
            // Chooses the layouts of the complete function.
            PipelineStep::from_pass(propagate_layouts::PASS)
                .with_option(option::STICKS, PassOptionValue::from_enum(self.sticks)),
            // Inserts the relayouts that the choice requires.
            PipelineStep::from_pass(insert_restickify::PASS),
            // After the relayouts, which can remove such a view; and the stick dimensions decide which slices are
            // possible.
            PipelineStep::from_pass(split_views::PASS),
            // Views whose users were split are dead.
            PipelineStep::from_upstream(UpstreamPass::Canonicalize),
            PipelineStep::from_upstream(UpstreamPass::Cse),
            // CSE may have merged copies, but two results must not share a buffer.
            PipelineStep::from_pass(copy_aliased_results::PASS),
        ]);
        steps
    }

    fn hint_steps(&self) -> Vec<PipelineStep> {
        // Dimension names are propagated from arguments to all ops: hints refer to names.
        let mut steps = vec![
            PipelineStep::from_pass(propagate_dims::PASS)
                .with_option(option::DIMS, PassOptionValue::from_list(&self.dims)),
        ];
        if self.searches_tiles() {
            // The tile search adds hints to ops without hints. It requires joint planning to evaluate a tiling.
            let choose = PipelineStep::from_pass(search_tiling::PASS)
                .with_option(
                    option::STEPS,
                    PassOptionValue::from_number(self.tile_steps.map_or(DEFAULT_TILE_STEPS, i64::from)),
                )
                .with_option(option::OBJECTIVE, PassOptionValue::from_enum(self.objective))
                .with_option(option::PLAN, PassOptionValue::from_text(&self.plan))
                .with_option(option::NOTES_PLAN, PassOptionValue::from_flag(self.notes_plan))
                .with_option(option::MORE_LX, PassOptionValue::from_flag(self.more_lx))
                .with_option(option::PROVES, PassOptionValue::from_flag(self.proves));
            steps.push(choose);
        }
        steps
    }

    fn work_steps(&self) -> Vec<PipelineStep> {
        // Minimum slices, so that each core can address its slice; later splits keep them.
        let reduce = PipelineStep::from_pass(reduce_span::PASS);
        // All other splits: by the cost of each op in isolation, or jointly with the LX plan.
        let jointly = || {
            PipelineStep::from_pass(divide_jointly::PASS)
                .with_option(option::OBJECTIVE, PassOptionValue::from_enum(self.objective))
        };
        vec![reduce, if self.is_joint() { jointly() } else { PipelineStep::from_pass(divide_work::PASS) }]
    }

    fn lx_steps(&self) -> Vec<PipelineStep> {
        let planner = self.planner();
        let plan = PipelineStep::from_pass(allocate_scratchpad::PASS)
            .with_option(option::PLANNER, PassOptionValue::from_text(planner.to_string()))
            .with_stage(IrStage::MemoryAssigned);
        // All decisions that concern the author of a program have been made.
        let remarks = PipelineStep::from_pass(emit_remarks::PASS);
        if planner == super::PlannerName::none() || self.chooses_residency() {
            return vec![plan, remarks];
        }
        // Input clones pay in LX only; planners that choose residency insert them themselves.
        vec![PipelineStep::from_pass(clone_inputs::PASS), plan, remarks]
    }

    fn bundle_steps(&self) -> Vec<PipelineStep> {
        vec![
            // Groups ops into launches, and allocates their pools.
            PipelineStep::from_pass(form_bundles::PASS)
                .with_option(option::ADDRESSES, PassOptionValue::from_enum(self.addresses))
                .with_stage(IrStage::BundlesFormed),
            // Tensors become operands with memory and coordinates.
            PipelineStep::from_pass(lower_to_sdsc::PASS).with_stage(IrStage::Lowered),
            // Builds the function of each launch, which computes addresses.
            PipelineStep::from_pass(lower_to_sdscbundle::PASS)
                .with_option(option::ADDRESSES, PassOptionValue::from_enum(self.addresses))
                .with_option(option::LOOPS, PassOptionValue::from_enum(self.loops)),
        ]
    }

    /// Returns the compiler of candidates for a pass that decides by their cost.
    fn build_candidate_option(&self, pass: Pass) -> PassOptionValue {
        PassOptionValue::from_nested(CandidateCompiler::new(CandidatePipeline::from_imported(self, pass.argument)))
    }

    /// Returns the pipeline of `phases` as text, for a module.
    #[must_use]
    pub fn pipeline(&self, phases: impl IntoIterator<Item = Phase>, output: &str) -> String {
        format_pipeline(&phases.into_iter().flat_map(|phase| self.steps_of(phase, output)).collect::<Vec<_>>())
    }
}

fn tile_steps() -> Vec<PipelineStep> {
    vec![
        // Ops with hints for the same tiles share a loop.
        PipelineStep::from_pass(coarse_tile::PASS),
        // Loops over the same tiles become one, with corrections where one needs the result of another.
        PipelineStep::from_pass(fuse_online_reductions::PASS),
        // A loop-carried value is one buffer; copies are inserted if it has other uses.
        PipelineStep::from_pass(insert_loop_copies::PASS),
        // Ops that compute a slice of a buffer write it in place.
        PipelineStep::from_pass(write_in_place::PASS),
    ]
}

/// Returns the pass that checks the invariants of a phase.
#[must_use]
pub fn build_check_step(phase: Phase) -> PipelineStep {
    PipelineStep::from_pass(verify_phase::PASS).with_option(option::PHASE, PassOptionValue::from_enum(phase))
}

/// Returns the pass that writes files to the directory `output`. A violation of a format rule is a compiler bug if all
/// of our passes have run (`is_compiled`), and an input error if the user wrote IR of a later phase.
#[must_use]
pub fn build_emit_step(output: &str, is_compiled: bool, format: Profile) -> PipelineStep {
    PipelineStep::from_pass(emit_bundle::PASS)
        .with_option(option::OUTPUT, PassOptionValue::from_text(output))
        .with_option(option::COMPILED, PassOptionValue::from_flag(is_compiled))
        .with_option(option::BUNDLE_FORMAT, PassOptionValue::from_enum(format))
}

/// Returns the passes that write `sdsc` or `sdscbundle` IR to the directory `output`.
#[must_use]
pub fn emit_passes(output: &str, format: Profile) -> Vec<PassInstance> {
    let CompileOptions { addresses, loops, .. } = CompileOptions::default();
    let lower = PipelineStep::from_pass(lower_to_sdscbundle::PASS)
        .with_option(option::ADDRESSES, PassOptionValue::from_enum(addresses))
        .with_option(option::LOOPS, PassOptionValue::from_enum(loops));
    vec![lower.pass, build_emit_step(output, false, format).pass]
}

/// Returns steps as the text of a pipeline.
fn format_pipeline(steps: &[PipelineStep]) -> String {
    let texts: Vec<String> = steps.iter().map(ToString::to_string).collect();
    texts.join(",")
}
