//! Measures the error of functions that `spyre-expand-functions` expands: in f64, and in the simulator for every f16
//! number that the device's format represents.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use machine::Target;
use referee::{ArrayElements, HostArray, RunOptions, Simulation};
use spyre_compiler::import::{Expansion, ExpansionOperand};
use std::{fs, process::Command};

/// Returns the upper tail `1 - Phi(x)` of the normal distribution for x >= 0: for x > 3 by its continued fraction, else
/// by the series of Phi (Abramowitz and Stegun, 26.2.14 and 26.2.11).
fn upper_tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x > 3.0 {
        return density / (1..80).rev().fold(x, |denominator, n| x + f64::from(n) / denominator);
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        term *= x * x / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 - density * sum
}

fn gelu(x: f64) -> f64 {
    x * if x < 0.0 { upper_tail(-x) } else { 1.0 - upper_tail(x) }
}

#[test]
fn computes_reference_gelu() {
    for (x, expected) in [(1.0, 0.158_655_253_931_457), (2.0, 0.022_750_131_948_179), (4.0, 3.167_124_183_312e-5)] {
        assert!((upper_tail(x) - expected).abs() < 1e-13, "{x}");
    }
    assert!((upper_tail(3.0) - upper_tail(3.0 + 1e-9)).abs() < 1e-11, "the two forms do not meet");
}

/// Evaluates the expansion of gelu in f64.
fn evaluate_expansion(x: f64) -> f64 {
    let mut results: Vec<f64> = Vec::new();
    for step in Expansion::find("gelufwd").unwrap().steps {
        let evaluate_operand = |source: &ExpansionOperand| match *source {
            ExpansionOperand::Argument => x,
            ExpansionOperand::Number(number) => number,
            ExpansionOperand::Step(step) => results[step],
        };
        let operands: Vec<f64> = step.sources.iter().map(evaluate_operand).collect();
        results.push(match (step.function, operands.as_slice()) {
            ("add", [a, b]) => a + b,
            ("exp", [a]) => a.exp(),
            ("mul", [a, b]) => a * b,
            ("realdiv", [a, b]) => a / b,
            (function, _) => panic!("'{function}' is new here"),
        });
    }
    results[results.len() - 1]
}

#[test]
fn approximates_gelu_within_stated_error() {
    let error_at = |step: i32| (evaluate_expansion(f64::from(step) / 1000.0) - gelu(f64::from(step) / 1000.0)).abs();
    let worst = (-20_000..=20_000).map(error_at).fold(0.0, f64::max);
    assert!((2.8e-4..2.95e-4).contains(&worst), "{worst:.3e}");
    assert_eq!((evaluate_expansion(65504.0), evaluate_expansion(-65504.0)), (65504.0, 0.0));
}

/// Lists the bits of all f16 numbers. A number that is not finite, or that the device's format does not represent
/// because it has one mantissa bit less, is replaced by 0.
fn list_f16_numbers() -> Vec<u16> {
    let is_finite = |bits: u16| bits & 0x7c00 != 0x7c00;
    (0..=u16::MAX).map(|bits| if is_finite(bits) && bits & 1 == 0 { bits } else { 0 }).collect()
}

/// Applies a function to all f16 numbers in the simulator, and returns the numbers with their results. Adds zero to the
/// results, so that the function is not the last op.
fn execute_function(function: &str, options: &[&str]) -> Vec<(f64, f64)> {
    let temp_dir = tempfile::tempdir().unwrap();
    let (input, out) = (temp_dir.path().join("program.mlir"), temp_dir.path().join("out"));
    let text = format!(
        "func.func @main(%x: tensor<1024x64xf16>, %zero: tensor<1024x64xf16>) -> tensor<1024x64xf16> {{\n\
         %0 = spyre.pointwise {function}(%x) : tensor<1024x64xf16>\n\
         %1 = spyre.pointwise add(%0, %zero) : tensor<1024x64xf16>\n\
         return %1 : tensor<1024x64xf16>\n}}\n"
    );
    fs::write(&input, text).unwrap();
    let compile = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(&input)
        .arg("-o")
        .arg(&out)
        .arg("--validate=off")
        .args(options)
        .output()
        .unwrap();
    assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
    let ops =
        fs::read_dir(out.join("bundle_0")).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let is_expanded = !ops.collect::<String>().contains(&format!("\"{function}\""));
    assert_eq!(is_expanded, options.is_empty(), "{function} {options:?}");
    let array = |bits| HostArray { shape: vec![1024, 64], elements: ArrayElements::F16(bits) };
    let (x, zero) = (array(list_f16_numbers()), array(vec![0; 1 << 16]));
    let inputs = [("arg0".to_owned(), x.clone()), ("arg1".to_owned(), zero)].into();
    let results =
        Simulation::load(&out, &Target::spyre()).unwrap().run(&inputs, &RunOptions::default()).unwrap().results;
    (0..1 << 16).map(|index| (x.elements.get(index), results[0].1.elements.get(index))).collect()
}

/// Returns the maximum absolute error for numbers up to 10, and the maximum error relative to 1 + |gelu| for all
/// numbers.
fn measure_gelu_errors(options: &[&str]) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    for (x, found) in execute_function("gelufwd", options) {
        let expected = gelu(x);
        let error = (found - expected).abs();
        assert!(!error.is_nan(), "gelu({x}) is {found}");
        worst[1] = worst[1].max(error / (1.0 + expected.abs()));
        if x.abs() <= 10.0 {
            worst[0] = worst[0].max(error);
        }
    }
    worst
}

/// Bounds the errors of the device function and of its expansion. The device function rounds once. The error of the
/// expansion comes mostly from its last two roundings: of the sum and of the quotient. Half an ulp between 2 and 4 is
/// 2.0e-3. The comparison with a reference allows 2.0e-3 of the element and of the scale for one op of one operand.
#[test]
fn computes_gelu_of_every_number() {
    let [own, own_relative] = measure_gelu_errors(&["--lx-planner", "none"]);
    assert!(own < 1.96e-3 && own_relative < 6.5e-4, "{own:.3e} {own_relative:.3e}");
    let [off, relative] = measure_gelu_errors(&[]);
    assert!(off < 4.55e-3 && relative < 1.2e-3, "{off:.3e} {relative:.3e}");
}

#[test]
fn leaves_other_functions_unchanged() {
    for function in ["abs", "reciprocal", "relufwd"] {
        assert!(execute_function(function, &[]) == execute_function(function, &["--lx-planner", "none"]), "{function}");
    }
}
