//! Bundles in which equal ops share a file: they are written, checked, read back and executed.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::check_bundle::{
    bundles::{Files, matrix, op, with_allocation},
    edits,
};
use machine::Target;
use referee::{HostArray, RunOptions, RunOutcome, Simulation, draw_seeded_array};
use sdsc_check::{Profile, check_files_with_profile};
use sdsc_format::program::Program;
use serde_json::{Value, json};
use spyre_compiler::bundle::{Allocation, Bundle, BundleItem};
use spyre_compiler::launch::{Execute, Launch, Stmt};
use spyre_compiler::sdsc::{
    check::find_emission_difference,
    emit::{from_op_spec, share_files},
};
use std::{collections::BTreeMap, fs};

/// Returns three sigmoids of a matrix, one after the other in the pool, between a copy in and a copy out.
fn chain() -> Bundle {
    let tensor = |allocation| with_allocation(matrix((0, 64), (1, 64)), allocation);
    let (argument, pool) = (
        |argument| Allocation::Hbm { argument, offset_bytes: 0 },
        |number: i64| Allocation::Pool { offset_bytes: number * 8192 },
    );
    let ops = [
        ("identity", argument(0), pool(0)),
        ("sigmoid", pool(0), pool(1)),
        ("sigmoid", pool(1), pool(2)),
        ("sigmoid", pool(2), pool(3)),
        ("identity", pool(3), argument(1)),
    ];
    let spec = |(function, from, to)| {
        let mut spec = op(function, &[(64, 2), (64, 1)], 0, vec![tensor(from), tensor(to)]);
        for (operand, place) in spec.operands.iter_mut().zip([from, to]) {
            operand.allocation = place;
        }
        BundleItem::Op(Box::new(spec))
    };
    Bundle { pool_bytes: 4 * 8192, items: ops.map(spec).to_vec() }
}

/// Returns the program of the bundle; equal ops share a file if `is_shared`.
fn build_program(is_shared: bool) -> Files {
    let bundle = chain();
    let mut launch = Launch::new(&bundle).unwrap();
    let ops = bundle.ops();
    let sdsc = if is_shared {
        share_files(&ops, &[], &mut launch).unwrap().files
    } else {
        ops.iter()
            .zip(&launch.first_symbol_ids)
            .enumerate()
            .map(|(number, (op, first))| from_op_spec(op, number, *first).unwrap())
            .collect()
    };
    let tensor = |name: &str| {
        json!({"name": name, "shape": [64, 64], "element_type": "f16", "format": "SEN169_FP16", "device_size": [1, 64, 64],
               "stride_map": [64, 64, 1], "bytes": 8192})
    };
    let pool: Vec<Value> = (0..4)
        .map(|number| json!({"offset": number * 8192, "bytes": 8192, "first_op": number, "last_op": number + 1}))
        .collect();
    let program = json!({"name": "main", "arguments": [tensor("x")], "results": [tensor("y")], "constants": [], "buffers": [],
                         "launches": [{"bundle": "bundle_0", "arguments": ["x", "y"], "pool": pool}]});
    let files = sdsc
        .iter()
        .enumerate()
        .map(|(number, sdsc)| (format!("bundle_0/sdsc_{number}.json"), sdsc_format::to_text(sdsc)));
    files
        .chain([
            ("bundle_0/bundle.mlir".to_owned(), launch.to_string().into_bytes()),
            ("program.json".to_owned(), serde_json::to_vec(&program).unwrap()),
        ])
        .collect()
}

fn file_contents(files: &Files) -> impl Iterator<Item = (&str, &[u8])> {
    files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
}

fn violated_labels(files: &Files, profile: Profile) -> Vec<&'static str> {
    let found = check_files_with_profile(file_contents(files), &Target::spyre(), profile).unwrap();
    let mut labels: Vec<_> = found.iter().map(|violation| violation.label).collect();
    labels.dedup();
    labels
}

