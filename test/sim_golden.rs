//! Executes golden bundles and compares the results with plain computations over logical tensors. The project's own are
//! in `test/golden`, one of each family; those of torch-spyre are in `shared`.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "sim_golden/shared.rs"]
mod shared;

use crate::common::{self, counted};
use machine::{ElementType, Target};
use referee::{HostArray, LxImage, RunOptions, RunOutcome, SimError, Simulation, draw_seeded_array, f16_from_f32};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the folder of the project's own golden cases.
fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden")
}

/// Half the spacing of DL16 values relative to them: the maximum relative error of one store.
const ROUNDING: f64 = 1.0 / 1024.0;

/// A kernel argument: shape, device size, stride map.
type GoldenArgument<'a> = (&'a [i64], &'a [i64], &'a [i64]);

fn tensor(index: usize, (shape, device_size, stride_map): GoldenArgument<'_>) -> Tensor {
    let (format, element_type, bytes) = match device_size.last() {
        Some(32) => ("IEEE_FP32", "f32", 4),
        _ => ("SEN169_FP16", "f32", 2),
    };
    Tensor {
        name: format!("arg{index}"),
        shape: shape.to_vec(),
        element_type: element_type.to_owned(),
        format: format.to_owned(),
        device_size: device_size.to_vec(),
        stride_map: stride_map.to_vec(),
        bytes: device_size.iter().product::<i64>() * bytes,
        ..Tensor::default()
    }
}

fn program(case: &str, args: &[GoldenArgument<'_>], result: usize) -> Program {
    let tensors: Vec<Tensor> = args.iter().enumerate().map(|(index, arg)| tensor(index, *arg)).collect();
    let names = tensors.iter().map(|tensor| tensor.name.clone()).collect();
    let mut arguments = tensors;
    let results = vec![arguments.remove(result)];
    let launches =
        vec![LaunchEntry { bundle: case.to_owned(), arguments: names, pool_bytes: 0, ..LaunchEntry::default() }];
    Program { name: case.to_owned(), arguments, results, launches, ..Program::default() }
}

fn load(program: Program, dir: &Path) -> Result<Simulation, SimError> {
    Simulation::with_program(program, dir, &Target::spyre())
}

/// Rounds an array to DL16, as the device stores it.
fn round_to_dl16(array: &mut HostArray) {
    for index in 0..array.elements.len() {
        let bits = referee::number::dl16_from_host(array.elements.get(index) as f32);
        array.elements.set(index, referee::dl16_to_f64(bits));
    }
}

struct GoldenCase {
    simulation: Simulation,
    inputs: BTreeMap<String, HostArray>,
}

impl GoldenCase {
    fn new(folder: &Path, case: &str, args: &[GoldenArgument<'_>], result: usize) -> Self {
        let simulation = load(program(case, args, result), folder).unwrap_or_else(|error| panic!("{error}"));
        let mut inputs = BTreeMap::new();
        for tensor in &simulation.program().arguments {
            let mut array = draw_seeded_array(tensor, 1).unwrap();
            if tensor.format == "SEN169_FP16" {
                round_to_dl16(&mut array);
            }
            inputs.insert(tensor.name.clone(), array);
        }
        Self { simulation, inputs }
    }

    fn set(&mut self, index: usize, value: impl Fn(usize) -> f64) {
        let array = self.inputs.get_mut(&format!("arg{index}")).unwrap();
        (0..array.elements.len()).for_each(|at| array.elements.set(at, value(at)));
        round_to_dl16(array);
    }

    fn get(&self, index: usize) -> Vec<f64> {
        let array = &self.inputs[&format!("arg{index}")];
        (0..array.elements.len()).map(|at| array.elements.get(at)).collect()
    }

    fn run(&self) -> RunOutcome {
        let outcome =
            self.simulation.run(&self.inputs, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        counted::check_counted(&self.simulation, &self.inputs, &outcome);
        outcome
    }

    /// Runs the case, and compares with `expected` to `tolerance` of the larger of each value and the root mean square:
    /// results are rounded relative to themselves, and sums relative to their terms.
    fn check(&self, expected: &[f64], tolerance: f64) -> RunOutcome {
        let outcome = self.run();
        let result = &outcome.results[0].1;
        assert_eq!(result.elements.len(), expected.len());
        let square = expected.iter().map(|value| value * value).sum::<f64>() / expected.len() as f64;
        for (index, value) in expected.iter().enumerate() {
            let found = result.elements.get(index);
            let limit = tolerance * square.sqrt().max(value.abs());
            // NaN is within no limit.
            assert!((found - value).abs() <= limit, "element {index}: {found}, expected {value} within {limit}");
        }
        outcome
    }
}

fn matmul(x: &[f64], y: &[f64], m: usize, n: usize, k: usize) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            out[i * n + j] = (0..k).map(|l| x[i * k + l] * y[l * n + j]).sum();
        }
    }
    out
}

