//! Programs with a producer, a shuffle and a consumer: results, and forged shuffles.

use super::{SliceDistribution, slice_numbers};
use crate::check_bundle::bundles::{Files, emit_ops, lx, matrix, op};
use machine::{DeviceFormat, Target};
use referee::{HostArray, RunOptions, SimError, Simulation, draw_seeded_array};
use sdsc_check::{Violation, check_files};
use sdsc_format::model::Sdsc;
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use serde_json::{Value, json};
use spyre_compiler::bundle::OpSpec;
use spyre_compiler::launch::geometry::DimLabel;
use spyre_compiler::sdsc::{Shuffle, ShuffleView, build_shuffle_file, find_emission_difference};
use std::collections::BTreeMap;

const ROWS: i64 = 16;
const COLUMNS: i64 = 256;

/// Addresses of the shuffle's source and destination.
const SOURCE: i64 = 0;
const DESTINATION: i64 = 32_768;

fn matrix_of(rows: i64, columns: i64, name: &str) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: vec![rows, columns],
        element_type: "f32".to_owned(),
        format: "SEN169_FP16".to_owned(),
        device_size: vec![columns / 64, rows, 64],
        stride_map: vec![64, columns, 1],
        bytes: rows * columns * 2,
        ..Tensor::default()
    }
}

/// A program of three ops on four cores.
struct ShuffleCase {
    files: Files,
    arguments: Vec<Tensor>,
    expected: fn(&[Vec<f64>]) -> Vec<f64>,
}

fn plain_distribution(slices: &'static [i64], strides: &'static [i64], copies: i64) -> SliceDistribution {
    SliceDistribution { slices, base: 0, strides, copies, step: 1 }
}

fn core_view(held: SliceDistribution, address: i64) -> ShuffleView {
    super::build_view(&held, &[DimLabel::Mb, DimLabel::Out], vec![address; 4])
}

fn build_shuffle(source: ShuffleView, destination: ShuffleView) -> Shuffle {
    Shuffle {
        dims: vec![(DimLabel::Mb, ROWS), (DimLabel::Out, COLUMNS)],
        stick: DimLabel::Out,
        format: DeviceFormat::Sen169Fp16,
        cores: 4,
        corelets: 1,
        is_completed_sum: false,
        source,
        destination,
    }
}

/// Emits producer and consumer around a shuffle, which is not an op of the emitter yet.
fn emit_with_shuffle(producer: OpSpec, shuffle: &Shuffle, consumer: OpSpec) -> Files {
    let stand_in = op(
        "identity",
        &[(ROWS, 4), (COLUMNS, 1)],
        0,
        vec![lx(matrix((0, ROWS), (1, COLUMNS)), SOURCE), lx(matrix((0, ROWS), (1, COLUMNS)), DESTINATION)],
    );
    let mut files = emit_ops(vec![producer, stand_in, consumer]);
    let file = build_shuffle_file(shuffle, 1, &Target::spyre()).unwrap();
    files.insert("sdsc_1.json".to_owned(), sdsc_format::to_text(&file));
    files
}

fn rows() -> spyre_compiler::bundle::OpSpecOperand {
    matrix((0, ROWS), (1, COLUMNS))
}

/// Builds exp on rows; each core gets all rows for its columns of a matmul.
fn all_gather() -> ShuffleCase {
    let producer = op("exp", &[(ROWS, 4), (COLUMNS, 1)], 0, vec![rows(), lx(rows(), SOURCE)]);
    let shuffle = build_shuffle(
        core_view(plain_distribution(&[4, 1], &[1, 0], 1), SOURCE),
        core_view(plain_distribution(&[1, 1], &[0, 0], 4), DESTINATION),
    );
    let operands = vec![lx(matrix((0, ROWS), (2, COLUMNS)), DESTINATION), matrix((2, COLUMNS), (1, COLUMNS)), rows()];
    let mut consumer = op("batchmatmul", &[(ROWS, 1), (COLUMNS, 4), (COLUMNS, 1)], 0, operands);
    renumber(&mut consumer, &[0, 1, 2]);
    ShuffleCase {
        files: emit_with_shuffle(producer, &shuffle, consumer),
        arguments: vec![
            matrix_of(ROWS, COLUMNS, "x"),
            matrix_of(COLUMNS, COLUMNS, "w"),
            matrix_of(ROWS, COLUMNS, "result"),
        ],
        expected: |inputs| multiply(&inputs[0].iter().map(|x| x.exp()).collect::<Vec<_>>(), &inputs[1]),
    }
}

