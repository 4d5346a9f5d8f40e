//! Conversions between 16-bit and 32-bit numbers stagger elements: the simulator places them so, and the rules of the format name operands
//! of different orders.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::check_bundle::bundles::{Files, emit, lx, matrix, op, operand, sparse};
use machine::{DeviceFormat, Target};
use referee::{HostArray, RunOptions, SimError, Simulation, draw_seeded_array};
use sdsc_check::check_files;
use sdsc_format::program::{ConversionOrder, LaunchEntry, Life, Program, Tensor};
use serde_json::{Value, json};
use spyre::bundle::{Allocation, BundleItem, Coordinate as C, OpSpec, OpSpecOperand};
use std::collections::BTreeMap;

const ROWS: i64 = 8;
const COLUMNS: i64 = 128;

/// Space of an op on all elements, on two cores.
const SPACE: [(i64, i64); 2] = [(ROWS, 2), (COLUMNS, 1)];

fn half() -> OpSpecOperand {
    matrix((0, ROWS), (1, COLUMNS))
}

fn single() -> OpSpecOperand {
    let mut single = operand(&[COLUMNS / 32, ROWS, 32], vec![C::floordiv(1, 32), C::dim(0), C::modulo(1, 32)]);
    single.format = DeviceFormat::IeeeFp32;
    single
}

/// A column of one f32 for each row, alone in its stick.
fn column() -> OpSpecOperand {
    let mut column = sparse(0, ROWS);
    column.device_size = vec![1, ROWS, 32];
    column.format = DeviceFormat::IeeeFp32;
    column
}

fn tensor(name: &str, operand: &OpSpecOperand) -> Tensor {
    let per_stick = operand.format.elements_per_stick();
    let is_column = operand.coordinates.last() == Some(&C::constant(0));
    Tensor {
        name: name.to_owned(),
        shape: if is_column { vec![ROWS] } else { vec![ROWS, COLUMNS] },
        element_type: "f32".to_owned(),
        format: operand.format.name().to_owned(),
        device_size: operand.device_size.clone(),
        stride_map: if is_column { vec![-1, 1, -1] } else { vec![per_stick, COLUMNS, 1] },
        bytes: operand.device_size.iter().product::<i64>() * operand.format.bytes(),
        ..Tensor::default()
    }
}

/// A program of one bundle: ops with kernel arguments by number, and the tensors that are passed, the result last.
struct Case {
    program: Program,
    bundle: Files,
}

fn case(ops: Vec<OpSpec>, arguments: &[OpSpecOperand]) -> Case {
    let mut tensors: Vec<Tensor> = arguments.iter().enumerate().map(|(number, operand)| tensor(&format!("t{number}"), operand)).collect();
    let names = tensors.iter().map(|tensor| tensor.name.clone()).collect();
    let result = tensors.pop().unwrap();
    let lx = lives(&ops);
    let bundle = emit(0, ops.into_iter().map(|op| BundleItem::Op(Box::new(op))).collect());
    let launches = vec![LaunchEntry { bundle: "b".to_owned(), arguments: names, lx, ..LaunchEntry::default() }];
    let program = Program { name: "p".to_owned(), arguments: tensors, results: vec![result], launches, ..Program::default() };
    Case { program, bundle }
}

/// Live ranges of the values in LX, each with an address of its own.
fn lives(ops: &[OpSpec]) -> Vec<Life> {
    let mut lives: BTreeMap<i64, Life> = BTreeMap::new();
    for (number, op) in ops.iter().enumerate() {
        for operand in &op.operands {
            let Allocation::Lx { offset_bytes } = operand.allocation else { continue };
            let bytes = operand.device_size.iter().product::<i64>() * operand.format.bytes() / 2;
            let life = lives.entry(offset_bytes).or_insert(Life { offset: offset_bytes, bytes, first_op: number, last_op: number });
            life.last_op = number;
        }
    }
    let mut lives: Vec<Life> = lives.into_values().collect();
    lives.sort_by_key(|life| (life.first_op, life.offset));
    lives
}

/// An op whose operands have these kernel arguments; those in LX have none.
fn on(function: &str, arguments: &[u32], operands: Vec<OpSpecOperand>) -> OpSpec {
    let mut op = op(function, &SPACE, 0, operands);
    for (operand, number) in op.operands.iter_mut().zip(arguments) {
        if let Allocation::Hbm { argument, .. } = &mut operand.allocation {
            *argument = *number;
        }
    }
    op
}

