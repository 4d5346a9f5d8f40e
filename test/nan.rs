//! NaN, infinities and zeros of both signs in the patterns that producers write for clipping, selecting and reducing.
//! The program has a number where the module has one, and NaN where the module has NaN.
//!
//! Without `--precision=strict`, a select by a comparison may become the device's maximum or minimum, which preserves a
//! NaN that the module loses (`docs/reference/simulator.md`, NaN and infinity). These rows are compared with
//! `--precision=strict` only.

#![allow(clippy::unwrap_used, reason = "a test over programs")]

use crate::common::tiled::{ExecutionFailure, check_against_jit};
use half::f16;
use referee::{ArrayElements, HostArray};
use spyre_compiler::{
    import::Precision,
    pipeline::{CompileOptions, PlannerName},
};
use std::fmt::Write as _;

/// Pattern of two numbers `%a` and `%b`: the lines of a body, whose last value is `%r`. `T` is the type.
struct NanPattern {
    name: &'static str,
    body: &'static str,
    /// Whether NaN is preserved with `--precision=strict` only.
    is_strict: bool,
}

const fn preserves_nan(name: &'static str, body: &'static str) -> NanPattern {
    NanPattern { name, body, is_strict: false }
}

const fn preserves_nan_if_strict(name: &'static str, body: &'static str) -> NanPattern {
    NanPattern { name, body, is_strict: true }
}

/// Elementwise patterns.
static PATTERNS: [NanPattern; 33] = [
    preserves_nan("maximumf", "%r = arith.maximumf %a, %b : T"),
    preserves_nan("minimumf", "%r = arith.minimumf %a, %b : T"),
    preserves_nan("maxnumf", "%r = arith.maxnumf %a, %b : T"),
    preserves_nan("minnumf", "%r = arith.minnumf %a, %b : T"),
    preserves_nan("maxnumf of a constant", "%r = arith.maxnumf %a, %one : T"),
    preserves_nan("minnumf of a constant", "%r = arith.minnumf %one, %a : T"),
    preserves_nan("relu of JAX", "%r = arith.maximumf %a, %zero : T"),
    preserves_nan("relu of torch-mlir", "%c = arith.cmpf ugt, %a, %zero : T\n%r = arith.select %c, %a, %zero : T"),
    preserves_nan_if_strict(
        "relu that loses NaN",
        "%c = arith.cmpf ogt, %a, %zero : T\n%r = arith.select %c, %a, %zero : T",
    ),
    preserves_nan(
        "relu the other way round",
        "%c = arith.cmpf olt, %a, %zero : T\n%r = arith.select %c, %zero, %a : T",
    ),
    preserves_nan_if_strict(
        "lower bound of torch-mlir",
        "%c = arith.cmpf ult, %a, %one : T\n%r = arith.select %c, %one, %a : T",
    ),
    preserves_nan_if_strict(
        "relu6 of torch-mlir",
        "%c = arith.cmpf ult, %a, %zero : T\n%l = arith.select %c, %zero, %a : T\n\
         %d = arith.cmpf ugt, %l, %six : T\n%r = arith.select %d, %six, %l : T",
    ),
    preserves_nan_if_strict(
        "hardtanh by ordered comparisons",
        "%c = arith.cmpf ogt, %a, %one : T\n%l = arith.select %c, %a, %one : T\n\
         %d = arith.cmpf olt, %l, %six : T\n%r = arith.select %d, %l, %six : T",
    ),
    preserves_nan("clip of JAX", "%l = arith.maximumf %one, %a : T\n%r = arith.minimumf %six, %l : T"),
    preserves_nan("clamp of TOSA", "%l = arith.minimumf %a, %six : T\n%r = arith.maximumf %l, %one : T"),
    preserves_nan(
        "clamp of TOSA that ignores NaN",
        "%l = arith.minimumf %a, %six : T\n%m = arith.maximumf %l, %one : T\n\
         %c = arith.cmpf uno, %a, %a : T\n%r = arith.select %c, %one, %m : T",
    ),
    preserves_nan(
        "maximum of TOSA that ignores NaN",
        "%m = arith.maximumf %a, %b : T\n%c = arith.cmpf uno, %a, %a : T\n%d = arith.cmpf uno, %b, %b : T\n\
         %s = arith.select %c, %b, %m : T\n%r = arith.select %d, %a, %s : T",
    ),
    preserves_nan_if_strict("larger of two", "%c = arith.cmpf ogt, %a, %b : T\n%r = arith.select %c, %a, %b : T"),
    preserves_nan_if_strict(
        "smaller of two, or NaN",
        "%c = arith.cmpf ule, %a, %b : T\n%r = arith.select %c, %a, %b : T",
    ),
    preserves_nan("masked", "%c = arith.cmpf ogt, %b, %zero : T\n%r = arith.select %c, %a, %zero : T"),
    preserves_nan("masked with infinity", "%c = arith.cmpf uge, %b, %one : T\n%r = arith.select %c, %low, %a : T"),
    preserves_nan("NaN to a number", "%c = arith.cmpf une, %a, %a : T\n%r = arith.select %c, %one, %a : T"),
    preserves_nan("infinity to a number", "%c = arith.cmpf oeq, %a, %high : T\n%r = arith.select %c, %six, %a : T"),
    preserves_nan("whether it is a number", "%c = arith.cmpf ord, %a, %a : T\n%r = arith.select %c, %one, %zero : T"),
    preserves_nan("remainder", "%r = arith.remf %a, %six : T"),
    preserves_nan("remainder of a number", "%r = arith.remf %one, %b : T"),
    preserves_nan("clamp of a number", "%r = math.clampf %one to [%zero, %b] : T"),
    preserves_nan("sum with a product of numbers", "%r = math.fma %six, %six, %b : T"),
    preserves_nan("truncated", "%r = math.trunc %a : T"),
    preserves_nan("rounded", "%r = math.roundeven %a : T"),
    preserves_nan("rounded away", "%r = math.round %a : T"),
    preserves_nan("absolute", "%r = math.absf %a : T"),
    preserves_nan("floor", "%r = math.floor %a : T"),
];

