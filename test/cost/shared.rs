//! With the material beside the project: torch-spyre's own figures and published device times.

use super::*;
use serde_json::Value;
use std::fs;

fn read(file: &str) -> Value {
    let path = common::shared("planner/costmodel").join(file);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The entries of a file with their kernels.
fn entries(file: &str, list: &str) -> Vec<(Value, cost::Row)> {
    let file = read(file);
    let rows = cost::rows(&file.to_string()).unwrap();
    file[list].as_array().unwrap().iter().cloned().zip(rows).collect()
}

fn total(row: &cost::Row, formula: Formula) -> Price {
    let price = row.price(&MODEL, formula);
    Price { low_ns: price.low_ns / 1e3, estimate_ns: price.estimate_ns / 1e3, high_ns: price.high_ns / 1e3, ..price }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

//===----------------------------------------------------------------------===//
// torch-spyre's model
//===----------------------------------------------------------------------===//

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn bytes_loop_factors_and_rereads_equal_torch_spyres() {
    let vectors = entries("vectors.json", "vectors");
    assert_eq!(vectors.len(), 127);
    for (vector, row) in &vectors {
        let (id, expected) = (&vector["id"], &vector["expected"]);
        for (kernel, expected) in row.kernels.iter().zip(expected["kernels"].as_array().unwrap()) {
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
    let vectors = entries("vectors.json", "vectors").into_iter().map(|(entry, row)| (entry["expected"]["total_us"].clone(), row));
    let measured = entries("measured.json", "entries").into_iter().map(|(entry, row)| (entry["head_us"].clone(), row));
    for (expected, row) in vectors.chain(measured) {
        let (found, expected) = (total(&row, Formula::TorchSpyre).estimate_ns, expected.as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{}: {found} us, torch-spyre {expected} us", row.id);
    }
}

//===----------------------------------------------------------------------===//
// Published times
//===----------------------------------------------------------------------===//

fn rows() -> Vec<Row> {
    let row = |(entry, row): (Value, cost::Row)| Row {
        category: text(&entry["category"]).to_owned(),
        group: entry["group"].as_str().map(str::to_owned),
        plan: text(&entry["id"]).split('#').next().unwrap().to_owned(),
        measured: entry["measured_us"].as_f64().unwrap(),
        modelled: total(&row, Formula::Recommended),
    };
    entries("measured.json", "entries").into_iter().map(row).collect()
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