impl Case {
    fn ordered(&self, conversions: ConversionOrder) -> Program {
        Program { conversions, ..self.program.clone() }
    }

    /// Arguments and result, in an order of conversions.
    fn run(&self, conversions: ConversionOrder) -> Result<(Vec<Vec<f64>>, Vec<f64>), SimError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        self.bundle.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join("b").join(name), bytes).unwrap());
        let simulation = Simulation::with_program(self.ordered(conversions), dir.path(), &Target::spyre())?;
        let mut inputs: BTreeMap<String, HostArray> = BTreeMap::new();
        for tensor in &self.program.arguments {
            let mut array = draw_seeded_array(tensor, 1).unwrap();
            // Numbers that both formats represent.
            (0..array.elements.len()).for_each(|at| array.elements.set(at, ((at * 37 % 255) as f64 - 127.0) / 64.0));
            inputs.insert(tensor.name.clone(), array);
        }
        let outcome = simulation.run(&inputs, &RunOptions::default())?;
        let numbers = |array: &HostArray| (0..array.elements.len()).map(|at| array.elements.get(at)).collect::<Vec<f64>>();
        let given = self.program.arguments.iter().map(|tensor| numbers(&inputs[&tensor.name])).collect();
        Ok((given, numbers(&outcome.results[0].1)))
    }

    fn broken_rules(&self, conversions: ConversionOrder) -> Vec<(&'static str, String)> {
        let mut files: Files = self.bundle.iter().map(|(name, bytes)| (format!("b/{name}"), bytes.clone())).collect();
        files.insert("program.json".to_owned(), serde_json::to_vec(&self.ordered(conversions)).unwrap());
        let found = check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
        found.into_iter().map(|violation| (violation.label, violation.to_string())).collect()
    }
}

fn close(found: &[f64], expected: impl Iterator<Item = f64>) -> bool {
    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 0.02 * expected.abs().max(1.0))
}

/// x to 32 bits, exp, back to 16 bits.
fn round_trip() -> Case {
    let (wide, result) = (lx(single(), 0), lx(single(), 8192));
    let ops = vec![
        on("dl16tofp32", &[0], vec![half(), wide.clone()]),
        on("exp", &[], vec![wide, result.clone()]),
        on("fp32todl16", &[0, 1], vec![result, half()]),
    ];
    case(ops, &[half(), half()])
}

#[test]
fn the_opposite_conversion_restores_the_order() {
    let case = round_trip();
    assert_eq!(case.broken_rules(ConversionOrder::Staggered), []);
    let (given, found) = case.run(ConversionOrder::Staggered).unwrap();
    assert!(close(&found, given[0].iter().map(|x| x.exp())));
}

/// A widened value that the host reads: column 64 p + 8 g + 4 s + e is at position 4 g + e of stick 2 p + s.
#[test]
fn a_widened_value_is_staggered_in_memory() {
    let case = case(vec![on("dl16tofp32", &[0, 1], vec![half(), single()])], &[half(), single()]);
    let (given, found) = case.run(ConversionOrder::Staggered).unwrap();
    for (at, x) in given[0].iter().enumerate() {
        let (row, column) = (at / 128, at % 128);
        let (pair, group, side, element) = (column / 64, column % 64 / 8, column % 8 / 4, column % 4);
        assert_eq!(found[row * 128 + 32 * (2 * pair + side) + 4 * group + element].to_bits(), x.to_bits(), "column {column}");
    }
    let (given, kept) = case.run(ConversionOrder::Kept).unwrap();
    assert_eq!(kept, given[0]);
    let broken = case.broken_rules(ConversionOrder::Staggered);
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(
        broken[0].0 == "sdsc_r153" && broken[0].1.contains("expected 't1' in the standard order, which the host reads, found DL16_TO_FP32"),
        "{broken:?}"
    );
    assert_eq!(case.broken_rules(ConversionOrder::Kept), []);
}

