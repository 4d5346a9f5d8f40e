//! The passes of each phase with their options: the pipeline.

use super::{Options, Phase, candidates::Candidates};
use crate::dialect::ods::option;
use crate::{
    bundle::ir::{form_bundles, lower_to_sdsc},
    gate::verify_phase,
    hint::ir::{flatten_hints, propagate_dims},
    import::{
        Precision, Rounding,
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

/// As MLIR reads it.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pass.fmt(formatter)
    }
}

impl Options {
    /// The steps of one phase, with the check behind them, for a program that has come through all phases before it. `output` is the directory
    /// to emit.
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
            // What a file has beside the program is not looked at.
            Step::of(select_program::PASS)
                .with(option::ENTRY, OptionValue::text(&self.entry))
                .with(option::DIM_SIZE, OptionValue::list(&self.dim_sizes)),
            // Upstream knows what the dialect means.
            Step::of(lower_stablehlo::PASS),
            Step::of(lower_tosa::PASS),
            // What cannot be compiled is named as the program names it: later passes would change that.
            Step::of(check_input::PASS),
            // The machine is on the module, for every pass that asks for a number of it.
            target,
            // A kernel of the user's stays one, so its calls are not inlined.
            Step::of(make_kernels::PASS).with(option::KNOBS, OptionValue::list(&self.knobs)),
            // JAX calls helper functions. Folding would round numbers that a referee asks for.
            Step::upstream(Upstream::Inline),
            // What was inlined everywhere is no function any more.
            Step::upstream(Upstream::SymbolDce),
        ];
        if self.rounding == Rounding::Relaxed {
            // What is rounded and widened again is the program's own: behind the import there are no casts.
            steps.push(Step::of(relax_roundings::PASS).with(option::PRECISION, OptionValue::named(self.precision)));
        }
        steps.extend([
            // From here on every op is a device function.
            Step::of(import_linalg::PASS).with(option::PRECISION, OptionValue::named(self.precision)).reaching(Milestone::Imported),
            // Producers leave reshapes that cancel and results that nobody uses.
            Step::upstream(Upstream::Canonicalize),
            Step::upstream(Upstream::Cse),
        ]);
        // Loops that are written by hand are cut, fused and laid out as scopes are: one way to tile.
        steps.push(Step::of(make_scopes::PASS));
        steps.extend(self.fusion_steps());
        steps.extend([
            // What belongs together does so from here on by its hints.
            Step::of(dissolve_kernels::PASS),
            // Scopes become attributes of the ops in them, so that later passes need not look around.
            flatten,
            // What is chosen goes to HBM; what a function makes of it need not read it back. Such a function has no use for a chain.
            Step::of(fuse_gathers::PASS).reaching(Milestone::Flat),
        ]);
        // What is written in more ops, so that it may live in LX, is of use to a planner that knows what to do with it.
        let into_lx = self.chooses_stays();
        if into_lx || self.bundle_format.is_release() {
            let expand = Step::of(expand_functions::PASS).with(option::INTO_LX, OptionValue::truth(into_lx));
            steps.push(expand.with(option::BUNDLE_FORMAT, OptionValue::named(self.bundle_format)));
        }
        steps
    }

    /// Returns the passes that fuse ops into kernels, while kernels are ops; empty if kernels are kept separate.
    fn fusion_steps(&self) -> Vec<Step> {
        // Whether a move pays is found out by the same compilation without moves.
        let fuse = Step::of(fuse_prologue_epilogue::PASS).with(option::COMPILE, self.candidates(fuse_prologue_epilogue::PASS));
        match self.kernel_mode() {
            KernelMode::Separate => Vec::new(),
            KernelMode::Fuse => vec![fuse],
            // What the compiler makes a kernel of is treated as what the user does.
            KernelMode::Form => vec![Step::of(form_kernels::PASS), fuse],
        }
    }

    fn layout_steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.searches_tiles() && self.dims.is_empty() {
            // Where no tiles and no cores divide a size, most of it may.
            steps.push(Step::of(peel_rests::PASS).with(option::COMPILE, self.candidates(peel_rests::PASS)));
        }
        if self.precision == Precision::Device {
            // A division behind a product rounds differently from one in front of it.
            steps.push(Step::of(defer_divisions::PASS));
        }
        steps.extend([
            // What no layout makes readable becomes a tensor, before layouts are chosen.
            Step::of(materialize_views::PASS),
            // Each reader of a constant has it where it wants it.
            Step::of(clone_constants::PASS),
            // An index moves along the outermost dimension only: tables are not to choose.
            Step::of(lay_out_tables::PASS),
            // Padding makes new buffers, which need a layout like all others.
            Step::of(pad_contractions::PASS).reaching(Milestone::Padded),
            // The choice, for the function as a whole.
            Step::of(propagate_layouts::PASS).with(option::STICKS, OptionValue::named(self.sticks)),
            // The moves that the choice needs.
            Step::of(insert_restickify::PASS),
            // Behind the moves, which can take such a view away; and the sticks decide which cuts are possible.
            Step::of(split_views::PASS),
            // Views that lead to split ones are not needed any more.
            Step::upstream(Upstream::Canonicalize),
            Step::upstream(Upstream::Cse),
            // Copies of one value have become one, and two results must not be one buffer.
            Step::of(own_results::PASS),
        ]);
        steps
    }

    fn hint_steps(&self) -> Vec<Step> {
        // Names go from arguments to all ops: a hint is a wish about a name.
        let mut steps = vec![Step::of(propagate_dims::PASS).with(option::DIMS, OptionValue::list(&self.dims))];
        if self.searches_tiles() {
            // Ops without hints get some, where what a tiling gains is found by choosing splits and placement together.
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
        // The slices without which a core could not address its part; whoever divides keeps them.
        let reduce = Step::of(reduce_span::PASS);
        // The rest: by what an op alone takes, or with what the planner would make of it.
        let jointly = || Step::of(divide_jointly::PASS).with(option::OBJECTIVE, OptionValue::named(self.objective));
        vec![reduce, if self.is_joint() { jointly() } else { Step::of(divide_work::PASS) }]
    }

    fn lx_steps(&self) -> Vec<Step> {
        let planner = self.planner();
        let plan = Step::of(plan_lx::PASS).with(option::PLANNER, OptionValue::text(planner.to_string())).reaching(Milestone::Placed);
        // From here on nothing is decided that a program's author would ask about.
        let remarks = Step::of(emit_remarks::PASS);
        if planner == super::PlannerName::none() || self.chooses_stays() {
            return vec![plan, remarks];
        }
        // A copy of an input is of use in LX only; a planner that chooses stays chooses them itself.
        vec![Step::of(clone_inputs::PASS), plan, remarks]
    }

    fn bundle_steps(&self) -> Vec<Step> {
        vec![
            // Which ops are one launch, and where their pool lies.
            Step::of(form_bundles::PASS).with(option::ADDRESSES, OptionValue::named(self.addresses)).reaching(Milestone::Formed),
            // Tensors become operands with memory and coordinates.
            Step::of(lower_to_sdsc::PASS).reaching(Milestone::Lowered),
            // The program of addresses of each launch.
            Step::of(lower_to_sdscbundle::PASS)
                .with(option::ADDRESSES, OptionValue::named(self.addresses))
                .with(option::LOOPS, OptionValue::named(self.loops)),
        ]
    }

    /// Compiles candidates for a pass of ours that decides by what they cost.
    fn candidates(&self, pass: Pass) -> OptionValue {
        OptionValue::nested(CandidateCompiler::new(Candidates::of_imported(self, pass.argument)))
    }

    /// The pipeline of the phases `phases`, as text for a module.
    #[must_use]
    pub fn pipeline(&self, phases: impl IntoIterator<Item = Phase>, output: &str) -> String {
        text_of(&phases.into_iter().flat_map(|phase| self.steps_of(phase, output)).collect::<Vec<_>>())
    }
}

