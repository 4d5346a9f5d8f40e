//! Operations on a mutant: all operations that the tools perform on a file of its kind.

use crate::hostile::{
    common,
    corpus::{CorpusFolder, PROGRAMS, golden_program, input, with_module},
    npy,
};
use files::{MAX_TEXT_BYTES, read_text};
use referee::{RunOptions, Simulation, draw_seeded_array};
use scratchpad::{Capacity, Instance, PlanningLimits, ResidencyMode, plan_instance};
use scratchpad_verify::verify;
use sdsc_check::check_directory;
use spyre_compiler::{
    compile::{compile, compile_and_validate},
    pipeline::{CompileOptions, Phase},
    translate::{bundle_to_mlir, opspec_to_mlir},
};
use std::{collections::BTreeMap, fs, path::Path};

/// A mutated file, its original, its group (mostly the files of one program), and its number in the group.
pub(crate) struct Case {
    pub(crate) group: usize,
    pub(crate) of: usize,
    pub(crate) mutant: Vec<u8>,
}

/// A kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) n_groups: fn() -> usize,
    /// Returns the correct files of a group.
    pub(crate) corpus: fn(&CorpusFolder, usize) -> Vec<Vec<u8>>,
    /// Performs all operations of the tools on a mutant.
    pub(crate) run: fn(&CorpusFolder, &Case),
}

const fn program_target(
    name: &'static str,
    corpus: fn(&CorpusFolder, usize) -> Vec<Vec<u8>>,
    run: fn(&CorpusFolder, &Case),
) -> Target {
    Target { name, n_groups: || PROGRAMS.len(), corpus, run }
}

const fn file_target(
    name: &'static str,
    corpus: fn(&CorpusFolder, usize) -> Vec<Vec<u8>>,
    run: fn(&CorpusFolder, &Case),
) -> Target {
    Target { name, n_groups: || 1, corpus, run }
}

pub(crate) const TARGETS: [Target; 12] = [
    program_target("directory", |place, program| contents(&place.bundle(program).1), directory),
    Target {
        name: "golden",
        n_groups: || common::golden_cases().len(),
        corpus: |place, group| contents(&place.golden(&common::golden_cases()[group]).1),
        run: |place, case| golden(place, case, &common::golden_cases()[case.group]),
    },
    program_target("ir", CorpusFolder::pages, ir),
    program_target("resumed", CorpusFolder::pages, resumed),
    program_target("program_text", |_, program| vec![PROGRAMS[program].text()], program_text),
    program_target("validated", |_, program| vec![PROGRAMS[program].text()], validated),
    file_target("instance", |_, _| vec![input("instance.csv"), input("instance.json")], instance),
    file_target("result", |_, _| vec![plan_example().into_bytes()], result),
    file_target("array", |place, _| place.arrays(), array),
    file_target("op_specs", |_, _| vec![input("case.json")], op_specs),
    file_target("machine", |_, _| vec![input("machine.json")], target_file),
    shared::TARGET,
];

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    /// Golden bundles of the reference emitter.
    pub(super) const TARGET: Target = Target {
        name: "reference",
        n_groups: || common::shared_golden_cases().len(),
        corpus: |place, group| contents(&place.golden(&common::shared_golden_cases()[group]).1),
        run: |place, case| golden(place, case, &common::shared_golden_cases()[case.group]),
    };
}

/// Returns the maximum resources that a bundle may request from the simulator.
fn limits() -> RunOptions {
    RunOptions { max_steps: 1 << 20, max_bytes: 1 << 26, ..RunOptions::default() }
}

fn contents(files: &[(String, Vec<u8>)]) -> Vec<Vec<u8>> {
    files.iter().map(|file| file.1.clone()).collect()
}

/// Executes, counts, checks and reads back a directory with one mutated file.
fn directory(place: &CorpusFolder, case: &Case) {
    let (folder, files) = place.bundle(case.group);
    let (name, right) = &files[case.of];
    fs::write(folder.join(name), &case.mutant).unwrap();
    if let Ok(simulation) = Simulation::load(&folder, &machine::Target::spyre()) {
        execute(place, &simulation);
    }
    let _ = check_directory(&folder);
    read_back(place, &folder);
    fs::write(folder.join(name), right).unwrap();
}

fn execute(place: &CorpusFolder, simulation: &Simulation) {
    let tensors = simulation.program().arguments.iter();
    let inputs: BTreeMap<_, _> =
        tensors.filter_map(|tensor| Some((tensor.name.clone(), draw_seeded_array(tensor, 1).ok()?))).collect();
    let _ = simulation.count(&inputs, &limits());
    if let Ok(outcome) = simulation.run(&inputs, &limits()) {
        npy::write_results(&place.path("results"), &outcome.results).unwrap();
    }
}

fn read_back(place: &CorpusFolder, folder: &Path) {
    let session = spyre_compiler::pipeline::create_session();
    // The process is used for this case alone, as by a tool.
    session.mark_as_tool();
    if let Ok(text) = bundle_to_mlir(&session, folder) {
        let _ = emitted(place, text.as_bytes(), "spyre-lower-to-sdscbundle");
    }
}

