//! Checks that validation detects faults in IR by the results of functions, and names the pass.

#![allow(clippy::unwrap_used, reason = "a test")]

use element::FiniteField;
use machine::Target;
use referee::{RunOptions, Simulation};
use spyre_compiler::{
    compile::{compile, compile_and_validate_with_limits},
    mlir::{Module, PassEvent, num_bugs, record_bug},
    pipeline::{CompileOptions, Phase, PlannerName},
    validate::{ExecutionLimits, ResultSnapshot, ValidationObserver},
};
use std::{collections::BTreeMap, env, fs, process::Command};

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

/// Untiled version of the softmax above.
const UNTILED: &str = "
  func.func @softmax(%x: tensor<8x256xf16>) -> tensor<8x256xf16> {
    %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
    %moved = spyre.pointwise sub(%x, %max) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
    %power = spyre.pointwise exp(%moved) : tensor<8x256xf16>
    %sum = spyre.reduce sum(%power) dims [1] : tensor<8x256xf16> -> tensor<8x1xf16>
    %y = spyre.pointwise realdiv(%power, %sum) : (tensor<8x256xf16>, tensor<8x1xf16>) -> tensor<8x256xf16>
    return %y : tensor<8x256xf16>
  }";

/// Returns layers in which each element of a result depends on the complete input.
fn layers(n_layers: usize) -> String {
    let weights: String = (0..n_layers).map(|layer| format!(", %w{layer}: tensor<64x64xf16>")).collect();
    let layer = |at: usize| {
        format!(
            "%p{at} = spyre.matmul(%w{at}, %x{at}) : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
             %m{at} = spyre.reduce max(%p{at}) dims [1] : tensor<64x128xf16> -> tensor<64x1xf16>
             %d{at} = spyre.pointwise sub(%p{at}, %m{at}) : (tensor<64x128xf16>, tensor<64x1xf16>) -> tensor<64x128xf16>
             %e{at} = spyre.pointwise exp(%d{at}) : tensor<64x128xf16>
             %x{} = spyre.pointwise add(%e{at}, %x{at}) : tensor<64x128xf16>\n",
            at + 1
        )
    };
    let body: String = (0..n_layers).map(layer).collect();
    format!(
        "func.func @layers(%x0: tensor<64x128xf16>{weights}) -> tensor<64x128xf16> {{
           {body} return %x{n_layers} : tensor<64x128xf16>
         }}"
    )
}

/// Limits that suffice for one layer, and for no element of two.
const ONE_LAYER: ExecutionLimits =
    ExecutionLimits { whole: 600_000, all_draws: 600_000, samples: 0, one_draw: 600_000, samples_in_one_draw: 600_000 };

#[test]
fn validates_large_program_in_pieces() {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let validated = |options: &CompileOptions| {
        with_module(&layers(4), |module| {
            compile_and_validate_with_limits(module, options, output.to_str().unwrap(), &ONE_LAYER)
        })
    };
    let verdict = validated(&CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() })
        .unwrap()
        .validation
        .unwrap();
    // Equal layers are compiled once; the first one has a different argument order.
    assert_eq!(verdict.pieces.map(|pieces| (pieces.number, pieces.different)), Some((4, 2)));
    let said = verdict.to_string();
    assert!(
        said.contains("validated in 4 pieces, because the program is too large for samples: 2 different pieces"),
        "{said}"
    );
    assert!(output.join("program.json").exists());
    fs::remove_dir_all(&output).unwrap();
    // Pieces do not have the dimension names of the program.
    let named = CompileOptions { compile_to: Phase::Emit, ..CompileOptions::parse("dims=0=R:C").unwrap() };
    assert!(validated(&named).is_none());
    assert!(!output.exists());
}

/// Injects the fault in a child process, which runs this test again.
#[test]
fn finds_fault_in_piece_and_writes_nothing() {
    const NAME: &str = "validate::finds_fault_in_piece_and_writes_nothing";
    if env::var_os("SPYRE_BROKEN_PHASE").is_some() {
        let place = tempfile::tempdir().unwrap();
        let output = place.path().join("bundle");
        let options = CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() };
        let report = with_module(&layers(4), |module| {
            compile_and_validate_with_limits(module, &options, output.to_str().unwrap(), &ONE_LAYER)
        });
        assert!(report.is_none() && !output.exists());
        return;
    }
    for (broken, blamed) in
        [("tile", "computes something else after phase 'tile'"), ("bundle", "phase 'bundle' is at fault")]
    {
        let mut again = Command::new(env::current_exe().unwrap());
        let done = again.args(["--exact", NAME, "--nocapture"]).env("SPYRE_BROKEN_PHASE", broken).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        assert!(
            said.contains("found in ops 0 to 4 of the program (the first is at -:2:") && said.contains(blamed),
            "{said}"
        );
    }
}

