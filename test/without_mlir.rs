//! Tests the tools that need no MLIR. `cargo xtask test` also builds them without the feature `mlir`, with LLVM hidden,
//! and runs these tests on the tools in the folder that `SPYRE_WITHOUT_MLIR` names. `test/spyre_plan.rs` tests the
//! remaining one of these tools.

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

/// Runs a tool of this build, or the tool with its name in the folder that `SPYRE_WITHOUT_MLIR` names.
fn run_tool(own: &str, folder: &Path, arguments: &[&str]) -> Output {
    let own = Path::new(own);
    let path = env::var_os("SPYRE_WITHOUT_MLIR")
        .map_or_else(|| own.to_owned(), |other| Path::new(&other).join(own.file_name().unwrap()));
    Command::new(&path)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn output_text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the text on both streams of a tool that exits with an error.
#[track_caller]
fn expect_error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Sum of two f16 [32, 128] as a program: `program.json`, and the golden bundle in a folder.
struct SumProgram {
    place: tempfile::TempDir,
}

impl SumProgram {
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

/// Writes a NumPy file of f16 [32, 128] that repeats 0 to `period` - 1.
fn write_array(path: &Path, period: usize) {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&[32, 128]).writer(&mut bytes).begin_nd().unwrap();
    writer.extend((0..32 * 128).map(|index| f16::from_f64((index % period) as f64))).unwrap();
    writer.finish().unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn runs_golden_bundle() {
    let sum = SumProgram::new();
    write_array(&sum.folder().join("left.npy"), 7);
    write_array(&sum.folder().join("right.npy"), 5);
    let arguments = [
        "sum",
        "--input",
        "left=left.npy",
        "--input",
        "right=right.npy",
        "--output-dir",
        "out",
        "--report",
        "report.json",
    ];
    let text = output_text(run_tool(RUN, sum.folder(), &arguments));
    assert!(text.starts_with("add: 1 executes; HBM 16384 B read, 8192 B written; LX 0 B;"), "{text}");
    let found: Vec<f16> =
        NpyFile::new(fs::File::open(sum.folder().join("out/sum.npy")).unwrap()).unwrap().into_vec().unwrap();
    let expected = (0..32 * 128).map(|index| f16::from_f64((index % 7 + index % 5) as f64));
    assert!(found.into_iter().eq(expected));
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(sum.folder().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["launches"][0]["ops"][0]["function"], "add");
}

#[test]
fn accepts_valid_bundle_and_names_broken_one() {
    let sum = SumProgram::new();
    assert_eq!(output_text(run_tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"])), "");
    let (file, text) = (sum.file("add/sdsc_0.json"), fs::read_to_string(sum.file("add/sdsc_0.json")).unwrap());
    assert!(text.contains("\"mb_\": 32"));
    fs::write(&file, text.replace("\"mb_\": 32", "\"mb_\": 33")).unwrap();
    let message = expect_error(&run_tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"]));
    assert!(message.contains("add/sdsc_0.json") && message.contains("breaks rules of the format in"), "{message}");
    fs::write(&file, text).unwrap();
    // No rule checks an unused name; the emitter never writes it.
    let (file, text) = (sum.file("add/bundle.mlir"), fs::read_to_string(sum.file("add/bundle.mlir")).unwrap());
    let constant = "%arg_1_core_offset_2048 = arith.constant 2048 : index\n";
    assert!(text.contains(constant));
    fs::write(&file, text.replace(constant, &format!("{constant}\t\t%unused = arith.constant 1 : index\n"))).unwrap();
    let message = expect_error(&run_tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"]));
    assert!(message.contains("add/bundle.mlir: sdsc_r98: "), "{message}");
}

#[test]
fn checks_bundle_against_profile() {
    let sum = SumProgram::new();
    let check =
        |arguments: &[&str]| run_tool(TRANSLATE, sum.folder(), &[&["--check-bundle", "sum"], arguments].concat());
    assert_eq!(output_text(check(&["--format=torch-spyre-2026-08"])), "");
    assert_eq!(output_text(check(&["--format=torch-spyre-2026-09", "--format=text"])), "");
    let message = expect_error(&check(&["--format=1.0"]));
    assert!(
        message.contains("computeOp_/0/location: sdsc_r2: the member is there; profile '1.0' has no such member"),
        "{message}"
    );
    let message = expect_error(&check(&["--format=2.0"]));
    assert!(
        message.contains("expected '1.0', 'torch-spyre-2026-08' or 'torch-spyre-2026-09', found '2.0'"),
        "{message}"
    );
    let message = expect_error(&check(&["--format=1.0", "--format=torch-spyre-2026-08"]));
    assert!(message.contains("names two forms of the files; give one"), "{message}");
    let message = expect_error(&run_tool(TRANSLATE, sum.folder(), &["--bundle-to-mlir", "sum", "--format=1.0"]));
    assert!(message.contains("'--mlir-to-bundle' writes; add one of them"), "{message}");
}

#[test]
fn plans_instance() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("in.csv"), "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n").unwrap();
    let text = output_text(run_tool(PLAN, place.path(), &["in.csv", "--capacity", "8", "-o", "out.json"]));
    let start =
        "3 of 3 buffers in LX; HBM traffic 0 bytes (lower bound 0, optimal among plans without split live ranges);";
    assert!(text.starts_with(start), "{text}");
    output_text(run_tool(PLAN, place.path(), &["--verify", "out.json", "in.csv"]));
}

#[test]
#[cfg_attr(feature = "mlir", ignore = "needs tools that are built without MLIR: cargo xtask test builds them")]
fn rejects_requests_that_need_mlir_before_running() {
    let sum = SumProgram::new();
    let message = expect_error(&run_tool(RUN, sum.folder(), &["sum", "--check", "sum.mlir", "--output-dir", "out"]));
    assert!(message.contains("--check 'sum.mlir': this spyre-run was built without MLIR"), "{message}");
    assert!(message.contains("build it with the default features"), "{message}");
    for mode in ["--bundle-to-mlir", "--mlir-to-bundle", "--opspec-to-mlir"] {
        let message = expect_error(&run_tool(TRANSLATE, sum.folder(), &[mode, "sum", "-o", "out"]));
        assert!(message.contains("this spyre-translate was built without MLIR and only checks bundles"), "{message}");
    }
    assert!(!sum.folder().join("out").exists());
}

/// Returns the program of [`SumProgram`] with its launch specification.
fn sum_with_launch_spec() -> SumProgram {
    let sum = SumProgram::new();
    let program: Program = serde_json::from_str(&fs::read_to_string(sum.file("program.json")).unwrap()).unwrap();
    for file in spyre_compiler::launch::launch_spec::build_launch_spec_files(&program, &[Some([2].into())]).unwrap() {
        fs::write(sum.file(&file.path), file.content).unwrap();
    }
    sum
}

fn read_json(path: PathBuf) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn exports_inputs_and_expected_results() {
    let sum = sum_with_launch_spec();
    assert_eq!(output_text(run_tool(TRANSLATE, sum.folder(), &["--check-bundle", "sum"])), "");
    // 1023 and 2 add up to 1025, which DL16 rounds to 1024.
    write_array(&sum.folder().join("left.npy"), 1024);
    write_array(&sum.folder().join("right.npy"), 3);
    let text = output_text(run_tool(
        RUN,
        sum.folder(),
        &[
            "sum",
            "--input",
            "left=left.npy",
            "--input",
            "right=right.npy",
            "--export-expected",
            "out",
            "--output-dir",
            "results",
        ],
    ));
    assert!(text.starts_with("add: 1 executes;"), "{text}");
    let out = |name: &str| sum.folder().join("out").join(name);
    let index = read_json(out("index.json"));
    assert_eq!((&index["kernel_name"], &index["bundle"]), (&"sum_0".into(), &"add".into()));
    assert_eq!(index["command"], "spyre launch -i inputs/arg0.bin -i inputs/arg1.bin -o simulated/arg2.bin LAUNCH_DIR");
    let input = serde_json::json!({"arg_index": 1, "role": "input", "name": "right", "shape": [32, 128], "dtype": "float16",
                                   "npy": "inputs/arg1.npy", "bin": "inputs/arg1.bin"});
    assert_eq!(index["inputs"][1], input);
    let expected = &index["expected"][0];
    assert_eq!(
        (&expected["role"], &expected["rtol"], &expected["atol"]),
        (&"output".into(), &1e-3.into(), &1e-5.into())
    );
    assert_eq!(expected["is_within_tolerance"], true);
    let numbers = |name: &str| -> Vec<f64> {
        let file = NpyFile::new(fs::File::open(out(name)).unwrap()).unwrap();
        let halves = || NpyFile::new(fs::File::open(out(name)).unwrap()).unwrap().into_vec::<f16>().unwrap();
        if file.dtype().descr() == "'<f8'" {
            file.into_vec().unwrap()
        } else {
            halves().into_iter().map(f64::from).collect()
        }
    };
    let sums: Vec<f64> = (0..32 * 128).map(|index| (index % 1024 + index % 3) as f64).collect();
    assert_eq!(numbers("exact/arg2.npy"), sums);
    let simulated = numbers("simulated/arg2.npy");
    let largest = simulated.iter().zip(&sums).map(|(found, sum)| (found - sum).abs()).fold(0.0, f64::max);
    assert_eq!(expected["max_abs_difference"], largest);
    assert_eq!(largest, 1.0);
    for (npy, bin, numbers) in [
        ("inputs/arg0.npy", "inputs/arg0.bin", numbers("inputs/arg0.npy")),
        ("simulated/arg2.npy", "simulated/arg2.bin", simulated),
        ("exact/arg2.npy", "exact/arg2.bin", sums),
    ] {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| f16::from_f64(*number).to_le_bytes()).collect();
        assert!(fs::read(out(bin)).unwrap() == bytes, "{bin} has the elements of {npy}");
    }
    let written = fs::read(sum.folder().join("results/sum.npy")).unwrap();
    assert!(fs::read(out("simulated/arg2.npy")).unwrap() == written, "the results of '--output-dir'");
}

#[test]
fn rejects_export_that_no_launcher_accepts() {
    let sum = SumProgram::new();
    let message = expect_error(&run_tool(RUN, sum.folder(), &["sum", "--export-expected", "out"]));
    let expected = "expected a launch specification, found no 'sum/add/launch_spec.json'; compile the program again with \
                    '--addresses symbolic'";
    assert!(message.contains(expected), "{message}");
    let path = sum.file("program.json");
    let mut program: Program = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let again =
        LaunchEntry { arguments: ["right", "left", "sum"].map(str::to_owned).to_vec(), ..program.launches[0].clone() };
    program.launches.push(again);
    fs::write(&path, serde_json::to_string(&program).unwrap()).unwrap();
    let message = expect_error(&run_tool(RUN, sum.folder(), &["sum", "--export-expected", "out"]));
    assert!(
        message.contains("expected a program of one launch, found 2 launches; export a smaller function"),
        "{message}"
    );
    program.launches.pop();
    program.results[0].digit_base = Some(1024);
    program.results[0].shape = vec![2, 16, 128];
    program.results[0].element_type = "i32".to_owned();
    fs::write(&path, serde_json::to_string(&program).unwrap()).unwrap();
    let message = expect_error(&run_tool(RUN, sum.folder(), &["sum", "--export-expected", "out"]));
    assert!(message.contains("expected results without digits, found 'sum' of two digits per integer"), "{message}");
    assert!(!sum.folder().join("out").exists());
}

#[test]
fn names_argument_of_wrong_shape_type_or_layout() {
    let sum = sum_with_launch_spec();
    let rejected = |order: npyz::Order, shape: &[u64], single: bool| {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let length = shape.iter().product::<u64>() as usize;
        if single {
            let mut writer =
                npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut bytes).begin_nd().unwrap();
            writer.extend((0..length).map(|index| index as f32)).unwrap();
            writer.finish().unwrap();
        } else {
            let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
            writer.extend((0..length).map(|_| f16::ONE)).unwrap();
            writer.finish().unwrap();
        }
        fs::write(sum.folder().join("x.npy"), bytes).unwrap();
        expect_error(&run_tool(RUN, sum.folder(), &["sum", "--input", "right=x.npy"]))
    };
    let argument = "--input: argument 'right' (shape [32, 128], dtype float16, layout row-major): expected ";
    for (message, rest) in [
        (rejected(npyz::Order::C, &[128, 32], false), "an array of shape [32, 128], found shape [128, 32] in 'x.npy'"),
        (
            rejected(npyz::Order::C, &[32, 128], true),
            "elements of float16 ('<f2'), found type '<f4' (float32) in 'x.npy'",
        ),
        (rejected(npyz::Order::Fortran, &[32, 128], false), "an array in C order, found Fortran order in 'x.npy'"),
    ] {
        assert!(message.contains(&format!("{argument}{rest}")), "{message}");
    }
    // The specification of the bundle contradicts its program.
    let path = sum.file("add/launch_spec.json");
    let text = fs::read_to_string(&path).unwrap();
    for (member, value, expected) in [
        (
            "shape",
            serde_json::json!([128, 32]),
            "/args/1/shape: sdsc_r136: expected shape [32, 128] for 'right', found shape [128, 32]",
        ),
        (
            "dtype",
            serde_json::json!("float32"),
            "/args/1/dtype: sdsc_r136: expected dtype float16 for 'right', found dtype float32",
        ),
        (
            "role",
            serde_json::json!("input_output"),
            "/args/1/role: sdsc_r136: expected input for 'right', found input_output for 'right'",
        ),
        (
            "layout",
            serde_json::json!({"stick_size": [32], "padding": [0, 0]}),
            "/args/1/layout: sdsc_r136: layout of 'right' (stick_size [32]",
        ),
    ] {
        let mut spec: serde_json::Value = serde_json::from_str(&text).unwrap();
        spec["args"][1][member] = value;
        fs::write(&path, spec.to_string()).unwrap();
        let message = expect_error(&run_tool(RUN, sum.folder(), &["sum"]));
        assert!(message.contains(&format!("sum/add/launch_spec.json:{expected}")), "{message}");
    }
}

#[test]
fn warns_about_missing_launch_specification() {
    let warning = |sum: &SumProgram| {
        let output = run_tool(RUN, sum.folder(), &["sum"]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let expected = "warning: expected a launch specification, found no 'sum/add/launch_spec.json'";
    assert!(warning(&SumProgram::new()).contains(expected));
    assert!(!warning(&sum_with_launch_spec()).contains("warning"));
}

/// The launch passes `float16` for an f32 argument in 16 bits, so both types are read.
#[test]
fn reads_argument_of_type_of_launch() {
    let sum = sum_with_launch_spec();
    let path = sum.file("program.json");
    let mut program: Program = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    program.arguments[0].element_type = "f32".to_owned();
    fs::write(&path, serde_json::to_string(&program).unwrap()).unwrap();
    output_text(run_tool(RUN, sum.folder(), &["sum", "--export-expected", "out"]));
    let exported = ["sum", "--input", "left=out/inputs/arg0.npy"];
    let half = output_text(run_tool(RUN, sum.folder(), &exported));
    assert!(half.contains("random data with seed 0: right"), "{half}");
    write_array(&sum.folder().join("whole.npy"), 3);
    let bytes = fs::read(sum.folder().join("whole.npy")).unwrap();
    fs::write(sum.folder().join("cut.npy"), &bytes[..bytes.len() - 2]).unwrap();
    let message = expect_error(&run_tool(RUN, sum.folder(), &["sum", "--input", "left=cut.npy"]));
    assert!(
        message.contains("argument 'left' (shape [32, 128], dtype float16 or float32, layout row-major)"),
        "{message}"
    );
}
