//! Tests that need the reference material outside the repository: torch-spyre's own figures and published device times.

use super::*;
use serde_json::Value;
use std::fs;

fn read_json(file: &str) -> Value {
    let path = common::shared("planner/costmodel").join(file);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Reads the entries of a file with their kernels.
fn read_entries(file: &str, list: &str) -> Vec<(Value, cost::KernelEntry)> {
    let file = read_json(file);
    let rows = cost::read_kernel_entries(&file.to_string()).unwrap();
    file[list].as_array().unwrap().iter().cloned().zip(rows).collect()
}

fn total_price(row: &cost::KernelEntry, formula: CostFormula) -> TimeEstimate {
    let price = row.estimate_time(&MODEL, formula);
    TimeEstimate {
        low_ns: price.low_ns / 1e3,
        estimate_ns: price.estimate_ns / 1e3,
        high_ns: price.high_ns / 1e3,
        ..price
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

//===----------------------------------------------------------------------===//
// torch-spyre's model
//===----------------------------------------------------------------------===//

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn matches_torch_spyre_bytes_loop_factors_and_rereads() {
    let vectors = read_entries("vectors.json", "vectors");
    assert_eq!(vectors.len(), 127);
    for (vector, row) in &vectors {
        let (id, expected) = (&vector["id"], &vector["expected"]);
        for (kernel, expected) in row.kernels.iter().zip(expected["kernels"].as_array().unwrap()) {
            let moved = compute_kernel_bytes(kernel);
            let sum = |part: fn(&cost::OpBytes) -> i64| moved.iter().map(part).sum::<i64>();
            assert_eq!(sum(|op| op.hbm_read - op.shared), expected["hbm_read_bytes"], "{id}: read");
            assert_eq!(sum(|op| op.hbm_written), expected["hbm_write_bytes"], "{id}: written");
            assert_eq!(sum(|op| op.lx_per_iteration), expected["lx_bytes"], "{id}: LX");
            assert_eq!(sum(|op| op.reread) as f64, expected["loop_reread_bytes"].as_f64().unwrap(), "{id}: read again");
            for ((op, moved), expected) in kernel.iter().zip(&moved).zip(expected["per_op"].as_array().unwrap()) {
                assert_eq!(moved.hbm_read + moved.hbm_written, expected["hbm_bytes"], "{id}: of an op");
                assert_eq!(
                    (moved.hbm_read + moved.hbm_written) / op.trips(),
                    expected["hbm_bytes_per_iter"],
                    "{id}: of an iteration"
                );
                assert_eq!(moved.lx_per_iteration, expected["lx_bytes"], "{id}: LX of an op");
                assert_eq!(moved.reread, expected["refetch_bytes"], "{id}: read again by an op");
                let mut factors: Vec<i64> = op.operands.iter().map(|operand| op.loop_factor(operand)).collect();
                let mut known: Vec<i64> =
                    expected["loop_factor"].as_object().unwrap().values().map(|n| n.as_i64().unwrap()).collect();
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
fn matches_torch_spyre_times() {
    let vectors = read_entries("vectors.json", "vectors")
        .into_iter()
        .map(|(entry, row)| (entry["expected"]["total_us"].clone(), row));
    let measured =
        read_entries("measured.json", "entries").into_iter().map(|(entry, row)| (entry["head_us"].clone(), row));
    for (expected, row) in vectors.chain(measured) {
        let (found, expected) = (total_price(&row, CostFormula::TorchSpyre).estimate_ns, expected.as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{}: {found} us, torch-spyre {expected} us", row.id);
    }
}

//===----------------------------------------------------------------------===//
// Published times
//===----------------------------------------------------------------------===//

fn read_published_times() -> Vec<PublishedTime> {
    let row = |(entry, row): (Value, cost::KernelEntry)| PublishedTime {
        category: text(&entry["category"]).to_owned(),
        group: entry["group"].as_str().map(str::to_owned),
        plan: text(&entry["id"]).split('#').next().unwrap().to_owned(),
        measured: entry["measured_us"].as_f64().unwrap(),
        modeled: total_price(&row, CostFormula::Recommended),
    };
    read_entries("measured.json", "entries").into_iter().map(row).collect()
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn preserves_order_of_published_times() {
    let rows = read_published_times();
    for (category, rows) in group_by_category(&rows) {
        let (measured, modeled): (Vec<f64>, Vec<f64>) =
            rows.iter().map(|row| (row.measured, row.modeled.estimate_ns)).unzip();
        let rho = compute_spearman(&measured, &modeled);
        let least = if category == "broadcast" { 0.94 } else { 0.95 };
        assert!(rho >= least, "{category}: Spearman {rho:.3} of {} rows", rows.len());
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn picks_nearly_best_plans() {
    let rows = read_published_times();
    let most = BTreeMap::from([("matmul_split", 1.05), ("softmax", 1.10), ("bmm", 1.25)]);
    for (category, rows) in group_by_category(&rows) {
        let regrets = compute_regrets(&rows);
        assert!(regrets.iter().all(|regret| *regret <= 2.5), "{category}: {regrets:?}");
        if let Some(most) = most.get(category) {
            let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
            assert!(mean <= *most, "{category}: mean regret {mean:.3} of {} groups", regrets.len());
        }
    }
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

/// Returns the kind of spread to which a category belongs.
fn spread_kind(category: &str) -> &'static str {
    match category {
        "pointwise" | "pointwise_chain" => "pointwise",
        "reduction" | "softmax" => "reduction",
        "restickify" => "transport",
        "bmm" => "batched_product",
        "broadcast" => "broadcast",
        _ => "product",
    }
}

/// Published time with its kernels, the kind of its spread, and its shape.
struct TimedKernels {
    kind: &'static str,
    shape: Vec<i64>,
    measured_ns: f64,
    row: cost::KernelEntry,
}

impl TimedKernels {
    fn ratio(&self) -> f64 {
        self.measured_ns / self.row.estimate_time(&MODEL, CostFormula::Recommended).estimate_ns
    }

    fn is_inside(&self, model: &TimeModel) -> bool {
        let price = self.row.estimate_time(model, CostFormula::Recommended);
        (price.low_ns..=price.high_ns).contains(&self.measured_ns)
    }
}

fn read_timed_kernels() -> Vec<TimedKernels> {
    let timed = |(entry, row): (Value, cost::KernelEntry)| {
        let mut shape: Vec<i64> = row.kernels[0][0].dims.iter().map(|dim| dim.extent).collect();
        shape.sort_unstable();
        TimedKernels {
            kind: spread_kind(text(&entry["category"])),
            shape,
            measured_ns: 1e3 * entry["measured_us"].as_f64().unwrap(),
            row,
        }
    };
    read_entries("measured.json", "entries").into_iter().map(timed).collect()
}

/// Returns the range of factors for a kind, from the published rows that `keeps` selects: one row in twenty is dropped
/// at each end, if there are that many, and the ends are widened by 8 %.
fn compute_spread(timed: &[TimedKernels], kind: &str, keeps: impl Fn(&TimedKernels) -> bool) -> [f64; 2] {
    let mut ratios: Vec<f64> =
        timed.iter().filter(|row| row.kind == kind && keeps(row)).map(TimedKernels::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let left_out = (ratios.len() + 1) / 20;
    let last = ratios.len() - 1;
    let inner = left_out.max(1) - 1;
    [ratios[inner] / 1.08, ratios[last - inner] * 1.08]
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn derives_spreads_from_published_times() {
    let timed = read_timed_kernels();
    let fitted = serde_json::to_value(&MODEL.recommended.spread).unwrap();
    for (kind, factors) in fitted.as_object().unwrap().iter().filter(|(kind, _)| *kind != "unmeasured") {
        for (end, found) in compute_spread(&timed, kind, |_| true).into_iter().enumerate() {
            let known = factors[end].as_f64().unwrap();
            assert!((found - known).abs() <= 0.0051, "{kind}: {found}, in the model {known}");
        }
    }
}

#[test]
#[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
fn intervals_hold_for_shapes_that_they_have_not_seen() {
    let timed = read_timed_kernels();
    let mut inside: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let shapes: std::collections::BTreeSet<&Vec<i64>> = timed.iter().map(|row| &row.shape).collect();
    for shape in shapes {
        let mut model = MODEL;
        let of = |kind: &str| compute_spread(&timed, kind, |row| row.shape != *shape);
        let spreads = &mut model.recommended.spread;
        (spreads.pointwise, spreads.broadcast, spreads.reduction) = (of("pointwise"), of("broadcast"), of("reduction"));
        (spreads.transport, spreads.product, spreads.batched_product) =
            (of("transport"), of("product"), of("batched_product"));
        for row in timed.iter().filter(|row| row.shape == *shape) {
            let [held, all] = inside.entry(row.kind).or_default();
            (*held, *all) = (*held + usize::from(row.is_inside(&model)), *all + 1);
        }
    }
    let [held, all] = inside.values().fold([0, 0], |[held, all], [more, of]| [held + more, all + of]);
    assert!(20 * held >= 19 * all, "{held} of {all}: {inside:?}");
    assert!(inside.values().all(|[held, all]| 10 * held >= 9 * all), "{inside:?}");
}
