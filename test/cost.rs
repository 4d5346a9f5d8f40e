//! The model of time against torch-spyre's and against published device times.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test over files and small numbers")]

use machine::{Target, TimeModel};
use serde_json::Value;
use spyre::cost::{Dim, Formula, Loop, OpKind, OpShape, OperandShape, Price, bytes, describe, price};
use std::{collections::BTreeMap, fs};

mod common;

const MODEL: TimeModel = Target::spyre().time;

fn read(file: &str) -> Option<Value> {
    let path = common::shared("planner/costmodel")?.join(file);
    Some(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
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
fn bytes_loop_factors_and_rereads_equal_torch_spyres() {
    let Some(file) = read("vectors.json") else { return };
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 127);
    for vector in vectors {
        let (id, expected) = (&vector["id"], &vector["expected"]);
        for (kernel, expected) in kernels(vector).iter().zip(expected["kernels"].as_array().unwrap()) {
            let moved = bytes(kernel);
            let sum = |part: fn(&spyre::cost::OpBytes) -> i64| moved.iter().map(part).sum::<i64>();
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
fn the_port_equals_torch_spyres_times() {
    let (Some(vectors), Some(measured)) = (read("vectors.json"), read("measured.json")) else { return };
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

/// One published time.
struct Row {
    category: String,
    group: Option<String>,
    plan: String,
    measured: f64,
    modelled: Price,
}

fn rows() -> Option<Vec<Row>> {
    let file = read("measured.json")?;
    let row = |entry: &Value| Row {
        category: text(&entry["category"]).to_owned(),
        group: entry["group"].as_str().map(str::to_owned),
        plan: text(&entry["id"]).split('#').next().unwrap().to_owned(),
        measured: entry["measured_us"].as_f64().unwrap(),
        modelled: total(entry, Formula::Recommended),
    };
    Some(file["entries"].as_array().unwrap().iter().map(row).collect())
}

fn by_category(rows: &[Row]) -> BTreeMap<&str, Vec<&Row>> {
    let mut found: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        found.entry(&row.category).or_default().push(row);
    }
    found
}

/// Ranks; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let equal = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
    let rank = |value: f64| {
        let below = values.iter().filter(|other| **other < value && !equal(value, **other)).count();
        let same = values.iter().filter(|other| equal(value, **other)).count();
        below as f64 + (same as f64 - 1.0) / 2.0
    };
    values.iter().map(|value| rank(*value)).collect()
}

fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// For each group of plans for the same work: the time of the plan that the model picks over the best.
fn regrets(rows: &[&Row]) -> Vec<f64> {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        if let Some(group) = &row.group {
            groups.entry(group).or_default().push(row);
        }
    }
    groups.retain(|_, plans| plans.iter().any(|plan| plan.plan != plans[0].plan));
    let regret = |plans: &Vec<&Row>| {
        let least = plans.iter().map(|row| row.modelled.estimate_ns).fold(f64::INFINITY, f64::min);
        let picked = plans.iter().filter(|row| row.modelled.estimate_ns <= least * (1.0 + 1e-9));
        let best = plans.iter().map(|row| row.measured).fold(f64::INFINITY, f64::min);
        picked.map(|row| row.measured).fold(0.0, f64::max) / best
    };
    groups.values().map(regret).collect()
}

#[test]
fn the_order_of_published_times_is_kept() {
    let Some(rows) = rows() else { return };
    for (category, rows) in by_category(&rows) {
        let (measured, modelled): (Vec<f64>, Vec<f64>) = rows.iter().map(|row| (row.measured, row.modelled.estimate_ns)).unzip();
        let rho = spearman(&measured, &modelled);
        let least = if category == "broadcast" { 0.94 } else { 0.95 };
        assert!(rho >= least, "{category}: Spearman {rho:.3} of {} rows", rows.len());
    }
}

#[test]
fn picked_plans_are_nearly_the_best() {
    let Some(rows) = rows() else { return };
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
fn nine_tenths_of_published_times_are_in_the_interval() {
    let Some(rows) = rows() else { return };
    for (category, rows) in by_category(&rows) {
        let inside = rows.iter().filter(|row| (row.modelled.low_ns..=row.modelled.high_ns).contains(&row.measured)).count();
        assert!(10 * (inside + 1) >= 9 * rows.len(), "{category}: {inside} of {}", rows.len());
    }
}

//===----------------------------------------------------------------------===//
// What holds of any kernel
//===----------------------------------------------------------------------===//

fn tensor(buffer: usize, sizes: &[(usize, i64)], is_output: bool) -> OperandShape {
    OperandShape {
        buffer,
        is_output,
        is_kernel_input: !is_output,
        device_bytes: 2 * sizes.iter().map(|(_, size)| size).product::<i64>(),
        element_bytes: 2,
        moved_by: sizes.iter().map(|(dim, _)| *dim).collect(),
        stick: sizes.last().map(|(dim, _)| *dim),
        inner: sizes.len().checked_sub(2).map(|at| sizes[at].0),
        ..OperandShape::default()
    }
}

fn dim(extent: i64, slices: i64) -> Dim {
    Dim { extent, slices, is_reduced: false }
}

/// A pointwise op on two `[rows, columns]`, or on one and a row.
fn pointwise(rows: i64, columns: i64, cores: i64, is_broadcast: bool) -> OpShape {
    let whole = [(0, rows), (1, columns)];
    let second = if is_broadcast { &whole[1..] } else { &whole };
    let operands = vec![tensor(0, &whole, false), tensor(1, second, false), tensor(2, &whole, true)];
    OpShape { dims: vec![dim(rows, cores), dim(columns, 1)], operands, ..OpShape::default() }
}

fn reduction(rows: i64, columns: i64, cores: i64) -> OpShape {
    let mut output = tensor(1, &[(0, rows)], true);
    (output.stick, output.device_bytes) = (None, 128 * rows);
    let dims = vec![dim(rows, cores), Dim { is_reduced: true, ..dim(columns, 1) }];
    OpShape { kind: OpKind::Reduction, dims, operands: vec![tensor(0, &[(0, rows), (1, columns)], false), output], ..OpShape::default() }
}

/// A product of `[batch, m, k]` and `[batch, k, n]` with the batch between the sticks, split `[batch, m, n]`.
fn product([batch, m, n, k]: [i64; 4], [batch_slices, m_slices, n_slices]: [i64; 3]) -> OpShape {
    let mut operands = vec![
        tensor(0, &[(0, batch), (1, m), (3, k)], false),
        tensor(1, &[(0, batch), (3, k), (2, n)], false),
        tensor(2, &[(0, batch), (1, m), (2, n)], true),
    ];
    for operand in &mut operands {
        operand.inner = (batch > 1).then_some(0);
    }
    let dims = vec![dim(batch, batch_slices), dim(m, m_slices), dim(n, n_slices), Dim { is_reduced: true, ..dim(k, 1) }];
    OpShape { kind: OpKind::Matmul, dims, operands, ..OpShape::default() }
}

fn estimate(kernel: &[OpShape]) -> f64 {
    let price = price(&describe(kernel), &MODEL, Formula::Recommended);
    assert!(0.0 < price.low_ns && price.low_ns <= price.estimate_ns && price.estimate_ns <= price.high_ns, "{price:?}");
    price.estimate_ns
}

/// One op of every kind, in many sizes.
fn many() -> Vec<OpShape> {
    let mut found = Vec::new();
    for rows in [1, 32, 512, 1023, 1024, 8192] {
        for columns in [64, 1024, 4096, 8192] {
            for cores in [1, 8, 32] {
                found.extend([
                    pointwise(rows, columns, cores, false),
                    pointwise(rows, columns, cores, true),
                    reduction(rows, columns, cores),
                ]);
                found.push(product([1, rows, columns, 512], [1, 1, cores]));
                found.push(product([4, rows, columns, 512], [1, cores, 1]));
            }
        }
    }
    found
}

#[test]
fn more_bytes_are_never_cheaper() {
    for op in many() {
        for operand in 0..op.operands.len() {
            let mut larger = op.clone();
            larger.operands[operand].device_bytes += 1 << 20;
            assert!(estimate(&[larger]) >= estimate(std::slice::from_ref(&op)), "{op:?}, operand {operand}");
        }
    }
}

#[test]
fn lx_is_never_dearer() {
    for op in many() {
        for operand in 0..op.operands.len() {
            let mut resident = op.clone();
            resident.operands[operand].is_in_lx = true;
            assert!(estimate(&[resident]) <= estimate(std::slice::from_ref(&op)), "{op:?}, operand {operand}");
        }
    }
}

#[test]
fn a_split_of_the_batch_is_never_preferred() {
    let powers = || (0..6).map(|power| 1_i64 << power);
    for sizes in [[2, 2048, 2048, 1024], [4, 1024, 2048, 512], [8, 128, 4096, 128], [16, 2048, 2048, 64], [32, 512, 512, 4096]] {
        for cores in powers() {
            let splits = powers().flat_map(|batch| powers().map(move |m| [batch, m, cores / (batch * m).min(64)]));
            let splits: Vec<_> = splits.filter(|[batch, m, n]| batch * m * n == cores && *batch <= sizes[0]).collect();
            let cost = |split: &[i64; 3]| estimate(&[product(sizes, *split)]);
            let whole = splits.iter().filter(|split| split[0] == 1).map(cost).fold(f64::INFINITY, f64::min);
            let split = splits.iter().filter(|split| split[0] > 1).map(cost).fold(f64::INFINITY, f64::min);
            assert!(whole < split, "{sizes:?} on {cores} cores: {whole} with the batch whole, {split} with it split");
        }
    }
}

#[test]
fn twice_the_bytes_take_nearly_twice_the_time() {
    for rows in [256, 512, 1024, 4096] {
        for columns in [2048, 4096, 8192] {
            for is_broadcast in [false, true] {
                let [once, taller, wider] = [(rows, columns), (2 * rows, columns), (rows, 2 * columns)]
                    .map(|(rows, columns)| estimate(&[pointwise(rows, columns, 32, is_broadcast)]));
                assert!(taller >= 1.8 * once && wider >= 1.8 * once, "{rows} x {columns}: {once}, {taller}, {wider}");
            }
            let [once, taller] = [rows, 2 * rows].map(|rows| estimate(&[reduction(rows, columns, 32)]));
            assert!(taller >= 1.8 * once, "{rows} x {columns}: {once}, {taller}");
        }
    }
}

#[test]
fn what_nobody_has_measured_is_a_wide_interval() {
    let decode = price(&describe(&[product([1, 8, 4096, 4096], [1, 1, 32])]), &MODEL, Formula::Recommended);
    assert!(!decode.is_ranked && decode.high_ns > 2.0 * decode.estimate_ns, "{decode:?}");
    let mut fp8 = pointwise(1024, 1024, 32, false);
    fp8.operands[2].element_bytes = 1;
    assert!(!price(&describe(&[fp8]), &MODEL, Formula::Recommended).is_ranked);
    assert!(price(&describe(&[product([1, 1024, 4096, 4096], [1, 4, 8])]), &MODEL, Formula::Recommended).is_ranked);
}