/// Builds exp on rows, then neg on columns.
fn one_to_one() -> ShuffleCase {
    let producer = op("exp", &[(ROWS, 4), (COLUMNS, 1)], 0, vec![rows(), lx(rows(), SOURCE)]);
    let shuffle = build_shuffle(
        core_view(plain_distribution(&[4, 1], &[1, 0], 1), SOURCE),
        core_view(plain_distribution(&[1, 4], &[0, 1], 1), DESTINATION),
    );
    let mut consumer = op("neg", &[(ROWS, 1), (COLUMNS, 4)], 0, vec![lx(rows(), DESTINATION), rows()]);
    renumber(&mut consumer, &[0, 1]);
    ShuffleCase {
        files: emit_with_shuffle(producer, &shuffle, consumer),
        arguments: vec![matrix_of(ROWS, COLUMNS, "x"), matrix_of(ROWS, COLUMNS, "result")],
        expected: |inputs| inputs[0].iter().map(|x| -x.exp()).collect(),
    }
}

/// Builds a matmul whose sum is split over pairs of cores. The second of a pair completes it, and all four get a
/// quarter of the rows.
fn completed_sum() -> ShuffleCase {
    let operands = vec![matrix((0, ROWS), (2, COLUMNS)), matrix((2, COLUMNS), (1, COLUMNS)), lx(rows(), SOURCE)];
    let producer = op("batchmatmul", &[(ROWS, 2), (COLUMNS, 1), (COLUMNS, 2)], 0, operands);
    let mut source = core_view(plain_distribution(&[2, 1], &[2, 0], 1), SOURCE);
    source.slots = (0..2).map(|slice| (2 * slice + 1, slice_numbers(slice, &[2, 1]))).collect();
    let shuffle = Shuffle {
        is_completed_sum: true,
        ..build_shuffle(source, core_view(plain_distribution(&[4, 1], &[1, 0], 1), DESTINATION))
    };
    let mut consumer = op("neg", &[(ROWS, 4), (COLUMNS, 1)], 0, vec![lx(rows(), DESTINATION), rows()]);
    renumber(&mut consumer, &[0, 2]);
    ShuffleCase {
        files: emit_with_shuffle(producer, &shuffle, consumer),
        arguments: vec![
            matrix_of(ROWS, COLUMNS, "x"),
            matrix_of(COLUMNS, COLUMNS, "w"),
            matrix_of(ROWS, COLUMNS, "result"),
        ],
        expected: |inputs| multiply(&inputs[0], &inputs[1]).iter().map(|x| -x).collect(),
    }
}

/// Assigns kernel arguments to the operands of an op; operands in LX have none.
fn renumber(op: &mut OpSpec, arguments: &[u32]) {
    for (operand, number) in op.operands.iter_mut().zip(arguments) {
        if let spyre_compiler::bundle::Allocation::Hbm { argument, .. } = &mut operand.allocation {
            *argument = *number;
        }
    }
}

fn multiply(x: &[f64], w: &[f64]) -> Vec<f64> {
    let n = COLUMNS as usize;
    (0..x.len()).map(|at| (0..n).map(|k| x[at / n * n + k] * w[k * n + at % n]).sum()).collect()
}

fn find_broken_rules(files: &Files) -> Vec<(&'static str, String)> {
    let found =
        check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    found.into_iter().map(|violation| (violation.label, violation.to_string())).collect()
}

