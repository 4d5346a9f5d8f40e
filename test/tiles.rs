//! Tests hand-written tiled programs: each is compiled in eight ways and executed, and all results equal those of
//! MLIR's JIT without loops.
//!
//! The programs are in `test/tile/Inputs`, several per file, each after a line `// -----` and named by its function; a
//! test has the name of a program or of a file. A line `// INPUTS: integers` means that nothing rounds, so results must
//! be equal to the last bit; `powers` is the equivalent for matmuls. Otherwise inputs have all magnitudes, and results
//! may differ by rounding. A line `// UNTILED` marks a program in which no loop is expected.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::tiled;
use half::f16;
use referee::{ArrayElements, HostArray};
use spyre_compiler::{
    mlir::{BlockExt, Module, OpExt, TensorType, ValueLike},
    reference::{WorstElement, check_against_reference, compare_arrays},
};
use std::{fs, path::Path};
use tiled::{BUILD_CONFIGS, BuildConfig, ExecutionFailure, ExecutionResult, execute, run_jit};

/// Kind of numbers in a program's arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ArgumentNumbers {
    /// Numbers of all magnitudes.
    Numbers,
    /// Small integers, half of them 0.
    Integers,
    /// Mostly 1 and -1, and a few 2 and 1/2.
    Powers,
}

struct ScopedProgram {
    name: String,
    text: String,
    inputs: ArgumentNumbers,
    has_loops: bool,
}

fn read_programs(file: &str) -> Vec<ScopedProgram> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/tile/Inputs").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split("// -----\n").map(parse_program).collect()
}

