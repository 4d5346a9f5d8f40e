//! Checks that the IR printed after any phase compiles to the same files as an uninterrupted compilation.
//!
//! Each program is compiled twice in lockstep, phase by phase: once in memory, once printed and parsed after every
//! phase. The texts after every phase must be equal, so every text leads to the same files.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test over files")]

use sdsc_format::{Sdsc, to_text};
use spyre_compiler::{
    compile::compile,
    mlir::{Module, Session},
    pipeline::{CompileOptions, Phase},
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Files of `test/execution`, with the options of their RUN lines.
const EXECUTIONS: &[(&str, &str)] = &[
    ("tiles", "dims=0=A:B tiles=A=2,B=4"),
    ("tiles", "dims=0=A:B tiles=A=4 addresses=baked loops=unroll"),
    ("insert_tiles", ""),
    ("results", ""),
    ("heads", "sticks=greedy cores=3"),
    ("launches", "addresses=baked"),
    ("gather", ""),
    ("constants", ""),
    ("stays", "lx-planner=exact lx-bytes=65536"),
];

struct PhaseProgram {
    name: String,
    text: String,
    options: CompileOptions,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test").join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the programs of a file: those after `//---` lines for `split-file`, or after `// -----`.
fn split_programs(path: &Path, options: &str) -> Vec<PhaseProgram> {
    let text = read(path);
    let parts: Vec<&str> = text
        .split("// -----\n")
        .flat_map(|part| part.split("//--- "))
        .filter(|part| part.contains("func.func"))
        .collect();
    let program = |(number, part): (usize, &&str)| PhaseProgram {
        name: format!("{} {number} {options}", path.display()),
        // Remainder of the line that names the program.
        text: part
            .split_once('\n')
            .filter(|(name, _)| name.ends_with(".mlir"))
            .map_or(*part, |(_, rest)| rest)
            .to_owned(),
        options: CompileOptions::parse(options).unwrap(),
    };
    parts.iter().enumerate().map(program).collect()
}

fn programs_in_folder(name: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Converts `--dims X --tiles Y` to the options of a pipeline.
fn to_pipeline(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words
        .chunks(2)
        .map(|pair| format!("{}={} ", pair[0].trim_start_matches("--"), pair.get(1).unwrap_or(&"true")))
        .collect()
}

/// Returns the text of a module after a phase; `None` if the program is rejected.
fn print_after_phase(module: &mut Module<'_>, program: &PhaseProgram, phase: Phase) -> Option<String> {
    let options = CompileOptions { compile_to: phase, ..program.options.clone() };
    compile(module, &options, "").map(|_| format!("{}\n", module.op()))
}

/// Returns the contents of a file without its debug handle, which follows from locations that printed IR omits.
fn read_without_handle(path: &Path) -> Vec<u8> {
    let content = fs::read(path).unwrap();
    if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("sdsc_")) {
        return content;
    }
    let mut file: Sdsc = serde_json::from_slice(&content).unwrap();
    file.value.debug_handle = None;
    to_text(&file)
}

fn emit_files(module: &mut Module<'_>, program: &PhaseProgram) -> Option<BTreeMap<String, Vec<u8>>> {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let options = CompileOptions { compile_to: Phase::Emit, ..program.options.clone() };
    compile(module, &options, output.to_str().unwrap())?;
    let mut files = BTreeMap::new();
    let mut folders = vec![output.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(&output).unwrap().display().to_string(), read_without_handle(&path));
            }
        }
    }
    Some(files)
}

/// Returns a session without output. Each module has its own, because names of large constants are unique per session
/// only.
fn silent_session() -> Session {
    let session = spyre_compiler::pipeline::create_session();
    session.context().attach_diagnostic_handler(|_| true);
    session
}

/// Returns a description of the first failure of a program, or `None`. Also returns `None` if the unmodified program is
/// rejected.
fn check(program: &PhaseProgram, num_checked: &mut usize) -> Option<String> {
    let (once, again) = (silent_session(), silent_session());
    let straight = emit_files(&mut Module::parse(&once, &program.text)?, program)?;
    *num_checked += 1;
    let mut in_memory = Module::parse(&again, &program.text)?;
    let mut read_again = program.text.clone();
    for phase in Phase::ALL.into_iter().filter(|phase| *phase < Phase::Emit) {
        let session = silent_session();
        let Some(expected) = print_after_phase(&mut in_memory, program, phase) else {
            return Some(format!("stops in phase {phase}"));
        };
        let Some(mut module) = Module::parse(&session, &read_again) else {
            return Some(format!("its text in front of phase {phase} is not valid"));
        };
        let Some(found) = print_after_phase(&mut module, program, phase) else {
            return Some(format!("its text in front of phase {phase} is refused"));
        };
        if found != expected {
            return Some(format!("behind phase {phase} its text leads elsewhere"));
        }
        read_again = found;
    }
    let session = silent_session();
    let last = Module::parse(&session, &read_again).and_then(|mut module| emit_files(&mut module, program));
    if last.as_ref() == Some(&straight) { None } else { Some("the files are others".to_owned()) }
}

fn check_all(programs: &[PhaseProgram], least: usize) {
    let mut num_checked = 0;
    let wrong: Vec<String> = programs
        .iter()
        .filter_map(|program| check(program, &mut num_checked).map(|message| format!("{}: {message}", program.name)))
        .collect();
    assert!(wrong.is_empty(), "{} of {num_checked} programs\n{}", wrong.len(), wrong.join("\n"));
    assert!(num_checked >= least, "only {num_checked} of {} programs compile", programs.len());
}

#[test]
fn resumes_from_text_of_every_phase() {
    let inputs = programs_in_folder("pipeline").into_iter().map(|program| program.join("01-input.mlir"));
    let programs = inputs.flat_map(|input| {
        let line = read(&input).lines().next().and_then(|line| line.strip_prefix("// OPTIONS:")).map(to_pipeline);
        split_programs(&input, line.unwrap_or_default().trim())
    });
    check_all(&programs.collect::<Vec<_>>(), 2);
}

#[test]
fn resumes_tiled_programs_from_text() {
    let programs: Vec<PhaseProgram> =
        programs_in_folder("tile/Inputs").iter().flat_map(|path| split_programs(path, "")).collect();
    check_all(&programs, 100);
}

#[test]
fn resumes_executed_programs_from_text() {
    let file = |name: &str| folder("execution").join(format!("{name}.mlir"));
    let programs: Vec<PhaseProgram> =
        EXECUTIONS.iter().flat_map(|(name, options)| split_programs(&file(name), options)).collect();
    check_all(&programs, 12);
}
