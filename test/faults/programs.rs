//! Programs for fault injection: their files and their expected results.

use crate::faults::edits::Files;
use machine::{DeviceFormat, Target};
use referee::{HostArray, Simulation, draw_seeded_array};
use sdsc_check::check_directory;
use sdsc_format::to_text;
use serde_json::{Value, json};
use spyre_compiler::reference;
use spyre_compiler::sdsc::from_op_spec;
use spyre_compiler::{
    bundle::{
        Allocation, Bundle, BundleItem, Coordinate as C, ElementArrangement, IterationDim, OpSpec, OpSpecOperand,
    },
    launch::Launch,
};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

const TILED: &str = "
func.func @tiled(%a: tensor<64x512xf16>, %b: tensor<64x512xf16>, %c: tensor<64x512xf16>) -> tensor<64x512xf16> {
  %empty = tensor.empty() : tensor<64x512xf16>
  %sum = linalg.add ins(%a, %b : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  %product = linalg.mul ins(%sum, %c : tensor<64x512xf16>, tensor<64x512xf16>) outs(%empty : tensor<64x512xf16>) -> tensor<64x512xf16>
  return %product : tensor<64x512xf16>
}";

/// Copies of both arguments, the sum and the difference are in LX; the difference reuses the address of an argument.
const CHAIN: &str = "
func.func @chain(%a: tensor<64x128xf16>, %b: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x128xf16>
  %sum = linalg.add ins(%a, %b : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %difference = linalg.sub ins(%a, %b : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>) -> tensor<64x128xf16>
  %product = linalg.mul ins(%sum, %difference : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>)
    -> tensor<64x128xf16>
  return %product : tensor<64x128xf16>
}";

/// 100 columns fill no sticks, so padding is masked.
const SOFTMAX: &str = "
#matrix = affine_map<(row, column) -> (row, column)>
#per_row = affine_map<(row, column) -> (row)>
func.func @softmax(%x: tensor<70x100xf16>) -> tensor<70x100xf16> {
  %matrix = tensor.empty() : tensor<70x100xf16>
  %rows = tensor.empty() : tensor<70xf16>
  %minus_infinity = arith.constant 0xFC00 : f16
  %lowest = linalg.fill ins(%minus_infinity : f16) outs(%rows : tensor<70xf16>) -> tensor<70xf16>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<70x100xf16>) outs(%lowest : tensor<70xf16>) dimensions = [1]
  %shifted = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%x, %max : tensor<70x100xf16>, tensor<70xf16>) outs(%matrix : tensor<70x100xf16>) {
  ^bb0(%element: f16, %row_max: f16, %out: f16):
    %difference = arith.subf %element, %row_max : f16
    linalg.yield %difference : f16
  } -> tensor<70x100xf16>
  %exp = linalg.exp ins(%shifted : tensor<70x100xf16>) outs(%matrix : tensor<70x100xf16>) -> tensor<70x100xf16>
  %zero = arith.constant 0.0 : f16
  %nothing = linalg.fill ins(%zero : f16) outs(%rows : tensor<70xf16>) -> tensor<70xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<70x100xf16>) outs(%nothing : tensor<70xf16>) dimensions = [1]
  %softmax = linalg.generic {indexing_maps = [#matrix, #per_row, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%exp, %sum : tensor<70x100xf16>, tensor<70xf16>) outs(%matrix : tensor<70x100xf16>) {
  ^bb0(%element: f16, %row_sum: f16, %out: f16):
    %quotient = arith.divf %element, %row_sum : f16
    linalg.yield %quotient : f16
  } -> tensor<70x100xf16>
  return %softmax : tensor<70x100xf16>
}";

/// Two cores split K, and two split the rows.
const MATMUL: &str = "
func.func @matmul(%x: tensor<2x2048xf16>, %y: tensor<2048x64xf16>) -> tensor<2x64xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x64xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  %product = linalg.matmul ins(%x, %y : tensor<2x2048xf16>, tensor<2048x64xf16>) outs(%nothing : tensor<2x64xf16>) -> tensor<2x64xf16>
  return %product : tensor<2x64xf16>
}";

