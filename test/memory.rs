//! Runs programs of different kinds under valgrind: no tool reads freed or uninitialized memory.
//!
//! Valgrind makes a process a hundred times slower, so the programs are small, and only `cargo xtask test` runs these
//! tests. There are no suppressions: neither MLIR nor its JIT needs any. In optimized tools, as `cargo xtask test`
//! builds them, valgrind does not check for uninitialized values: an optimizing compiler may compare values whose
//! result it does not use.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use std::{fs, path::Path, process::Command};
use tempfile::TempDir;

/// Exit code of a process in which valgrind reported an error; the codes of our tools are 0 to 2.
const VALGRIND_ERROR_CODE: &str = "99";

/// Returns whether a tool is built without optimizations, as by `cargo build`.
fn is_debug_build(tool: &str) -> bool {
    Path::new(tool).parent().is_some_and(|folder| folder.ends_with("debug"))
}

/// Folder for one test, with a program.
struct MemoryTest {
    folder: TempDir,
}

impl MemoryTest {
    /// Creates the folder with a named program of `test/memory/Inputs/programs.mlir`.
    fn from_named_program(name: &str) -> Self {
        let programs = include_str!("memory/Inputs/programs.mlir");
        let header = format!("func.func @{name}(");
        let program = programs.split("// -----\n").find(|program| program.contains(&header));
        Self::from_program(program.unwrap_or_else(|| panic!("there is no program '{name}'")))
    }

    fn from_program(program: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.mlir"), program).unwrap();
        Self { folder }
    }

    /// Runs a tool under valgrind; its output must contain `expected`.
    fn run(&self, tool: &str, arguments: &[&str], expected: &str) -> &Self {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--num-callers=30", &format!("--error-exitcode={VALGRIND_ERROR_CODE}")]);
        if !is_debug_build(tool) {
            command.arg("--undef-value-errors=no");
        }
        command.arg(tool).args(arguments).current_dir(self.folder.path());
        let output = command.output().expect("`cargo xtask setup` installs valgrind");
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert_ne!(
            output.status.code(),
            VALGRIND_ERROR_CODE.parse().ok(),
            "{arguments:?}: valgrind found something:\n{said}"
        );
        assert!(said.contains(expected), "{arguments:?}: {}: {said}", output.status);
        self
    }

    fn compile(&self, options: &[&str], expected: &str) -> &Self {
        self.run(
            env!("CARGO_BIN_EXE_spyre-compile"),
            &[&["in.mlir", "-o", "out", "--validate=off"], options].concat(),
            expected,
        )
    }

    /// Compiles with the default validation.
    fn validate(&self, expected: &str) -> &Self {
        self.run(env!("CARGO_BIN_EXE_spyre-compile"), &["in.mlir", "-o", "out"], expected)
    }

    /// Runs the simulator, MLIR's JIT and the comparison of both.
    fn check(&self) -> &Self {
        self.run(env!("CARGO_BIN_EXE_spyre-run"), &["out", "--check", "in.mlir"], "correct")
    }

    /// Runs a tool without valgrind.
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
fn runs_elementwise_program_in_hint_scopes() {
    MemoryTest::from_program(ADD_MUL).validate("validated by samples");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn compares_mean_with_program_as_written() {
    MemoryTest::from_named_program("mean_over_heads").validate("the program as written (MLIR's JIT) agree in f64");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn runs_softmax() {
    MemoryTest::from_program(SOFTMAX).compile(&["--cores", "4"], "files written");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn rejects_tiling() {
    MemoryTest::from_named_program("product").compile(&["--tiles", "N=4"], "error[");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn converts_files_from_ir_and_back() {
    let translate = env!("CARGO_BIN_EXE_spyre-translate");
    let bench = MemoryTest::from_named_program("several_launches");
    bench.prepare(env!("CARGO_BIN_EXE_spyre-compile"), &["in.mlir", "--compile-to", "bundle", "-o", "bundle.mlir"]);
    bench.run(translate, &["--mlir-to-bundle", "bundle.mlir", "-o", "out"], "");
    bench.run(translate, &["--check-bundle", "out"], "");
    bench.run(translate, &["--bundle-to-mlir", "out"], "sdsc.bundle");
}

#[test]
#[ignore = "slow: `cargo xtask test` runs this"]
fn plans_instance() {
    let bench = MemoryTest::from_program("");
    fs::write(
        bench.folder.path().join("in.csv"),
        "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n",
    )
    .unwrap();
    bench.run(
        env!("CARGO_BIN_EXE_spyre-plan"),
        &["in.csv", "--capacity", "12", "-o", "out.json", "--svg", "out.svg"],
        "optimal",
    );
}

/// Further programs.
mod nightly {
    use super::*;

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_and_compares_tiled_layer_norm() {
        let bench = MemoryTest::from_named_program("layer_norm");
        bench.compile(&["--tiles", "A=2", "--cores", "2", "--report", "report.json"], "files written").check();
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_product_tiled_over_rows_and_contraction() {
        MemoryTest::from_named_program("product")
            .compile(&["--tiles", "M=2,K=2", "--loops", "unroll", "--lx-planner", "greedy"], "files written");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_mean_of_one_element_per_tile() {
        MemoryTest::from_named_program("mean_over_heads").compile(&["--tiles", "N=2,H=4"], "files written");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_and_compares_f32_program() {
        MemoryTest::from_named_program("wide").compile(&["--cores", "1"], "files written").check();
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_several_launches_with_baked_addresses() {
        MemoryTest::from_named_program("several_launches").compile(&["--addresses", "baked"], "in 2 launches");
    }

    #[test]
    #[ignore = "minutes: `cargo xtask nightly` runs this"]
    fn executes_gather() {
        MemoryTest::from_named_program("rows_of_a_table").compile(&["--lx-planner", "none"], "files written");
    }
}
