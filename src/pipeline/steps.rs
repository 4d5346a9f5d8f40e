//! The passes of each phase with their options: the pipeline.

use super::{Options, Phase, candidates::Candidates};
use crate::dialect::ods::option;
use crate::{
    bundle::ir::{form_bundles, lower_to_sdsc},
    gate::verify_phase,
    hint::ir::{flatten_hints, propagate_dims},
    import::{
        Rounding,
        ir::{
            check_input, expand_functions, fuse_gathers, import_linalg, lower_stablehlo, lower_tosa, relax_roundings, select_program,
            set_target,
        },
    },
    joint::ir::divide_jointly,
    kernel::{
        KernelMode,
        ir::{dissolve_kernels, form_kernels, fuse_prologue_epilogue, judge::CandidateCompiler, make_kernels, make_scopes},
    },
    launch::ir::lower_to_sdscbundle,
    layout::ir::{
        clone_constants, defer_divisions, insert_restickify, lay_out_tables, materialize_views, own_results, pad_contractions,
        propagate_layouts, split_views,
    },
    lx::ir::{clone_inputs, plan_lx},
    mlir::{OptionValue, Pass, PassInstance, Upstream},
    peel::ir::peel_rests,
    remark::emit_remarks,
    sdsc::ir::emit_bundle,
    search::ir::choose_tiles,
    tile::ir::{coarse_tile, make_online, settle_loops, write_in_place},
    work::ir::{divide_work, reduce_span},
};
use sdsc_check::Profile;
use std::fmt;

/// Default maximum number of ops that the tile search evaluates; `spyre-choose-tiles` has the same default.
const USUAL_TILE_STEPS: i64 = 3000;

/// Pass with its options, and the state of the program after it.
#[derive(Clone)]
pub struct Step {
    /// The pass.
    pub pass: PassInstance,
    /// State of the program after the pass, for callers that report about it; `None` if it is no milestone.
    pub milestone: Option<Milestone>,
}

/// State of the program at a point of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// The program is in spyre ops, as its author wrote it.
    Imported,
    /// No source dialect is left: the ops alone define the semantics.
    Flat,
    /// The constants are those that a launch reads, but their layouts are not chosen.
    Padded,
    /// Every value has its memory.
    Placed,
    /// All decisions are made, including the locations of pools.
    Formed,
    /// Each launch is a list of op specs.
    Lowered,
}

impl Step {
    /// A pass of ours.
    const fn of(pass: Pass) -> Self {
        Self { pass: PassInstance::own(pass), milestone: None }
    }

    /// A pass of MLIR.
    const fn upstream(pass: Upstream) -> Self {
        Self { pass: PassInstance::upstream(pass), milestone: None }
    }

    fn with(self, name: &'static str, value: OptionValue) -> Self {
        Self { pass: self.pass.option(name, value), ..self }
    }

    fn reaching(mut self, milestone: Milestone) -> Self {
        self.milestone = Some(milestone);
        self
    }
}

/// Prints the step in MLIR's pipeline syntax.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pass.fmt(formatter)
    }
}

impl Options {
    /// Returns the steps of a phase, including the check after it, for a program after all previous phases. `output` is
    /// the bundle directory.
    #[must_use]
    pub fn steps_of(&self, phase: Phase, output: &str) -> Vec<Step> {
        let mut steps = match phase {
            Phase::Import => self.import_steps(),
            Phase::Layout => self.layout_steps(),
            Phase::Hint => self.hint_steps(),
            Phase::Tile => tile_steps(),
            Phase::Work => self.work_steps(),
            Phase::Lx => self.lx_steps(),
            Phase::Bundle => self.bundle_steps(),
            Phase::Emit => return vec![emission(output, true, self.bundle_format)],
        };
        steps.push(check(phase));
        steps
    }