fn tile_steps() -> Vec<Step> {
    vec![
        // Ops that wish for the same tiles share a loop.
        Step::of(coarse_tile::PASS),
        // Loops over the same tiles become one, with corrections where one needs the result of another.
        Step::of(make_online::PASS),
        // What a loop carries is one buffer, which nobody else needs.
        Step::of(settle_loops::PASS),
        // What makes a part of a buffer writes it there.
        Step::of(write_in_place::PASS),
    ]
}

/// The check of what a phase promises.
#[must_use]
pub fn check(phase: Phase) -> Step {
    Step::of(verify_phase::PASS).with(option::PHASE, OptionValue::named(phase))
}

/// The pass that writes files into the directory `output`. What breaks a rule of the format is a compiler bug if the program has come through
/// all of our passes (`is_compiled`), and else the mistake of whoever has written IR of a later phase.
#[must_use]
pub fn emission(output: &str, is_compiled: bool, format: Profile) -> Step {
    Step::of(emit_bundle::PASS)
        .with(option::OUTPUT, OptionValue::text(output))
        .with(option::COMPILED, OptionValue::truth(is_compiled))
        .with(option::BUNDLE_FORMAT, OptionValue::named(format))
}

/// The passes that write `sdsc` or `sdscbundle` IR into the directory `output`.
#[must_use]
pub fn emit_passes(output: &str) -> Vec<PassInstance> {
    let Options { addresses, loops, .. } = Options::default();
    let lower = Step::of(lower_to_sdscbundle::PASS)
        .with(option::ADDRESSES, OptionValue::named(addresses))
        .with(option::LOOPS, OptionValue::named(loops));
    vec![lower.pass, emission(output, false, Profile::default()).pass]
}

/// Steps as the text of a pipeline.
fn text_of(steps: &[Step]) -> String {
    let texts: Vec<String> = steps.iter().map(ToString::to_string).collect();
    texts.join(",")
}
