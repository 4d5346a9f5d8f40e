//! Tests random programs with three kernels: chains of ops before and after them, some with other users; gathers of
//! rows before a kernel, and a second kernel after the first. In the cost model, fusion never makes a program slower.
//! Small ones are validated, fused and separate, against the imported program. Large ones, whose values do not fit in
//! LX together, are a quarter faster when fused.
//!
//! `SPYRE_RANDOM_KERNELS=500 cargo test --profile checked --test compiler -- --ignored --nocapture random_kernels::`
//! runs that many large ones, validates them, too, and prints their total time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use rayon::prelude::*;
use serde_json::Value;
use std::{env, fmt::Write as _, fs, ops::Range, process::Command};

const DEFAULT_PROGRAMS: u64 = 10;
/// Maximum total time of large fused programs, as a fraction of their time without fusion.
const MAX_FUSED_FRACTION: f64 = 0.75;

/// Candidate sizes of random programs.
struct ProgramSizes {
    rows: [i64; 3],
    columns: [i64; 3],
    tiles: [i64; 3],
    /// Whether LX has room for four tiles of a value only.
    is_tight: bool,
}

/// Sizes for which all values fit in LX.
const SMALL: ProgramSizes =
    ProgramSizes { rows: [64, 128, 256], columns: [64, 128, 192], tiles: [1, 2, 4], is_tight: false };
/// Sizes with rows that end inside a stick.
const RAGGED: ProgramSizes = ProgramSizes { columns: [40, 100, 136], ..SMALL };
const LARGE: ProgramSizes =
    ProgramSizes { rows: [512, 1024, 2048], columns: [256, 512, 1024], tiles: [2, 4, 8], is_tight: true };

/// Random numbers that are the same for a seed on every machine.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit).unwrap()
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64)]
    }
}

/// Builder of a program, with the rows and columns of its values.
struct KernelProgramBuilder {
    draws: SeededRandom,
    body: String,
    arguments: Vec<String>,
    num_values: usize,
}

impl KernelProgramBuilder {
    fn add_argument(&mut self, of: &str) -> String {
        let name = format!("%arg{}", self.arguments.len());
        self.arguments.push(format!("{name}: tensor<{of}xf16>"));
        name
    }

    /// Appends an elementwise op on a value of these sizes; half of the time it has a second operand.
    fn add_elementwise(&mut self, value: &str, [rows, columns]: [i64; 2]) -> String {
        let (result, of) = (format!("%v{}", self.num_values), format!("{rows}x{columns}"));
        self.num_values += 1;
        let function = self.draws.pick(&["neg", "abs", "relufwd", "add", "mul", "sub", "maximum"]);
        if ["neg", "abs", "relufwd"].contains(&function) {
            writeln!(self.body, "  {result} = spyre.pointwise {function}({value}) : tensor<{of}xf16>").unwrap();
            return result;
        }
        let other = [of.clone(), format!("1x{columns}"), format!("{rows}x1")][self.draws.below(3)].clone();
        let operand =
            if other == of && self.draws.below(3) == 0 { value.to_owned() } else { self.add_argument(&other) };
        let types = format!("(tensor<{of}xf16>, tensor<{other}xf16>) -> tensor<{of}xf16>");
        writeln!(self.body, "  {result} = spyre.pointwise {function}({value}, {operand}) : {types}").unwrap();
        result
    }

    fn add_chain(&mut self, mut value: String, sizes: [i64; 2]) -> String {
        for _ in 0..=self.draws.below(4) {
            value = self.add_elementwise(&value, sizes);
        }
        value
    }

