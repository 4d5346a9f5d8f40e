//! Checks every supported row of `docs/reference/supported-ops.md` by a program. The program is validated while it is
//! compiled, and compared with MLIR's JIT on numbers of every kind. A new row fails until it has a program.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::sample::sample;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
    thread,
};

/// Computations for the rows of the second table, on f16 values `%x` and `%y`, the position `%i` and the constant
/// 64-bit number `%k`.
const SCALARS: &[(&str, &str)] = &[
    ("arith.addf", "%r = arith.addf %x, %y : f16"),
    ("arith.subf", "%r = arith.subf %x, %y : f16"),
    ("arith.mulf", "%r = arith.mulf %x, %y : f16"),
    ("arith.divf", "%r = arith.divf %x, %y : f16"),
    ("arith.negf", "%r = arith.negf %x : f16"),
    ("arith.maximumf", "%r = arith.maximumf %x, %y : f16"),
    ("arith.maxnumf", "%r = arith.maxnumf %x, %y : f16"),
    ("arith.minimumf", "%r = arith.minimumf %x, %y : f16"),
    ("arith.minnumf", "%r = arith.minnumf %x, %y : f16"),
    ("arith.cmpf uno", "%c = arith.cmpf uno, %x, %x : f16\n%r = arith.select %c, %x, %y : f16"),
    ("arith.cmpf ord", "%c = arith.cmpf ord, %x, %x : f16\n%r = arith.select %c, %x, %y : f16"),
    ("arith.select", "%c = arith.cmpf ogt, %x, %y : f16\n%r = arith.select %c, %y, %x : f16"),
    ("math.absf", "%r = math.absf %x : f16"),
    ("math.ceil", "%r = math.ceil %x : f16"),
    (
        "math.clampf",
        "%low = arith.constant -0.5 : f16\n%high = arith.constant 0.75 : f16\n%r = math.clampf %x to [%low, %high] : f16",
    ),
    ("math.erf", "%r = math.erf %x : f16"),
    ("math.exp", "%r = math.exp %x : f16"),
    ("math.exp2", "%r = math.exp2 %x : f16"),
    ("math.expm1", "%r = math.expm1 %x : f16"),
    ("math.floor", "%r = math.floor %x : f16"),
    ("math.fma", "%r = math.fma %x, %y, %x : f16"),
    (
        "math.fpowi",
        "%e = arith.constant -2 : i32\n%p = math.fpowi %x, %e : f16, i32\n%t = arith.constant 3 : i32\n%q = math.fpowi %y, %t : f16, i32\n%r = arith.addf %p, %q : f16",
    ),
    ("math.log", "%m = math.absf %x : f16\n%r = math.log %m : f16"),
    ("math.log1p", "%m = math.absf %x : f16\n%r = math.log1p %m : f16"),
    ("math.log2", "%m = math.absf %x : f16\n%r = math.log2 %m : f16"),
    ("math.powf", "%m = math.absf %x : f16\n%e = arith.constant -0.5 : f16\n%r = math.powf %m, %e : f16"),
    ("arith.remf", "%r = arith.remf %x, %h : f16"),
    ("math.absi", "%n = arith.subi %three, %k : i64\n%s = math.absi %n : i64"),
    ("math.sin", "%r = math.sin %x : f16"),
    ("math.cos", "%r = math.cos %x : f16"),
    ("math.tan", "%m = math.tanh %x : f16\n%r = math.tan %m : f16"),
    ("math.atan", "%r = math.atan %x : f16"),
    (
        "math.atan2",
        "%n = arith.addf %x, %h : f16\n%m = math.absf %y : f16\n%p = arith.addf %m, %h : f16\n%r = math.atan2 %n, %p : f16",
    ),
    ("math.asin", "%m = math.tanh %x : f16\n%r = math.asin %m : f16"),
    ("math.acos", "%m = math.tanh %x : f16\n%r = math.acos %m : f16"),
    ("math.asinh", "%r = math.asinh %x : f16"),
    ("math.acosh", "%m = math.absf %x : f16\n%n = math.exp %m : f16\n%r = math.acosh %n : f16"),
    ("math.atanh", "%m = math.tanh %x : f16\n%n = arith.mulf %m, %h : f16\n%r = math.atanh %n : f16"),
    ("math.erfc", "%r = math.erfc %x : f16"),
    ("math.round", "%r = math.round %x : f16"),
    ("math.roundeven", "%r = math.roundeven %x : f16"),
    ("math.trunc", "%r = math.trunc %x : f16"),
    ("math.copysign", "%r = math.copysign %x, %y : f16"),
    ("math.sinh", "%m = math.tanh %x : f16\n%r = math.sinh %m : f16"),
    ("math.cosh", "%m = math.tanh %x : f16\n%r = math.cosh %m : f16"),
    ("math.log10", "%m = math.absf %x : f16\n%r = math.log10 %m : f16"),
    ("math.cbrt", "%r = math.cbrt %x : f16"),
    ("math.rsqrt", "%m = math.absf %x : f16\n%r = math.rsqrt %m : f16"),
    ("math.sqrt", "%m = math.absf %x : f16\n%r = math.sqrt %m : f16"),
    ("math.tanh", "%r = math.tanh %x : f16"),
    (
        "arith.andi",
        "%c = arith.cmpf ogt, %x, %y : f16\n%d = arith.cmpf ogt, %x, %h : f16\n%l = arith.andi %c, %d : i1\n%r = arith.select %l, %x, %h : f16",
    ),
    (
        "arith.ori",
        "%c = arith.cmpf ogt, %x, %y : f16\n%d = arith.cmpf ogt, %x, %h : f16\n%l = arith.ori %c, %d : i1\n%r = arith.select %l, %x, %h : f16",
    ),
    (
        "arith.xori",
        "%c = arith.cmpf ogt, %x, %y : f16\n%d = arith.cmpf ogt, %x, %h : f16\n%l = arith.xori %c, %d : i1\n%r = arith.select %l, %x, %h : f16",
    ),
    ("arith.uitofp", "%c = arith.cmpf ogt, %x, %y : f16\n%r = arith.uitofp %c : i1 to f16"),
    ("arith.sitofp", "%c = arith.cmpf ogt, %x, %y : f16\n%r = arith.sitofp %c : i1 to f16"),
    ("arith.fptosi", "%f = arith.sitofp %k : i64 to f16\n%s = arith.fptosi %f : f16 to i64"),
    ("arith.fptoui", "%f = arith.sitofp %k : i64 to f16\n%s = arith.fptoui %f : f16 to i64"),
    ("arith.shli", "%s = arith.shli %k, %three : i64"),
    ("arith.shrsi", "%n = arith.subi %three, %k : i64\n%s = arith.shrsi %n, %three : i64"),
    ("arith.index_cast", "%s = arith.index_cast %i : index to i64"),
    ("arith.index_castui", "%s = arith.index_castui %i : index to i64"),
    ("arith.extsi", "%n = arith.trunci %k : i64 to i32\n%s = arith.extsi %n : i32 to i64"),
    ("arith.extui", "%n = arith.trunci %k : i64 to i32\n%s = arith.extui %n : i32 to i64"),
    ("arith.trunci", "%n = arith.trunci %k : i64 to i8\n%s = arith.extsi %n : i8 to i64"),
    (
        "arith.extf",
        "%w = arith.extf %x : f16 to f32\n%v = arith.extf %y : f16 to f32\n%u = arith.mulf %w, %v : f32\n%r = arith.truncf %u : f32 to f16",
    ),
    ("linalg.index", "%j = linalg.index 1 : index\n%s = arith.index_cast %j : index to i64"),
];

