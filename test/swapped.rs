//! Tests swapped functions: in deep programs one function of the files is replaced by another, and the comparison with
//! the reference must detect it. The tolerance of the comparison does not grow with the depth of a program, the number
//! of its files, or its exponentials.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::{self, granite::Granite};
use element::{Arithmetic, FieldElement, FiniteField};
use machine::Target;
use referee::{HostArray, InputDistribution, IntervalArithmetic, RunOptions, Simulation, draw_argument};
use serde_json::Value;
use spyre_compiler::reference::{ReferenceResults, check_against_reference};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Number of swaps that are tried per program.
const NUM_SWAPS: usize = 14;

/// Substitutions of functions: same number of operands, different meaning. A softmax does not depend on the value that
/// it subtracts. Its maximum is therefore not replaced, and its difference is not replaced by a sum.
const SWAPS: [(&str, &str); 13] = [
    ("add", "sub"),
    ("sub", "mul"),
    ("mul", "add"),
    ("realdiv", "mul"),
    ("maximum", "minimum"),
    ("exp", "neg"),
    ("neg", "exp"),
    ("silu", "sigmoid"),
    ("sigmoid", "silu"),
    ("rsqrt", "sqrt"),
    ("sqrt", "rsqrt"),
    ("sum", "max"),
    ("sumnonstick", "maxnonstick"),
];

/// Four tiles of rows, unrolled.
const SOFTMAX: &str = "
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row)>
func.func @softmax(%x: tensor<64x100xf16>) -> tensor<64x100xf16> {
  %matrix = tensor.empty() : tensor<64x100xf16>
  %rows = tensor.empty() : tensor<64xf16>
  %minus_infinity = arith.constant 0xFC00 : f16
  %lowest = linalg.fill ins(%minus_infinity : f16) outs(%rows : tensor<64xf16>) -> tensor<64xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<64x100xf16>) outs(%lowest : tensor<64xf16>) dimensions = [1]
  %shifted = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%x, %max : tensor<64x100xf16>, tensor<64xf16>) outs(%matrix : tensor<64x100xf16>) {
  ^bb0(%element: f16, %row_max: f16, %out: f16):
    %difference = arith.subf %element, %row_max : f16
    linalg.yield %difference : f16
  } -> tensor<64x100xf16>
  %exp = linalg.exp ins(%shifted : tensor<64x100xf16>) outs(%matrix : tensor<64x100xf16>) -> tensor<64x100xf16>
  %zero = arith.constant 0.0 : f16
  %nothing = linalg.fill ins(%zero : f16) outs(%rows : tensor<64xf16>) -> tensor<64xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<64x100xf16>) outs(%nothing : tensor<64xf16>) dimensions = [1]
  %softmax = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%exp, %sum : tensor<64x100xf16>, tensor<64xf16>) outs(%matrix : tensor<64x100xf16>) {
  ^bb0(%element: f16, %row_sum: f16, %out: f16):
    %quotient = arith.divf %element, %row_sum : f16
    linalg.yield %quotient : f16
  } -> tensor<64x100xf16>
  return %softmax : tensor<64x100xf16>
}";

/// A compiled program, its inputs, and its expected results.
struct CompiledReference {
    place: tempfile::TempDir,
    inputs: BTreeMap<String, HostArray>,
    reference: ReferenceResults,
}

impl CompiledReference {
    fn new(text: &str, options: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let (input, out) = (place.path().join("input.mlir"), place.path().join("out"));
        fs::write(&input, text).unwrap();
        let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
            .arg(&input)
            .arg("-o")
            .arg(&out)
            .arg("--validate=off")
            .args(options)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let simulation = Simulation::load(&out, &Target::spyre()).unwrap();
        let program = simulation.program();
        let arrays: Vec<HostArray> = (0..program.arguments.len())
            .map(|position| draw_argument(program, position, 0, InputDistribution::Random).unwrap())
            .collect();
        let reference = ReferenceResults::compute(input.to_str().unwrap(), "", &arrays, &|_| {}).unwrap();
        let inputs = program.arguments.iter().map(|tensor| tensor.name.clone()).zip(arrays).collect();
        Self { place, inputs, reference }
    }

    /// Returns the error of executing the files unchanged, or of comparing the results with the reference. Returns
    /// `None` if the results agree.
    fn find_complaint(&self) -> Option<String> {
        let run = || {
            let simulation = Simulation::load(&self.place.path().join("out"), &Target::spyre())?;
            simulation.run_with(&IntervalArithmetic, &self.inputs, &RunOptions::default())
        };
        let (outcome, found) = match run() {
            Ok(ran) => ran,
            Err(error) => return Some(error.to_string()),
        };
        let evaluated = |number: usize| {
            let approximated = self.reference.approximated_result(number);
            check_against_reference(
                &found[number],
                &self.reference.results[number],
                &approximated,
                outcome.report.largest_magnitude(),
            )
            .err()
        };
        (0..found.len()).find_map(evaluated)
    }