    /// Generates the program of a seed, and its LX size in bytes; `None` is the default.
    fn generate(seed: u64, sizes: &ProgramSizes) -> (String, Option<i64>) {
        let mut program = Self { draws: SeededRandom(seed), body: String::new(), arguments: Vec::new(), num_values: 0 };
        let rows = sizes.rows[program.draws.below(3)];
        let columns = sizes.columns[program.draws.below(3)];
        let x = program.add_first_operand([rows, columns]);
        let made = program.add_chain(x, [rows, columns]);
        let tiles = sizes.tiles[program.draws.below(3)];
        let width = program.add_kernel("y", &made, [rows, columns], tiles);
        let mut after = program.add_chain("%y".to_owned(), [rows, width]);
        let mut of_after = format!("tensor<{rows}x{width}xf16>");
        let of_kernel = of_after.clone();
        // In half of the programs another kernel reads that, mostly in the same loops.
        if program.draws.below(2) == 0 {
            let tiles = [tiles, tiles, sizes.tiles[program.draws.below(3)]][program.draws.below(3)];
            let width = program.add_kernel("z", &after, [rows, width], tiles);
            of_after = format!("tensor<{rows}x{width}xf16>");
            after = program.add_chain("%z".to_owned(), [rows, width]);
        }
        // Half of the time an op outside of the kernel uses a value computed before the kernel or inside it.
        let (returned, of) = match program.draws.below(4) {
            0 => (format!("{after}, {made}"), format!("{of_after}, tensor<{rows}x{columns}xf16>")),
            1 => (format!("{after}, %y"), format!("{of_after}, {of_kernel}")),
            _ => (after, of_after),
        };
        let arguments = program.arguments.join(", ");
        let text =
            format!("func.func @main({arguments}) -> ({of}) {{\n{}  return {returned} : {of}\n}}\n", program.body);
        (text, sizes.is_tight.then_some(4 * rows * columns * 2 / 32 / tiles))
    }

    /// Returns the operand of the first op: an argument, or gathered rows of an argument.
    fn add_first_operand(&mut self, [rows, columns]: [i64; 2]) -> String {
        if self.draws.below(4) > 0 {
            return self.add_argument(&format!("{rows}x{columns}"));
        }
        let table = self.add_argument(&format!("100x{columns}"));
        let list = format!("%arg{}", self.arguments.len());
        self.arguments.push(format!("{list}: tensor<{rows}xi64>"));
        let types = format!("(tensor<100x{columns}xf16>, tensor<{rows}xi64>) -> tensor<{rows}x{columns}xf16>");
        writeln!(self.body, "  %chosen = spyre.gather({table}, {list}) dim 0 : {types}").unwrap();
        "%chosen".to_owned()
    }