/// Reductions along the last dimension of a 16 x 16 tensor, with bodies of `%a` and `%acc`, and their initial values.
static REDUCTIONS: [(NanPattern, &str); 5] = [
    (preserves_nan("max", "%r = arith.maximumf %a, %acc : T"), "%low"),
    (preserves_nan("min", "%r = arith.minimumf %a, %acc : T"), "%high"),
    (preserves_nan_if_strict("max of numbers", "%r = arith.maxnumf %a, %acc : T"), "%low"),
    (preserves_nan_if_strict("min of numbers", "%r = arith.minnumf %acc, %a : T"), "%high"),
    (
        preserves_nan_if_strict(
            "max by comparison",
            "%c = arith.cmpf ogt, %a, %acc : T\n%r = arith.select %c, %a, %acc : T",
        ),
        "%low",
    ),
];

const SPECIAL: [f32; 16] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    -7.5,
    -6.0,
    -1.0,
    -0.0,
    0.0,
    0.25,
    1.0,
    3.0,
    6.0,
    7.5,
    100.0,
    0.001,
    -100.0,
];

/// Returns a program with one result per pattern and reduction, and their names.
fn program(element: &str, is_strict: bool) -> (String, Vec<&'static str>) {
    let patterns: Vec<&NanPattern> = PATTERNS.iter().filter(|pattern| is_strict || !pattern.is_strict).collect();
    let reductions: Vec<_> = REDUCTIONS.iter().filter(|(pattern, _)| is_strict || !pattern.is_strict).collect();
    let mut names: Vec<&str> = patterns.iter().map(|pattern| pattern.name).collect();
    let [low, high] = if element == "f16" { ["0xFC00", "0x7C00"] } else { ["0xFF800000", "0x7F800000"] };
    let mut text =
        "#id = affine_map<(d0) -> (d0)>\n#id2 = affine_map<(d0, d1) -> (d0, d1)>\n#row = affine_map<(d0, d1) -> (d0)>\n".to_owned();
    let results: Vec<&str> =
        patterns.iter().map(|_| "tensor<256xT>").chain(reductions.iter().map(|_| "tensor<16xT>")).collect();
    let _ = writeln!(text, "func.func @main(%x: tensor<256xT>, %y: tensor<256xT>) -> ({}) {{", results.join(", "));
    for (name, number) in [("zero", "0.0"), ("one", "1.0"), ("six", "6.0"), ("low", low), ("high", high)] {
        let _ = writeln!(text, "  %{name} = arith.constant {number} : T");
    }
    text += "  %e = tensor.empty() : tensor<256xT>\n  %e16 = tensor.empty() : tensor<16xT>\n";
    for (number, pattern) in patterns.iter().enumerate() {
        let _ = writeln!(
            text,
            "  %v{number} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\"]}} \
             ins(%x, %y : tensor<256xT>, tensor<256xT>) outs(%e : tensor<256xT>) {{\n^bb0(%a: T, %b: T, %o: T):\n{}\nlinalg.yield %r : T\n}} \
             -> tensor<256xT>",
            pattern.body
        );
    }
    text += "  %rows = tensor.expand_shape %x [[0, 1]] output_shape [16, 16] : tensor<256xT> into tensor<16x16xT>\n";
    for (number, (NanPattern { name, body, .. }, start)) in (patterns.len()..).zip(reductions) {
        names.push(name);
        let _ = writeln!(
            text,
            "  %s{number} = linalg.fill ins({start} : T) outs(%e16 : tensor<16xT>) -> tensor<16xT>\n  \
             %v{number} = linalg.generic {{indexing_maps = [#id2, #row], iterator_types = [\"parallel\", \"reduction\"]}} \
             ins(%rows : tensor<16x16xT>) outs(%s{number} : tensor<16xT>) {{\n^bb0(%a: T, %acc: T):\n{body}\nlinalg.yield %r : T\n}} \
             -> tensor<16xT>"
        );
    }
    let values: Vec<String> = (0..results.len()).map(|number| format!("%v{number}")).collect();
    let _ = writeln!(text, "  return {} : {}\n}}", values.join(", "), results.join(", "));
    (replace_type(&text, element), names)
}

