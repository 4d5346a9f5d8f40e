//! With the material beside the project: torch-spyre's own figures and published device times.

use super::*;
use serde_json::Value;
use std::fs;

fn read(file: &str) -> Value {
    let path = common::shared("planner/costmodel").join(file);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn ints(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

//===----------------------------------------------------------------------===//
// Reading the shared descriptions
//===----------------------------------------------------------------------===//

/// The kernels of an entry: its runs of ops, or its ops one by one where they are not fused.
fn kernels(entry: &Value) -> Vec<Vec<OpShape>> {
    let (mut names, mut found) = (Vec::new(), vec![Vec::new()]);
    for op in entry["ops"].as_array().unwrap() {
        if op.get("foreign").is_some() {
            found.push(Vec::new());
            continue;
        }
        found.last_mut().unwrap().push(op_shape(op, &mut names));
        if entry["fuse"] == false {
            found.push(Vec::new());
        }
    }
    found.retain(|kernel| !kernel.is_empty());
    found
}

fn op_shape(op: &Value, names: &mut Vec<String>) -> OpShape {
    let space = op["iter_space"].as_object().unwrap();
    let position = |name: &str| space.keys().position(|key| key == name);
    let reduced: Vec<&str> = op["reduction_dims"].as_array().unwrap().iter().map(text).collect();
    let dims = space.iter().map(|(name, extent)| Dim {
        extent: extent.as_i64().unwrap(),
        slices: op["core_splits"].get(name).map_or(1, |slices| slices.as_i64().unwrap()),
        is_reduced: reduced.contains(&name.as_str()),
    });
    let tiled = |names: &Value| names.as_array().unwrap().iter().filter_map(|name| position(text(name))).collect();
    let loops = match &op["loop"] {
        Value::Null => vec![],
        around => ints(&around["counts"])
            .into_iter()
            .zip(around["tiles"].as_array().unwrap())
            .map(|(trips, names)| Loop { trips, tiled: tiled(names) })
            .collect(),
    };
    let element_bytes = op["dtype_bytes"].as_i64().unwrap();
    let read = |tensor: &Value| operand(tensor, element_bytes, &position, names);
    let mut operands: Vec<OperandShape> = op["tensors"].as_array().unwrap().iter().map(read).collect();
    operands.sort_by_key(|operand| operand.is_output);
    let kind = match text(&op["kind"]) {
        "pointwise" => OpKind::Pointwise,
        "reduction" => OpKind::Reduction,
        _ => OpKind::Matmul,
    };
    OpShape { kind, dims: dims.collect(), loops, operands, is_irregular: false }
}

fn operand(tensor: &Value, element_bytes: i64, position: &dyn Fn(&str) -> Option<usize>, names: &mut Vec<String>) -> OperandShape {
    let name = text(&tensor["name"]);
    let buffer = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    let index = tensor["index"].as_object().unwrap();
    let strides: Vec<(usize, i64)> = index.iter().map(|(dim, stride)| (position(dim).unwrap(), stride.as_i64().unwrap())).collect();
    let (logical, device) = (ints(&tensor["logical"]), ints(&tensor["device"]));
    let device_bytes = tensor["device_bytes"].as_i64().unwrap();
    let elements: i64 = logical.iter().product();
    // A stick of a sparse tensor holds one element.
    let is_sparse = elements == 1 || device_bytes >= 128 * elements;
    let dim_of = |stride: i64| strides.iter().find(|(_, known)| *known == stride).map(|(dim, _)| *dim);
    // Of three dimensions, torch-spyre puts the outermost one between the sticks unless it is told otherwise.
    let inner = match logical.len() {
        3 if device[device.len() - 2] == logical[0] && device[0] == logical[1] => dim_of(logical[1] * logical[2]),
        3 => dim_of(logical[2]),
        2 => dim_of(logical[1]),
        _ => None,
    };
    OperandShape {
        buffer,
        is_output: tensor["role"] == "output",
        is_kernel_input: name.starts_with("arg"),
        is_in_lx: tensor["mem"] == "lx",
        device_bytes,
        element_bytes,
        moved_by: strides.iter().map(|(dim, _)| *dim).collect(),
        stick: dim_of(1).filter(|_| !is_sparse),
        inner,
    }
}

fn total(entry: &Value, formula: Formula) -> Price {
    kernels(entry).iter().fold(Price::default(), |sum, kernel| {
        let price = price(&describe(kernel), &MODEL, formula);
        let add = |a: f64, b: f64| a + b / 1e3;
        Price {
            low_ns: add(sum.low_ns, price.low_ns),
            estimate_ns: add(sum.estimate_ns, price.estimate_ns),
            high_ns: add(sum.high_ns, price.high_ns),
            ..price
        }
    })
}

//===----------------------------------------------------------------------===//
// torch-spyre's model
//===----------------------------------------------------------------------===//

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn bytes_loop_factors_and_rereads_equal_torch_spyres() {
    let file = read("vectors.json");
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 127);
    for vector in vectors {
        let (id, expected) = (&vector["id"], &vector["expected"]);
        for (kernel, expected) in kernels(vector).iter().zip(expected["kernels"].as_array().unwrap()) {
            let moved = bytes(kernel);
            let sum = |part: fn(&cost::OpBytes) -> i64| moved.iter().map(part).sum::<i64>();
            assert_eq!(sum(|op| op.hbm_read - op.shared), expected["hbm_read_bytes"], "{id}: read");
            assert_eq!(sum(|op| op.hbm_written), expected["hbm_write_bytes"], "{id}: written");
            assert_eq!(sum(|op| op.lx_per_iteration), expected["lx_bytes"], "{id}: LX");
            assert_eq!(sum(|op| op.reread) as f64, expected["loop_reread_bytes"].as_f64().unwrap(), "{id}: read again");
            for ((op, moved), expected) in kernel.iter().zip(&moved).zip(expected["per_op"].as_array().unwrap()) {
                assert_eq!(moved.hbm_read + moved.hbm_written, expected["hbm_bytes"], "{id}: of an op");
                assert_eq!((moved.hbm_read + moved.hbm_written) / op.trips(), expected["hbm_bytes_per_iter"], "{id}: of an iteration");
                assert_eq!(moved.lx_per_iteration, expected["lx_bytes"], "{id}: LX of an op");
                assert_eq!(moved.reread, expected["refetch_bytes"], "{id}: read again by an op");
                let mut factors: Vec<i64> = op.operands.iter().map(|operand| op.loop_factor(operand)).collect();
                let mut known: Vec<i64> = expected["loop_factor"].as_object().unwrap().values().map(|n| n.as_i64().unwrap()).collect();
                factors.sort_unstable();
                known.sort_unstable();
                // A tensor that an op reads twice has one entry.
                factors.dedup();
                known.dedup();
                assert_eq!(factors, known, "{id}: loop factors");
            }
        }
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn the_port_equals_torch_spyres_times() {
    let (vectors, measured) = (read("vectors.json"), read("measured.json"));
    let entries = vectors["vectors"].as_array().unwrap().iter().map(|entry| (entry, &entry["expected"]["total_us"]));
    let measured = measured["entries"].as_array().unwrap().iter().map(|entry| (entry, &entry["head_us"]));
    for (entry, expected) in entries.chain(measured) {
        let (found, expected) = (total(entry, Formula::TorchSpyre).estimate_ns, expected.as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{}: {found} us, torch-spyre {expected} us", entry["id"]);
    }
}

//===----------------------------------------------------------------------===//
// Published times
//===----------------------------------------------------------------------===//

fn rows() -> Vec<Row> {
    let file = read("measured.json");
    let row = |entry: &Value| Row {
        category: text(&entry["category"]).to_owned(),
        group: entry["group"].as_str().map(str::to_owned),
        plan: text(&entry["id"]).split('#').next().unwrap().to_owned(),
        measured: entry["measured_us"].as_f64().unwrap(),
        modelled: total(entry, Formula::Recommended),
    };
    file["entries"].as_array().unwrap().iter().map(row).collect()
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn the_order_of_published_times_is_kept() {
    let rows = rows();
    for (category, rows) in by_category(&rows) {
        let (measured, modelled): (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (row.measured, row.modelled.estimate_ns)).unzip();
        let rho = spearman(&measured, &modelled);
        let least = if category == "broadcast" { 0.94 } else { 0.95 };
        assert!(rho >= least, "{category}: Spearman {rho:.3} of {} rows", rows.len());
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn picked_plans_are_nearly_the_best() {
    let rows = rows();
    let most = BTreeMap::from([("matmul_split", 1.05), ("softmax", 1.10), ("bmm", 1.25)]);
    for (category, rows) in by_category(&rows) {
        let regrets = regrets(&rows);
        assert!(regrets.iter().all(|regret| *regret <= 2.5), "{category}: {regrets:?}");
        if let Some(most) = most.get(category) {
            let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
            assert!(mean <= *most, "{category}: mean regret {mean:.3} of {} groups", regrets.len());
        }
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn nine_tenths_of_published_times_are_in_the_interval() {
    let rows = rows();
    for (category, rows) in by_category(&rows) {
        let inside = rows.iter().filter(|row| (row.modelled.low_ns..=row.modelled.high_ns).contains(&row.measured)).count();
        assert!(10 * (inside + 1) >= 9 * rows.len(), "{category}: {inside} of {}", rows.len());
    }
}
