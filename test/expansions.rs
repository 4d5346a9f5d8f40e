//! Measures the error of functions that `spyre-expand-functions` expands: in exact arithmetic, and on the simulated
//! machine for every number of the device's format that f16 reaches.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use machine::Target;
use referee::{ArrayElements, HostArray, RunOptions, Simulation};
use spyre_compiler::import::{Expansion, ExpansionOperand};
use std::{fs, process::Command};

/// Returns `1 - Phi(x)` for x >= 0: from 3 on by its continued fraction, below by the series of Phi (Abramowitz and
/// Stegun, 26.2.14 and 26.2.11).
fn upper_tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x > 3.0 {
        return density / (1..80).rev().fold(x, |below, n| x + f64::from(n) / below);
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

/// Evaluates the expansion of the gelu in exact arithmetic.
fn evaluate_expansion(x: f64) -> f64 {
    let mut results: Vec<f64> = Vec::new();
    for step in Expansion::find("gelufwd").unwrap().steps {
        let read = |source: &ExpansionOperand| match *source {
            ExpansionOperand::Argument => x,
            ExpansionOperand::Number(number) => number,
            ExpansionOperand::Step(step) => results[step],
        };
        let operands: Vec<f64> = step.sources.iter().map(read).collect();
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
    let off = |step: i32| (evaluate_expansion(f64::from(step) / 1000.0) - gelu(f64::from(step) / 1000.0)).abs();
    let worst = (-20_000..=20_000).map(off).fold(0.0, f64::max);
    assert!((2.8e-4..2.95e-4).contains(&worst), "{worst:.3e}");
    assert_eq!((evaluate_expansion(65504.0), evaluate_expansion(-65504.0)), (65504.0, 0.0));
}

/// Lists the finite f16 numbers that the device's format, with one mantissa bit less, represents; other numbers are
/// replaced by 0.
fn list_f16_numbers() -> Vec<u16> {
    let is_finite = |bits: u16| bits & 0x7c00 != 0x7c00;
    (0..=u16::MAX).map(|bits| if is_finite(bits) && bits & 1 == 0 { bits } else { 0 }).collect()
}

/// Computes the function of every number on the simulated machine; other ops use its result.
fn execute_function(function: &str, options: &[&str]) -> Vec<(f64, f64)> {
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("program.mlir"), place.path().join("out"));
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

/// Returns the maximum error for numbers up to 10, and the maximum for all numbers, relative to 1 + |gelu|.
fn measure_gelu_errors(options: &[&str]) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    for (x, found) in execute_function("gelufwd", options) {
        let expected = gelu(x);
        let off = (found - expected).abs();
        assert!(!off.is_nan(), "gelu({x}) is {found}");
        worst[1] = worst[1].max(off / (1.0 + expected.abs()));
        if x.abs() <= 10.0 {
            worst[0] = worst[0].max(off);
        }
    }
    worst
}

/// The device's own gelu rounds once; in the expansion the last two roundings count, of the sum and of the quotient.
/// Between 2 and 4 half a unit in the last place is 2.0e-3. The comparison with a reference allows 2.0e-3 of the
/// element and the scale for one op of one operand.
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