fn with_module<R>(text: &str, then: impl FnOnce(&mut Module<'_>) -> R) -> R {
    let session = spyre_compiler::pipeline::create_session();
    let mut module = Module::parse(&session, text).unwrap_or_else(|| panic!("no module: {text}"));
    then(&mut module)
}

fn snapshot(text: &str) -> ResultSnapshot {
    with_module(text, |module| ResultSnapshot::capture(module.op()).unwrap())
}

#[test]
fn matches_untiled_program() {
    let found = snapshot(UNTILED).find_difference(&snapshot(TILED));
    assert!(found.is_none(), "{found:?}");
}

/// Each row is a possible miscompilation: one word of the tiled program. A changed maximum would be no fault here: a
/// softmax does not depend on the subtracted number, and the algebraic check does not cover the value range.
#[test]
fn finds_fault_in_tiled_program() {
    let whole = snapshot(UNTILED);
    for (right, wrong) in [
        ("sub(%tile, %max)", "mul(%tile, %max)"),
        ("spyre.pointwise add(%before, %part)", "spyre.pointwise maximum(%before, %part)"),
        ("spyre.fill 0.0 : f16", "spyre.fill 1.0 : f16"),
        ("spyre.pointwise maximum(%before, %part)", "spyre.pointwise minimum(%before, %part)"),
        ("realdiv(%powers, %sum)", "realdiv(%x, %sum)"),
        ("spyre.reduce sum(%power)", "spyre.reduce sum(%moved)"),
    ] {
        assert!(TILED.contains(right), "{right}");
        let found = whole.find_difference(&snapshot(&TILED.replacen(right, wrong, 1)));
        assert!(found.is_some_and(|(name, _)| name == "softmax"), "{wrong}");
    }
}

/// Smallest of the values after subtraction of the running maximum: a difference of maxima corrects its results.
const CORRECTED: &str = "
  func.func @smallest(%x: tensor<8x256xf32>) -> tensor<8x1xf32> {
    %lowest = spyre.fill 0xFF800000 : f32 -> tensor<8x1xf32>
    %highest = spyre.fill 0x7F800000 : f32 -> tensor<8x1xf32>
    %max, %min = spyre.loop 4 \"N\" tiled(%tile = %x[1] : tensor<8x256xf32>)
        carried(%before = %lowest : tensor<8x1xf32>, %had = %highest : tensor<8x1xf32>) attributes {spyre.corrects} {
      %part = spyre.reduce max(%tile) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
      %after = spyre.pointwise maximum(%before, %part) : tensor<8x1xf32>
      %moved = spyre.pointwise add(%tile, %after) : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
      %least = spyre.reduce min(%moved) dims [1] : tensor<8x64xf32> -> tensor<8x1xf32>
      %floor = spyre.fill -1.0e+30 : f32 -> tensor<8x1xf32>
      %finite = spyre.pointwise maximum(%before, %floor) : tensor<8x1xf32>
      %change = spyre.pointwise sub(%after, %finite) : tensor<8x1xf32>
      %corrected = spyre.pointwise add(%had, %change) : tensor<8x1xf32>
      %new = spyre.pointwise minimum(%corrected, %least) : tensor<8x1xf32>
      spyre.yield %after, %new : tensor<8x1xf32>, tensor<8x1xf32>
    } : tensor<8x1xf32>, tensor<8x1xf32>
    return %min : tensor<8x1xf32>
  }";

/// Untiled version of the function above.
const SMALLEST: &str = "
  func.func @smallest(%x: tensor<8x256xf32>) -> tensor<8x1xf32> {
    %max = spyre.reduce max(%x) dims [1] : tensor<8x256xf32> -> tensor<8x1xf32>
    %moved = spyre.pointwise add(%x, %max) : (tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>
    %min = spyre.reduce min(%moved) dims [1] : tensor<8x256xf32> -> tensor<8x1xf32>
    return %min : tensor<8x1xf32>
  }";

/// No order of residues is preserved by addition; the additional real numbers have such an order.
#[test]
fn compares_corrected_minimum_in_order_of_reals() {
    let whole = snapshot(SMALLEST);
    let found = whole.find_difference(&snapshot(CORRECTED));
    assert!(found.is_none(), "{found:?}");
    for (right, wrong) in [
        ("sub(%after, %finite)", "sub(%finite, %after)"),
        ("minimum(%corrected, %least)", "minimum(%had, %least)"),
        ("minimum(%corrected, %least)", "maximum(%corrected, %least)"),
        ("add(%tile, %after)", "add(%tile, %part)"),
        ("spyre.fill 0x7F800000 : f32", "spyre.fill 0xFF800000 : f32"),
    ] {
        assert!(CORRECTED.contains(right), "{right}");
        assert!(whole.find_difference(&snapshot(&CORRECTED.replacen(right, wrong, 1))).is_some(), "{wrong}");
    }
}

/// For a program that is too large, the same elements are compared before and after.
#[test]
fn finds_fault_in_large_program_by_samples() {
    let limits =
        ExecutionLimits { whole: 0, all_draws: 0, samples: 20_000, one_draw: 1 << 32, samples_in_one_draw: 1 << 32 };
    let of = |text: &str, before: Option<&ResultSnapshot>| {
        with_module(text, |module| ResultSnapshot::capture_with_limits(module.op(), &limits, before).unwrap())
    };
    let whole = of(UNTILED, None);
    let tiled = of(TILED, Some(&whole));
    assert!(whole.find_difference(&tiled).is_none());
    let wrong = of(&TILED.replacen("sub(%tile, %max)", "mul(%tile, %max)", 1), Some(&whole));
    let (_, found) = whole.find_difference(&wrong).unwrap();
    assert!(found.is_sampled && found.length == 512, "{found}");
}

#[test]
fn rejects_unwritten_result() {
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
    assert!(whole.find_difference(&whole).is_none());
    let (_, found) = partial.find_difference(&partial).unwrap();
    assert!(found.is_unwritten && found.index == [7, 0] && found.count == 64, "{found}");
}

/// The fault is not attributed to a pass that runs after the faulty one.
#[test]
fn names_only_the_pass_that_broke_the_program() {
    let broken = TILED.replace("sub(%tile, %max)", "mul(%tile, %max)");
    with_module(UNTILED, |whole| {
        with_module(&broken, |broken| {
            let observer = ValidationObserver::default();
            assert!(observer.observe("", PassEvent::Begin));
            assert!(observer.observe("right", PassEvent::Before(whole.op())));
            assert!(observer.observe("right", PassEvent::After(whole.op())));
            assert!(!observer.observe("wrong", PassEvent::After(broken.op())));
            assert!(observer.observe("innocent", PassEvent::After(broken.op())));
        });
    });
}

/// Edited IR that breaks a rule is a user error, not a compiler bug. In the edited text, the maxima of a softmax have a
/// live range of one op only.
#[test]
fn reports_broken_rule_in_edited_text_as_user_error() {
    let options = CompileOptions {
        compile_to: Phase::Bundle,
        lx_planner: Some(PlannerName::none()),
        cores: 1,
        ..CompileOptions::default()
    };
    let right = with_module(UNTILED, |module| {
        assert!(compile(module, &options, "").is_some());
        format!("{}\n", module.op())
    });
    let (before, live_range) = right.split_once(": 0 to 1\"").expect("a value lives from op 0 to op 1");
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("broken.mlir"), place.path().join("out"));
    fs::write(&input, format!("{before}: 0 to 0\"{live_range}")).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg(input).arg("-o").arg(&out).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("sdsc_r100") && !said.contains("compiler bug"), "{said}");
    assert_eq!((done.status.code(), out.exists()), (Some(1), false));
}

