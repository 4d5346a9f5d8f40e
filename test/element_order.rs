//! Element order after conversions between 16-bit and 32-bit numbers. The simulator staggers the elements, and the
//! format rules report operands of different orders.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::check_bundle::bundles::{Files, emit, lx, matrix, op, operand, sparse};
use machine::{DeviceFormat, Target};
use referee::{HostArray, RunOptions, SimError, Simulation, draw_seeded_array};
use sdsc_check::check_files;
use sdsc_format::program::{LaunchEntry, Life, Program, Tensor};
use serde_json::{Value, json};
use spyre_compiler::bundle::{Allocation, BundleItem, Coordinate as C, OpSpec, OpSpecOperand};
use std::collections::BTreeMap;

const ROWS: i64 = 8;
const COLUMNS: i64 = 128;

/// Iteration space of an op on all elements, on two cores.
const SPACE: [(i64, i64); 2] = [(ROWS, 2), (COLUMNS, 1)];

fn f16_matrix() -> OpSpecOperand {
    matrix((0, ROWS), (1, COLUMNS))
}

fn f32_matrix() -> OpSpecOperand {
    let mut single = operand(&[COLUMNS / 32, ROWS, 32], vec![C::floordiv(1, 32), C::dim(0), C::modulo(1, 32)]);
    single.format = DeviceFormat::IeeeFp32;
    single
}

/// Returns a column with one f32 per row, alone in its stick.
fn column() -> OpSpecOperand {
    let mut column = sparse(0, ROWS);
    column.device_size = vec![1, ROWS, 32];
    column.format = DeviceFormat::IeeeFp32;
    column
}

fn tensor(name: &str, operand: &OpSpecOperand) -> Tensor {
    let per_stick = operand.format.elements_per_stick();
    let is_column = operand.coordinates.last() == Some(&C::constant(0));
    let columns = operand.device_size[0] * per_stick;
    Tensor {
        name: name.to_owned(),
        shape: if is_column { vec![ROWS] } else { vec![ROWS, columns] },
        element_type: "f32".to_owned(),
        format: operand.format.name().to_owned(),
        device_size: operand.device_size.clone(),
        stride_map: if is_column { vec![-1, 1, -1] } else { vec![per_stick, columns, 1] },
        bytes: operand.device_size.iter().product::<i64>() * operand.format.bytes(),
        ..Tensor::default()
    }
}

/// A program of one bundle: ops with kernel arguments by number, and the passed tensors, the result last.
struct ElementOrderCase {
    program: Program,
    bundle: Files,
}

fn build_case(ops: Vec<OpSpec>, arguments: &[OpSpecOperand]) -> ElementOrderCase {
    let mut tensors: Vec<Tensor> =
        arguments.iter().enumerate().map(|(number, operand)| tensor(&format!("t{number}"), operand)).collect();
    let names = tensors.iter().map(|tensor| tensor.name.clone()).collect();
    let result = tensors.pop().unwrap();
    let lx = live_ranges(&ops);
    let bundle = emit(0, ops.into_iter().map(|op| BundleItem::Op(Box::new(op))).collect());
    let launches = vec![LaunchEntry { bundle: "b".to_owned(), arguments: names, lx, ..LaunchEntry::default() }];
    let program =
        Program { name: "p".to_owned(), arguments: tensors, results: vec![result], launches, ..Program::default() };
    ElementOrderCase { program, bundle }
}

/// Returns the live ranges of the values in LX, each with an address of its own.
fn live_ranges(ops: &[OpSpec]) -> Vec<Life> {
    let mut lives: BTreeMap<i64, Life> = BTreeMap::new();
    for (number, op) in ops.iter().enumerate() {
        for operand in &op.operands {
            let Allocation::Lx { offset_bytes } = operand.allocation else { continue };
            let bytes = operand.device_size.iter().product::<i64>() * operand.format.bytes() / 2;
            let live_range = lives.entry(offset_bytes).or_insert(Life {
                offset: offset_bytes,
                bytes,
                first_op: number,
                last_op: number,
            });
            live_range.last_op = number;
        }
    }
    let mut lives: Vec<Life> = lives.into_values().collect();
    lives.sort_by_key(|live_range| (live_range.first_op, live_range.offset));
    lives
}

/// Returns an op whose operands have these kernel arguments; operands in LX have none.
fn op_on_arguments(function: &str, arguments: &[u32], operands: Vec<OpSpecOperand>) -> OpSpec {
    let mut op = op(function, &SPACE, 0, operands);
    for (operand, number) in op.operands.iter_mut().zip(arguments) {
        if let Allocation::Hbm { argument, .. } = &mut operand.allocation {
            *argument = *number;
        }
    }
    op
}