/// Replaces one occurrence of a text in `bundle.mlir`.
fn replace_text(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    assert!(text.contains(from), "{from:?} is not in\n{text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

fn run(files: &Files) -> RunOutcome {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("bundle_0")).unwrap();
    for (path, content) in files {
        fs::write(place.path().join(path), content).unwrap();
    }
    let simulation = Simulation::load(place.path(), &Target::spyre()).unwrap();
    let input = |program: &Program| -> BTreeMap<String, HostArray> {
        program.arguments.iter().map(|tensor| (tensor.name.clone(), draw_seeded_array(tensor, 1).unwrap())).collect()
    };
    simulation.run(&input(simulation.program()), &RunOptions::default()).unwrap()
}

#[test]
fn accepts_shared_file_only_in_its_back_end() {
    let shared = build_program(true);
    assert_eq!(shared.keys().filter(|path| path.contains("sdsc_")).count(), 3);
    assert_eq!(violated_labels(&shared, Profile::TorchSpyre2026_09), [""; 0]);
    assert_eq!(violated_labels(&shared, Profile::TorchSpyre2026_08), ["sdsc_r7", "sdsc_r15"]);
    let separate = build_program(false);
    assert_eq!(separate.keys().filter(|path| path.contains("sdsc_")).count(), 5);
    assert_eq!(violated_labels(&separate, Profile::TorchSpyre2026_09), [""; 0]);
    assert_eq!(violated_labels(&separate, Profile::TorchSpyre2026_08), [""; 0]);
}

#[test]
fn runs_shared_file_at_places_of_each_execute() {
    let (shared, separate) = (run(&build_program(true)), run(&build_program(false)));
    assert_eq!(shared.results, separate.results);
    assert_eq!(
        (shared.report.total.hbm_read, shared.report.steps),
        (separate.report.total.hbm_read, separate.report.steps)
    );
    let executions =
        |outcome: &RunOutcome| outcome.report.launches[0].ops.iter().map(|op| op.executions).collect::<Vec<_>>();
    assert_eq!((executions(&shared), executions(&separate)), (vec![1, 3, 1], vec![1; 5]));
}

#[test]
fn reads_back_bundle_with_shared_files() {
    assert_eq!(find_emission_difference(file_contents(&build_program(true))), None);
    let mut files = build_program(true);
    replace_text(&mut files, "sdsc_1.json", "sdsc_2.json");
    let found = find_emission_difference(file_contents(&files)).unwrap();
    assert!(
        found
            .message
            .contains("runs sdsc_2.json where sdsc_1.json is next; files are in the order in which they first run"),
        "{found}"
    );
}

#[test]
fn shares_all_files_of_equal_ops_or_none() {
    let (bundle, mut files) = (chain(), build_program(true));
    let (mut shared, separate) = (Launch::new(&bundle).unwrap(), Launch::new(&bundle).unwrap());
    share_files(&bundle.ops(), &[], &mut shared).unwrap();
    // The last sigmoid has a separate file.
    let mut number = 0;
    for (statement, own) in shared.body.iter_mut().zip(&separate.body) {
        let (Stmt::Execute(execute), Stmt::Execute(own)) = (statement, own) else { continue };
        if number > 2 {
            *execute = Execute { op: number - 1, ..own.clone() };
            let file = from_op_spec(bundle.ops()[number], number - 1, separate.first_symbol_ids[number]).unwrap();
            files.insert(format!("bundle_0/sdsc_{}.json", number - 1), sdsc_format::to_text(&file));
        }
        number += 1;
    }
    files.insert("bundle_0/bundle.mlir".to_owned(), shared.to_string().into_bytes());
    assert_eq!(violated_labels(&files, Profile::TorchSpyre2026_09), [""; 0]);
    let found = find_emission_difference(file_contents(&files)).unwrap();
    assert!(found.message.contains("runs sdsc_2.json where equal ops share sdsc_1.json"), "{found}");
}

#[test]
fn finds_execute_of_shared_file_at_wrong_place() {
    let broken = |labels_of: &[&str], edit: &dyn Fn(&mut Files)| {
        let mut files = build_program(true);
        edit(&mut files);
        assert_eq!(violated_labels(&files, Profile::TorchSpyre2026_09), labels_of);
    };
    // The last sigmoid reads unwritten memory, writes beyond the pool, has two cores swapped, or reads an argument.
    broken(&["sdsc_r89"], &|files| {
        replace_text(
            files,
            "(%pool_addr_16384, %pool_addr_20480, %pool_addr_24576, ",
            "(%pool_addr_24576, %pool_addr_28672, %pool_addr_24576, ",
        );
    });
    broken(&["sdsc_r69"], &|files| {
        replace_text(files, "%pool_offset_28672 = arith.constant 28672", "%pool_offset_28672 = arith.constant 32768");
    });
    broken(&["sdsc_r80"], &|files| {
        replace_text(
            files,
            "(%pool_addr_16384, %pool_addr_20480, %pool_addr_24576, ",
            "(%pool_addr_20480, %pool_addr_16384, %pool_addr_24576, ",
        );
    });
    broken(&["sdsc_r100"], &|files| {
        replace_text(
            files,
            "(%pool_addr_16384, %pool_addr_20480, %pool_addr_24576, ",
            "(%arg_0, %arg_0_core_4096, %pool_addr_24576, ",
        );
    });
    let handles = |ops: &[usize]| {
        let handles: Vec<Value> = ops.iter().map(|op| json!({"op": op, "handle": {"id": "7"}})).collect();
        move |files: &mut Files| {
            edits::json(files, "program.json", |value| value["launches"][0]["debug_handles"] = json!(handles))
        }
    };
    broken(&[], &handles(&[2, 3]));
    broken(&["sdsc_r137"], &handles(&[1]));
    broken(&["sdsc_r137"], &handles(&[3, 2]));
    broken(&["sdsc_r137"], &handles(&[5]));
}
