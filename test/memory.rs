//! Runs programs of different kinds under valgrind: no tool reads freed or uninitialized memory.
//!
//! Valgrind makes a process a hundred times slower, so the programs are small, and only `cargo xtask test` runs these tests. There are no
//! suppressions: neither MLIR nor its JIT needs any. In optimized tools, as `cargo xtask test` builds them, valgrind does not check for
//! uninitialized values: an optimizing compiler may compare values whose result it does not use.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use std::{fs, path::Path, process::Command};
use tempfile::TempDir;

/// Exit code of a process in which valgrind reported an error; the codes of our tools are 0 to 2.
const FOUND: &str = "99";

/// Whether a tool of ours is built as `cargo build` does, without optimisations.
fn is_for_development(tool: &str) -> bool {
    Path::new(tool).parent().is_some_and(|folder| folder.ends_with("debug"))
}

/// A folder for one test, with one of the programs.
struct Bench {
    folder: TempDir,
}

impl Bench {
    /// The program of that name in `test/memory/Inputs/programs.mlir`.
    fn of(name: &str) -> Self {
        let programs = include_str!("memory/Inputs/programs.mlir");
        let header = format!("func.func @{name}(");
        let program = programs.split("// -----\n").find(|program| program.contains(&header));
        Self::with(program.unwrap_or_else(|| panic!("there is no program '{name}'")))
    }

    fn with(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.mlir"), program).unwrap();
        Self { folder }
    }

    /// Runs a tool under valgrind; its output must contain `expected`.
    fn run(&self, tool: &str, arguments: &[&str], expected: &str) -> &Self {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--num-callers=30", &format!("--error-exitcode={FOUND}")]);
        if !is_for_development(tool) {
            command.arg("--undef-value-errors=no");
        }
        command.arg(tool).args(arguments).current_dir(self.folder.path());
        let output = command.output().expect("`cargo xtask setup` installs valgrind");
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert_ne!(output.status.code(), FOUND.parse().ok(), "{arguments:?}: valgrind found something:\n{said}");
        assert!(said.contains(expected), "{arguments:?}: {}: {said}", output.status);
        self
    }

    fn compile(&self, options: &[&str], expected: &str) -> &Self {
        self.run(env!("CARGO_BIN_EXE_spyre-compile"), &[&["in.mlir", "-o", "out", "--validate=off"], options].concat(), expected)
    }

    /// With the validation that is the default.
    fn validate(&self, expected: &str) -> &Self {
        self.run(env!("CARGO_BIN_EXE_spyre-compile"), &["in.mlir", "-o", "out"], expected)
    }

    /// The simulator, MLIR's JIT and the comparison of both.
    fn check(&self) -> &Self {
        self.run(env!("CARGO_BIN_EXE_spyre-run"), &["out", "--check", "in.mlir"], "correct")
    }

    /// Runs a tool as users do.
    fn prepare(&self, tool: &str, arguments: &[&str]) -> &Self {
        let output = Command::new(tool).args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self
    }
}

const ADD_MUL: &str = include_str!("pipeline/add_mul/01-input.mlir");
const SOFTMAX: &str = include_str!("pipeline/softmax/01-input.mlir");

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn an_elementwise_program_in_hint_scopes() {
    Bench::with(ADD_MUL).validate("validated by samples");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn a_mean_that_is_compared_with_the_program_as_written() {
    Bench::of("mean_over_heads").validate("the program as written (MLIR's JIT) agree in f64");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn a_softmax() {
    Bench::with(SOFTMAX).compile(&["--cores", "4"], "files written");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn a_tiling_that_is_refused() {
    Bench::of("product").compile(&["--tiles", "N=4"], "error[");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn files_from_ir_and_back() {
    let translate = env!("CARGO_BIN_EXE_spyre-translate");
    let bench = Bench::of("several_launches");
    bench.prepare(env!("CARGO_BIN_EXE_spyre-compile"), &["in.mlir", "--compile-to", "bundle", "-o", "bundle.mlir"]);
    bench.run(translate, &["--mlir-to-bundle", "bundle.mlir", "-o", "out"], "");
    bench.run(translate, &["--check-bundle", "out"], "");
    bench.run(translate, &["--bundle-to-mlir", "out"], "sdsc.bundle");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn a_plan() {
    let bench = Bench::with("");
    fs::write(bench.folder.path().join("in.csv"), "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n").unwrap();
    bench.run(env!("CARGO_BIN_EXE_spyre-plan"), &["in.csv", "--capacity", "12", "-o", "out.json", "--svg", "out.svg"], "optimal");
}

/// Further programs.
mod nightly {
    use super::*;

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn a_layer_norm_in_tiles_that_is_executed_and_compared() {
        let bench = Bench::of("layer_norm");
        bench.compile(&["--tiles", "A=2", "--cores", "2", "--report", "report.json"], "files written").check();
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn a_product_in_tiles_of_rows_and_of_what_is_summed() {
        Bench::of("product").compile(&["--tiles", "M=2,K=2", "--loops", "unroll", "--lx-planner", "greedy"], "files written");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn a_mean_of_one_element_a_tile() {
        Bench::of("mean_over_heads").compile(&["--tiles", "N=2,H=4"], "files written");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn an_f32_program_that_is_executed_and_compared() {
        Bench::of("wide").compile(&["--cores", "1"], "files written").check();
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn several_launches_with_baked_addresses() {
        Bench::of("several_launches").compile(&["--addresses", "baked"], "in 2 launches");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn a_gather() {
        Bench::of("rows_of_a_table").compile(&["--lx-planner", "none"], "files written");
    }
}
