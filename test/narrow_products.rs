//! Matmuls of 8-bit operands, with weights in sticks of two rows and 64 columns, compared with plain computations.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::check_bundle::bundles::{Files, emit_ops, matrix, op, operand};
use machine::{DeviceFormat, Target};
use referee::{HostArray, RunOptions, Simulation, draw_seeded_array};
use sdsc_check::check_files;
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use spyre_compiler::bundle::{Coordinate as C, ElementArrangement, OpSpecOperand};
use std::collections::BTreeMap;

const ROWS: i64 = 8;
const CONTRACTED: i64 = 256;
const COLUMNS: i64 = 128;

/// Builds a matmul of 8-bit operands on two cores, in the spelling of fp8.
fn build_product() -> Files {
    let narrow =
        |operand: OpSpecOperand, arrangement| OpSpecOperand { format: DeviceFormat::Sen143Fp8, arrangement, ..operand };
    let left = operand(&[2, ROWS, 128], vec![C::floordiv(2, 128), C::dim(0), C::modulo(2, 128)]);
    let right = operand(&[1, CONTRACTED, 128], vec![C::constant(0), C::dim(2), C::dim(1)]);
    let operands = vec![
        narrow(left, ElementArrangement::Standard),
        narrow(right, ElementArrangement::Qfp8Wt),
        matrix((0, ROWS), (1, COLUMNS)),
    ];
    let mut product = op("batchmatmulfp8", &[(ROWS, 2), (COLUMNS, 1), (CONTRACTED, 1)], 0, operands);
    product.is_reduction = true;
    emit_ops(vec![product])
}

/// Returns the files with formats and functions renamed.
fn rename_formats(files: Files, names: [(&str, &str); 2]) -> Files {
    let rename = |(name, bytes): (String, Vec<u8>)| {
        let text = names.iter().fold(String::from_utf8(bytes).unwrap(), |text, (from, to)| text.replace(from, to));
        (name, text.into_bytes())
    };
    files.into_iter().map(rename).collect()
}

fn tensor(name: &str, (rows, columns): (i64, i64), format: DeviceFormat, element_type: &str) -> Tensor {
    let per_stick = format.elements_per_stick();
    Tensor {
        name: name.to_owned(),
        shape: vec![rows, columns],
        element_type: element_type.to_owned(),
        format: format.name().to_owned(),
        device_size: vec![columns / per_stick, rows, per_stick],
        stride_map: vec![per_stick, columns, 1],
        bytes: rows * columns * format.bytes(),
        ..Tensor::default()
    }
}

/// Returns the maximum difference of the result from the sums of products.
fn measure_difference(files: &Files, format: DeviceFormat, element_type: &str, value: fn(usize) -> f64) -> f64 {
    let names = ["x", "w", "y"].map(str::to_owned).to_vec();
    let program = Program {
        name: "p".to_owned(),
        arguments: vec![
            tensor("x", (ROWS, CONTRACTED), format, element_type),
            tensor("w", (CONTRACTED, COLUMNS), format, element_type),
        ],
        results: vec![tensor("y", (ROWS, COLUMNS), DeviceFormat::Sen169Fp16, "f32")],
        launches: vec![LaunchEntry { bundle: "b".to_owned(), arguments: names, ..LaunchEntry::default() }],
        ..Program::default()
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    files.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join("b").join(name), bytes).unwrap());
    let simulation =
        Simulation::with_program(program, dir.path(), &Target::spyre()).unwrap_or_else(|error| panic!("{error}"));
    let mut inputs: BTreeMap<String, HostArray> = BTreeMap::new();
    for tensor in &simulation.program().arguments {
        let mut array = draw_seeded_array(tensor, 1).unwrap();
        (0..array.elements.len()).for_each(|at| array.elements.set(at, value(at)));
        inputs.insert(tensor.name.clone(), array);
    }
    let outcome = simulation.run(&inputs, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let (n, k) = (COLUMNS as usize, CONTRACTED as usize);
    let sum = |at: usize| (0..k).map(|l| value(at / n * k + l) * value(l * n + at % n)).sum::<f64>();
    (0..ROWS as usize * n).map(|at| (outcome.results[0].1.elements.get(at) - sum(at)).abs()).fold(0.0, f64::max)
}

fn find_broken_rules(files: &Files) -> Vec<String> {
    let found =
        check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    found.into_iter().map(|violation| violation.to_string()).collect()
}

#[test]
fn multiplies_eight_bit_floats() {
    let files = build_product();
    assert_eq!(find_broken_rules(&files), Vec::<String>::new());
    // Small integers, and sums below 512: exact in every format.
    let worst = measure_difference(&files, DeviceFormat::Sen143Fp8, "f32", |at| ((at * 7 + at / 128) % 3) as f64 - 1.0);
    assert!(worst == 0.0, "{worst}");
}

#[test]
fn multiplies_eight_bit_integers() {
    let files = rename_formats(build_product(), [("SEN143_FP8", "SENINT8"), ("batchmatmulfp8", "batchmatmulint8")]);
    assert_eq!(find_broken_rules(&files), Vec::<String>::new());
    let worst = measure_difference(&files, DeviceFormat::SenInt8, "i8", |at| ((at * 7 + at / 128) % 3) as f64 - 1.0);
    assert!(worst == 0.0, "{worst}");
}
