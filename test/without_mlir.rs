//! Tests the tools that need no MLIR. `cargo xtask test` also builds them without the feature `mlir`, with LLVM hidden, and runs these
//! tests on the tools in the folder that `SPYRE_WITHOUT_MLIR` names. `test/spyre_plan.rs` tests the remaining one of these tools.

#![allow(clippy::unwrap_used, reason = "a test")]

use half::f16;
use npyz::{NpyFile, WriterBuilder};
use sdsc_format::program::{LaunchEntry, Program, Tensor};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PLAN: &str = env!("CARGO_BIN_EXE_spyre-plan");
const RUN: &str = env!("CARGO_BIN_EXE_spyre-run");
const TRANSLATE: &str = env!("CARGO_BIN_EXE_spyre-translate");

/// Runs a tool of this build, or the one of its name in the folder that `SPYRE_WITHOUT_MLIR` names.
fn tool(own: &str, folder: &Path, arguments: &[&str]) -> Output {
    let own = Path::new(own);
    let path = env::var_os("SPYRE_WITHOUT_MLIR").map_or_else(|| own.to_owned(), |other| Path::new(&other).join(own.file_name().unwrap()));
    Command::new(&path).current_dir(folder).args(arguments).output().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn said(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the text on both streams of a tool that exits with an error.
#[track_caller]
fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The sum of two f16 [32, 128] as a program: `program.json`, and the golden bundle in a folder.
struct Sum {
    place: tempfile::TempDir,
}

impl Sum {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let bundle = place.path().join("sum/add");
        fs::create_dir_all(&bundle).unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden/add");
        for name in ["bundle.mlir", "sdsc_0.json"] {
            fs::copy(golden.join(name), bundle.join(name)).unwrap();
        }
        let tensor = |name: &str| Tensor {
            name: name.to_owned(),
            shape: vec![32, 128],
            element_type: "f16".to_owned(),
            format: "SEN169_FP16".to_owned(),
            device_size: vec![2, 32, 64],
            stride_map: vec![64, 128, 1],
            bytes: 32 * 128 * 2,
            ..Tensor::default()
        };
        let arguments = ["left", "right", "sum"].map(str::to_owned).to_vec();
        let program = Program {
            name: "sum".to_owned(),
            arguments: vec![tensor("left"), tensor("right")],
            results: vec![tensor("sum")],
            launches: vec![LaunchEntry { bundle: "add".to_owned(), arguments, ..LaunchEntry::default() }],
            ..Program::default()
        };
        fs::write(place.path().join("sum/program.json"), serde_json::to_string(&program).unwrap()).unwrap();
        Self { place }
    }

    fn folder(&self) -> &Path {
        self.place.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join("sum").join(name)
    }
}

/// A NumPy file of f16 [32, 128] that repeats 0 to `period` - 1.
fn write_array(path: &Path, period: usize) {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&[32, 128]).writer(&mut bytes).begin_nd().unwrap();
    writer.extend((0..32 * 128).map(|index| f16::from_f64((index % period) as f64))).unwrap();
    writer.finish().unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_golden_bundle_runs() {
    let sum = Sum::new();
    write_array(&sum.folder().join("left.npy"), 7);
    write_array(&sum.folder().join("right.npy"), 5);
    let arguments = ["sum", "--input", "left=left.npy", "--input", "right=right.npy", "--output-dir", "out", "--report", "report.json"];
    let text = said(tool(RUN, sum.folder(), &arguments));
    assert!(text.starts_with("add: 1 executes; HBM 16384 B read, 8192 B written; LX 0 B;"), "{text}");
    let found: Vec<f16> = NpyFile::new(fs::File::open(sum.folder().join("out/sum.npy")).unwrap()).unwrap().into_vec().unwrap();
    let expected = (0..32 * 128).map(|index| f16::from_f64((index % 7 + index % 5) as f64));
    assert!(found.into_iter().eq(expected));
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(sum.folder().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["launches"][0]["ops"][0]["function"], "add");
}

#[test]
fn a_right_bundle_breaks_no_rule_and_a_broken_one_is_named() {
    let sum = Sum::new();
    assert_eq!(said(tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"])), "");
    let (file, text) = (sum.file("add/sdsc_0.json"), fs::read_to_string(sum.file("add/sdsc_0.json")).unwrap());
    assert!(text.contains("\"mb_\": 32"));
    fs::write(&file, text.replace("\"mb_\": 32", "\"mb_\": 33")).unwrap();
    let message = refusal(&tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"]));
    assert!(message.contains("add/sdsc_0.json") && message.contains("breaks rules of the format in"), "{message}");
    fs::write(&file, text).unwrap();
    // No rule checks an unused name; the emitter would not have written it.
    let (file, text) = (sum.file("add/bundle.mlir"), fs::read_to_string(sum.file("add/bundle.mlir")).unwrap());
    let constant = "%arg_1_core_offset_2048 = arith.constant 2048 : index\n";
    assert!(text.contains(constant));
    fs::write(&file, text.replace(constant, &format!("{constant}\t\t%unused = arith.constant 1 : index\n"))).unwrap();
    let message = refusal(&tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"]));
    assert!(message.contains("add/bundle.mlir: sdsc_r98: "), "{message}");
}

#[test]
fn a_bundle_is_held_against_a_profile() {
    let sum = Sum::new();
    let check = |arguments: &[&str]| tool(TRANSLATE, sum.folder(), &[&["--check-bundle", "sum"], arguments].concat());
    assert_eq!(said(check(&["--format=torch-spyre-2026-08"])), "");
    assert_eq!(said(check(&["--format=torch-spyre-2026-09", "--format=text"])), "");
    let message = refusal(&check(&["--format=1.0"]));
    assert!(message.contains("computeOp_/0/location: sdsc_r2: the member is there; profile '1.0' has no such member"), "{message}");
    let message = refusal(&check(&["--format=2.0"]));
    assert!(message.contains("expected '1.0', 'torch-spyre-2026-08' or 'torch-spyre-2026-09', found '2.0'"), "{message}");
    let message = refusal(&check(&["--format=1.0", "--format=torch-spyre-2026-08"]));
    assert!(message.contains("names two forms of the files; give one"), "{message}");
    let message = refusal(&tool(TRANSLATE, sum.folder(), &["--bundle-to-mlir", "sum", "--format=1.0"]));
    assert!(message.contains("add '--check-bundle'"), "{message}");
}

#[test]
fn an_instance_is_planned() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("in.csv"), "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n").unwrap();
    let text = said(tool(PLAN, place.path(), &["in.csv", "--capacity", "8", "-o", "out.json"]));
    let start = "3 of 3 buffers in LX; HBM traffic 0 bytes (lower bound 0, optimal among plans without split live ranges);";
    assert!(text.starts_with(start), "{text}");
    said(tool(PLAN, place.path(), &["--verify", "out.json", "in.csv"]));
}

#[test]
#[cfg_attr(feature = "mlir", ignore = "needs tools that are built without MLIR: cargo xtask test builds them")]
fn what_needs_mlir_is_refused_before_anything_runs() {
    let sum = Sum::new();
    let message = refusal(&tool(RUN, sum.folder(), &["sum", "--check", "sum.mlir", "--output-dir", "out"]));
    assert!(message.contains("--check 'sum.mlir': this spyre-run was built without MLIR"), "{message}");
    assert!(message.contains("build it with the default features"), "{message}");
    for mode in ["--bundle-to-mlir", "--mlir-to-bundle", "--opspec-to-mlir"] {
        let message = refusal(&tool(TRANSLATE, sum.folder(), &[mode, "sum", "-o", "out"]));
        assert!(message.contains("this spyre-translate was built without MLIR and only checks bundles"), "{message}");
    }
    assert!(!sum.folder().join("out").exists());
}
