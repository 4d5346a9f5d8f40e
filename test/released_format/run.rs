//! Runs bundles in memory on the simulator.

use crate::check_bundle::bundles::Files;
use machine::Target;
use referee::{HostArray, RunOptions, SimError, Simulation, draw_seeded_array};
use sdsc_format::program::{LaunchEntry, PROGRAM_FILE, Program, Tensor};
use serde_json::json;
use std::collections::BTreeMap;

/// Returns an f16 tensor whose sticks are along its columns.
fn tensor(name: &str, [rows, columns]: [i64; 2]) -> Tensor {
    serde_json::from_value(json!({
        "name": name, "shape": [rows, columns], "element_type": "f16", "format": "SEN169_FP16",
        "device_size": [columns / 64, rows, 64], "stride_map": [64, columns, 1], "bytes": rows * columns * 2,
    }))
    .unwrap()
}

/// Returns the program of the golden bundle `gather_rows`: eight rows of a table.
pub(crate) fn gathered_rows() -> Program {
    let rows = |name: &str, shape: [i64; 2], device_size: [i64; 3]| {
        json!({"name": name, "shape": shape, "element_type": "f16", "format": "SEN169_FP16", "device_size": device_size,
               "stride_map": [64, 64, 1], "bytes": shape[0] * 128})
    };
    let indices = json!({"name": "t1", "shape": [8], "element_type": "i64", "format": "IEEE_INT32", "device_size": [1, 1, 32],
                         "stride_map": [32, -1, 1], "bytes": 128, "index_range": [0, 40]});
    serde_json::from_value(json!({
        "name": "main", "arguments": [rows("t0", [40, 64], [40, 1, 64]), indices], "results": [rows("t2", [8, 64], [1, 8, 64])],
        "constants": [], "buffers": [], "launches": [{"bundle": "bundle_0", "arguments": ["t0", "t1", "t2"]}],
    }))
    .unwrap()
}

/// Returns the program of a pooling of 8 x 8 points with 64 channels to 4 x 4 points.
pub(crate) fn images() -> Program {
    let image = |name: &str, side: i64| {
        json!({"name": name, "shape": [side, side, 64], "element_type": "f16", "format": "SEN169_FP16",
               "device_size": [1, side, side, 64], "stride_map": [64, 64 * side, 64, 1], "bytes": side * side * 128})
    };
    serde_json::from_value(json!({
        "name": "main", "arguments": [image("t0", 8)], "results": [image("t1", 4)], "constants": [], "buffers": [],
        "launches": [{"bundle": "bundle_0", "arguments": ["t0", "t1"]}],
    }))
    .unwrap()
}

/// Returns a program of one launch of the bundle `bundle_0`, whose arguments are matrices, the result last.
pub(crate) fn program(shapes: &[[i64; 2]], sizes: &[(&str, i64, i64)]) -> Program {
    let mut arguments: Vec<Tensor> =
        shapes.iter().enumerate().map(|(number, shape)| tensor(&format!("t{number}"), *shape)).collect();
    let names = arguments.iter().map(|tensor| tensor.name.clone()).collect();
    let results = vec![arguments.pop().unwrap()];
    let mut program =
        json!({"name": "main", "arguments": [], "results": [], "constants": [], "buffers": [], "launches": []});
    if !sizes.is_empty() {
        program["sizes"] =
            sizes.iter().map(|(name, max, step)| json!({"name": name, "maximum": max, "granularity": step})).collect();
    }
    let program: Program = serde_json::from_value(program).unwrap();
    let of_launch = sizes.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let launches = vec![LaunchEntry {
        bundle: "bundle_0".to_owned(),
        arguments: names,
        sizes: of_launch,
        ..LaunchEntry::default()
    }];
    Program { arguments, results, launches, ..program }
}

/// Runs a bundle, and returns its results. `program` replaces a missing `program.json`.
pub(crate) fn run(files: &Files, program: Option<&Program>) -> Result<Vec<HostArray>, SimError> {
    let place = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let name = if name.contains('/') || name == PROGRAM_FILE { name.clone() } else { format!("bundle_0/{name}") };
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let simulation = match program {
        Some(program) => Simulation::with_program(program.clone(), place.path(), &Target::spyre())?,
        None => Simulation::load(place.path(), &Target::spyre())?,
    };
    let inputs: BTreeMap<String, HostArray> = simulation
        .program()
        .arguments
        .iter()
        .map(|tensor| (tensor.name.clone(), draw_seeded_array(tensor, 7).unwrap()))
        .collect();
    let outcome = simulation.run(&inputs, &RunOptions::default())?;
    Ok(outcome.results.into_iter().map(|(_, array)| array).collect())
}