/// Returns the text with a type in place of each word `T`.
fn replace_type(text: &str, element: &str) -> String {
    text.replace("xT>", &format!("x{element}>")).replace(": T", &format!(": {element}"))
}

fn array(element: &str, numbers: Vec<f32>) -> HostArray {
    let shape = vec![numbers.len() as i64];
    let elements = match element {
        "f16" => ArrayElements::F16(numbers.into_iter().map(|number| f16::from_f32(number).to_bits()).collect()),
        _ => ArrayElements::F32(numbers),
    };
    HostArray { shape, elements }
}

/// Returns every pair of special numbers; the rows of a reduction contain all or some of them.
fn inputs(element: &str) -> [HostArray; 2] {
    let number = |place: usize, index: usize| SPECIAL[(place + index * (1 + place / 4)) % 16];
    let first = (0..256).map(|at| number(at / 16, at % 16)).collect();
    let second = (0..256).map(|at| SPECIAL[at % 16]).collect();
    [array(element, first), array(element, second)]
}

fn check(element: &str, precision: Precision, is_strict: bool) {
    let (text, names) = program(element, is_strict);
    let options = CompileOptions { precision, lx_planner: Some(PlannerName::none()), ..CompileOptions::default() };
    let message = match check_against_jit(&text, &options, &inputs(element)) {
        Ok(()) => return,
        Err(ExecutionFailure::Rejected(message)) => message,
        Err(ExecutionFailure::Broken(what, message)) => format!("{what}: {message}"),
    };
    let numbered: Vec<String> = names.iter().enumerate().map(|(number, name)| format!("{number}: {name}")).collect();
    panic!("{element}, {precision:?}: {message}\n{}", numbered.join("\n"));
}

#[test]
fn preserves_numbers_and_nan() {
    for element in ["f32", "f16"] {
        check(element, Precision::Device, false);
    }
}

#[test]
fn selects_as_module_in_strict_mode() {
    for element in ["f32", "f16"] {
        check(element, Precision::Strict, true);
    }
}

/// An infinity in the weights of one group does not affect another group.
#[test]
fn ignores_infinity_elsewhere() {
    let groups = "#x = affine_map<(n, i, g, f, k, c) -> (n, i + k, g, c)>
      #w = affine_map<(n, i, g, f, k, c) -> (k, c, g, f)>
      #y = affine_map<(n, i, g, f, k, c) -> (n, i, g, f)>
      func.func @main(%x: tensor<1x6x8xf32>, %w: tensor<3x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
      %zero = arith.constant 0.0 : f32
      %g = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [1, 6, 2, 4] : tensor<1x6x8xf32> into tensor<1x6x2x4xf32>
      %e = tensor.empty() : tensor<1x4x2x2xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
      %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\"]}
        ins(%g, %w : tensor<1x6x2x4xf32>, tensor<3x4x2x2xf32>) outs(%f : tensor<1x4x2x2xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %q = arith.addf %s, %p : f32
        linalg.yield %q : f32
      } -> tensor<1x4x2x2xf32>
      return %r : tensor<1x4x2x2xf32>
    }";
    let mut weights: Vec<f32> = (0..48).map(|at| at as f32 / 16.0 + 0.5).collect();
    // Filter 1 of group 1.
    weights[3] = f32::INFINITY;
    let mut of_weights = array("f32", weights);
    of_weights.shape = vec![3, 4, 2, 2];
    let mut of_input = array("f32", (0..48).map(|at| at as f32 / 8.0 + 1.0).collect());
    of_input.shape = vec![1, 6, 8];
    let message = match check_against_jit(groups, &CompileOptions::default(), &[of_input, of_weights]) {
        Ok(()) => return,
        Err(ExecutionFailure::Rejected(message)) => message,
        Err(ExecutionFailure::Broken(what, message)) => format!("{what}: {message}"),
    };
    panic!("{message}");
}