/// Runs the tool. After a phase it swaps the operands of every subtraction, which builds with debug assertions do on
/// request.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "a program built without debug assertions breaks nothing")]
fn names_broken_phase_and_writes_nothing() {
    let program = "func.func @f(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>) -> tensor<64x64xf16> {
      %empty = tensor.empty() : tensor<64x64xf16>
      %z = linalg.sub ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
      return %z : tensor<64x64xf16>
    }";
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("f.mlir"), place.path().join("out"));
    fs::write(&input, program).unwrap();
    let compile = |broken: &str| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
        let done =
            tool.arg(&input).arg("--validate").arg("-o").arg(&out).env("SPYRE_BROKEN_PHASE", broken).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for broken in ["layout", "hint", "tile", "work", "lx"] {
        let (code, said) = compile(broken);
        assert!(
            said.contains(&format!("computes something else after phase '{broken}', which is a compiler bug: 'f': ")),
            "{said}"
        );
        assert_eq!((code, out.exists()), (Some(2), false), "{broken}");
    }
    let (code, said) = compile("bundle");
    assert!(
        said.contains("gives files that compute something else") && said.contains("phase 'bundle' is at fault"),
        "{said}"
    );
    assert_eq!((code, out.exists()), (Some(2), false));
    let (code, said) = compile("");
    assert_eq!((code, out.exists()), (Some(0), true), "{said}");
}

/// Returns options for two tiles of the columns, in three loops.
fn tiled_options() -> CompileOptions {
    CompileOptions { compile_to: Phase::Emit, ..CompileOptions::parse("dims=0=M:N tiles=N=2").unwrap() }
}