/// Returns the maximum difference from the expected numbers, relative to their root mean square.
fn measure_difference(case: &ShuffleCase, files: &Files) -> Result<f64, SimError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    files.iter().for_each(|(name, bytes)| std::fs::write(dir.path().join("b").join(name), bytes).unwrap());
    let launches = vec![LaunchEntry {
        bundle: "b".to_owned(),
        arguments: case.arguments.iter().map(|tensor| tensor.name.clone()).collect(),
        ..LaunchEntry::default()
    }];
    let (result, arguments) = case.arguments.split_last().unwrap();
    let program = Program {
        name: "p".to_owned(),
        arguments: arguments.to_vec(),
        results: vec![result.clone()],
        launches,
        ..Program::default()
    };
    let simulation = Simulation::with_program(program, dir.path(), &Target::spyre())?;
    let inputs: BTreeMap<String, HostArray> =
        arguments.iter().map(|tensor| (tensor.name.clone(), draw_seeded_array(tensor, 1).unwrap())).collect();
    let outcome = simulation.run(&inputs, &RunOptions::default())?;
    let numbers = |array: &HostArray| (0..array.elements.len()).map(|at| array.elements.get(at)).collect::<Vec<f64>>();
    let given: Vec<Vec<f64>> = arguments.iter().map(|tensor| numbers(&inputs[&tensor.name])).collect();
    let (expected, found) = ((case.expected)(&given), numbers(&outcome.results[0].1));
    let square = expected.iter().map(|value| value * value).sum::<f64>() / expected.len() as f64;
    // NaN is the largest difference.
    let worst = expected
        .iter()
        .zip(&found)
        .map(|(expected, found)| (expected - found).abs())
        .fold(0.0, |worst, next| if next <= worst { worst } else { next });
    Ok(worst / square.sqrt())
}

const TOLERANCE: f64 = 0.05;

#[test]
fn multiplies_gathered_operand() {
    let case = all_gather();
    assert_eq!(find_broken_rules(&case.files), []);
    assert!(measure_difference(&case, &case.files).unwrap() < TOLERANCE);
}

#[test]
fn converts_rows_to_columns() {
    let case = one_to_one();
    assert_eq!(find_broken_rules(&case.files), []);
    assert!(measure_difference(&case, &case.files).unwrap() < TOLERANCE);
}

#[test]
fn distributes_completed_sum() {
    let case = completed_sum();
    assert_eq!(find_broken_rules(&case.files), []);
    assert!(measure_difference(&case, &case.files).unwrap() < TOLERANCE);
}

/// Changes the slices that the cores hold of the source (0) or the destination (1), and the op's own slices, which are
/// those of the destination.
fn forge_slices(files: &Files, tensor: usize, change: impl Fn(&mut serde_json::Map<String, Value>)) -> Files {
    let mut files = files.clone();
    let mut value: Value = serde_json::from_slice(&files["sdsc_1.json"]).unwrap();
    let operation = &mut value["1_shuffle"];
    let path = format!("/dscs_/0/shuffle/scheduleTree_/{tensor}/coordinates_/coreIdToWkSlice_");
    change(operation.pointer_mut(&path).unwrap().as_object_mut().unwrap());
    if tensor == 1 {
        change(operation["coreIdToWkSlice_"].as_object_mut().unwrap());
    }
    let file: Sdsc = serde_json::from_value(value).unwrap();
    files.insert("sdsc_1.json".to_owned(), sdsc_format::to_text(&file));
    files
}

fn exchange_slices(held: &mut serde_json::Map<String, Value>) {
    let (one, other) = (held["1"].clone(), held["2"].clone());
    held.insert("1".to_owned(), other);
    held.insert("2".to_owned(), one);
}

/// Checks that a rule names a forged shuffle, and that the simulator rejects it or computes different numbers.
fn check_found(case: &ShuffleCase, forged: &Files, label: &str, fault: &str) {
    let broken = find_broken_rules(forged);
    assert!(broken.iter().any(|(found, message)| *found == label && message.contains(fault)), "{fault}: {broken:?}");
    if let Ok(difference) = measure_difference(case, forged) {
        assert!(difference >= TOLERANCE || difference.is_nan(), "{fault}: {difference}");
    }
}