    fn import_steps(&self) -> Vec<Step> {
        let target = Step::of(set_target::PASS)
            .with(option::FILE, OptionValue::text(&self.target))
            .with(option::CORES, OptionValue::number(self.cores))
            .with(option::LX_BYTES, OptionValue::number(self.lx_bytes));
        let flatten = Step::of(flatten_hints::PASS)
            .with(option::TILES, OptionValue::list(&self.tiles))
            .with(option::BIND, OptionValue::list(&self.bind));
        let mut steps = vec![
            // Functions that the program does not call are dropped.
            Step::of(select_program::PASS)
                .with(option::ENTRY, OptionValue::text(&self.entry))
                .with(option::DIM_SIZE, OptionValue::list(&self.dim_sizes)),
            // Source dialects are lowered first: the stablehlo ops that JAX leaves, and TOSA with upstream's passes.
            Step::of(lower_stablehlo::PASS),
            Step::of(lower_tosa::PASS),
            // Unsupported ops are reported with their names in the program, before other passes rewrite them.
            Step::of(check_input::PASS),
            // The target machine is an attribute of the module, which all passes read.
            target,
            // Calls of user kernels become kernel ops, so they are not inlined.
            Step::of(make_kernels::PASS).with(option::KNOBS, OptionValue::list(&self.knobs)),
            // JAX calls helper functions. No folding: it would round numbers that the referee needs unrounded.
            Step::upstream(Upstream::Inline),
            // Removes functions whose calls are all inlined.
            Step::upstream(Upstream::SymbolDce),
        ];
        if self.rounding == Rounding::Relaxed {
            // Round trips of casts exist before the import only.
            steps.push(Step::of(relax_roundings::PASS).with(option::PRECISION, OptionValue::named(self.precision)));
        }
        steps.extend([
            // After the import, every op is a device function.
            Step::of(import_linalg::PASS).with(option::PRECISION, OptionValue::named(self.precision)).reaching(Milestone::Imported),
            // Producers leave reshapes that cancel and results that nobody uses.
            Step::upstream(Upstream::Canonicalize),
            Step::upstream(Upstream::Cse),
        ]);
        // Hand-written loops become hint scopes, so that there is one way to tile.
        steps.push(Step::of(make_scopes::PASS));
        steps.extend(self.fusion_steps());
        steps.extend([
            // Kernel ops are inlined: after this pass, hints keep the ops of a kernel in shared loops.
            Step::of(dissolve_kernels::PASS),
            // Hint scopes become attributes of their ops, so that later passes only read attributes.
            flatten,
            // A gather writes to HBM. Fusing the function of its only user avoids a reload. Done before functions are
            // expanded: a fused function is not expanded.
            Step::of(fuse_gathers::PASS).reaching(Milestone::Flat),
        ]);
        // Expanding functions whose results cannot be in LX pays only with a planner that chooses residency.
        let into_lx = self.chooses_stays();
        if into_lx || self.bundle_format.is_release() {
            let expand = Step::of(expand_functions::PASS).with(option::INTO_LX, OptionValue::truth(into_lx));
            steps.push(expand.with(option::BUNDLE_FORMAT, OptionValue::named(self.bundle_format)));
        }
        steps
    }

    /// Returns the passes that fuse ops into kernels, while kernels are ops; empty if kernels are kept separate.
    fn fusion_steps(&self) -> Vec<Step> {
        // A fusion is profitable if the compilation with it is cheaper than the same compilation without it.
        let fuse = Step::of(fuse_prologue_epilogue::PASS).with(option::COMPILE, self.candidates(fuse_prologue_epilogue::PASS));
        match self.kernel_mode() {
            KernelMode::Separate => Vec::new(),
            KernelMode::Fuse => vec![fuse],
            // Kernels formed by the compiler are treated like user kernels.
            KernelMode::Form => vec![Step::of(form_kernels::PASS), fuse],
        }
    }