/// Compares samples of a program that carries maxima and sums through loops, with few elements and with many.
#[test]
fn validates_tiled_program_by_samples() {
    for (samples, elements) in [(1_500, 1), (20_000, 512)] {
        let limits =
            ExecutionLimits { whole: 0, all_draws: 0, samples, one_draw: 1 << 32, samples_in_one_draw: 1 << 32 };
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let report = with_module(UNTILED, |module| {
            compile_and_validate_with_limits(module, &tiled_options(), out.to_str().unwrap(), &limits)
        });
        let verdict = report.unwrap().validation.unwrap();
        let samples = verdict.sampled.unwrap();
        assert!(samples.of == 2048 && samples.elements == elements, "{verdict}");
        assert!(
            verdict.to_string().contains("validated by samples: the files and the imported program agree on "),
            "{verdict}"
        );
    }
}

/// Samples equal the elements of the full execution, and differ if a file multiplies instead of subtracting.
#[test]
fn finds_fault_in_dependences_of_samples() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    with_module(UNTILED, |module| assert!(compile(module, &tiled_options(), out.to_str().unwrap()).is_some()));
    let elements = |places: &[usize]| {
        let simulation = Simulation::load(&out, &Target::spyre()).unwrap();
        let found = simulation.sample_elements(
            &FiniteField::new(1),
            &BTreeMap::new(),
            &[places.to_vec()],
            &RunOptions::default(),
        );
        found.unwrap().remove(0)
    };
    let (right, of_all) = (elements(&[3, 700]), elements(&(0..2048).collect::<Vec<_>>()));
    assert_eq!(right, [of_all[3], of_all[700]]);
    let mut changed = 0;
    for file in fs::read_dir(out.join("bundle_0")).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("\"opFuncName\": \"sub\"") {
            fs::write(
                path,
                text.replace("\"opFuncName\": \"sub\"", "\"opFuncName\": \"mul\"").replace("\"sub\":", "\"mul\":"),
            )
            .unwrap();
            changed += 1;
        }
    }
    assert!(changed > 0);
    let wrong = elements(&[3, 700]);
    assert!(wrong[0] != right[0] && wrong[1] != right[1]);
}

/// A product whose slices move between cores: samples need the product at their own points alone.
const SHUFFLED: &str = r#"
  func.func @moves(%x: tensor<512x1024xf16> {spyre.dims = ["A", "B"]}, %w: tensor<1024x256xf16> {spyre.dims = ["B", "C"]},
      %z: tensor<512x256xf16>) -> tensor<512x256xf16> {
    %e = tensor.empty() : tensor<512x256xf16>
    %zero = arith.constant 0.0 : f16
    %init = linalg.fill ins(%zero : f16) outs(%e : tensor<512x256xf16>) -> tensor<512x256xf16>
    %product = spyre.hint work_div(A = 32) {
      %y = linalg.matmul ins(%x, %w : tensor<512x1024xf16>, tensor<1024x256xf16>) outs(%init : tensor<512x256xf16>) -> tensor<512x256xf16>
      spyre.yield %y : tensor<512x256xf16>
    }
    %sum = spyre.hint work_div(A = 8, C = 4) {
      %y = linalg.add ins(%product, %z : tensor<512x256xf16>, tensor<512x256xf16>) outs(%e : tensor<512x256xf16>) -> tensor<512x256xf16>
      spyre.yield %y : tensor<512x256xf16>
    }
    return %sum : tensor<512x256xf16>
  }"#;

#[test]
fn samples_through_shuffle_at_needed_points() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let options = CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() };
    with_module(SHUFFLED, |module| assert!(compile(module, &options, out.to_str().unwrap()).is_some()));
    let files = fs::read_dir(out.join("bundle_0")).unwrap();
    assert!(files.into_iter().any(|file| fs::read_to_string(file.unwrap().path()).unwrap().contains("_shuffle\"")));
    let simulation = Simulation::load(&out, &Target::spyre()).unwrap();
    let elements = |places: &[usize], max_steps| {
        let options = RunOptions { max_steps, ..RunOptions::default() };
        simulation
            .sample_elements(&FiniteField::new(1), &BTreeMap::new(), &[places.to_vec()], &options)
            .map(|mut found| found.remove(0))
    };
    let of_all = elements(&(0..512 * 256).collect::<Vec<_>>(), 1 << 38).unwrap();
    for places in [vec![0], vec![512 * 256 - 1], vec![3, 70_000], vec![129, 255, 33_000, 100_001]] {
        let expected: Vec<_> = places.iter().map(|place| of_all[*place]).collect();
        // The product has 2^27 points, and the shuffle copies 2^17 elements.
        assert_eq!(elements(&places, 1 << 18).unwrap(), expected, "{places:?}");
    }
    assert!(elements(&[3], 1 << 10).is_err());
}

#[test]
fn attributes_bug_to_its_compilation() {
    with_module(UNTILED, |one| {
        with_module(UNTILED, |other| {
            record_bug(one.op());
            assert_eq!((num_bugs(one.op()), num_bugs(other.op())), (1, 0));
        });
    });
}