impl ElementOrderCase {
    /// Runs the program; returns its arguments and its result.
    fn run(&self) -> Result<(Vec<Vec<f64>>, Vec<f64>), SimError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        self.bundle.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join("b").join(name), bytes).unwrap());
        let simulation = Simulation::with_program(self.program.clone(), dir.path(), &Target::spyre())?;
        let mut inputs: BTreeMap<String, HostArray> = BTreeMap::new();
        for tensor in &self.program.arguments {
            let mut array = draw_seeded_array(tensor, 1).unwrap();
            // Numbers that both formats represent exactly.
            (0..array.elements.len()).for_each(|at| array.elements.set(at, ((at * 37 % 255) as f64 - 127.0) / 64.0));
            inputs.insert(tensor.name.clone(), array);
        }
        let outcome = simulation.run(&inputs, &RunOptions::default())?;
        let numbers =
            |array: &HostArray| (0..array.elements.len()).map(|at| array.elements.get(at)).collect::<Vec<f64>>();
        let given = self.program.arguments.iter().map(|tensor| numbers(&inputs[&tensor.name])).collect();
        Ok((given, numbers(&outcome.results[0].1)))
    }

    fn find_broken_rules(&self) -> Vec<(&'static str, String)> {
        let mut files: Files = self.bundle.iter().map(|(name, bytes)| (format!("b/{name}"), bytes.clone())).collect();
        files.insert("program.json".to_owned(), serde_json::to_vec(&self.program).unwrap());
        let found =
            check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
        found.into_iter().map(|violation| (violation.label, violation.to_string())).collect()
    }
}

fn is_close(found: &[f64], expected: impl Iterator<Item = f64>) -> bool {
    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 0.02 * expected.abs().max(1.0))
}

/// Builds a program: `x` to 32 bits, exp, back to 16 bits.
fn round_trip() -> ElementOrderCase {
    let (wide, result) = (lx(f32_matrix(), 0), lx(f32_matrix(), 8192));
    let ops = vec![
        op_on_arguments("dl16tofp32", &[0], vec![f16_matrix(), wide.clone()]),
        op_on_arguments("exp", &[], vec![wide, result.clone()]),
        op_on_arguments("fp32todl16", &[0, 1], vec![result, f16_matrix()]),
    ];
    build_case(ops, &[f16_matrix(), f16_matrix()])
}

#[test]
fn restores_order_by_opposite_conversion() {
    let case = round_trip();
    assert_eq!(case.find_broken_rules(), []);
    let (given, found) = case.run().unwrap();
    assert!(is_close(&found, given[0].iter().map(|x| x.exp())));
}

/// The host reads a widened value: column 64 p + 8 g + 4 s + e is at position 4 g + e of stick 2 p + s.
#[test]
fn staggers_widened_value_in_memory() {
    let case = build_case(
        vec![op_on_arguments("dl16tofp32", &[0, 1], vec![f16_matrix(), f32_matrix()])],
        &[f16_matrix(), f32_matrix()],
    );
    let (given, found) = case.run().unwrap();
    for (at, x) in given[0].iter().enumerate() {
        let (row, column) = (at / 128, at % 128);
        let (pair, group, side, element) = (column / 64, column % 64 / 8, column % 8 / 4, column % 4);
        assert_eq!(
            found[row * 128 + 32 * (2 * pair + side) + 4 * group + element].to_bits(),
            x.to_bits(),
            "column {column}"
        );
    }
    let broken = case.find_broken_rules();
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(
        broken[0].0 == "sdsc_r153"
            && broken[0].1.contains("expected 't1' in the standard order, which the host reads, found DL16_TO_FP32"),
        "{broken:?}"
    );
}

/// A sum of a widened value and an f32 argument, which the host wrote in standard order.
#[test]
fn reports_sum_of_two_orders() {
    let (wide, sum) = (lx(f32_matrix(), 0), lx(f32_matrix(), 8192));
    let ops = vec![
        op_on_arguments("dl16tofp32", &[0], vec![f16_matrix(), wide.clone()]),
        op_on_arguments("add", &[0, 1], vec![wide, f32_matrix(), sum.clone()]),
        op_on_arguments("fp32todl16", &[0, 2], vec![sum, f16_matrix()]),
    ];
    let case = build_case(ops, &[f16_matrix(), f32_matrix(), f16_matrix()]);
    let expected = |given: &[Vec<f64>]| given[0].iter().zip(&given[1]).map(|(x, y)| x + y).collect::<Vec<_>>();
    let (given, staggered) = case.run().unwrap();
    assert!(!is_close(&staggered, expected(&given).into_iter()));
    let broken = case.find_broken_rules();
    assert_eq!(broken[0].0, "sdsc_r153", "{broken:?}");
    assert!(
        broken[0].1.contains("b/sdsc_1.json:") && broken[0].1.contains("the order DL16_TO_FP32 that sdsc_0.json left"),
        "{broken:?}"
    );
}