/// Checks a mutant of a bundle without a program of its own. The bundle is executed with the program of the original
/// bundle.
fn golden(place: &CorpusFolder, case: &Case, from: &Path) {
    let (folder, files) = place.golden(from);
    let (name, right) = &files[case.of];
    fs::write(folder.join(name), &case.mutant).unwrap();
    if let Ok(simulation) =
        Simulation::with_program(golden_program(from), folder.parent().unwrap(), &machine::Target::spyre())
    {
        execute(place, &simulation);
    }
    let _ = check_directory(&folder);
    read_back(place, &folder);
    fs::write(folder.join(name), right).unwrap();
}

/// Runs the phases that follow the phase of a page, and writes the files.
fn ir(place: &CorpusFolder, case: &Case) {
    let phase = Phase::ALL[case.of];
    let rest = Phase::ALL.into_iter().filter(|later| *later > phase && *later < Phase::Emit);
    let passes = PROGRAMS[case.group].options().pipeline(rest, "");
    let _ = emitted(place, &case.mutant, &format!("spyre-verify-phase{{phase={phase}}},{passes}"));
}

/// Continues the compilation from a page, which states its phase.
fn resumed(place: &CorpusFolder, case: &Case) {
    with_module(place, &case.mutant, |mut module| {
        compile(&mut module, &PROGRAMS[case.group].options(), &place.out()).is_some()
    });
}

/// Runs passes and writes files, as for IR from another producer; returns whether files were written.
fn emitted(place: &CorpusFolder, text: &[u8], passes: &str) -> bool {
    let passes = passes.trim_end_matches(',');
    with_module(place, text, |mut module| {
        module.run_pipeline(&format!("{passes},spyre-emit-bundle{{output={}}}", place.out()))
    })
}

fn program_text(place: &CorpusFolder, case: &Case) {
    let passes = PROGRAMS[case.group].options().pipeline(Phase::ALL, &place.out());
    with_module(place, &case.mutant, |mut module| module.run_pipeline(&passes));
}

/// Compiles, interprets the imported program, and executes the written files.
fn validated(place: &CorpusFolder, case: &Case) {
    with_module(place, &case.mutant, |mut module| {
        compile_and_validate(&mut module, &PROGRAMS[case.group].options(), &place.out()).is_some()
    });
}

/// Plans an instance with a limit of a few steps.
fn plan_instance_text(text: &str) -> Option<(Instance, String)> {
    let instance = if text.trim_start().starts_with('{') {
        Instance::from_json(text).ok()?
    } else {
        Instance::from_csv(text, Capacity { bytes: 1024, alignment: 1 }).ok()?
    };
    let mut go_on = |_: &scratchpad::PlanningProgress| true;
    let mut limits = PlanningLimits { budget: 1000, go_on: &mut go_on };
    let plan = plan_instance(&instance, "exact", ResidencyMode::Split, &mut limits).ok()?;
    let heading = scratchpad::ReportHeader { planner: "exact", seconds: 0.0, peak: None };
    let result = plan.to_json(&instance, &heading).unwrap();
    Some((instance, result))
}

fn plan_example() -> String {
    plan_instance_text(&String::from_utf8(input("instance.json")).unwrap()).unwrap().1
}

fn instance(place: &CorpusFolder, Case { mutant, .. }: &Case) {
    let path = place.write("instance", mutant);
    let Ok(text) = read_text(Path::new(&path), MAX_TEXT_BYTES) else { return };
    if let Some((instance, result)) = plan_instance_text(&text) {
        let given = (Some(instance.capacity.bytes), Some(instance.capacity.alignment));
        assert!(verify(&result, &text, given).is_ok(), "a plan that its own verifier refuses");
    }
}

fn result(_: &CorpusFolder, Case { mutant, .. }: &Case) {
    let instance = String::from_utf8(input("instance.json")).unwrap();
    let _ = verify(&String::from_utf8_lossy(mutant), &instance, (None, None));
    let _ = verify(&plan_example(), &String::from_utf8_lossy(mutant), (None, None));
}

fn array(place: &CorpusFolder, Case { mutant, .. }: &Case) {
    let path = place.write("array.npy", mutant);
    for element_type in ["f16", "bf16", "f32", "i32", "i64"] {
        let _ = npy::read(&path, element_type);
    }
}

fn op_specs(place: &CorpusFolder, Case { mutant, .. }: &Case) {
    let session = spyre_compiler::pipeline::create_session();
    // The process is used for this case alone, as by a tool.
    session.mark_as_tool();
    if let Ok(text) = opspec_to_mlir(&session, &String::from_utf8_lossy(mutant)) {
        let _ = emitted(place, text.as_bytes(), "spyre-lower-to-sdscbundle");
    }
}

/// Compiles for a machine that a mutated file describes.
fn target_file(place: &CorpusFolder, Case { mutant, .. }: &Case) {
    let machine = place.write("machine.json", mutant);
    let options = CompileOptions { target: machine, ..PROGRAMS[0].options() };
    with_module(place, &PROGRAMS[0].text(), |mut module| {
        module.run_pipeline(&options.pipeline(Phase::ALL, &place.out()))
    });
}