    /// Appends a norm of rows, a matmul, or a softmax; returns the number of columns of its result.
    fn add_kernel(&mut self, name: &str, made: &str, [rows, columns]: [i64; 2], tiles: i64) -> i64 {
        let kind = self.draws.below(3);
        let weight = if kind == 1 { self.add_argument(&format!("{columns}x128")) } else { String::new() };
        let (whole, column) = (format!("tensor<{rows}x{columns}xf16>"), format!("tensor<{rows}x1xf16>"));
        let (inputs, dims, last, of, ops) = match kind {
            1 => {
                let (right, product) = (format!("tensor<{columns}x128xf16>"), format!("tensor<{rows}x128xf16>"));
                let ops = format!("      %p = spyre.matmul(%in, %w) : ({whole}, {right}) -> {product}\n");
                (format!("%in = {made} : {whole}, %w = {weight} : {right}"), r#"["rows", ""], []"#, "%p", product, ops)
            }
            0 => {
                let ops = format!(
                    "      %s = spyre.pointwise mul(%in, %in) : {whole}\n      %r = spyre.reduce mean(%s) dims [1] {{constants = array<f64: {}>}} : {whole} -> {column}\n      %q = spyre.pointwise sub(%in, %r) : ({whole}, {column}) -> {whole}\n",
                    1.0 / columns as f64
                );
                (format!("%in = {made} : {whole}"), r#"["rows", ""]"#, "%q", whole, ops)
            }
            _ => {
                let ops = format!(
                    "      %m = spyre.reduce max(%in) dims [1] : {whole} -> {column}\n      %d = spyre.pointwise sub(%in, %m) : ({whole}, {column}) -> {whole}\n      %e = spyre.pointwise exp(%d) : {whole}\n      %s = spyre.reduce sum(%e) dims [1] : {whole} -> {column}\n      %q = spyre.pointwise realdiv(%e, %s) : ({whole}, {column}) -> {whole}\n"
                );
                (format!("%in = {made} : {whole}"), r#"["rows", ""]"#, "%q", whole, ops)
            }
        };
        write!(
            self.body,
            "  %{name} = spyre.kernel \"{name}\"({inputs}) knobs([#spyre.knob<T = {tiles} in pow2 1 to 8>]) {{\n    %h = spyre.hint tiles(rows = T) {{\n{ops}      spyre.yield {last} : {of}\n    }}\n    spyre.yield %h : {of}\n  }} {{input_dims = [{dims}]}}\n"
        )
        .unwrap();
        if kind == 1 { 128 } else { columns }
    }
}

/// Returns the modeled time of a program, or an error.
fn compile_program((text, lx_bytes): &(String, Option<i64>), mode: &str, validates: bool) -> Result<f64, String> {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("program.mlir"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command
        .arg(at("program.mlir"))
        .arg("-o")
        .arg(at("out"))
        .args(["--kernels", mode, "--report"])
        .arg(at("report.json"));
    if let Some(bytes) = lx_bytes {
        command.arg("--lx-bytes").arg(bytes.to_string());
    }
    command.arg(if validates { "--validate" } else { "--validate=off" });
    let done = command.output().unwrap();
    if !done.status.success() || String::from_utf8_lossy(&done.stdout).contains("validated: ") != validates {
        return Err(format!("{mode}: {}\n{text}", String::from_utf8_lossy(&done.stderr)));
    }
    let report: Value = serde_json::from_str(&fs::read_to_string(at("report.json")).unwrap()).unwrap();
    Ok(report["time"]["estimate_us"].as_f64().unwrap())
}

/// Returns the total modeled time of the fused programs, as a fraction of their time without fusion. Panics if fusion
/// makes a program slower.
fn fused_fraction(seeds: Range<u64>, sizes: &ProgramSizes, validates: bool) -> f64 {
    let num_programs = seeds.end - seeds.start;
    let run = |seed: u64| {
        let program = KernelProgramBuilder::generate(seed, sizes);
        let [fused, separate] = ["fuse", "separate"].map(|mode| compile_program(&program, mode, validates));
        let (fused, separate) = (fused?, separate?);
        // Times are rounded to a thousandth.
        if fused > separate + 0.002 {
            Err(format!("seed {seed}: {fused} us fused, {separate} us separate\n{}", program.0))
        } else {
            Ok((fused, separate))
        }
    };
    let results: Vec<Result<(f64, f64), String>> = seeds.into_par_iter().map(run).collect();
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {num_programs} programs: {}", wrong.len(), wrong[0]);
    let sum = |which: fn(&(f64, f64)) -> f64| results.iter().flatten().map(which).sum::<f64>();
    let (fused, separate) = (sum(|both| both.0), sum(|both| both.1));
    println!("{num_programs} programs: {fused:.0} us fused, {separate:.0} us separate, {:.2}", fused / separate);
    fused / separate
}

#[test]
fn fuses_correctly_and_never_slower() {
    fused_fraction(0..DEFAULT_PROGRAMS, &SMALL, true);
}

/// A matmul of rows that end inside a stick reads padding, and the evaluation of moves must include its cost.
#[test]
fn ragged_rows_are_right_fused_and_never_slower() {
    fused_fraction(0..DEFAULT_PROGRAMS, &RAGGED, true);
}

/// With all moves this program cannot be compiled. If all moves are undone, the ops after one kernel move before the
/// next, which costs more.
#[test]
fn takes_no_longer_when_all_moves_cannot_compile() {
    fused_fraction(153..154, &SMALL, false);
}

#[test]
fn saves_a_quarter_of_time_when_program_exceeds_lx() {
    let part = fused_fraction(0..DEFAULT_PROGRAMS, &LARGE, false);
    assert!(part <= MAX_FUSED_FRACTION, "{part}");
}

#[test]
#[ignore = "takes half an hour"]
fn saves_a_quarter_of_time_in_many_large_programs() {
    let num_programs = env::var("SPYRE_RANDOM_KERNELS").ok().and_then(|number| number.parse().ok()).unwrap_or(500);
    let part = fused_fraction(0..num_programs, &LARGE, true);
    assert!(part <= MAX_FUSED_FRACTION, "{part}");
}