/// Kinds of numbers that `spyre-run` generates.
const DRAWS: [&str; 4] = ["random", "ties", "extreme", "infinite"];

/// Rows without a program: ops of the compiler's own IR are tested in `test/dialect`.
const ROWS_WITHOUT_PROGRAM: [&str; 1] = ["spyre.*"];

/// Returns the rows of both tables that are supported.
fn promised_rows() -> Vec<String> {
    let page = spyre_compiler::import::supported_ops_page();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let promised = rows.filter(|(_, becomes)| !becomes.starts_with("not supported"));
    let names = promised
        .flat_map(|(names, _)| names.split(", ").map(|name| name.trim_matches('`').to_owned()).collect::<Vec<_>>());
    names.filter(|name| !ROWS_WITHOUT_PROGRAM.contains(&name.as_str())).collect()
}

/// Returns the body for a row of the second table; integer comparisons and sums are similar.
fn row_body(row: &str) -> Option<String> {
    let by_hand = SCALARS.iter().find(|(name, _)| *name == row).map(|(_, body)| (*body).to_owned());
    let (op, predicate) = row.split_once(' ').unwrap_or((row, ""));
    by_hand.or_else(|| match (op, predicate) {
        ("arith.cmpf", _) => {
            Some(format!("%c = arith.cmpf {predicate}, %x, %y : f16\n%r = arith.uitofp %c : i1 to f16"))
        }
        ("arith.cmpi", _) => {
            Some(format!("%c = arith.cmpi {predicate}, %k, %three : i64\n%r = arith.select %c, %x, %y : f16"))
        }
        ("arith.truncf", _) => row_body("arith.extf"),
        _ if op.ends_with('i') => Some(format!("%s = {op} %k, %three : i64")),
        _ => None,
    })
}

