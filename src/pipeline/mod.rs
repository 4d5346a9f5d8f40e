//! Pass order; defined only here.
//!
//! Order constraints and their reasons: layouts before tiling (a tile must not split a stick); tiling before work
//! division (cores divide the work of one iteration); work division before LX allocation (sizes are per core); loops
//! before bundles (a loop is never split over two launches). After each phase, `spyre-verify-phase` rejects ops that
//! the phase should have removed.

mod candidates;
mod options;
mod steps;

use crate::{
    bundle, gate, hint, import, joint, kernel,
    kernel::ir::cost_evaluator::CandidateCompiler,
    launch, layout, lx,
    mlir::{Pass, PassOptionValue, PipelineHooks, Session},
    peel, remark, sdsc, search, tile, work,
};
use candidates::CandidatePipeline;

pub use crate::phase::Phase;
pub use options::{CompileOptions, PlannerName};
pub use steps::{IrStage, PipelineStep, build_check_step, build_emit_step, emit_passes};

/// All passes, in pipeline order.
pub static PASSES: &[Pass] = &[
    import::ir::select_program::PASS,
    import::ir::lower_stablehlo::PASS,
    import::ir::lower_tosa::PASS,
    import::ir::check_input::PASS,
    import::ir::set_target::PASS,
    kernel::ir::make_kernels::PASS,
    import::ir::relax_roundings::PASS,
    import::ir::import_linalg::PASS,
    kernel::ir::raise_loops_to_hints::PASS,
    kernel::ir::form_kernels::PASS,
    kernel::ir::fuse_prologue_epilogue::PASS,
    kernel::ir::inline_kernels::PASS,
    hint::ir::flatten_hints::PASS,
    import::ir::fuse_gathers::PASS,
    import::ir::expand_functions::PASS,
    peel::ir::peel_remainders::PASS,
    layout::ir::defer_divisions::PASS,
    layout::ir::materialize_views::PASS,
    layout::ir::clone_constants::PASS,
    layout::ir::layout_gather_tables::PASS,
    layout::ir::pad_contractions::PASS,
    layout::ir::propagate_layouts::PASS,
    layout::ir::insert_restickify::PASS,
    layout::ir::split_views::PASS,
    layout::ir::copy_aliased_results::PASS,
    hint::ir::propagate_dims::PASS,
    search::ir::search_tiling::PASS,
    tile::ir::coarse_tile::PASS,
    tile::ir::fuse_online_reductions::PASS,
    tile::ir::insert_loop_copies::PASS,
    tile::ir::write_in_place::PASS,
    work::ir::reduce_span::PASS,
    work::ir::divide_work::PASS,
    joint::ir::divide_jointly::PASS,
    lx::ir::clone_inputs::PASS,
    lx::ir::allocate_scratchpad::PASS,
    remark::emit_remarks::PASS,
    bundle::ir::form_bundles::PASS,
    bundle::ir::lower_to_sdsc::PASS,
    launch::ir::lower_to_sdscbundle::PASS,
    sdsc::ir::emit_bundle::PASS,
    gate::verify_phase::PASS,
];

include!(concat!(env!("OUT_DIR"), "/passes.rs"));

/// Compilation fails for a pass without a declaration, and for a declaration without a pass.
const _: () = {
    assert!(PASSES.len() == DECLARED.len(), "PASSES has not as many passes as Passes.td declares");
    let mut pass = 0;
    while pass < PASSES.len() {
        assert!(is_declared(PASSES[pass].argument), "Passes.td does not declare a pass of PASSES");
        pass += 1;
    }
};

