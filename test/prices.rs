//! Gate on plans: modeled time and HBM bytes of the programs of `benches/plans` and `test/search`, and of blocks of
//! Granite 3 8B, must not exceed the table `benches/plans/prices.csv`.
//!
//! A better plan fails too until `BLESS=prices cargo test --test compiler -- prices::` lowers its row, so that the next
//! change cannot lose it unnoticed. No command raises a row: edit `hbm_bytes` and `ns` by hand and state the reason.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::{bless, granite::Granite};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const TABLE: &str = "benches/plans/prices.csv";
const HEADER: &str = "program,hbm_bytes,ns,best_hbm_bytes,best_ns,reason\n";
/// Number of tokens, and number of cached tokens that precede them.
const BLOCKS: [(usize, usize); 5] = [(1, 0), (64, 0), (512, 0), (2048, 0), (1, 4096)];

/// Price of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Price {
    hbm_bytes: u64,
    /// Modeled time, in whole nanoseconds.
    ns: u64,
}

/// PriceRow of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PriceRow {
    /// Price of the current plan.
    price: Price,
    /// Least bytes and least time of any plan since the row exists.
    best: Price,
    /// Why the price is above the best one; empty if it is not.
    reason: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn parse_row(line: &str) -> (String, PriceRow) {
    let fields: Vec<&str> = line.splitn(6, ',').collect();
    let number =
        |index: usize| fields[index].parse().unwrap_or_else(|_| panic!("{TABLE}: expected a number in '{line}'"));
    let row = PriceRow {
        price: Price { hbm_bytes: number(1), ns: number(2) },
        best: Price { hbm_bytes: number(3), ns: number(4) },
        reason: fields[5].to_owned(),
    };
    (fields[0].to_owned(), row)
}

fn format_row(name: &str, PriceRow { price, best, reason }: &PriceRow) -> String {
    format!("{name},{},{},{},{},{reason}", price.hbm_bytes, price.ns, best.hbm_bytes, best.ns)
}

/// Programs by name, each as text.
fn collect_programs() -> BTreeMap<String, String> {
    let mut programs = BTreeMap::new();
    for folder in ["benches/plans", "test/search"] {
        let mut files: Vec<PathBuf> =
            fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "mlir"));
        for file in files {
            let name = format!("{folder}/{}", file.file_name().unwrap().to_str().unwrap());
            add_parts(&mut programs, &name, &fs::read_to_string(&file).unwrap());
        }
    }
    for (sequence, cached) in BLOCKS {
        let model = Granite { cached, ..Granite::of_8b(1, sequence) };
        programs.insert(format!("granite_8b_{sequence}_tokens_behind_{cached}"), model.module());
    }
    programs
}

/// Adds the parts of a file for `split-file`, or the whole file if it has none; tests of errors, and files whose
/// programs are elsewhere, are left out.
fn add_parts(programs: &mut BTreeMap<String, String>, name: &str, text: &str) {
    let mut parts = text.split("\n//--- ");
    let whole = parts.next().unwrap();
    let mut add = |name: String, text: &str| {
        if text.contains("func.func @") && !name.ends_with("-invalid.mlir") {
            programs.insert(name, text.to_owned());
        }
    };
    add(name.to_owned(), whole);
    for part in parts {
        let (part_name, text) = part.split_once('\n').unwrap();
        add(format!("{name}/{}", part_name.trim()), text);
    }
}

/// Compiles a program with default options. A file with several functions is priced as the sum of its entries.
fn compute_price(name: &str, text: &str) -> Price {
    let folder = tempfile::tempdir().unwrap();
    let [program, bundle, report] = ["program.mlir", "bundle", "report.json"].map(|name| folder.path().join(name));
    fs::write(&program, text).unwrap();
    let after_names = text.split("func.func @").skip(1);
    let entries: Vec<&str> = after_names.map(|after| after.split('(').next().unwrap()).collect();
    let mut total = Price { hbm_bytes: 0, ns: 0 };
    for entry in entries {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
        command.arg(&program).arg("-o").arg(&bundle).args(["-q", "--validate=off", "--entry", entry, "--report"]);
        let done = command.arg(&report).output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        let moved = |key: &str| report["total"][key].as_u64().unwrap();
        total.hbm_bytes += moved("hbm_read") + moved("hbm_written");
        total.ns += (report["time"]["estimate_us"].as_f64().unwrap() * 1e3).round() as u64;
    }
    total
}