fn scalar_module(body: &str) -> String {
    let number =
        if body.contains("%r =") { "" } else { "%g = arith.sitofp %s : i64 to f16\n%r = arith.addf %x, %g : f16" };
    let map = "affine_map<(i, j) -> (i, j)>";
    format!(
        "func.func @main(%a: tensor<5x70xf16>, %b: tensor<5x70xf16>) -> tensor<5x70xf16> {{\n%o = tensor.empty() : tensor<5x70xf16>\n\
         %0 = linalg.generic {{indexing_maps = [{map}, {map}, {map}], iterator_types = [\"parallel\", \"parallel\"]}} \
         ins(%a, %b : tensor<5x70xf16>, tensor<5x70xf16>) outs(%o : tensor<5x70xf16>) {{\n^bb0(%x: f16, %y: f16, %out: f16):\n\
         %h = arith.constant 0.25 : f16\n%three = arith.constant 3 : i64\n%i = linalg.index 0 : index\n\
         %k = arith.index_cast %i : index to i64\n{body}\n{number}\nlinalg.yield %r : f16\n}} -> tensor<5x70xf16>\n\
         return %0 : tensor<5x70xf16>\n}}\n"
    )
}

/// Returns the program of each supported row.
fn promised_programs() -> BTreeMap<String, String> {
    let mut programs = BTreeMap::new();
    for module in include_str!("supported_ops/tensors.txt").split("// -----\n") {
        let rows = module.lines().filter_map(|line| line.strip_prefix("// row: "));
        programs.extend(rows.map(|row| (row.to_owned(), module.to_owned())));
    }
    for row in promised_rows() {
        if let (false, Some(body)) = (programs.contains_key(&row), row_body(&row)) {
            programs.insert(row, scalar_module(&body));
        }
    }
    programs
}

fn find_failure(command: &mut Command) -> Option<String> {
    let Output { status, stderr, .. } = command.output().unwrap();
    (!status.success()).then(|| String::from_utf8_lossy(&stderr).into_owned())
}

/// Compiles and checks a program; returns the message of the first failure, or `None`. With `SPYRE_ALL=1`, all kinds of
/// input numbers are tried; otherwise two kinds, selected by the number of the program's row.
fn check_program(number: usize, text: &str, place: &Path) -> Option<String> {
    let (input, out) = (place.join("program.mlir"), place.join("out"));
    fs::write(&input, text).unwrap();
    let mut compile = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let compiled = find_failure(compile.arg(&input).arg("-o").arg(&out).arg("--validate"));
    compiled.or_else(|| {
        sample(DRAWS.into_iter().cycle().skip(number % 2).take(DRAWS.len()), 2).into_iter().find_map(|draw| {
            let mut run = Command::new(env!("CARGO_BIN_EXE_spyre-run"));
            find_failure(run.arg(&out).arg("--check").arg(&input).args(["--draw", draw]))
                .map(|said| format!("{draw}: {said}"))
        })
    })
}

#[test]
fn has_program_for_every_promised_row() {
    let programs = promised_programs();
    let without: Vec<String> = promised_rows().into_iter().filter(|row| !programs.contains_key(row)).collect();
    assert!(
        without.is_empty(),
        "rows of docs/reference/supported-ops.md without a program in test/supported_ops.rs: {without:?}"
    );
    let promised = promised_rows();
    let stale: Vec<&String> = programs.keys().filter(|row| !promised.contains(row)).collect();
    assert!(stale.is_empty(), "programs for rows that are not promised: {stale:?}");
}

#[test]
fn computes_every_promised_row() {
    let programs: Vec<(String, String)> = promised_programs().into_iter().collect();
    let num_threads = thread::available_parallelism().map_or(1, usize::from);
    let check = |(number, (row, text)): (usize, &(String, String))| {
        let place = tempfile::tempdir().unwrap();
        check_program(number, text, place.path()).map(|message| format!("{row}: {message}\n{text}\n"))
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let part = |part: usize| {
            programs.iter().enumerate().skip(part).step_by(num_threads).filter_map(check).collect::<Vec<_>>()
        };
        let parts: Vec<_> = (0..num_threads).map(|number| scope.spawn(move || part(number))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {} rows are wrong:\n{}", wrong.len(), programs.len(), wrong.concat());
}