    /// Returns the SDSC files with a function that has a swap, in order.
    fn swappable_files(&self) -> Vec<(PathBuf, &'static str, &'static str)> {
        let mut files = sdsc_files(&self.place.path().join("out"));
        files.sort();
        let swap = |path: PathBuf| {
            let found = read_function(&serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())?;
            SWAPS.into_iter().find(|(function, _)| *function == found).map(|(from, to)| (path, from, to))
        };
        files.into_iter().filter_map(swap).collect()
    }

    fn check(&self) {
        assert_eq!(self.find_complaint(), None);
        let swaps = self.swappable_files();
        assert!(swaps.len() >= NUM_SWAPS, "{} functions can be swapped", swaps.len());
        for index in 0..NUM_SWAPS {
            let (path, from, to) = &swaps[index * swaps.len() / NUM_SWAPS];
            let right = fs::read(path).unwrap();
            fs::write(path, swap_function(&right, from, to)).unwrap();
            assert!(self.find_complaint().is_some(), "{}: nobody sees {to} in the place of {from}", path.display());
            fs::write(path, right).unwrap();
        }
    }
}

fn sdsc_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_sdsc = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with("sdsc_");
    entries
        .flat_map(|path| if path.is_dir() { sdsc_files(&path) } else { vec![path] })
        .filter(|path| is_sdsc(path))
        .collect()
}

fn read_function(file: &Value) -> Option<String> {
    let (_, operation) = file.as_object()?.iter().next()?;
    operation["dscs_"][0].as_object()?.keys().next().cloned()
}

/// Returns the file with its function replaced in both places that name it.
fn swap_function(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut file: Value = serde_json::from_slice(file).unwrap();
    let operation = file.as_object_mut().unwrap().values_mut().next().unwrap();
    let mut named = operation["dscs_"][0].as_object_mut().unwrap().remove(from).unwrap();
    named["computeOp_"][0]["opFuncName"] = to.into();
    operation["dscs_"][0][to] = named;
    serde_json::to_vec(&file).unwrap()
}

const UNROLLED: [&str; 8] = ["--dims", "0=M:N", "--tiles", "M=4", "--loops", "unroll", "--lx-planner", "first-fit"];

#[test]
fn detects_swapped_functions_in_unrolled_softmax() {
    CompiledReference::new(SOFTMAX, &UNROLLED).check();
}

/// In a finite field, plans of one program compute equal results, and swapped functions differ on every draw.
#[test]
fn computes_equal_results_of_plans_in_a_field() {
    let fields = [FiniteField::new(0), FiniteField::new(1)];
    let results = |compiled: &CompiledReference, field: &FiniteField| {
        let simulation = Simulation::load(&compiled.place.path().join("out"), &Target::spyre()).unwrap();
        simulation
            .run_with(field, &compiled.inputs, &RunOptions::default())
            .map(|(_, mut results)| results.remove(0).elements)
    };
    let agree = |one: &[FieldElement], other: &[FieldElement]| {
        one.iter().zip(other).all(|(one, other)| one.agrees_with(*other))
    };
    let compiled = [&["--cores", "1", "--lx-planner", "none"][..], &UNROLLED, &["--cores", "4"]]
        .map(|options| CompiledReference::new(SOFTMAX, options));
    for field in &fields {
        let expected = results(&compiled[0], field).unwrap();
        assert!(!expected.iter().any(|element| field.is_poison(*element)));
        assert!(compiled.iter().all(|compiled| agree(&results(compiled, field).unwrap(), &expected)));
        for (path, from, to) in compiled[0].swappable_files() {
            let right = fs::read(&path).unwrap();
            fs::write(&path, swap_function(&right, from, to)).unwrap();
            assert!(
                results(&compiled[0], field).is_err() || !agree(&results(&compiled[0], field).unwrap(), &expected),
                "{from} as {to}"
            );
            fs::write(&path, right).unwrap();
        }
    }
}

#[test]
fn detects_swapped_functions_in_two_layers_of_a_model() {
    let model =
        Granite { layers: 2, sequence: 8, cached: 0, hidden: 128, heads: 4, kv_heads: 2, head_size: 32, mlp: 192 };
    CompiledReference::new(&model.module(), &[]).check();
}

/// Matmul, softmax and matmul; each tile has some of the queries.
#[test]
fn detects_swapped_functions_in_unrolled_attention() {
    let programs =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("test/tile/Inputs/attention.mlir")).unwrap();
    CompiledReference::new(programs.split("// -----").next().unwrap(), &["--loops", "unroll"]).check();
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    /// Four heads, one iteration for each of two.
    const UNROLLED_HEADS: [&str; 6] =
        ["--dims", "0=B:H:S:D,1=B:H:T:D,2=B:H:T:D", "--tiles", "H=2", "--loops", "unroll"];

    /// Swaps functions of an exported model, and of its attention as an explicit loop over heads. Takes minutes in a
    /// debug build.
    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn detects_swapped_functions_in_external_models() {
        let inputs = common::shared("inputs/torch-mlir");
        let read = |name: &str| fs::read_to_string(inputs.join(name)).unwrap();
        CompiledReference::new(&read("granite_lm2_f16.mlir"), &[]).check();
        CompiledReference::new(&read("sdpa_f16.mlir"), &UNROLLED_HEADS).check();
    }
}