#[test]
fn finds_forged_shuffles() {
    let (gather, columns, sum) = (all_gather(), one_to_one(), completed_sum());
    // One copy is missing.
    let lost = forge_slices(&gather.files, 1, |held| drop(held.remove("2")));
    check_found(&gather, &lost, "sdsc_r88", "core 2");
    // Two slices are exchanged, in the source and in the destination.
    check_found(&gather, &forge_slices(&gather.files, 0, exchange_slices), "sdsc_r88", "which wrote slice");
    check_found(&columns, &forge_slices(&columns.files, 0, exchange_slices), "sdsc_r88", "which wrote slice");
    check_found(&columns, &forge_slices(&columns.files, 1, exchange_slices), "sdsc_r88", "which wrote slice");
    // The source is the core that passes its partial sum on, instead of the core that completes the sum.
    let wrong_owner = forge_slices(&sum.files, 0, |held| {
        let slot = held.remove("1").unwrap();
        held.insert("0".to_owned(), slot);
    });
    let mut wrong_owner_used = wrong_owner;
    let text = String::from_utf8(wrong_owner_used["sdsc_1.json"].clone()).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let operation = &mut value["1_shuffle"];
    operation["coreIdToDsc_"] = json!({"0": 0, "3": 0});
    operation["coreIdToDscSchedule"] = json!({"0": [[-1, 0, 0, 0]], "3": [[-1, 0, 0, 0]]});
    *operation.pointer_mut("/dscs_/0/shuffle/coreIdsUsed_").unwrap() = json!([0, 3]);
    let file: Sdsc = serde_json::from_value(value).unwrap();
    wrong_owner_used.insert("sdsc_1.json".to_owned(), sdsc_format::to_text(&file));
    check_found(&sum, &wrong_owner_used, "sdsc_r88", "core 0");
    assert_eq!(measure_difference(&sum, &wrong_owner_used).unwrap_err().rule(), "unwritten");
}

fn find_difference(files: &Files) -> Option<Violation> {
    find_emission_difference(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))
}

/// Sets the LX address of a tensor on each core.
fn set_lx_addresses(files: &mut Files, file: usize, tensor: usize, address: impl Fn(i64) -> i64) {
    let name = format!("sdsc_{file}.json");
    let mut file: Sdsc = serde_json::from_slice(&files[&name]).unwrap();
    for (key, start) in &mut file.value.dscs[0].value.nodes[tensor].start.data.0 {
        start.0 = address(key.core);
    }
    files.insert(name, sdsc_format::to_text(&file));
}

/// Addresses in LX may differ from core to core (CT-5), also of the producer and the consumer.
#[test]
fn accepts_addresses_by_core_around_shuffle() {
    let mut files = all_gather().files;
    let (source, destination) = (|core| SOURCE + 4096 * core, |core| DESTINATION + 16_384 * core);
    for (file, tensor) in [(0, 1), (1, 0)] {
        set_lx_addresses(&mut files, file, tensor, source);
    }
    for (file, tensor) in [(1, 1), (2, 0)] {
        set_lx_addresses(&mut files, file, tensor, destination);
    }
    assert_eq!(find_broken_rules(&files), []);
    assert_eq!(find_difference(&files), None);
}

/// A shuffle may have no op spec; files after it are compared all the same.
#[test]
fn compares_files_after_shuffle_with_emission() {
    let mut files = all_gather().files;
    assert_eq!(find_difference(&files), None);
    let text = String::from_utf8(files["sdsc_2.json"].clone()).unwrap();
    files.insert("sdsc_2.json".to_owned(), text.replacen("\"exUnit\": \"pt\"", "\"exUnit\": \"sfp\"", 1).into_bytes());
    let found = find_difference(&files).unwrap();
    assert!(found.file == "sdsc_2.json" && found.message.contains("exUnit"), "{found}");
}