    fn layout_steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.searches_tiles() && self.dims.is_empty() {
            // If no tile count and no core count divides a size, they may divide most of it.
            steps.push(Step::of(peel_rests::PASS).with(option::COMPILE, self.candidates(peel_rests::PASS)));
        }
        if self.precision.is_narrow() {
            // Moving a division after a matmul changes the rounding.
            steps.push(Step::of(defer_divisions::PASS));
        }
        steps.extend([
            // Views that no layout makes readable become copies, before layouts are chosen.
            Step::of(materialize_views::PASS),
            // Each user of a constant gets its own copy, whose layout it may choose.
            Step::of(clone_constants::PASS),
            // An index selects along the outermost device dimension only, so tables have no choice of layout.
            Step::of(lay_out_tables::PASS),
            // Padding creates buffers, which need layouts.
            Step::of(pad_contractions::PASS).reaching(Milestone::Padded),
            // Chooses the layouts of the complete function.
            Step::of(propagate_layouts::PASS).with(option::STICKS, OptionValue::named(self.sticks)),
            // Inserts the relayouts that the choice requires.
            Step::of(insert_restickify::PASS),
            // After the relayouts, which can remove such a view; and the stick dimensions decide which slices are
            // possible.
            Step::of(split_views::PASS),
            // Views whose users were split are dead.
            Step::upstream(Upstream::Canonicalize),
            Step::upstream(Upstream::Cse),
            // CSE may have merged copies, but two results must not share a buffer.
            Step::of(own_results::PASS),
        ]);
        steps
    }

    fn hint_steps(&self) -> Vec<Step> {
        // Dimension names are propagated from arguments to all ops: hints refer to names.
        let mut steps = vec![Step::of(propagate_dims::PASS).with(option::DIMS, OptionValue::list(&self.dims))];
        if self.searches_tiles() {
            // The tile search adds hints to ops without hints. It requires joint planning to evaluate a tiling.
            let choose = Step::of(choose_tiles::PASS)
                .with(option::STEPS, OptionValue::number(self.tile_steps.map_or(USUAL_TILE_STEPS, i64::from)))
                .with(option::OBJECTIVE, OptionValue::named(self.objective))
                .with(option::PLAN, OptionValue::text(&self.plan))
                .with(option::NOTES_PLAN, OptionValue::truth(self.notes_plan))
                .with(option::MORE_LX, OptionValue::truth(self.more_lx))
                .with(option::PROVES, OptionValue::truth(self.proves));
            steps.push(choose);
        }
        steps
    }

    fn work_steps(&self) -> Vec<Step> {
        // Minimum slices, so that each core can address its slice; later splits keep them.
        let reduce = Step::of(reduce_span::PASS);
        // All other splits: by the cost of each op in isolation, or jointly with the LX plan.
        let jointly = || Step::of(divide_jointly::PASS).with(option::OBJECTIVE, OptionValue::named(self.objective));
        vec![reduce, if self.is_joint() { jointly() } else { Step::of(divide_work::PASS) }]
    }

    fn lx_steps(&self) -> Vec<Step> {
        let planner = self.planner();
        let plan = Step::of(plan_lx::PASS).with(option::PLANNER, OptionValue::text(planner.to_string())).reaching(Milestone::Placed);
        // All decisions that concern the author of a program have been made.
        let remarks = Step::of(emit_remarks::PASS);
        if planner == super::PlannerName::none() || self.chooses_stays() {
            return vec![plan, remarks];
        }
        // Input clones pay in LX only; planners that choose residency insert them themselves.
        vec![Step::of(clone_inputs::PASS), plan, remarks]
    }

    fn bundle_steps(&self) -> Vec<Step> {
        vec![
            // Groups ops into launches, and allocates their pools.
            Step::of(form_bundles::PASS).with(option::ADDRESSES, OptionValue::named(self.addresses)).reaching(Milestone::Formed),
            // Tensors become operands with memory and coordinates.
            Step::of(lower_to_sdsc::PASS).reaching(Milestone::Lowered),
            // Builds the function of each launch, which computes addresses.
            Step::of(lower_to_sdscbundle::PASS)
                .with(option::ADDRESSES, OptionValue::named(self.addresses))
                .with(option::LOOPS, OptionValue::named(self.loops)),
        ]
    }

    /// Returns the compiler of candidates for a pass that decides by their cost.
    fn candidates(&self, pass: Pass) -> OptionValue {
        OptionValue::nested(CandidateCompiler::new(Candidates::of_imported(self, pass.argument)))
    }

    /// Returns the pipeline of `phases` as text, for a module.
    #[must_use]
    pub fn pipeline(&self, phases: impl IntoIterator<Item = Phase>, output: &str) -> String {
        text_of(&phases.into_iter().flat_map(|phase| self.steps_of(phase, output)).collect::<Vec<_>>())
    }
}

fn tile_steps() -> Vec<Step> {
    vec![
        // Ops with hints for the same tiles share a loop.
        Step::of(coarse_tile::PASS),
        // Loops over the same tiles become one, with corrections where one needs the result of another.
        Step::of(make_online::PASS),
        // A loop-carried value is one buffer; copies are inserted if it has other uses.
        Step::of(settle_loops::PASS),
        // Ops that compute a slice of a buffer write it in place.
        Step::of(write_in_place::PASS),
    ]
}

/// Returns the pass that checks the invariants of a phase.
#[must_use]
pub fn check(phase: Phase) -> Step {
    Step::of(verify_phase::PASS).with(option::PHASE, OptionValue::named(phase))
}

/// Returns the pass that writes files to the directory `output`. A violation of a format rule is a compiler bug if all
/// of our passes have run (`is_compiled`), and an input error if the user wrote IR of a later phase.
#[must_use]
pub fn emission(output: &str, is_compiled: bool, format: Profile) -> Step {
    Step::of(emit_bundle::PASS)
        .with(option::OUTPUT, OptionValue::text(output))
        .with(option::COMPILED, OptionValue::truth(is_compiled))
        .with(option::BUNDLE_FORMAT, OptionValue::named(format))
}

/// Returns the passes that write `sdsc` or `sdscbundle` IR to the directory `output`.
#[must_use]
pub fn emit_passes(output: &str) -> Vec<PassInstance> {
    let Options { addresses, loops, .. } = Options::default();
    let lower = Step::of(lower_to_sdscbundle::PASS)
        .with(option::ADDRESSES, OptionValue::named(addresses))
        .with(option::LOOPS, OptionValue::named(loops));
    vec![lower.pass, emission(output, false, Profile::default()).pass]
}

/// Returns steps as the text of a pipeline.
fn text_of(steps: &[Step]) -> String {
    let texts: Vec<String> = steps.iter().map(ToString::to_string).collect();
    texts.join(",")
}