fn own_case(case: &str, args: &[GoldenArgument<'_>], result: usize) -> GoldenCase {
    GoldenCase::new(&golden_folder(), case, args, result)
}

/// Applies a function to each element.
fn map_elements(values: &[f64], value: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|x| value(*x)).collect()
}

const ROWS: GoldenArgument<'static> = (&[32, 128], &[2, 32, 64], &[64, 128, 1]);
const FEW_ROWS: GoldenArgument<'static> = (&[16, 128], &[2, 16, 64], &[64, 128, 1]);
const HALF_ROWS: GoldenArgument<'static> = (&[32, 64], &[1, 32, 64], &[64, 64, 1]);
const COLUMN: GoldenArgument<'static> = (&[32], &[1, 32, 64], &[-1, 1, -1]);
const ROW: GoldenArgument<'static> = (&[128], &[1, 2, 64], &[-1, 64, 1]);

#[test]
fn executes_pointwise() {
    let case = own_case("add", &[ROWS; 3], 2);
    let (x, y) = (case.get(0), case.get(1));
    let outcome = case.check(&x.iter().zip(&y).map(|(x, y)| x + y).collect::<Vec<_>>(), 4.0 * ROUNDING);
    let total = outcome.report.total;
    assert_eq!((total.hbm_read, total.hbm_written, total.lx_read), (2 * 8192, 8192, 0));

    let mut case = own_case("softplus", &[ROWS; 2], 1);
    case.set(0, |at| (at % 97) as f64 - 48.0);
    case.check(&map_elements(&case.get(0), |x| if x > 20.0 { x } else { x.exp().ln_1p() }), 4.0 * ROUNDING);

    let padded: GoldenArgument<'_> = (&[20, 70], &[2, 20, 64], &[64, 70, 1]);
    let case = own_case("exp_padded", &[padded; 2], 1);
    case.check(&map_elements(&case.get(0), f64::exp), 8.0 * ROUNDING);
}

#[test]
fn executes_broadcast() {
    let case = own_case("sub_column_mul_row", &[ROWS, COLUMN, ROW, ROWS], 3);
    let (x, column, row) = (case.get(0), case.get(1), case.get(2));
    let expected: Vec<f64> = x.iter().enumerate().map(|(at, x)| (x - column[at / 128]) * row[at % 128]).collect();
    case.check(&expected, 8.0 * ROUNDING);
}