fn parse_program(text: &str) -> ScopedProgram {
    let says = |line: &str| text.lines().any(|other| other == line);
    let inputs = match () {
        () if says("// INPUTS: integers") => ArgumentNumbers::Integers,
        () if says("// INPUTS: powers") => ArgumentNumbers::Powers,
        () => ArgumentNumbers::Numbers,
    };
    let name =
        text.split_once("func.func @").and_then(|(_, rest)| rest.split_once('(')).expect("a program is a function").0;
    ScopedProgram { name: name.to_owned(), text: text.to_owned(), inputs, has_loops: !says("// UNTILED") }
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

/// Returns the program without its scopes, and the shapes of its arguments. The compiler only inlines the scopes.
fn remove_scopes(program: &ScopedProgram) -> Result<(String, Vec<Vec<i64>>), String> {
    let session = spyre_compiler::pipeline::create_session();
    let reject = || format!("@{} is not valid", program.name);
    let mut module = Module::parse(&session, &program.text).ok_or_else(reject)?;
    if !module.run_pipeline("spyre-flatten-hints") {
        return Err(reject());
    }
    let function = module.op().body_ops().into_iter().find(|op| op.is("func.func")).unwrap();
    let arguments = function.body().unwrap().args();
    let shapes =
        arguments.into_iter().map(|argument| TensorType::from_type(argument.r#type()).unwrap().shape).collect();
    // The JIT does not accept names of dimensions.
    function.remove_attr("arg_attrs");
    function.remove_attr("spyre.dim_sizes");
    Ok((module.op().to_string(), shapes))
}

/// Returns the arguments' numbers, which depend on their positions.
fn build_inputs(program: &ScopedProgram, shapes: &[Vec<i64>]) -> Vec<HostArray> {
    let of = |(position, shape): (u64, &Vec<i64>)| {
        let length = shape.iter().product::<i64>() as u64;
        let elements = (0..length).map(|index| {
            f16::from_f32(draw_number(program.inputs, mix_bits(position << 32 | index), length)).to_bits()
        });
        HostArray { shape: shape.clone(), elements: ArrayElements::F16(elements.collect()) }
    };
    (1..).zip(shapes).map(of).collect()
}

fn draw_number(inputs: ArgumentNumbers, drawn: u64, length: u64) -> f32 {
    let sign = if drawn.is_multiple_of(2) { 1.0 } else { -1.0 };
    sign * match (inputs, drawn / 2 % 128) {
        (ArgumentNumbers::Numbers, _) => (drawn % 2048) as f32 / 1024.0,
        (ArgumentNumbers::Powers, 0..3) => 2.0,
        (ArgumentNumbers::Powers, 3..6) => 0.5,
        (ArgumentNumbers::Powers, _) | (ArgumentNumbers::Integers, 64..112) => 1.0,
        // Zeros alone would prove nothing.
        (ArgumentNumbers::Integers, 0..64) if length > 1 => 0.0,
        (ArgumentNumbers::Integers, 112..124) => 2.0,
        (ArgumentNumbers::Integers, _) => 3.0,
    }
}

/// Mixes the bits of a number (the finalizer of `SplitMix64`).
fn mix_bits(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

/// Returns a description of the first difference between the results of an execution and the expected results, or
/// `None`.
fn find_difference(program: &ScopedProgram, executed: &ExecutionResult, expected: &[HostArray]) -> Option<String> {
    if executed.results.len() != expected.len() {
        return Some(format!("{} results instead of {}", executed.results.len(), expected.len()));
    }
    executed.results.iter().zip(expected).enumerate().find_map(|(number, (found, expected))| {
        if program.inputs == ArgumentNumbers::Numbers {
            let message = check_against_reference(&executed.companions[number], expected, &[], 0.0).err()?;
            return Some(format!("result {number} {message}"));
        }
        let comparison = match compare_arrays(found, expected) {
            Ok(comparison) if comparison.error > 0.0 => comparison,
            Ok(_) => return None,
            Err(message) => return Some(format!("result {number}: {message}")),
        };
        let WorstElement { index, found, expected } = comparison.worst?;
        Some(format!(
            "result {number} is off by {:.2e}: element {index:?} is {found}, not {expected}",
            comparison.error
        ))
    })
}

/// Checks a program in one build configuration. Returns the execution, or a message if a check fails.
fn check_build(
    program: &ScopedProgram,
    build: BuildConfig,
    inputs: &[HostArray],
    expected: &[HostArray],
) -> Result<ExecutionResult, String> {
    let executed = execute(&program.text, build, inputs).map_err(|stop| match stop {
        ExecutionFailure::Rejected(message) => format!("refused: {message}"),
        ExecutionFailure::Broken(what, message) => format!("{what}: {message}"),
    })?;
    if let Some(message) = find_difference(program, &executed, expected) {
        return Err(message);
    }
    let has_loops = program.has_loops && build.loops == "keep";
    if has_loops != (executed.num_loops > 0) {
        return Err(format!("{} loops in its bundles", executed.num_loops));
    }
    Ok(executed)
}

/// Checks a program in every build configuration. Returns one line for each failure.
fn check(program: &ScopedProgram) -> Vec<String> {
    let (text, shapes) = match remove_scopes(program) {
        Ok(found) => found,
        Err(message) => return vec![message],
    };
    let inputs = build_inputs(program, &shapes);
    let expected = run_jit(&text, &inputs).unwrap_or_else(|message| panic!("@{}: {message}", program.name));
    let is_zero = |array: &HostArray| (0..array.elements.len()).all(|index| array.elements.get(index) == 0.0);
    assert!(!expected.iter().any(is_zero), "@{}: a result of zeros shows nothing", program.name);
    let ran: Vec<Result<ExecutionResult, String>> =
        BUILD_CONFIGS.iter().map(|&build| check_build(program, build, &inputs, &expected)).collect();
    let mut wrong: Vec<String> = Vec::new();
    for (build, ran) in BUILD_CONFIGS.iter().zip(&ran) {
        if let Err(message) = ran {
            wrong.push(format!("@{} {}: {message}", program.name, build.text()));
        }
    }
    // Unrolled loops compute the same.
    for (kept, unrolled) in ran[..4].iter().zip(&ran[4..]) {
        if let (Ok(kept), Ok(unrolled)) = (kept, unrolled) {
            let done = |of: &ExecutionResult| (of.n_executions, of.hbm_bytes_written);
            if kept.results != unrolled.results || done(kept) != done(unrolled) {
                wrong.push(format!(
                    "@{}: unrolled, it does {:?} instead of {:?}",
                    program.name,
                    done(unrolled),
                    done(kept)
                ));
            }
        }
    }
    wrong
}

fn check_file(file: &str) {
    let wrong: Vec<String> = read_programs(file).iter().flat_map(check).collect();
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
}

/// Declares one test per file, with the file's name.
macro_rules! files {
    ($($name:ident)*) => {
        const FILES: &[&str] = &[$(concat!(stringify!($name), ".mlir")),*];
        $(#[test]
        fn $name() {
            check_file(concat!(stringify!($name), ".mlir"));
        })*
    };
}

files! {
    pointwise
    matmul
    views
    reductions_on_the_stick
    reductions_off_the_stick
    softmax
    layer_norm
    groups
    attention
    only_the_first_tile_right
    size_1_tiles
    batch_and_head_tiled_together
    interleaved_reduction_levels
    broadcast_operand_pinned_per_core
    accumulator_clobbered
}

#[test]
fn tests_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/tile/Inputs");
    let mut found: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut files = FILES.to_vec();
    found.sort_unstable();
    files.sort_unstable();
    assert_eq!(found, files);
}