/// A sum of a widened value and an f32 argument, which the host wrote in standard order.
#[test]
fn a_sum_of_two_orders_is_wrong_and_named() {
    let (wide, sum) = (lx(single(), 0), lx(single(), 8192));
    let ops = vec![
        on("dl16tofp32", &[0], vec![half(), wide.clone()]),
        on("add", &[0, 1], vec![wide, single(), sum.clone()]),
        on("fp32todl16", &[0, 2], vec![sum, half()]),
    ];
    let case = case(ops, &[half(), single(), half()]);
    let expected = |given: &[Vec<f64>]| given[0].iter().zip(&given[1]).map(|(x, y)| x + y).collect::<Vec<_>>();
    let (given, kept) = case.run(ConversionOrder::Kept).unwrap();
    assert!(close(&kept, expected(&given).into_iter()));
    let (given, staggered) = case.run(ConversionOrder::Staggered).unwrap();
    assert!(!close(&staggered, expected(&given).into_iter()));
    let broken = case.broken_rules(ConversionOrder::Staggered);
    assert_eq!(broken[0].0, "sdsc_r153", "{broken:?}");
    assert!(broken[0].1.contains("b/sdsc_1.json:") && broken[0].1.contains("the order DL16_TO_FP32 that sdsc_0.json left"), "{broken:?}");
    assert_eq!(case.broken_rules(ConversionOrder::Kept), []);
}

/// One number for each row is the same along the sticks, in any order; so is the sum of a row.
#[test]
fn columns_and_sums_along_the_sticks_have_no_order() {
    let (wide, scaled) = (lx(single(), 0), lx(single(), 8192));
    let ops = vec![
        on("dl16tofp32", &[0], vec![half(), wide.clone()]),
        on("mul", &[0, 1], vec![wide, column(), scaled.clone()]),
        on("sum", &[0, 2], vec![scaled, column()]),
    ];
    let case = case(ops, &[half(), column(), column()]);
    assert_eq!(case.broken_rules(ConversionOrder::Staggered), []);
    let (given, found) = case.run(ConversionOrder::Staggered).unwrap();
    let rows = given[0].chunks(128).zip(&given[1]).map(|(row, scale)| row.iter().sum::<f64>() * scale);
    assert!(close(&found, rows));
}

#[test]
fn partly_filled_sticks_are_not_simulated() {
    let mut case = case(vec![on("dl16tofp32", &[0, 1], vec![half(), single()])], &[half(), single()]);
    let mut file: Value = serde_json::from_slice(&case.bundle["sdsc_0.json"]).unwrap();
    let dsc = &mut file["0_dl16tofp32"]["dscs_"][0]["dl16tofp32"];
    dsc["N_"]["out_"] = json!(96);
    for stage in ["ss_", "el_"] {
        dsc["dataStageParam_"]["0"][stage]["out_"] = json!(96);
    }
    case.bundle.insert("sdsc_0.json".to_owned(), serde_json::to_vec(&file).unwrap());
    let error = case.run(ConversionOrder::Staggered).unwrap_err();
    assert_eq!(error.rule(), "not-simulated");
    assert!(error.to_string().contains("'dl16tofp32' of 96 columns, not a multiple of 64"), "{error}");
}

/// Two launches: the first leaves a staggered buffer, which the second narrows.
#[test]
fn a_later_launch_restores_the_order() {
    let mut files = Files::new();
    let mut add = |folder: &str, op: OpSpec| {
        let bundle = emit(0, vec![BundleItem::Op(Box::new(op))]);
        files.extend(bundle.into_iter().map(|(name, bytes)| (format!("{folder}/{name}"), bytes)));
    };
    add("b0", on("dl16tofp32", &[0, 1], vec![half(), single()]));
    add("b1", on("fp32todl16", &[0, 1], vec![single(), half()]));
    let launch = |bundle: &str, arguments: [&str; 2]| LaunchEntry {
        bundle: bundle.to_owned(),
        arguments: arguments.map(str::to_owned).to_vec(),
        ..LaunchEntry::default()
    };
    let program = Program {
        name: "p".to_owned(),
        arguments: vec![tensor("x", &half())],
        results: vec![tensor("y", &half())],
        buffers: vec![tensor("wide", &single())],
        launches: vec![launch("b0", ["x", "wide"]), launch("b1", ["wide", "y"])],
        conversions: ConversionOrder::Staggered,
        ..Program::default()
    };
    files.insert("program.json".to_owned(), serde_json::to_vec(&program).unwrap());
    let found = check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