#[test]
fn executes_reductions() {
    let args: [GoldenArgument<'_>; 2] = [(&[16, 40], &[2, 16, 32], &[32, 40, 1]), (&[16], &[1, 16, 32], &[-1, 1, -1])];
    let mut case = own_case("max_stick_f32", &args, 1);
    // All below zero, so that a padding of zeros is detected.
    let below: Vec<f64> = map_elements(&case.get(0), |x| -1.0 - x.abs());
    case.set(0, |at| below[at]);
    let x = case.get(0);
    case.check(&x.chunks(40).map(|row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect::<Vec<_>>(), 0.0);

    let case = own_case("sum_rows", &[ROWS, ROW], 1);
    let x = case.get(0);
    case.check(
        &(0..128).map(|column| (0..32).map(|row| x[row * 128 + column]).sum()).collect::<Vec<_>>(),
        4.0 * ROUNDING,
    );
}

#[test]
fn executes_product() {
    let args: [GoldenArgument<'_>; 3] = [ROWS, (&[128, 64], &[1, 128, 64], &[64, 64, 1]), HALF_ROWS];
    let case = own_case("product_split", &args, 2);
    let outcome = case.check(&matmul(&case.get(0), &case.get(1), 32, 64, 128), 4.0 * ROUNDING);
    // Two of the four cores send a 16 x 64 slice of f32.
    assert_eq!(outcome.report.total.ring_bytes, 2 * 16 * 64 * 4);
}

#[test]
fn executes_restickify() {
    let case = own_case("transpose", &[ROWS, (&[128, 32], &[1, 128, 64], &[64, 32, 1])], 1);
    let x = case.get(0);
    case.check(&(0..128 * 32).map(|at| x[at % 32 * 128 + at / 32]).collect::<Vec<_>>(), 0.0);
}

#[test]
fn executes_slice() {
    let case = own_case("add_second_half", &[(&[32, 192], &[3, 32, 64], &[64, 192, 1]), HALF_ROWS, HALF_ROWS], 2);
    let (x, y) = (case.get(0), case.get(1));
    let outcome =
        case.check(&(0..32 * 64).map(|at| x[at / 64 * 192 + 64 + at % 64] + y[at]).collect::<Vec<_>>(), 4.0 * ROUNDING);
    assert_eq!(outcome.report.total.hbm_read, 2 * 32 * 64 * 2);
}

#[test]
fn executes_lx_and_pool() {
    let case = own_case("chain_lx_pool", &[ROWS; 2], 1);
    let outcome = case.check(&map_elements(&case.get(0), |x| x - x.exp()), 8.0 * ROUNDING);
    assert_eq!((outcome.report.total.lx_read, outcome.report.total.lx_written), (8192, 8192));
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|value| (value - max).exp()).sum();
    row.iter().map(|value| (value - max).exp() / sum).collect()
}

#[test]
fn executes_softmax_in_place_in_lx() {
    let case = own_case("softmax_lx", &[FEW_ROWS; 2], 1);
    let outcome = case.check(&case.get(0).chunks(128).flat_map(softmax).collect::<Vec<_>>(), 16.0 * ROUNDING);
    assert_eq!((outcome.report.total.hbm_read, outcome.report.total.hbm_written), (4096, 4096));
}

/// Checks that a core reads data outside its own LX over the ring.
#[test]
fn executes_relayout() {
    let case = own_case("relayout", &[FEW_ROWS; 2], 1);
    let outcome = case.check(&map_elements(&case.get(0), |x| -x.exp()), 4.0 * ROUNDING);
    assert_eq!(outcome.report.total.ring_bytes, 2 * 8 * 64 * 2);
}

#[test]
fn executes_loops() {
    let rows: GoldenArgument<'_> = (&[64, 128], &[2, 64, 64], &[64, 128, 1]);
    let case = own_case("two_loops", &[rows; 3], 2);
    let (x, y) = (case.get(0), case.get(1));
    let outcome = case.check(&x.iter().zip(&y).map(|(x, y)| (x + y) * y).collect::<Vec<_>>(), 8.0 * ROUNDING);
    let launch = &outcome.report.launches[0];
    assert_eq!((launch.iterations, launch.ops[0].executions, launch.ops[1].executions), (4 + 2, 4, 2));
}

/// Returns a gather of a table by indices, its first two arguments, with indices below a bound; and the indices.
fn gather_case(folder: &Path, case: &str, args: &[GoldenArgument<'_>], bound: i64) -> (GoldenCase, Vec<usize>) {
    let mut program = program(case, args, 2);
    program.arguments[1].format = "IEEE_INT32".to_owned();
    program.arguments[1].element_type = "i64".to_owned();
    let simulation = load(program, folder).unwrap();
    let [table, index] = &simulation.program().arguments[..] else { panic!("two arguments") };
    let mut values = draw_seeded_array(table, 1).unwrap();
    round_to_dl16(&mut values);
    let rows = draw_seeded_array(&Tensor { index_range: Some([0, bound]), ..index.clone() }, 3).unwrap();
    let chosen = (0..rows.elements.len()).map(|at| rows.elements.get(at) as usize).collect();
    let inputs = BTreeMap::from([("arg0".to_owned(), values), ("arg1".to_owned(), rows)]);
    (GoldenCase { simulation, inputs }, chosen)
}

#[test]
fn executes_gather() {
    let args: [GoldenArgument<'_>; 3] = [
        (&[40, 64], &[40, 1, 64], &[64, 64, 1]),
        (&[8], &[1, 1, 32], &[32, -1, 1]),
        (&[8, 64], &[1, 8, 64], &[64, 64, 1]),
    ];
    let (mut case, rows) = gather_case(&golden_folder(), "gather_rows", &args, 40);
    let table = case.get(0);
    case.check(&rows.iter().flat_map(|row| table[row * 64..][..64].to_vec()).collect::<Vec<_>>(), 0.0);

    case.inputs.get_mut("arg1").unwrap().elements.set(5, 40.0);
    assert_eq!(case.simulation.run(&case.inputs, &RunOptions::default()).unwrap_err().rule(), "index-out-of-bounds");
}

#[test]
fn executes_wider_elements() {
    let case = own_case("widen", &[ROWS, (&[32, 128], &[4, 32, 32], &[32, 128, 1])], 1);
    // Groups of four elements alternate between the two sticks of a pair (element arrangement, section 1).
    let narrow = case.get(0);
    let mut wide = vec![0.0; narrow.len()];
    for (at, element) in narrow.iter().enumerate() {
        let (row, column) = (at / 128, at % 128);
        let (pair, group, stick, within) = (column / 64, column % 64 / 8, column % 8 / 4, column % 4);
        wide[row * 128 + (2 * pair + stick) * 32 + 4 * group + within] = *element;
    }
    case.check(&wide, 0.0);
}

fn normalize(row: &[f64], scale: &[f64], offset: &[f64]) -> Vec<f64> {
    let mean = row.iter().sum::<f64>() / row.len() as f64;
    let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / row.len() as f64;
    let value = |(at, x): (usize, &f64)| (x - mean) / (variance + 1e-5).sqrt() * scale[at] + offset[at];
    row.iter().enumerate().map(value).collect()
}

#[test]
fn executes_layer_norm() {
    let case = own_case("layer_norm", &[FEW_ROWS, ROW, ROW, FEW_ROWS], 3);
    let (x, scale, offset) = (case.get(0), case.get(1), case.get(2));
    case.check(&x.chunks(128).flat_map(|row| normalize(row, &scale, &offset)).collect::<Vec<_>>(), 16.0 * ROUNDING);
}

#[test]
fn executes_convolution() {
    let args: [GoldenArgument<'_>; 3] = [
        (&[1, 4, 4, 64], &[1, 4, 1, 4, 1, 1, 64], &[64, 256, -1, 64, -1, 1024, 1]),
        (&[2, 2, 64, 64], &[1, 1, 1, 2, 2, 64, 64], &[64, -1, -1, 8192, 4096, 64, 1]),
        (&[1, 3, 3, 64], &[1, 1, 1, 3, 3, 1, 64], &[64, -1, -1, 192, 64, 576, 1]),
    ];
    let case = own_case("conv_2x2", &args, 2);
    let (x, window) = (case.get(0), case.get(1));
    let value = |at: usize| -> f64 {
        let (row, column, out) = (at / 192, at / 64 % 3, at % 64);
        let part = |p: usize, q: usize, c: usize| {
            x[(row + p) * 256 + (column + q) * 64 + c] * window[((p * 2 + q) * 64 + c) * 64 + out]
        };
        (0..256).map(|k| part(k / 128, k / 64 % 2, k % 64)).sum()
    };
    case.check(&(0..576).map(value).collect::<Vec<_>>(), 4.0 * ROUNDING);
}

/// Rounds a number to fp8.
fn round_to_fp8(value: f64) -> f64 {
    referee::number::E4M3.decode(referee::number::E4M3.encode(value as f32)).into()
}

#[test]
fn executes_fp8_weights() {
    let (x, y): (GoldenArgument<'_>, GoldenArgument<'_>) =
        ((&[32, 256], &[4, 32, 64], &[64, 256, 1]), (&[256, 256], &[4, 256, 64], &[64, 256, 1]));
    let case = own_case("fp8_product", &[x, y, x], 2);
    let expected =
        matmul(&map_elements(&case.get(0), round_to_fp8), &map_elements(&case.get(1), round_to_fp8), 32, 256, 256);
    case.check(&expected, 4.0 * ROUNDING);
}

/// Copies a case with one file changed.
fn change_file(case: &str, file: &str, change: impl Fn(&str) -> String) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(case)).unwrap();
    for entry in std::fs::read_dir(golden_folder().join(case)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = if name == file { change(&text) } else { text };
        std::fs::write(dir.path().join(case).join(name), text).unwrap();
    }
    dir
}

/// A slice must end at a block of fp8 weights, which has two rows and 64 columns.
#[test]
fn requires_whole_blocks_of_fp8_weights() {
    let (x, y): (GoldenArgument<'_>, GoldenArgument<'_>) =
        ((&[32, 256], &[4, 32, 64], &[64, 256, 1]), (&[256, 256], &[4, 256, 64], &[64, 256, 1]));
    let rule = |change: &dyn Fn(&str) -> String| {
        let dir = change_file("fp8_product", "sdsc_1.json", change);
        let found = load(program("fp8_product", &[x, y, x], 2), dir.path());
        found.err().map(|error| (error.rule(), error.to_string()))
    };
    let split_rows = |rows: i64, text: &str| {
        let mut file: Value = serde_json::from_str(text).unwrap();
        let op = &mut file["1_qfp8wt"];
        op["numWkSlicesPerDim_"] = json!({"mb": 2, "out": 1});
        op["coreIdToWkSlice_"]["1"] = json!({"mb": 1, "out": 0});
        let dsc = &mut op["dscs_"][0]["qfp8wt"];
        dsc["N_"]["mb_"] = json!(2 * rows);
        let stages = &mut dsc["dataStageParam_"]["0"];
        for stage in ["ss_", "el_"] {
            (stages[stage]["mb_"], stages[stage]["out_"]) = (json!(rows), json!(256));
        }
        file.to_string()
    };
    assert_eq!(rule(&|text| text.to_owned()), None);
    assert_eq!(rule(&|text| split_rows(128, text)), None);
    let (kind, text) = rule(&|text| split_rows(127, text)).unwrap();
    assert_eq!(
        (kind, text.contains("127 positions of 'mb' on a core; a core has complete sticks of 2")),
        ("malformed", true),
        "{text}"
    );
}

#[test]
fn executes_topk() {
    let args: [GoldenArgument<'_>; 3] = [
        (&[20, 128], &[2, 20, 64], &[64, 128, 1]),
        (&[6, 128], &[2, 6, 64], &[64, 128, 1]),
        (&[6, 128], &[2, 6, 64], &[64, 128, 1]),
    ];
    let mut both = program("top_rows", &args, 1);
    both.results.extend(both.arguments.pop());
    let simulation = load(both, &golden_folder()).unwrap();
    let mut input = draw_seeded_array(&simulation.program().arguments[0], 1).unwrap();
    // Few distinct values, so that many are equal.
    (0..20 * 128).for_each(|at| input.elements.set(at, (at * 7 % 11) as f64 - 5.0));
    let outcome =
        simulation.run(&BTreeMap::from([("arg0".to_owned(), input.clone())]), &RunOptions::default()).unwrap();
    let [(_, values), (_, positions)] = &outcome.results[..] else { panic!("two results") };
    for column in 0..128 {
        let mut rows: Vec<usize> = (0..20).collect();
        let value = |row: usize| input.elements.get(row * 128 + column);
        rows.sort_by(|one, other| value(*other).total_cmp(&value(*one)));
        for (rank, row) in rows.into_iter().take(6).enumerate() {
            let found = [values, positions].map(|result| result.elements.get(rank * 128 + column));
            assert_eq!(found, [value(row), row as f64], "rank {rank} of column {column}");
        }
    }
}

#[test]
fn enforces_limits() {
    let case = own_case("add", &[ROWS; 3], 2);
    let few = RunOptions { max_steps: 100, ..RunOptions::default() };
    assert_eq!(case.simulation.run(&case.inputs, &few).unwrap_err().rule(), "too-many-steps");
    let small = RunOptions { max_bytes: 10_000, ..RunOptions::default() };
    assert_eq!(case.simulation.run(&case.inputs, &small).unwrap_err().rule(), "too-much-memory");
}

#[test]
fn accepts_half_precision_inputs() {
    let mut program = program("add", &[ROWS; 3], 2);
    for tensor in program.arguments.iter_mut().chain(&mut program.results) {
        tensor.element_type = "f16".to_owned();
    }
    let simulation = load(program, &golden_folder()).unwrap();
    let inputs = simulation
        .program()
        .arguments
        .iter()
        .map(|tensor| (tensor.name.clone(), draw_seeded_array(tensor, 5).unwrap()))
        .collect();
    let outcome = simulation.run(&inputs, &RunOptions::default()).unwrap();
    assert_eq!(outcome.results[0].1.elements.element_type(), ElementType::F16);
    assert_eq!(f16_from_f32(1.0), 0x3c00);
}

#[test]
fn checks_inputs_against_program() {
    let mut case = own_case("add", &[ROWS; 3], 2);
    case.inputs.get_mut("arg0").unwrap().shape.swap(0, 1);
    let error = case.simulation.run(&case.inputs, &RunOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "'arg0': is [128, 32] of f32, the program's tensor is [32, 128] of f32");
}