/// Returns why the row of a program does not hold its price; `None` if it does.
fn find_fault(name: &str, row: Option<&PriceRow>, price: Price) -> Option<String> {
    let Some(row) = row else { return Some(format!("{name} has no row: BLESS=prices adds it")) };
    let limit = row.price;
    if price.hbm_bytes > limit.hbm_bytes || price.ns > limit.ns {
        return Some(format!(
            "{name} has a worse plan: {price:?}, allowed are {limit:?}; improve the plan, or edit the row by hand and state the reason"
        ));
    }
    (price != limit)
        .then(|| format!("{name} has a better plan: {price:?} instead of {limit:?}; BLESS=prices lowers the row"))
}

/// Returns the row that a blessing writes: better prices lower the row, worse ones leave it.
fn lower_row(row: Option<&PriceRow>, price: Price) -> PriceRow {
    let Some(row) = row else { return PriceRow { price, best: price, reason: String::new() } };
    let least =
        |one: Price, other: Price| Price { hbm_bytes: one.hbm_bytes.min(other.hbm_bytes), ns: one.ns.min(other.ns) };
    let is_worse = price.hbm_bytes > row.price.hbm_bytes || price.ns > row.price.ns;
    let kept = if is_worse { row.price } else { price };
    let best = least(row.best, kept);
    PriceRow { price: kept, best, reason: if kept == best { String::new() } else { row.reason.clone() } }
}

#[test]
fn plans_cost_at_most_the_stored_prices() {
    let text = fs::read_to_string(root().join(TABLE)).unwrap_or_default();
    let rows: BTreeMap<String, PriceRow> = text.lines().skip(1).map(parse_row).collect();
    let prices: BTreeMap<String, Price> =
        collect_programs().iter().map(|(name, text)| (name.clone(), compute_price(name, text))).collect();
    assert!(prices.len() > 30, "{} programs", prices.len());
    if bless::is_blessed("prices") {
        let mut text = HEADER.to_owned();
        for (name, price) in &prices {
            writeln!(text, "{}", format_row(name, &lower_row(rows.get(name), *price))).unwrap();
        }
        fs::write(root().join(TABLE), text).unwrap();
        return;
    }
    let mut faults: Vec<String> =
        prices.iter().filter_map(|(name, price)| find_fault(name, rows.get(name), *price)).collect();
    faults.extend(rows.keys().filter(|name| !prices.contains_key(*name)).map(|name| format!("{name} is no program")));
    assert!(faults.is_empty(), "{TABLE}: {faults:#?}");
}

#[test]
fn states_reason_of_each_price_above_the_best() {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    for (name, row) in text.lines().skip(1).map(parse_row) {
        let is_above = row.price != row.best;
        assert_eq!(
            is_above,
            !row.reason.trim().is_empty(),
            "{name}: a reason is stated if, and only if, the price is above the best"
        );
    }
}

#[test]
fn rejects_worse_plans_and_lowers_rows_only() {
    let price = |hbm_bytes, ns| Price { hbm_bytes, ns };
    let row = parse_row("a,100,10,90,10,one copy more, which saves a launch").1;
    assert_eq!(row.reason, "one copy more, which saves a launch");
    for worse in [price(101, 1), price(1, 11)] {
        assert!(find_fault("a", Some(&row), worse).unwrap().contains("worse plan"));
        assert_eq!(lower_row(Some(&row), worse), row);
    }
    assert_eq!(find_fault("a", Some(&row), price(100, 10)), None);
    assert!(find_fault("a", Some(&row), price(95, 10)).unwrap().contains("better plan"));
    assert_eq!(lower_row(Some(&row), price(95, 10)), PriceRow { price: price(95, 10), ..row.clone() });
    let best = PriceRow { price: price(80, 9), best: price(80, 9), reason: String::new() };
    assert_eq!(lower_row(Some(&row), price(80, 9)), best);
}
