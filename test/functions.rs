//! Measures the error of the functions that the import composes from others (`src/import/rules`): on the simulated
//! machine, for every number of the device's format that f16 reaches, and for 65,536 numbers of f32.
//! `docs/reference/functions.md` has the table; `BLESS=functions cargo test --test compiler -- functions::` writes it.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use machine::Target;
use referee::{ArrayElements, HostArray, RunOptions, Simulation};
use std::{fmt::Write as _, fs, path::Path, process::Command};

/// Function of one or two numbers whose error is measured.
struct MeasuredFunction {
    name: &'static str,
    /// Op on `%x` and `%y`.
    op: &'static str,
    exact: fn(f64, f64) -> f64,
    /// Arguments of the measurement.
    holds: fn(f64, f64) -> bool,
    domain: &'static str,
}

const ROWS: usize = 1024;
const COLUMNS: usize = 64;

fn accept_any(_: f64, _: f64) -> bool {
    true
}

const fn row(
    name: &'static str,
    op: &'static str,
    exact: fn(f64, f64) -> f64,
    holds: fn(f64, f64) -> bool,
    domain: &'static str,
) -> MeasuredFunction {
    MeasuredFunction { name, op, exact, holds, domain }
}

/// Computes the error function by its series near 0, and by the continued fraction of its complement above 2.
fn erf(x: f64) -> f64 {
    let m = x.abs();
    let scale = 2.0 / std::f64::consts::PI.sqrt();
    if m < 2.0 {
        let (mut term, mut sum) = (m, m);
        for n in 1..60 {
            term *= -m * m / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return x.signum() * scale * sum;
    }
    let fraction = (1..60).rev().fold(0.0, |below, n| f64::from(n) / 2.0 / (m + below));
    x.signum() * (1.0 - (-m * m).exp() / (m + fraction) * scale / 2.0)
}

/// Largest f16 number. A larger result saturates there.
const LARGEST: f64 = 65504.0;

const F16_FUNCTIONS: &[MeasuredFunction] = &[
    row("sin", "math.sin %x", |x, _| x.sin(), |x, _| x.abs() <= 1024.0, "-1024 to 1024; NaN beyond"),
    row("cos", "math.cos %x", |x, _| x.cos(), |x, _| x.abs() <= 1024.0, "-1024 to 1024; NaN beyond"),
    row("sin", "math.sin %x", |x, _| x.sin(), |x, _| x.abs() <= 8.0, "-8 to 8"),
    row("tan", "math.tan %x", |x, _| x.tan(), |x, _| x.abs() <= 1.5, "-1.5 to 1.5"),
    row("atan", "math.atan %x", |x, _| x.atan(), accept_any, "all"),
    row(
        "atan2",
        "math.atan2 %y, %x",
        |x, y| if x == 0.0 { y.atan2(0.0) } else { y.atan2(x) },
        accept_any,
        "all points",
    ),
    row("asin", "math.asin %x", |x, _| x.asin(), |x, _| x.abs() <= 1.0, "-1 to 1; NaN beyond"),
    row("acos", "math.acos %x", |x, _| x.acos(), |x, _| x.abs() <= 1.0, "-1 to 1; NaN beyond"),
    row("asinh", "math.asinh %x", |x, _| x.asinh(), accept_any, "all"),
    row("acosh", "math.acosh %x", |x, _| x.acosh(), |x, _| x >= 1.0, "from 1 on; NaN below"),
    row("atanh", "math.atanh %x", |x, _| x.atanh(), |x, _| x.abs() < 1.0, "between -1 and 1"),
    row("expm1", "math.expm1 %x", |x, _| x.exp_m1(), |x, _| x <= 11.0, "up to 11"),
    row("erf", "math.erf %x", |x, _| erf(x), accept_any, "all"),
    row("erfc", "math.erfc %x", |x, _| 1.0 - erf(x), accept_any, "all"),
    row("round", "math.round %x", |x, _| x.round(), accept_any, "all"),
    row("roundeven", "math.roundeven %x", |x, _| x.round_ties_even(), accept_any, "all"),
    row("trunc", "math.trunc %x", |x, _| x.trunc(), accept_any, "all"),
    row("copysign", "math.copysign %y, %x", |x, y| y.copysign(x), accept_any, "all, also of -0"),
    row("exp2", "math.exp2 %x", |x, _| x.exp2(), |x, _| x <= 15.0, "up to 15"),
    row("log2", "math.log2 %x", |x, _| x.log2(), |x, _| x > 0.0, "above 0"),
    row("log10", "math.log10 %x", |x, _| x.log10(), |x, _| x > 0.0, "above 0"),
    row("sinh", "math.sinh %x", |x, _| x.sinh(), |x, _| x.abs() <= 11.0, "-11 to 11"),
    row("cosh", "math.cosh %x", |x, _| x.cosh(), |x, _| x.abs() <= 11.0, "-11 to 11"),
    row("cbrt", "math.cbrt %x", |x, _| x.cbrt(), accept_any, "all"),
    row(
        "powf",
        "math.powf %x, %y",
        f64::powf,
        |x, y| x > 0.0 && x.powf(y) <= LARGEST,
        "x above 0, y one of -2.5, -1, 0, 0.3, 3; results of f16",
    ),
    row("remf", "arith.remf %x, %y", |x, y| x % y, |x, y| x.abs() <= 64.0 * y.abs() && y != 0.0, "quotients up to 64"),
];

const F32_FUNCTIONS: &[MeasuredFunction] = &[
    row("sin", "math.sin %x", |x, _| x.sin(), |x, _| x.abs() <= 131_072.0, "-131072 to 131072; NaN beyond"),
    row("cos", "math.cos %x", |x, _| x.cos(), |x, _| x.abs() <= 131_072.0, "-131072 to 131072; NaN beyond"),
    row("atan", "math.atan %x", |x, _| x.atan(), accept_any, "all"),
    row("atan2", "math.atan2 %y, %x", |x, y| y.atan2(x), accept_any, "all points"),
    row("asin", "math.asin %x", |x, _| x.asin(), |x, _| x.abs() <= 1.0, "-1 to 1; NaN beyond"),
    row("acos", "math.acos %x", |x, _| x.acos(), |x, _| x.abs() <= 1.0, "-1 to 1; NaN beyond"),
    row("erf", "math.erf %x", |x, _| erf(x), accept_any, "all"),
    row("round", "math.round %x", |x, _| x.round(), accept_any, "all"),
    row("roundeven", "math.roundeven %x", |x, _| x.round_ties_even(), accept_any, "all"),
    row("trunc", "math.trunc %x", |x, _| x.trunc(), accept_any, "all"),
];

/// Lists the finite f16 numbers that the device's format, with one mantissa bit less, represents; other numbers are
/// replaced by 0.
fn f16_samples() -> Vec<u16> {
    let is_finite = |bits: u16| bits & 0x7c00 != 0x7c00;
    (0..=u16::MAX).map(|bits| if is_finite(bits) && bits & 1 == 0 { bits } else { 0 }).collect()
}

/// Returns numbers of all magnitudes from 2^-12 to 2^17.
fn f32_samples() -> Vec<f32> {
    let number = |index: u32| {
        let bits = index.wrapping_mul(2_654_435_761);
        let exponent = 115 + bits % 29;
        f32::from_bits(((bits >> 5) & 1) << 31 | exponent << 23 | (bits >> 9))
    };
    (0..1 << 16).map(number).collect()
}

fn arguments(element: &str) -> [HostArray; 2] {
    const SECOND: [f64; 5] = [-2.5, -1.0, 0.0, 0.3125, 3.0];
    let shape = vec![1024, 64];
    let x = if element == "f16" { ArrayElements::F16(f16_samples()) } else { ArrayElements::F32(f32_samples()) };
    let mut y = ArrayElements::zeros(element.parse().unwrap(), ROWS * COLUMNS);
    // The numbers of f16 are sorted, so every second argument is combined with all magnitudes.
    (0..ROWS * COLUMNS).for_each(|index| y.set(index, SECOND[index / 2 % SECOND.len()]));
    [x, y].map(|elements| HostArray { shape: shape.clone(), elements })
}

/// Returns the maximum error, and the maximum relative to 1 + |result|.
fn measure_errors(function: &MeasuredFunction, element: &str) -> [f64; 2] {
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("program.mlir"), place.path().join("out"));
    let of = format!("tensor<{ROWS}x{COLUMNS}x{element}>");
    let text = format!(
        "func.func @main(%x: {of}, %y: {of}) -> {of} {{\n  %0 = {} : {of}\n  return %0 : {of}\n}}\n",
        function.op
    );
    fs::write(&input, text).unwrap();
    let compile = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(&input)
        .arg("-o")
        .arg(&out)
        .arg("--validate=off")
        .output()
        .unwrap();
    assert!(compile.status.success(), "{}: {}", function.name, String::from_utf8_lossy(&compile.stderr));
    let [x, y] = arguments(element);
    let inputs = [("arg0".to_owned(), x.clone()), ("arg1".to_owned(), y.clone())].into();
    let results =
        Simulation::load(&out, &Target::spyre()).unwrap().run(&inputs, &RunOptions::default()).unwrap().results;
    let mut worst = [0.0_f64; 2];
    for index in 0..ROWS * COLUMNS {
        let (x, y, found) = (x.elements.get(index), y.elements.get(index), results[0].1.elements.get(index));
        if !(function.holds)(x, y) {
            let is_marked = function.domain.contains("NaN");
            assert!(!is_marked || found.is_nan(), "{} of {x} is {found}", function.name);
            continue;
        }
        let expected = (function.exact)(x, y);
        let off = (found - expected).abs();
        assert!(!off.is_nan(), "{} of {x}, {y} is {found}", function.name);
        worst = [worst[0].max(off), worst[1].max(off / (1.0 + expected.abs()))];
    }
    worst
}

