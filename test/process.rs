//! Checks that compilations leave no trace in their process: signal handlers, the locale, the current directory, the
//! environment and the heap are the same afterwards. Signal handlers are also unchanged during a compilation.
//!
//! The test measures this in a child process, which runs this test again.

#![allow(clippy::unwrap_used, reason = "a test over processes")]
#![expect(clippy::print_stdout, reason = "a process of its own is read by its output")]
#![expect(unsafe_code, reason = "the state of a process is asked for in C")]

use spyre_compiler::{
    compile::compile_source,
    pipeline::{CompileOptions, Phase, create_session},
    validate::ValidationMode,
};
use std::{
    collections::BTreeMap,
    env,
    ffi::CStr,
    fs, mem,
    path::PathBuf,
    process::Command,
    ptr,
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

const NAME: &str = "process::compilations_leave_their_process_as_it_was";
/// Chunks in per-thread caches count as allocated; without these caches only leaked chunks do.
const NO_CACHE: &str = "glibc.malloc.tcache_count=0";
const VARIABLE: &str = "SPYRE_TEST_PROCESS";

const NUM_THREADS: usize = 8;
/// Warm-up compilations of each thread, which allocate what MLIR caches per process.
const NUM_WARMUPS: usize = 12;
const NUM_COMPILATIONS: usize = 2000;
/// Maximum growth of the heap in bytes over all measured compilations. Leaking one eight-byte cell per compilation
/// would need 64,000; growth without a leak was 3,000 to 18,000, for any number of compilations.
const MAX_HEAP_GROWTH: i64 = 36_000;

/// Program with a name that is no UTF-8, whose text is stored in its context.
const PROGRAM: &str = "func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %e = tensor.empty() : tensor<8x64xf16>
  %y = linalg.exp ins(%x : tensor<8x64xf16>) outs(%e : tensor<8x64xf16>) -> tensor<8x64xf16> loc(\"a\\FFb\")
  return %y : tensor<8x64xf16>
}
";

/// Program that every compilation rejects, so that a diagnostic is emitted.
const REJECTED: &str = "func.func @main(%x: tensor<?x64xf16>) -> tensor<?x64xf16> { return %x : tensor<?x64xf16> }";

/// Returns options that cover different paths of the compiler.
fn options(number: usize) -> CompileOptions {
    let words = [
        "",
        "cores=4",
        "lx-planner=none",
        "lx-planner=first-fit",
        "loops=unroll",
        "objective=bytes",
        "sticks=greedy",
        "precision=strict",
    ];
    let compile_to = if number.is_multiple_of(3) { Phase::Emit } else { Phase::Bundle };
    CompileOptions { compile_to, ..CompileOptions::parse(words[number % words.len()]).unwrap() }
}

/// Compiles once, in the same way as the C and the Python library, and returns the result.
fn compile(number: usize) -> String {
    let session = create_session();
    let is_rejected = number.is_multiple_of(5);
    let source = session.source_from_text("program.mlir", if is_rejected { REJECTED } else { PROGRAM });
    let (place, options) = (tempfile::tempdir().unwrap(), options(number));
    let output = if options.compile_to == Phase::Emit { place.path().join("bundle") } else { PathBuf::new() };
    let validation = if number.is_multiple_of(8) { ValidationMode::On } else { ValidationMode::Off };
    let compiled = compile_source(&source, &options, output.to_str().unwrap(), validation);
    assert_eq!((compiled.report.is_some(), compiled.found_bug), (!is_rejected, false), "{:?}", compiled.diagnostics);
    let launch = output.join("bundle_0/bundle.mlir");
    format!(
        "{:?} {} {}",
        compiled.diagnostics,
        compiled.ir.unwrap_or_default(),
        fs::read_to_string(launch).unwrap_or_default()
    )
}

/// Returns the handlers of all signals.
fn signal_handlers() -> Vec<(usize, i32)> {
    let handler = |signal| {
        // SAFETY: the call changes no state; it writes the result to a local variable.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action);
            (action.sa_sigaction, action.sa_flags)
        }
    };
    (1..=64).map(handler).collect()
}

/// Returns the remaining state of a process.
fn process_state() -> (String, PathBuf, BTreeMap<String, String>) {
    // SAFETY: the call changes no state, and the text is copied immediately.
    let locale = unsafe { CStr::from_ptr(libc::setlocale(libc::LC_ALL, ptr::null())) }.to_string_lossy().into_owned();
    (locale, env::current_dir().unwrap(), env::vars().collect())
}

/// Returns the number of threads of the process; a thread that is about to end may still count.
fn count_threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Returns the allocated bytes in all arenas.
fn heap_bytes() -> i64 {
    // SAFETY: the call only counts.
    let info = unsafe { libc::mallinfo2() };
    i64::try_from(info.uordblks + info.hblkhd).unwrap()
}

#[test]
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), ignore = "the heap is counted by glibc")]
fn compilations_leave_their_process_as_it_was() {
    if env::var_os(VARIABLE).is_some() {
        measure_growth();
        return;
    }
    let mut again = Command::new(env::current_exe().unwrap());
    let done = again
        .args(["--exact", NAME, "--nocapture"])
        .env(VARIABLE, "1")
        .env("GLIBC_TUNABLES", NO_CACHE)
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

fn measure_growth() {
    let num_threads_before = count_threads();
    let alone: Vec<String> = (0..40).map(compile).collect();
    let (handlers_before, state_before) = (signal_handlers(), process_state());
    let (barrier, is_over, num_changed) = (Barrier::new(NUM_THREADS + 1), AtomicBool::new(false), AtomicU64::new(0));
    let growth = thread::scope(|scope| {
        for first in 0..NUM_THREADS {
            let (barrier, alone) = (&barrier, &alone);
            scope.spawn(move || {
                let round = |numbers: std::ops::Range<usize>| {
                    for number in numbers.map(|number| first + number * NUM_THREADS) {
                        assert_eq!(compile(number % alone.len()), alone[number % alone.len()], "{number}");
                    }
                    barrier.wait();
                    barrier.wait();
                };
                round(0..NUM_WARMUPS);
                round(0..NUM_COMPILATIONS / NUM_THREADS);
            });
        }
        let watcher = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                num_changed.fetch_add(u64::from(signal_handlers() != handlers_before), Ordering::Relaxed);
            }
        });
        barrier.wait();
        let before = heap_bytes();
        barrier.wait();
        barrier.wait();
        let after = heap_bytes();
        barrier.wait();
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap();
        after - before
    });
    assert_eq!(num_changed.into_inner(), 0, "handlers of signals are others while something compiles");
    assert!(signal_handlers() == handlers_before, "handlers of signals are others behind compilations");
    assert_eq!(process_state(), state_before);
    let is_back = (0..100).any(|_| {
        count_threads() <= num_threads_before || {
            thread::sleep(Duration::from_millis(10));
            false
        }
    });
    assert!(is_back, "{} threads, {num_threads_before} before", count_threads());
    println!("{NUM_COMPILATIONS} compilations, {growth} bytes more");
    assert!(growth <= MAX_HEAP_GROWTH, "the heap has grown by {growth} bytes in {NUM_COMPILATIONS} compilations");
}
