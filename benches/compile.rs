//! Measures compile times of models (`cargo bench --bench compile`): repeated compilations of one small block, then
//! models of up to 40 layers. Compares `spyre-compile` with `mlir-opt --canonicalize`, which parses the same file,
//! canonicalizes and prints it. `docs/measurements/performance.md` has the figures.
//!
//! `cargo bench --bench compile -- --write FILE.mlir LAYERS` writes a model and measures nothing; with a number of
//! tokens as another argument, a model of blocks of the 8B model.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

mod granite;

use criterion::{Criterion, criterion_group};
use granite::Granite;
use spyre_compiler::{
    compile::compile,
    mlir::Module,
    pipeline::{CompileOptions, Phase},
};
use std::{
    cell::RefCell,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    rc::Rc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const LAYERS: [u32; 4] = [5, 10, 20, 40];
/// Time budget for the runs of each process; each runs at least once.
const TIME_BUDGET: Duration = Duration::from_secs(8);
const MAX_RUNS: u32 = 10;

/// Failed compilation: the phase and the error.
struct CompileFailure {
    phase: Phase,
    message: String,
}

/// Parses a module and compiles it up to a phase; returns the first error. The files are written and deleted.
fn compile_text(text: &str, last: Phase) -> Result<(), String> {
    let session = spyre_compiler::pipeline::create_session();
    let errors = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&errors);
    session.context().attach_diagnostic_handler(move |diagnostic| {
        seen.borrow_mut().push(format!("{}: {diagnostic}", diagnostic.location()));
        true
    });
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let options = CompileOptions { compile_to: last, ..CompileOptions::default() };
    let report =
        Module::parse(&session, text).and_then(|mut module| compile(&mut module, &options, output.to_str().unwrap()));
    if report.is_some() { Ok(()) } else { Err(errors.borrow().first().cloned().unwrap_or_default()) }
}

/// Returns the phase that fails and its error; `None` if files are written.
fn find_failure(text: &str) -> Option<CompileFailure> {
    let stop = |phase: Phase| compile_text(text, phase).err().map(|message| CompileFailure { phase, message });
    stop(Phase::Emit).and_then(|_| Phase::ALL.into_iter().find_map(stop))
}

/// Times of a process.
struct ProcessTimes {
    /// Minimum of several runs.
    wall_s: f64,
    /// CPU time of all threads, the mean of the runs: the figure that other load affects least.
    cpu_s: f64,
}

/// Time after which ext4 without a journal no longer examines deleted files when it creates one. With thousands of
/// deleted files, that takes longer than the compilation.
const DELETION_SETTLE_TIME: Duration = Duration::from_secs(6);

/// Runs a process several times. Its output is kept, so that no deletion is measured.
fn measure_process<T>(kept: &mut Vec<T>, mut run: impl FnMut() -> T) -> ProcessTimes {
    let (start, cpu_start) = (Instant::now(), children_cpu_s());
    let (mut wall_s, mut num_runs) = (f64::INFINITY, 0);
    while num_runs < MAX_RUNS && (num_runs == 0 || start.elapsed() < TIME_BUDGET) {
        let before = Instant::now();
        kept.push(run());
        wall_s = wall_s.min(before.elapsed().as_secs_f64());
        num_runs += 1;
    }
    ProcessTimes { wall_s, cpu_s: (children_cpu_s() - cpu_start) / f64::from(num_runs) }
}

/// Returns the CPU time of terminated child processes, in user and in kernel mode ("proc(5)": fields 16 and 17 of
/// `stat`, in hundredths of a second).
fn children_cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1.split_whitespace();
    after_name.skip(13).take(2).map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

/// Runs `mlir-opt` from start to exit.
fn run_mlir_opt(path: &Path) {
    let prefix = env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let mut command = Command::new(prefix.join("bin/mlir-opt"));
    let status = command.arg("--canonicalize").arg(path).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "mlir-opt refuses {}", path.display());
}

/// Runs `spyre-compile` from start to exit; returns its output directory. The table lists a rejected model as stopped.
fn run_spyre_compile(path: &Path) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command.arg(path).args(["--tile-search", "none", "--validate=off", "-o"]).arg(place.path().join("bundle"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    place
}

/// Prints one row per model.
fn print_table() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("granite.mlir");
    println!(
        "\n| layers | lines | compile s | mlir-opt s | ratio | compile CPU s | mlir-opt CPU s | ratio | CPU ms per layer | stopped in |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut messages = Vec::new();
    let models = LAYERS.map(|layers| {
        let text = Granite::of_2b(layers as usize).module();
        let stop = find_failure(&text);
        (layers, text, stop)
    });
    std::thread::sleep(DELETION_SETTLE_TIME);
    let mut bundles = Vec::new();
    for (layers, text, stop) in models {
        fs::write(&path, &text).unwrap();
        let ours = measure_process(&mut bundles, || run_spyre_compile(&path));
        let theirs = measure_process(&mut Vec::new(), || run_mlir_opt(&path));
        let stopped = stop.as_ref().map_or("-", |stop| stop.phase.name());
        let both = |ours: f64, theirs: f64| format!("{ours:.3} | {theirs:.3} | {:.2}", ours / theirs);
        let (wall, cpu) = (both(ours.wall_s, theirs.wall_s), both(ours.cpu_s, theirs.cpu_s));
        let (lines, of_layer) = (text.lines().count(), 1000.0 * ours.cpu_s / f64::from(layers));
        println!("| {layers} | {lines} | {wall} | {cpu} | {of_layer:.1} | {stopped} |");
        messages.extend(stop.map(|stop| format!("{layers} layers stop in '{}': {}", stop.phase, stop.message)));
    }
    println!(
        "\nBoth are processes, from start to exit: spyre-compile writes files and looks for no loops, mlir-opt parses, canonicalizes and prints."
    );
    for message in messages {
        println!("{message}");
    }
}

fn bench_small_block(criterion: &mut Criterion) {
    let model =
        Granite { layers: 1, sequence: 64, cached: 0, hidden: 256, heads: 8, kv_heads: 2, head_size: 32, mlp: 512 };
    let text = model.module();
    let name = find_failure(&text).map_or("to files".to_owned(), |stop| format!("stops in {}", stop.phase));
    let mut group = criterion.benchmark_group("compile one small block");
    group.sample_size(20);
    group.bench_function(name, |bencher| bencher.iter(|| compile_text(&text, Phase::Emit)));
    group.finish();
}

criterion_group!(repeated, bench_small_block);

fn main() {
    // Cargo appends an argument.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--write") {
        let (path, layers) = (&arguments[at + 1], arguments[at + 2].parse().unwrap());
        let of_8b = arguments.get(at + 3).map(|tokens| Granite::of_8b(layers, tokens.parse().unwrap()));
        return fs::write(path, of_8b.unwrap_or_else(|| Granite::of_2b(layers)).module()).unwrap();
    }
    repeated();
    Criterion::default().configure_from_args().final_summary();
    // `cargo test --benches` only checks that the program starts.
    if arguments.iter().any(|argument| argument == "--bench") {
        print_table();
    }
}
