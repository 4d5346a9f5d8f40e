//! Tests fifty user errors, on the command line here and in Python in `python/tests/test_mistakes.py`: each message
//! names the location, the value found, the rule and the fix, as in the gallery of `errors.rs`, and no files remain.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use crate::errors::{
    check_row,
    material::{InputFolder, npy},
    rows::{MistakeCase, expect_error, expect_success},
    run_command,
};
use std::{fs, sync::OnceLock};

/// Text files, in addition to those of the gallery.
const TEXTS: &[(&str, &str)] = &[
    (
        "open.mlir",
        "func.func @exp(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%n) : tensor<?x64xf16>
  %r = linalg.exp ins(%x : tensor<?x64xf16>) outs(%e : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %r : tensor<?x64xf16>
}
",
    ),
    (
        "huge.mlir",
        "func.func @huge(%x: tensor<65536x65536xf16>, %y: tensor<65536x65536xf16>) -> tensor<65536x65536xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<65536x65536xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<65536x65536xf16>) -> tensor<65536x65536xf16>
  %0 = linalg.matmul ins(%x, %y : tensor<65536x65536xf16>, tensor<65536x65536xf16>) outs(%f : tensor<65536x65536xf16>) -> tensor<65536x65536xf16>
  return %0 : tensor<65536x65536xf16>
}
",
    ),
    (
        "loop.mlir",
        "func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 4000 : index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<64x64xf16>) {
    %e = tensor.empty() : tensor<64x64xf16>
    %0 = linalg.exp ins(%a : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
    scf.yield %0 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}
",
    ),
    ("tt.mlir", "tt.func @add(%x: !tt.ptr<f16>) {\n  %0 = tt.get_program_id x : i32\n  tt.return\n}\n"),
    ("torch.mlir", "func.func @f(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {\n  return %x : !torch.vtensor<[4,64],f16>\n}\n"),
    (
        "typo.mlir",
        "func.func @f(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = tosa.expp %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
",
    ),
    (
        "fft.mlir",
        "func.func @f(%x: tensor<4x8x64xf32>, %y: tensor<4x8x64xf32>) -> (tensor<4x8x64xf32>, tensor<4x8x64xf32>) {
  %0, %1 = tosa.fft2d %x, %y {inverse = false} : (tensor<4x8x64xf32>, tensor<4x8x64xf32>) -> (tensor<4x8x64xf32>, tensor<4x8x64xf32>)
  return %0, %1 : tensor<4x8x64xf32>, tensor<4x8x64xf32>
}
",
    ),
    (
        "branch.mlir",
        "func.func @f(%x: tensor<4x64xf16>, %c: i1) -> tensor<4x64xf16> {
  cf.cond_br %c, ^a, ^b
^a:
  return %x : tensor<4x64xf16>
^b:
  return %x : tensor<4x64xf16>
}
",
    ),
    (
        "overflow.mlir",
        "func.func @f(%x: tensor<64x64xi64>) -> tensor<64x64xi64> {
  %c = arith.constant dense<9223372036854775807> : tensor<64x64xi64>
  %e = tensor.empty() : tensor<64x64xi64>
  %0 = linalg.add ins(%x, %c : tensor<64x64xi64>, tensor<64x64xi64>) outs(%e : tensor<64x64xi64>) -> tensor<64x64xi64>
  return %0 : tensor<64x64xi64>
}
",
    ),
    ("complex.mlir", "func.func @f(%x: tensor<4x64xcomplex<f32>>) -> tensor<4x64xcomplex<f32>> {\n  return %x : tensor<4x64xcomplex<f32>>\n}\n"),
    ("notes.md", "# Notes\n\nThis is `softmax`.\n"),
    ("page.html", "<!DOCTYPE html>\n<html><body>404</body></html>\n"),
    ("f.ll", "; ModuleID = \"m\"\ndefine float @f(float %x) {\n  ret float %x\n}\n"),
    ("data.json", "{\"a\": 1}\n"),
    ("model.py", "import torch\n\ndef f(x):\n    return x\n"),
    ("text.npy", "1.0 2.0\n3.0 4.0\n"),
    ("zero.npy", ""),
    ("zero.npz", ""),
];