/// A narrowing of a value whose first half was widened, and whose second half the host wrote.
#[test]
fn reports_halves_of_two_orders() {
    let half = |first_stick: i64| {
        let mut operand = f32_matrix();
        operand.coordinates[0] = C { offset: first_stick, ..C::floordiv(1, 32) };
        lx(operand, 0)
    };
    let mut given = f32_matrix();
    given.device_size[0] = 2;
    let in_half = |mut op: OpSpec| {
        op.iteration_space[1].range = 64;
        op
    };
    let halves = |second: OpSpec| {
        let ops = vec![
            in_half(op_on_arguments("dl16tofp32", &[0], vec![matrix((0, ROWS), (1, 64)), half(0)])),
            in_half(second),
            op_on_arguments("fp32todl16", &[0, 2], vec![half(0), f16_matrix()]),
        ];
        ops
    };
    let copied = halves(op_on_arguments("identity", &[1], vec![given.clone(), half(2)]));
    let case = build_case(copied, &[matrix((0, ROWS), (1, 64)), given, f16_matrix()]);
    let broken = case.find_broken_rules();
    assert_eq!(broken.iter().map(|(label, _)| *label).collect::<Vec<_>>(), ["sdsc_r153"], "{broken:?}");
    assert!(
        broken[0].1.contains("sdsc_2.json") && broken[0].1.contains("expected one order of all elements"),
        "{broken:?}"
    );
    let widened = halves(op_on_arguments("dl16tofp32", &[1], vec![matrix((0, ROWS), (1, 64)), half(2)]));
    let case = build_case(widened, &[matrix((0, ROWS), (1, 64)), matrix((0, ROWS), (1, 64)), f16_matrix()]);
    assert_eq!(case.find_broken_rules(), []);
}

/// A sum of a row, and one number per row, have the same value in every column, so their order does not matter.
#[test]
fn ignores_order_of_columns_and_of_sums_along_sticks() {
    let (wide, scaled) = (lx(f32_matrix(), 0), lx(f32_matrix(), 8192));
    let ops = vec![
        op_on_arguments("dl16tofp32", &[0], vec![f16_matrix(), wide.clone()]),
        op_on_arguments("mul", &[0, 1], vec![wide, column(), scaled.clone()]),
        op_on_arguments("sum", &[0, 2], vec![scaled, column()]),
    ];
    let case = build_case(ops, &[f16_matrix(), column(), column()]);
    assert_eq!(case.find_broken_rules(), []);
    let (given, found) = case.run().unwrap();
    let rows = given[0].chunks(128).zip(&given[1]).map(|(row, scale)| row.iter().sum::<f64>() * scale);
    assert!(is_close(&found, rows));
}

#[test]
fn rejects_partly_filled_sticks() {
    let mut case = build_case(
        vec![op_on_arguments("dl16tofp32", &[0, 1], vec![f16_matrix(), f32_matrix()])],
        &[f16_matrix(), f32_matrix()],
    );
    let mut file: Value = serde_json::from_slice(&case.bundle["sdsc_0.json"]).unwrap();
    let dsc = &mut file["0_dl16tofp32"]["dscs_"][0]["dl16tofp32"];
    dsc["N_"]["out_"] = json!(96);
    for stage in ["ss_", "el_"] {
        dsc["dataStageParam_"]["0"][stage]["out_"] = json!(96);
    }
    case.bundle.insert("sdsc_0.json".to_owned(), serde_json::to_vec(&file).unwrap());
    let error = case.run().unwrap_err();
    assert_eq!(error.rule(), "not-simulated");
    assert!(error.to_string().contains("'dl16tofp32' of 96 columns, not a multiple of 64"), "{error}");
}

/// Of two launches, the first leaves a staggered buffer, which the second narrows.
#[test]
fn restores_order_in_later_launch() {
    let mut files = Files::new();
    let mut add = |folder: &str, op: OpSpec| {
        let bundle = emit(0, vec![BundleItem::Op(Box::new(op))]);
        files.extend(bundle.into_iter().map(|(name, bytes)| (format!("{folder}/{name}"), bytes)));
    };
    add("b0", op_on_arguments("dl16tofp32", &[0, 1], vec![f16_matrix(), f32_matrix()]));
    add("b1", op_on_arguments("fp32todl16", &[0, 1], vec![f32_matrix(), f16_matrix()]));
    let launch = |bundle: &str, arguments: [&str; 2]| LaunchEntry {
        bundle: bundle.to_owned(),
        arguments: arguments.map(str::to_owned).to_vec(),
        ..LaunchEntry::default()
    };
    let program = Program {
        name: "p".to_owned(),
        arguments: vec![tensor("x", &f16_matrix())],
        results: vec![tensor("y", &f16_matrix())],
        buffers: vec![tensor("wide", &f32_matrix())],
        launches: vec![launch("b0", ["x", "wide"]), launch("b1", ["wide", "y"])],
        ..Program::default()
    };
    files.insert("program.json".to_owned(), serde_json::to_vec(&program).unwrap());
    let found =
        check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    assert!(found.is_empty(), "{found:?}");
}

/// Earlier compilers stated the order of conversions, which has one value.
#[test]
fn reads_only_order_of_device() {
    let program = |order: &str| {
        let text = format!(
            r#"{{"name": "p", "arguments": [], "results": [], "constants": [], "buffers": [], "conversions": "{order}",
                 "launches": []}}"#
        );
        serde_json::from_str::<Program>(&text)
    };
    assert!(!serde_json::to_string(&program("staggered").unwrap()).unwrap().contains("conversions"));
    let error = program("kept").unwrap_err().to_string();
    assert!(error.contains("unknown variant `kept`, expected `staggered`"), "{error}");
}