/// A row is added to every row; the sums of columns are divided among cores.
const ROWS: &str = "
#matrix = affine_map<(row, column) -> (row, column)>
#row = affine_map<(row, column) -> (0, column)>
#columns = affine_map<(row, column) -> (column)>
func.func @rows(%x: tensor<96x128xf16>, %bias: tensor<1x128xf16>) -> (tensor<128xf16>, tensor<96x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %matrix = tensor.empty() : tensor<96x128xf16>
  %biased = linalg.generic {indexing_maps = [#matrix, #row, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%x, %bias : tensor<96x128xf16>, tensor<1x128xf16>) outs(%matrix : tensor<96x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %sum = arith.addf %a, %b : f16
    linalg.yield %sum : f16
  } -> tensor<96x128xf16>
  %columns = tensor.empty() : tensor<128xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%columns : tensor<128xf16>) -> tensor<128xf16>
  %sums = linalg.reduce { arith.addf } ins(%biased : tensor<96x128xf16>) outs(%nothing : tensor<128xf16>) dimensions = [0]
  %centered = linalg.generic {indexing_maps = [#matrix, #columns, #matrix], iterator_types = [\"parallel\", \"parallel\"]}
    ins(%biased, %sums : tensor<96x128xf16>, tensor<128xf16>) outs(%matrix : tensor<96x128xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %difference = arith.subf %a, %b : f16
    linalg.yield %difference : f16
  } -> tensor<96x128xf16>
  return %sums, %centered : tensor<128xf16>, tensor<96x128xf16>
}";

/// With absolute addresses, 18 arguments need several launches; the first leaves a value for the last.
const LAUNCHES: &str = "
func.func @launches(
    %a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>, %e: tensor<64x64xf16>,
    %f: tensor<64x64xf16>, %g: tensor<64x64xf16>, %h: tensor<64x64xf16>, %i: tensor<64x64xf16>, %j: tensor<64x64xf16>,
    %k: tensor<64x64xf16>, %l: tensor<64x64xf16>, %m: tensor<64x64xf16>, %n: tensor<64x64xf16>, %o: tensor<64x64xf16>,
    %p: tensor<64x64xf16>, %q: tensor<64x64xf16>, %r: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %kept = linalg.sub ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %cs = linalg.add ins(%kept, %c : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ds = linalg.add ins(%cs, %d : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %es = linalg.add ins(%ds, %e : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %fs = linalg.mul ins(%es, %f : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %gs = linalg.add ins(%fs, %g : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %hs = linalg.add ins(%gs, %h : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %is = linalg.add ins(%hs, %i : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %js = linalg.add ins(%is, %j : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ks = linalg.mul ins(%js, %k : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ls = linalg.add ins(%ks, %l : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ms = linalg.add ins(%ls, %m : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ns = linalg.add ins(%ms, %n : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %os = linalg.add ins(%ns, %o : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ps = linalg.add ins(%os, %p : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %qs = linalg.add ins(%ps, %q : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %rs = linalg.add ins(%qs, %r : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %end = linalg.sub ins(%rs, %kept : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %end : tensor<64x64xf16>
}";

/// The sticks of the first argument are along its columns, those of its transpose along its rows. The compiler does not
/// restickify here, so the files are emitted from op specs.
const TRANSPOSED: &str = "
func.func @turned(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %empty = tensor.empty() : tensor<64x128xf16>
  %turned = linalg.transpose ins(%a : tensor<128x64xf16>) outs(%empty : tensor<64x128xf16>) permutation = [1, 0]
  %difference = linalg.sub ins(%turned, %b : tensor<64x128xf16>, tensor<64x128xf16>) outs(%empty : tensor<64x128xf16>)
    -> tensor<64x128xf16>
  return %difference : tensor<64x128xf16>
}";

/// A program with correct files.
pub(crate) struct ValidProgram {
    pub(crate) name: &'static str,
    pub(crate) files: Files,
    pub(crate) inputs: BTreeMap<String, HostArray>,
    /// Results that MLIR's JIT computes from the inputs; cached, since this takes longer than all other steps.
    pub(crate) expected: Vec<HostArray>,
}

pub(crate) fn all_valid_programs() -> Vec<ValidProgram> {
    vec![
        compile_program(
            "tiled",
            TILED,
            &["--dims", "0=A:B", "--tiles", "A=2,B=4", "--cores", "4", "--lx-planner", "first-fit"],
        ),
        compile_program("chain", CHAIN, &["--cores", "2", "--lx-planner", "first-fit"]),
        compile_program("softmax", SOFTMAX, &["--cores", "4", "--lx-planner", "first-fit"]),
        compile_program("matmul", MATMUL, &["--cores", "4", "--lx-planner", "first-fit"]),
        compile_program("rows", ROWS, &["--cores", "4", "--lx-planner", "first-fit"]),
        compile_program("launches", LAUNCHES, &["--addresses", "baked", "--lx-planner", "none", "--cores", "2"]),
        emit_program("turned", TRANSPOSED, |_, out| write_files(out, &emit_transposed())),
    ]
}

fn compile_program(name: &'static str, source: &str, options: &[&str]) -> ValidProgram {
    emit_program(name, source, |input, out| {
        let output = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
            .arg(input)
            .arg("-o")
            .arg(out)
            .arg("--validate=off")
            .args(options)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

fn emit_program(name: &'static str, source: &str, emit: impl FnOnce(&Path, &Path)) -> ValidProgram {
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("input.mlir"), place.path().join("out"));
    fs::write(&input, source).unwrap();
    emit(&input, &out);
    assert_eq!(check_directory(&out).unwrap(), [], "{name}");
    let simulation = Simulation::load(&out, &Target::spyre()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let arguments = &simulation.program().arguments;
    let arrays: Vec<HostArray> =
        (0..).zip(arguments).map(|(seed, tensor)| draw_seeded_array(tensor, seed).unwrap()).collect();
    let expected =
        reference::run_reference(input.to_str().unwrap(), &arrays).unwrap_or_else(|error| panic!("{name}: {error}"));
    let inputs = arguments.iter().map(|tensor| tensor.name.clone()).zip(arrays).collect();
    ValidProgram { name, files: read_files(&out), inputs, expected }
}

/// Reads the files below a folder; JSON is formatted as `Value` prints it.
fn read_files(out: &Path) -> Files {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let inner = |path: &Path| if path.is_dir() { entries(path) } else { vec![path.to_owned()] };
    let paths = entries(out).into_iter().flat_map(|path| inner(&path));
    let named = |path: &Path| path.strip_prefix(out).unwrap().to_str().unwrap().to_owned();
    paths.map(|path| (named(&path), normalize_json(fs::read(&path).unwrap()))).collect()
}

fn normalize_json(bytes: Vec<u8>) -> Vec<u8> {
    serde_json::from_slice::<Value>(&bytes).map_or(bytes, |value| serde_json::to_vec(&value).unwrap())
}

/// Writes files, and creates their folders.
pub(crate) fn write_files(out: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = out.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Emits a restickify of the first argument to the pool, and the difference.
fn emit_transposed() -> Files {
    let operand = |size: [i64; 3], row, column, allocation| OpSpecOperand {
        is_input: true,
        format: DeviceFormat::Sen169Fp16,
        arrangement: ElementArrangement::Standard,
        device_size: size.to_vec(),
        coordinates: vec![C::floordiv(column, 64), C::dim(row), C::modulo(column, 64)],
        allocation,
        tile_advance: vec![],
        name: None,
        ownership: None,
    };
    let argument = |argument| Allocation::Hbm { argument, offset_bytes: 0 };
    let wide = |row, column, allocation| operand([2, 64, 64], row, column, allocation);
    let pool = Allocation::Pool { offset_bytes: 0 };
    let op = |function: &str, [first, second]: [i64; 2], mut operands: Vec<OpSpecOperand>| {
        operands.last_mut().unwrap().is_input = false;
        let iteration_space = vec![IterationDim::new(first, 1), IterationDim::new(second, 1)];
        BundleItem::Op(Box::new(OpSpec {
            function: function.to_owned(),
            iteration_space,
            operands,
            ..OpSpec::default()
        }))
    };
    let items = vec![
        op("ReStickifyOpHBM", [128, 64], vec![operand([1, 128, 64], 0, 1, argument(0)), wide(1, 0, pool)]),
        op("sub", [64, 128], vec![wide(0, 1, pool), wide(0, 1, argument(1)), wide(0, 1, argument(2))]),
    ];
    let bundle = Bundle { pool_bytes: 16384, items };
    let launch = Launch::new(&bundle).unwrap();
    let file = |(index, op)| {
        (
            format!("bundle_0/sdsc_{index}.json"),
            to_text(&from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap()),
        )
    };
    let mut files: Files = bundle.ops().into_iter().enumerate().map(file).collect();
    files.insert("bundle_0/bundle.mlir".to_owned(), launch.to_string().into_bytes());
    files.insert("program.json".to_owned(), transposed_program().to_string().into_bytes());
    files
}

fn transposed_program() -> Value {
    let tensor = |name: &str, shape: [i64; 2], device_size: [i64; 3]| {
        json!({
            "name": name, "shape": shape, "element_type": "f16", "format": "SEN169_FP16",
            "device_size": device_size, "stride_map": [64, shape[1], 1], "bytes": 16384
        })
    };
    json!({
        "name": "turned",
        "arguments": [tensor("arg0", [128, 64], [1, 128, 64]), tensor("arg1", [64, 128], [2, 64, 64])],
        "results": [tensor("result0", [64, 128], [2, 64, 64])],
        "constants": [],
        "buffers": [],
        "launches": [{
            "bundle": "bundle_0", "arguments": ["arg0", "arg1", "result0"],
            "pool": [{"offset": 0, "bytes": 16384, "first_op": 0, "last_op": 1}]
        }]
    })
}