fn format_table(functions: &[MeasuredFunction], element: &str) -> String {
    let mut text = "| function | for | largest error | relative to 1 + result |\n|---|---|--:|--:|\n".to_owned();
    for function in functions {
        let viewed = |error: f64| if error == 0.0 { "0".to_owned() } else { format!("{error:.1e}") };
        let [off, relative] = measure_errors(function, element);
        writeln!(text, "| `{}` | {} | {} | {} |", function.name, function.domain, viewed(off), viewed(relative))
            .unwrap();
    }
    text
}

/// Only the tables of the page are generated; the text above them is kept.
#[test]
fn documents_measured_errors() {
    const MARK: &str =
        "<!-- measured: what follows is written by `BLESS=functions cargo test --test compiler -- functions::` -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/functions.md");
    let page = fs::read_to_string(&path).unwrap();
    let (told, _) = page.split_once(MARK).unwrap();
    let (half, single) = (format_table(F16_FUNCTIONS, "f16"), format_table(F32_FUNCTIONS, "f32"));
    let measured = format!("{told}{MARK}\n## In f16\n\n{half}\n## In f32\n\n{single}");
    if std::env::var("BLESS").is_ok_and(|what| what == "functions") {
        fs::write(&path, &measured).unwrap();
    }
    assert!(
        measured == page || std::env::var("BLESS").is_ok(),
        "docs/reference/functions.md has other figures:\n{measured}"
    );
}