const fn is_declared(argument: &str) -> bool {
    let mut other = 0;
    while other < DECLARED.len() {
        if is_same(argument.as_bytes(), DECLARED[other].0.as_bytes()) {
            return true;
        }
        other += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Returns the summary of the pass with this argument.
#[must_use]
pub fn pass_summary(argument: &str) -> Option<&'static str> {
    DECLARED.iter().find(|(declared, _)| *declared == argument).map(|(_, summary)| *summary)
}

/// Callbacks and passes that the MLIR layer gets from the compiler, for textual pipelines.
pub static HOOKS: PipelineHooks = PipelineHooks { passes: PASSES, expand: expand_pipeline, read_nested };

/// Creates a session with the compiler's dialects, passes and pipeline.
#[must_use]
pub fn create_session() -> Session {
    Session::new(&HOOKS)
}

/// Parses the options for compiling candidates of the pass `asking`.
fn read_nested(asking: &str, text: &str) -> Result<PassOptionValue, String> {
    let options = CompileOptions::parse(text)?;
    let pass =
        PASSES.iter().find(|pass| pass.argument == asking).ok_or_else(|| format!("there is no pass '{asking}'"))?;
    Ok(PassOptionValue::from_nested(CandidateCompiler::new(CandidatePipeline::new(options, pass.argument))))
}

/// Expands the options of `--spyre-compile` to a pass pipeline.
///
/// # Errors
/// A message about the invalid option.
pub fn expand_pipeline(options: &str) -> Result<String, String> {
    let options = CompileOptions::parse(options).map_err(|message| format!("'spyre-compile': {message}"))?;
    Ok(options.pipeline(options.phases(), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_pipeline_after_check_of_last_phase() {
        let text = expand_pipeline("compile-to=layout cores=4").unwrap();
        assert!(text.contains("spyre-set-target{") && text.contains("cores=4 lx-bytes=-1"), "{text}");
        assert!(
            text.ends_with("canonicalize,cse,spyre-copy-aliased-results,spyre-verify-phase{phase=layout}"),
            "{text}"
        );
    }

    #[test]
    fn omits_copies_and_expansions_without_planner() {
        for pass in ["spyre-expand-functions", "spyre-divide-jointly"] {
            assert!(expand_pipeline("").unwrap().contains(pass));
            assert!(!expand_pipeline("lx-planner=none").unwrap().contains(pass));
        }
        for (planner, is_copied_before) in [("none", false), ("exact", false), ("first-fit", true)] {
            assert_eq!(
                expand_pipeline(&format!("lx-planner={planner}")).unwrap().contains("spyre-clone-inputs"),
                is_copied_before,
                "{planner}"
            );
        }
    }

    #[test]
    fn selects_joint_planning_by_default() {
        for (options, is_joint, planner) in [
            ("", true, "exact"),
            ("joint=true", true, "exact"),
            ("joint=false", false, "exact"),
            ("lx-planner=exact", false, "exact"),
            ("lx-planner=exact joint=true", true, "exact"),
            ("lx-planner=first-fit", false, "first-fit"),
        ] {
            let text = expand_pipeline(options).unwrap();
            assert_eq!(text.contains("spyre-divide-jointly"), is_joint, "{options}");
            assert!(text.contains(&format!("spyre-allocate-scratchpad{{planner={planner}}}")), "{options}");
        }
        let rejected = expand_pipeline("lx-planner=greedy joint=true").unwrap_err();
        assert_eq!(
            rejected,
            "'spyre-compile': [SPY0011] option 'joint' requires '--lx-planner exact', found 'greedy'; remove '--joint', or '--lx-planner'"
        );
    }

    #[test]
    fn names_unknown_options_and_phases() {
        assert_eq!(
            expand_pipeline("core=4").unwrap_err(),
            "'spyre-compile': unknown option 'core': did you mean 'cores'?"
        );
        let rejected = expand_pipeline("compile-to=lxx").unwrap_err();
        assert_eq!(
            rejected,
            "'spyre-compile': option 'compile-to': expected 'import', 'layout', 'hint', 'tile', 'work', 'lx', 'bundle' or 'emit', found 'lxx'"
        );
        assert_eq!(
            expand_pipeline("cores").unwrap_err(),
            "'spyre-compile': [SPY0005] expected key=value, found 'cores'; write '\\20' for a blank in a value"
        );
        for wrong in [
            "cores=x",
            "lx-bytes=1k",
            "lx-planner=worst",
            "joint=maybe",
            "tiles=A",
            "bind=T",
            "knobs=T=8",
            "kernels=all",
            "dims=A:B",
            "addresses=real",
            "loops=fuse",
            "precision=f64",
            "tile-search=yes",
            "tile-steps=-1",
            "objective=money",
            "sticks=best",
        ] {
            let value = wrong.split_once('=').unwrap().1;
            assert!(expand_pipeline(wrong).is_err_and(|message| message.contains(&format!("'{value}'"))), "{wrong}");
        }
    }

    #[test]
    fn contains_every_implemented_pass() {
        let options = CompileOptions::default();
        let alone = CompileOptions::parse("joint=false").unwrap();
        let simple = CompileOptions::parse("lx-planner=first-fit").unwrap();
        let formed = CompileOptions::parse("kernels=form").unwrap();
        let relaxed = CompileOptions::parse("rounding=relaxed").unwrap();
        let text =
            [options, alone, simple, formed, relaxed].map(|options| options.pipeline(Phase::ALL, "out")).concat();
        for pass in PASSES {
            assert!(text.contains(pass.argument), "'{}' is in no phase", pass.argument);
        }
    }
}
