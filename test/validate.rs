//! Faults in IR are found by what functions compute, and the pass is named.

#![allow(clippy::unwrap_used, reason = "a test")]

use spyre::{
    compile::compile,
    mlir::{Module, Session, bugs_of},
    pipeline::{Options, Phase},
    validate::{Event, Snapshot, observe},
};
use std::{fs, process::Command};

/// A softmax in tiles of columns: maxima and sums that loops carry, and a loop that reads them.
const TILED: &str = "
  func.func @softmax(%x: tensor<8x256xf16>) -> tensor<8x256xf16> {
    %lowest = spyre.fill 0xFC00 : f16 -> tensor<8x1xf16>
    %max = spyre.loop 4 \"N\" tiled(%tile = %x[1] : tensor<8x256xf16>) carried(%before = %lowest : tensor<8x1xf16>) {
      %part = spyre.reduce max(%tile) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
      %after = spyre.pointwise maximum(%before, %part) : tensor<8x1xf16>
      spyre.yield %after : tensor<8x1xf16>
    } : tensor<8x1xf16>
    %zero = spyre.fill 0.0 : f16 -> tensor<8x1xf16>
    %powers, %sum = spyre.loop 4 \"N\" tiled(%tile = %x[1] : tensor<8x256xf16>) carried(%before = %zero : tensor<8x1xf16>) {
      %moved = spyre.pointwise sub(%tile, %max) : (tensor<8x64xf16>, tensor<8x1xf16>) -> tensor<8x64xf16>
      %power = spyre.pointwise exp(%moved) : tensor<8x64xf16>
      %part = spyre.reduce sum(%power) dims [1] : tensor<8x64xf16> -> tensor<8x1xf16>
      %after = spyre.pointwise add(%before, %part) : tensor<8x1xf16>
      spyre.yield %power[1], %after : tensor<8x64xf16>, tensor<8x1xf16>
    } : tensor<8x256xf16>, tensor<8x1xf16>
    %y = spyre.pointwise realdiv(%powers, %sum) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
    return %y : tensor<8x256xf16>
  }";

/// The same in whole tensors.
const WHOLE: &str = "
  func.func @softmax(%x: tensor<8x256xf16>) -> tensor<8x256xf16> {
    %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
    %moved = spyre.pointwise sub(%x, %max) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
    %power = spyre.pointwise exp(%moved) : tensor<8x256xf16>
    %sum = spyre.reduce sum(%power) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
    %y = spyre.pointwise realdiv(%power, %sum) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
    return %y : tensor<8x256xf16>
  }";

fn with_module<R>(text: &str, then: impl FnOnce(&Module<'_>) -> R) -> R {
    let session = Session::new();
    let module = Module::parse(&session, text).unwrap_or_else(|| panic!("no module: {text}"));
    then(&module)
}

fn snapshot(text: &str) -> Snapshot {
    with_module(text, |module| Snapshot::of(module.op()).unwrap())
}

#[test]
fn a_tiled_program_computes_what_the_whole_one_does() {
    let found = snapshot(WHOLE).difference(&snapshot(TILED));
    assert!(found.is_none(), "{found:?}");
}

/// Each of these is what a pass could have done: one word of the tiled program. Another maximum would be no fault here: a softmax does not
/// depend on what it subtracts, and what that does to its range is no question of algebra.
#[test]
fn a_fault_in_a_tiled_program_is_found() {
    let whole = snapshot(WHOLE);
    for (right, wrong) in [
        ("sub(%tile, %max)", "mul(%tile, %max)"),
        ("spyre.pointwise add(%before, %part)", "spyre.pointwise maximum(%before, %part)"),
        ("spyre.fill 0.0 : f16", "spyre.fill 1.0 : f16"),
        ("spyre.pointwise maximum(%before, %part)", "spyre.pointwise minimum(%before, %part)"),
        ("realdiv(%powers, %sum)", "realdiv(%x, %sum)"),
        ("spyre.reduce sum(%power)", "spyre.reduce sum(%moved)"),
    ] {
        assert!(TILED.contains(right), "{right}");
        let found = whole.difference(&snapshot(&TILED.replacen(right, wrong, 1)));
        assert!(found.is_some_and(|(name, _)| name == "softmax"), "{wrong}");
    }
}

#[test]
fn what_nothing_has_written_is_no_result() {
    let padded = |rows: &str| {
        format!(
            "func.func @pad(%x: tensor<{rows}x64xf16>) -> tensor<8x64xf16> {{
              %buffer = spyre.empty : tensor<8x64xf16>
              %y = spyre.insert %x into %buffer at [0, 0] : tensor<{rows}x64xf16> into tensor<8x64xf16>
              return %y : tensor<8x64xf16>
            }}"
        )
    };
    let (whole, partial) = (snapshot(&padded("8")), snapshot(&padded("7")));
    assert!(whole.difference(&whole).is_none());
    let (_, found) = partial.difference(&partial).unwrap();
    assert!(found.is_unwritten && found.index == [7, 0] && found.count == 64, "{found}");
}

/// Not the fault of a pass that comes behind the one that made it.
#[test]
fn the_pass_that_broke_it_is_named_alone() {
    let broken = TILED.replace("sub(%tile, %max)", "mul(%tile, %max)");
    with_module(WHOLE, |whole| {
        with_module(&broken, |broken| {
            assert!(observe("", Event::Begin));
            assert!(observe("right", Event::Before(whole.op())));
            assert!(observe("right", Event::After(whole.op())));
            assert!(!observe("wrong", Event::After(broken.op())));
            assert!(observe("innocent", Event::After(broken.op())));
        });
    });
}

/// The text behind phase `bundle`, in which the maxima of a softmax are said to live for one op only.
fn with_a_short_life() -> [String; 2] {
    let options = Options { compile_to: Phase::Bundle, lx_planner: "none".to_owned(), cores: "1".to_owned(), ..Options::default() };
    let right = with_module(WHOLE, |module| {
        assert!(compile(module, &options, "").is_some());
        format!("{}\n", module.op())
    });
    let (before, life) = right.split_once(": 0 to 1\"").expect("a value lives from op 0 to op 1");
    let broken = format!("{before}: 0 to 0\"{life}");
    [right, broken]
}

#[test]
fn a_bug_of_ours_that_stops_a_compilation_names_the_phase_and_exits_with_2() {
    let place = tempfile::tempdir().unwrap();
    let [_, broken] = with_a_short_life();
    let (input, out) = (place.path().join("broken.mlir"), place.path().join("out"));
    fs::write(&input, broken).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg(input).arg("-o").arg(&out).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("gives files that break a rule of the format, which is a bug of ours") && said.contains("sdsc_r100"), "{said}");
    assert!(said.contains("phase 'emit' was stopped by a bug of ours"), "{said}");
    assert_eq!((done.status.code(), out.exists()), (Some(2), false));
}

#[test]
fn a_bug_is_that_of_its_compilation() {
    let place = tempfile::tempdir().unwrap();
    let options = Options { compile_to: Phase::Emit, ..Options::default() };
    let [right, broken] = with_a_short_life();
    let out = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    with_module(&broken, |broken| {
        assert!(compile(broken, &options, &out("broken")).is_none());
        assert_eq!(bugs_of(broken.op()), 1);
        // While the other one is still there, so that it is no other context at the same address.
        with_module(&right, |right| {
            assert!(compile(right, &options, &out("right")).is_some());
            assert_eq!(bugs_of(right.op()), 0);
        });
    });
}