/// Binary files.
const BYTES: &[(&str, &[u8])] = &[
    ("model.onnx", b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x00\x00\x01"),
    ("model.pt", b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0model/data.pkl\x80\x02."),
    ("stuff.zip", b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.txthi"),
    (
        "weights.safetensors",
        b"C\0\0\0\0\0\0\0{\"w\": {\"dtype\": \"F16\", \"shape\": [4, 64], \"data_offsets\": [0, 512]}}",
    ),
];

/// Commands that create the bundles and plans.
const COMMANDS: [&str; 4] = [
    "spyre-compile small.mlir -o small --write-plan small-plan.json",
    "spyre-compile open.mlir --dim-size arg0.0=128:16 -o open",
    "cp -r small cut && head -c 100 small/program.json > cut/program.json",
    "cp -r small less && rm less/bundle_0/sdsc_0.json",
];

/// All rows: first the errors of a new user's first trial, then more of the same kinds.
const ROWS: &[MistakeCase] = &[
    expect_error(
        "An option with a letter less",
        "spyre-compile two.mlir --dims 0=row:column --tile row=4 -o out",
        ["spyre-compile: error", "'--tile'", "unexpected argument", "a similar argument exists: '--tiles'"],
    ),
    expect_error(
        "Tiles without names",
        "spyre-compile two.mlir --tiles row=4 -o out",
        ["two.mlir:3:8", "'row' for 4 tiles", "no dimension has a name", "give names with --dims 0=NAME:NAME"],
    ),
    expect_error(
        "Seven tiles of 1024",
        "spyre-compile two.mlir --dims 0=row:column --tiles row=7 -o out",
        [
            "two.mlir:3:8",
            "tile count 7",
            "does not divide dimension 'row' of size 1024",
            "nearest divisors are 4 and 8",
        ],
    ),
    expect_error(
        "Tiles inside of a stick",
        "spyre-compile two.mlir --dims 0=row:column --tiles column=128 -o out",
        ["two.mlir:3:8", "found 32 elements", "must be whole sticks", "use at most 64 tiles"],
    ),
    expect_success(
        "arg0 in place of 0",
        "spyre-compile two.mlir --dims arg0=row:column --tiles row=4 -o out",
        "files written to out",
    ),
    expect_error(
        "Names of what is no argument",
        "spyre-compile two.mlir --dims x=row:column --tiles row=4 -o out",
        ["--dims", "'x=row:column'", "expected ARG=NAME:NAME", "give one such as '0=M:K'"],
    ),
    expect_error(
        "An ONNX model as a program",
        "spyre-compile model.onnx -o out",
        [
            "'model.onnx'",
            "found an ONNX model",
            "expected MLIR text or bytecode",
            "import it with 'torch-mlir-import-onnx'",
        ],
    ),
    expect_error(
        "A Markdown text as a program",
        "spyre-compile notes.md -o out",
        ["'notes.md'", "found a Markdown text", "expected MLIR text or bytecode", "give the file of a module"],
    ),
    expect_error(
        "A tensor too large for a core",
        "spyre-compile huge.mlir --tile-search none -o out",
        [
            "huge.mlir:5:8",
            "spans 268435456 bytes",
            "the hardware limit is 268431360",
            "split the tensor into 2 or more smaller ones",
        ],
    ),
    expect_error(
        "A size that is open",
        "spyre-compile open.mlir -o out",
        ["open.mlir:1:1", "'arg0'", "is dynamic", "--dim-size arg0.0=N"],
    ),
    expect_error(
        "A size of a fixed dimension",
        "spyre-compile two.mlir --dim-size arg0.0=64 -o out",
        ["two.mlir:1:1", "found --dim-size 64", "has size 1024", "remove the option"],
    ),
    expect_error(
        "A launch of a size that is no multiple",
        "spyre-run open --dim-size arg0.0=65",
        ["--dim-size", "'arg0.0' cannot be 65", "a multiple of 16 from 16 to 128", "choose 64 or 80"],
    ),
    expect_error(
        "A program on memrefs",
        "spyre-compile memref.mlir -o out",
        [
            "memref.mlir:1:1",
            "found memref<4x64xf16>",
            "expected tensor arguments",
            "export the program before bufferization",
        ],
    ),
    expect_error(
        "Two public functions",
        "spyre-compile functions.mlir -o out",
        ["functions.mlir:1:1", "found 'f' and 'g'", "expected one public function", "--entry NAME"],
    ),
    expect_error(
        "A Triton kernel",
        "spyre-compile tt.mlir -o out",
        ["tt.mlir:1:1", "'tt.func'", "expected linalg, tensor, arith, math or tosa ops", "triton-shared-opt"],
    ),
    expect_error(
        "The torch dialect",
        "spyre-compile torch.mlir -o out",
        [
            "torch.mlir:1:25",
            "'torch.vtensor'",
            "expected linalg, tensor, arith, math or tosa ops",
            "output_type=\"linalg-on-tensors\"",
        ],
    ),
    expect_error(
        "StableHLO of JAX",
        "spyre-compile stablehlo.mlir -o out",
        [
            "stablehlo.mlir:2:8",
            "'stablehlo.add'",
            "expected linalg, tensor, arith, math or tosa ops",
            "call spyre_mlir.jax.compile(function, *arguments)",
        ],
    ),
    expect_error(
        "A loop of 4000",
        "spyre-compile loop.mlir -o out",
        ["loop.mlir:5:8", "4000 iterations of 3 ops", "more than 2048 ops, the limit", "compile fewer iterations"],
    ),
    expect_error(
        "An array of f32",
        "spyre-run small --input arg0=f32.npy",
        ["'f32.npy'", "found type '<f4' (float32)", "expected elements of float16", ".astype('float16')"],
    ),
    expect_error(
        "An array in Fortran order",
        "spyre-run small --input arg0=fortran.npy",
        ["'fortran.npy'", "found Fortran order", "expected an array in C order", "numpy.ascontiguousarray(array)"],
    ),
    expect_error(
        "Text as an array",
        "spyre-run small --input arg0=text.npy",
        ["'text.npy'", "found another format", "expected a .npy file", "numpy.loadtxt"],
    ),
    expect_error(
        "An array of objects",
        "spyre-run small --input arg0=objects.npy",
        ["'objects.npy'", "found Python objects", "expected elements of float16", "numpy.array(rows, dtype='float16')"],
    ),
    expect_error(
        "A bundle whose program was cut",
        "spyre-run cut",
        ["cut/program.json", "EOF", "a bundle needs every file", "compile the program again"],
    ),
    expect_error(
        "A bundle without one of its files",
        "spyre-run less",
        ["less/bundle_0/sdsc_0.json", "No such file", "a bundle needs every file", "compile the program again"],
    ),
    expect_error(
        "One launch in place of the bundle",
        "spyre-run small/bundle_0",
        [
            "'small/bundle_0'",
            "without file 'small/bundle_0/program.json'",
            "expected a bundle directory",
            "use 'spyre-run small'",
        ],
    ),
    expect_error(
        "The place of the bundle without -o",
        "spyre-compile small.mlir out",
        ["spyre-compile: error", "'out'", "expected one input", "name the output with '-o out'"],
    ),
    expect_error(
        "No place for the bundle",
        "spyre-compile small.mlir",
        ["spyre-compile: error", "missing", "output directory", "add -o DIR"],
    ),
    // More of the same kinds.
    expect_error(
        "A file of PyTorch as a program",
        "spyre-compile model.pt -o out",
        [
            "'model.pt'",
            "found a file of PyTorch",
            "expected MLIR text or bytecode",
            "spyre_mlir.torch.compile(model, *inputs)",
        ],
    ),
    expect_error(
        "Weights as a program",
        "spyre-compile weights.safetensors -o out",
        ["'weights.safetensors'", "found weights", "expected MLIR text or bytecode", "load them into a model"],
    ),
    expect_error(
        "A zip archive as a program",
        "spyre-compile stuff.zip -o out",
        ["'stuff.zip'", "found a zip archive", "expected MLIR text or bytecode", "unpack it"],
    ),
    expect_error(
        "A page of HTML as a program",
        "spyre-compile page.html -o out",
        ["'page.html'", "found a page of HTML", "expected MLIR text or bytecode", "save the file itself"],
    ),
    expect_error(
        "A Python file as a program",
        "spyre-tune model.py",
        ["'model.py'", "found a Python program", "expected MLIR text or bytecode", "spyre_mlir.torch.compile"],
    ),
    expect_error(
        "An array as a program",
        "spyre-compile f32.npy -o out",
        ["'f32.npy'", "found arrays of NumPy", "expected MLIR text or bytecode", "--input NAME=FILE.npy"],
    ),
    expect_error(
        "A directory as a program",
        "spyre-compile folder -o out",
        ["cannot read", "'folder'", "is a directory, not a file", "give a file of MLIR text or bytecode"],
    ),
    expect_error(
        "A bundle as a program",
        "spyre-compile small -o out",
        ["'small'", "found the bundle directory", "expected MLIR text or bytecode", "run it with 'spyre-run small'"],
    ),
    expect_error(
        "A launch of a bundle as a program",
        "spyre-compile small/bundle_0/bundle.mlir -o out",
        [
            "'small/bundle_0/bundle.mlir'",
            "found a file of a bundle",
            "expected MLIR text or bytecode",
            "'spyre-run DIR'",
        ],
    ),
    expect_error(
        "A plan as a program",
        "spyre-compile small-plan.json -o out",
        ["'small-plan.json'", "found a plan", "expected MLIR text or bytecode", "give it with --plan"],
    ),
    expect_error(
        "JSON as a program",
        "spyre-compile data.json -o out",
        ["'data.json'", "found JSON", "expected MLIR text or bytecode", "give the file of a module"],
    ),
    expect_error(
        "LLVM IR as a program",
        "spyre-compile f.ll -o out",
        ["'f.ll'", "found LLVM IR", "expected MLIR text or bytecode", "export linalg on tensors instead"],
    ),
    expect_error(
        "A program as a bundle",
        "spyre-run small.mlir",
        [
            "'small.mlir'",
            "without file 'small.mlir/program.json'",
            "expected a bundle directory",
            "'spyre-compile FILE -o DIR'",
        ],
    ),
    expect_error(
        "A Markdown text as the reference",
        "spyre-run small --check notes.md",
        [
            "--check",
            "found a Markdown text in 'notes.md'",
            "expected MLIR text or bytecode",
            "give the file of a module",
        ],
    ),
    expect_error(
        "A reference that is not there",
        "spyre-run small --check smal.mlir",
        ["--check", "'smal.mlir'", "No such file", "did you mean 'small.mlir'?"],
    ),
    expect_error(
        "A program to read back as a bundle",
        "spyre-translate --bundle-to-mlir small.mlir",
        ["'small.mlir/bundle.mlir'", "Not a directory", "expected a bundle directory", "'spyre-compile FILE -o DIR'"],
    ),
    expect_error(
        "An array of another rank",
        "spyre-run small --input arg0=flat.npy",
        [
            "--input",
            "found shape [256] in 'flat.npy'",
            "expected an array of shape [4, 64]",
            "reshape or transpose the array",
        ],
    ),
    expect_error(
        "An array without bytes",
        "spyre-run small --input arg0=zero.npy",
        ["'zero.npy'", "found no bytes", "expected an array in a .npy file", "save the array again with numpy.save"],
    ),
    expect_error(
        "An array of complex numbers",
        "spyre-run small --input arg0=complex.npy",
        ["'complex.npy'", "found type '<c8' (complex)", "expected elements of float16", "array.real.astype('float16')"],
    ),
    expect_error(
        "An array of text",
        "spyre-run small --input arg0=words.npy",
        [
            "'words.npy'",
            "found type '<U1' (text)",
            "expected elements of float16",
            "give numbers: numpy.array(rows, dtype='float16')",
        ],
    ),
    expect_error(
        "An array that is not there",
        "spyre-run small --input arg0=missing.npy",
        ["'missing.npy'", "No such file", "expected a .npy file", "give one of numpy.save"],
    ),
    expect_error(
        "Arrays without bytes",
        "spyre-run small --inputs zero.npz",
        ["'zero.npz'", "found none", "expected a .npz file", "save the arrays again with numpy.savez"],
    ),
    expect_error(
        "Weights that were cut",
        "spyre-run small --inputs weights.safetensors",
        ["cannot read 'weights.safetensors'", "found none", "expected a .safetensors file", "save the arrays again"],
    ),
    expect_error(
        "An array without a name",
        "spyre-run small --input f32.npy",
        ["--input", "found 'f32.npy'", "expected NAME=FILE.npy", "such as 'arg0=f32.npy'"],
    ),
    expect_error(
        "Results to a file",
        "spyre-run small --output-dir small.mlir",
        ["--output-dir", "found the file 'small.mlir'", "expected a directory", "name another path"],
    ),
    expect_error(
        "A bundle to where nothing can be written",
        "spyre-compile small.mlir -o /proc/x",
        ["cannot write", "'/proc/x'", "No such file", "name a path that can be written"],
    ),
    expect_error(
        "A bundle over a file",
        "spyre-compile small.mlir -o small.mlir",
        ["-o:", "found the file 'small.mlir'", "expected a new path or an older bundle", "name another path"],
    ),
    expect_error(
        "A step that does not divide the largest size",
        "spyre-compile open.mlir --dim-size arg0.0=100:16 -o out",
        ["--dim-size", "found 'arg0.0=100:16'", "STEP divides MAX", "give one such as 'arg0.0=96:16'"],
    ),
    expect_error(
        "A size of a dimension that is not there",
        "spyre-compile open.mlir --dim-size arg1.0=64 -o out",
        ["open.mlir:1:1", "found 'arg1.0=64'", "expected a dimension as arg0.0", "correct the name"],
    ),
    expect_error(
        "A size of no name for a run",
        "spyre-run open --dim-size M=64",
        ["--dim-size", "found 'M'", "expected a size that the program leaves open", "choose one of 'arg0.0'"],
    ),
    expect_error(
        "A plan for another program",
        "spyre-compile two.mlir --plan small-plan.json -o out",
        [
            "--plan",
            "found 'small-plan.json' for another program",
            "expected a plan for this program",
            "remove the file, and the search",
        ],
    ),
    expect_error(
        "Tiles without a count",
        "spyre-compile two.mlir --dims 0=row:column --tiles row -o out",
        ["--tiles", "found 'row'", "expected NAME=COUNT", "give one such as 'M=4'"],
    ),
    expect_error(
        "Tiles along a misspelt name",
        "spyre-compile two.mlir --dims 0=row:column --tiles rwo=4 -o out",
        [
            "two.mlir:3:8",
            "'rwo' for 4 tiles",
            "no op in the hint scope has a dimension",
            "known dimensions are 'column' and 'row'",
        ],
    ),
    expect_error(
        "A misspelt op of TOSA",
        "spyre-compile typo.mlir -o out",
        ["typo.mlir:2:8", "'tosa.expp'", "is unknown", "did you mean 'tosa.exp'?"],
    ),
    expect_error(
        "An op of TOSA that nothing computes",
        "spyre-compile fft.mlir -o out",
        [
            "fft.mlir:2:12",
            "'tosa.fft2d'",
            "has no device function yet",
            "write it with ops of docs/reference/supported-ops.md",
        ],
    ),
    expect_error(
        "A branch between blocks",
        "spyre-compile branch.mlir -o out",
        ["branch.mlir:2:3", "'cf.cond_br'", "control flow without a lowering", "`scf.if` or `arith.select`"],
    ),
    expect_error(
        "Integers beyond 64 bits",
        "spyre-compile overflow.mlir -o out",
        [
            "overflow.mlir:4:8",
            "'linalg.add' op expected integers",
            "stay within 64 bits",
            "bound arguments with 'spyre.range'",
        ],
    ),
    expect_error(
        "Complex numbers",
        "spyre-compile complex.mlir -o out",
        [
            "complex.mlir:2:3",
            "found complex<f32>",
            "expected elements of a device format",
            "convert them before the export",
        ],
    ),
    expect_error(
        "A seed that is no number",
        "spyre-run small --seed x",
        ["--seed", "'x'", "expected a whole number", "give one such as"],
    ),
    expect_error(
        "A capacity with a unit",
        "spyre-plan small-plan.json --capacity 1k",
        ["--capacity", "'1k'", "expected a whole number without a unit", "give one such as 4096"],
    ),
    expect_error(
        "A plan of tiles as an instance of the planner",
        "spyre-plan small-plan.json",
        ["small-plan.json:", "missing field `name`", "expected an instance", "docs/reference/planner.md shows one"],
    ),
    expect_error(
        "A module that is not there for spyre-opt",
        "spyre-opt smal.mlir",
        ["spyre-opt: error", "'smal.mlir'", "expected a module", "give a file of MLIR text or bytecode"],
    ),
];

/// Returns the files of the gallery and of this table, created once; every command gets its own copy.
fn material() -> InputFolder {
    static MADE: OnceLock<InputFolder> = OnceLock::new();
    MADE.get_or_init(create_material).copy()
}

fn create_material() -> InputFolder {
    let made = InputFolder::new();
    let write = |name: &str, content: &[u8]| fs::write(made.folder().join(name), content).unwrap();
    TEXTS.iter().for_each(|(name, text)| write(name, text.as_bytes()));
    BYTES.iter().for_each(|(name, bytes)| write(name, bytes));
    for (name, element, shape, num_bytes) in [
        ("flat.npy", "<f2", "(256,)", 512),
        ("complex.npy", "<c8", "(4, 64)", 2048),
        ("words.npy", "<U1", "(4, 64)", 1024),
        ("objects.npy", "|O", "(2,)", 64),
    ] {
        write(name, &npy(element, "False", shape, num_bytes));
    }
    fs::create_dir(made.folder().join("folder")).unwrap();
    for command in COMMANDS {
        let said = run_command(command, made.folder());
        assert_eq!(said.code, Some(0), "{command}: {}", said.text);
    }
    made
}

#[test]
fn scores_four_points_for_every_command_line_mistake() {
    let wrong: String = ROWS.iter().map(|row| check_row(row, material().folder()).1).collect();
    assert!(wrong.is_empty(), "{wrong}");
}
