//! HBM traffic and modeled time of plans for a block of Granite 3 8B (`cargo bench --bench blocks`): prefills of 1 to
//! 2,048 tokens, and one token after 4,096 cached tokens. Options are the defaults, so there are no hints.
//! `docs/measurements/tile-search.md` has the table.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

#[allow(dead_code, reason = "other benchmarks write other models")]
mod granite;

use granite::Granite;
use serde_json::Value;
use std::{collections::BTreeMap, env, fs, process::Command, time::Instant};

/// Number of tokens, and number of cached tokens that precede them.
const BLOCKS: [(usize, usize); 5] = [(1, 0), (64, 0), (512, 0), (2048, 0), (1, 4096)];
const MIB: f64 = 1_048_576.0;

fn main() {
    // `cargo test --benches` only checks that the program starts.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("\n| tokens | HBM, MiB | bound, MiB | us | bound, us | share of the time by kind of op | compile s |");
    println!("|---|--:|--:|--:|--:|---|--:|");
    for (sequence, cached) in BLOCKS {
        let (report, compile_s) = compile_model(&Granite { cached, ..Granite::of_8b(1, sequence) });
        let number = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap();
        let hbm = (number("/total/hbm_read") + number("/total/hbm_written")) / MIB;
        let (bound, us, bound_us) =
            (number("/lower_bound/hbm") / MIB, number("/time/estimate_us"), number("/lower_bound/us"));
        let tokens = if cached > 0 { format!("{sequence} behind {cached}") } else { sequence.to_string() };
        println!(
            "| {tokens} | {hbm:.1} | {bound:.1} | {us:.0} | {bound_us:.0} | {} | {compile_s:.1} |",
            format_time_shares(&report, us)
        );
    }
}

/// Returns the report on a model, and the compile time.
fn compile_model(model: &Granite) -> (Value, f64) {
    let place = tempfile::tempdir().unwrap();
    let [text, bundle, report] = ["block.mlir", "bundle", "report.json"].map(|name| place.path().join(name));
    fs::write(&text, model.module()).unwrap();
    let start = Instant::now();
    let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(&text)
        .arg("-o")
        .arg(&bundle)
        .args(["--validate=off", "--report"])
        .arg(&report)
        .output()
        .unwrap();
    let compile_s = start.elapsed().as_secs_f64();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    (serde_json::from_slice(&fs::read(&report).unwrap()).unwrap(), compile_s)
}

/// Lists the device functions that take at least 1 % of the time, longest first.
fn format_time_shares(report: &Value, us: f64) -> String {
    let mut by_function: BTreeMap<&str, f64> = BTreeMap::new();
    for op in report["ops"].as_array().unwrap() {
        *by_function.entry(op["function"].as_str().unwrap()).or_default() += op["us"].as_f64().unwrap();
    }
    let mut shares: Vec<(&str, f64)> =
        by_function.into_iter().map(|(function, own)| (function, 100.0 * own / us)).collect();
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let large = shares.into_iter().filter(|(_, share)| *share >= 1.0);
    large.map(|(function, share)| format!("{function} {share:.0} %")).collect::<Vec<_>>().join(", ")
}
