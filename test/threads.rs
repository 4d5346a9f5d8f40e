//! Checks that compilations and references that start concurrently in one process compute the same results as alone.
//!
//! This test has its own program, because only the first caller in a process runs the one-time initialization.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use referee::{ArrayElements, HostArray};
use spyre_compiler::{
    compile::compile,
    mlir::Module,
    pipeline::{CompileOptions, Phase},
    reference,
};
use std::{collections::BTreeMap, fs, path::Path, sync::Barrier, thread};

const NUM_THREADS: usize = 8;

const PROGRAM: &str = "func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %e = tensor.empty() : tensor<8x64xf16>
  %y = linalg.exp ins(%x : tensor<8x64xf16>) outs(%e : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
";

/// Output of a thread: the files of a compilation, and the results of the reference.
type ThreadOutput = (BTreeMap<String, Vec<u8>>, Vec<HostArray>);

fn compile_and_run(is_reference_first: bool) -> ThreadOutput {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("program.mlir");
    fs::write(&path, PROGRAM).unwrap();
    let input = HostArray {
        shape: vec![8, 64],
        elements: ArrayElements::F16((0..512).map(|number| number % 64 * 64).collect()),
    };
    let compiled = || {
        let (session, output) = (spyre_compiler::pipeline::create_session(), place.path().join("bundle"));
        let mut module = Module::parse(&session, PROGRAM).unwrap();
        let options = CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() };
        assert!(compile(&mut module, &options, output.to_str().unwrap()).is_some());
        files_below(&output, "")
    };
    let referred = || reference::run_reference(path.to_str().unwrap(), std::slice::from_ref(&input)).unwrap();
    if is_reference_first {
        let results = referred();
        (compiled(), results)
    } else {
        (compiled(), referred())
    }
}

fn files_below(folder: &Path, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => files.extend(files_below(&entry.path(), &name)),
            false => drop(files.insert(name, fs::read(entry.path()).unwrap())),
        }
    }
    files
}

#[test]
fn yields_same_output_in_concurrent_threads() {
    let barrier = Barrier::new(NUM_THREADS);
    let made: Vec<ThreadOutput> = thread::scope(|scope| {
        let start = |number: usize| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                compile_and_run(number.is_multiple_of(2))
            })
        };
        let threads: Vec<_> = (0..NUM_THREADS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let alone = compile_and_run(false);
    assert!(alone.0.len() >= 3, "{:?}", alone.0.keys());
    assert!(made.iter().all(|made| *made == alone));
}
