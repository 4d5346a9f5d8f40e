//! Tests fault injection into the import: with default options, `spyre-compile` detects each fault, writes no output
//! and exits with code 2.
//!
//! The environment variable `SPYRE_MISREAD_IMPORT` injects a fault: the import replaces a construct of the program by
//! another one. Builds without debug assertions ignore the variable.

#![allow(clippy::unwrap_used, reason = "a test")]

use rayon::prelude::*;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Fault of the import, and a program whose result it changes.
struct ImportFault {
    kind: &'static str,
    /// Text that the import replaces in the printed IR, and its replacement: `old=>new`.
    misread: &'static str,
    program: String,
}

/// Returns an elementwise function on `tensor<8x64xf32>`. `body` computes `%r` from the element `%a` and its indices
/// `%row` and `%column`.
fn build_elementwise_function(body: &str) -> String {
    format!(
        "#id = affine_map<(d0, d1) -> (d0, d1)>
        func.func @f(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {{
          %e = tensor.empty() : tensor<8x64xf32>
          %zero = arith.constant 0.0 : f32
          %y = linalg.generic {{indexing_maps = [#id, #id], iterator_types = [\"parallel\", \"parallel\"]}}
              ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %row = linalg.index 0 : index
            %column = linalg.index 1 : index
            {body}
            linalg.yield %r : f32
          }} -> tensor<8x64xf32>
          return %y : tensor<8x64xf32>
        }}"
    )
}

/// Returns a function that reduces each row of a `tensor<8x64xf32>` with `arith.<function>`, from the value `start`.
fn build_reduction_function(function: &str, start: &str) -> String {
    format!(
        "#id = affine_map<(d0, d1) -> (d0, d1)>
        #row = affine_map<(d0, d1) -> (d0)>
        func.func @f(%x: tensor<8x64xf32>) -> tensor<8xf32> {{
          %e = tensor.empty() : tensor<8xf32>
          %start = arith.constant {start} : f32
          %s = linalg.fill ins(%start : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
          %y = linalg.generic {{indexing_maps = [#id, #row], iterator_types = [\"parallel\", \"reduction\"]}}
              ins(%x : tensor<8x64xf32>) outs(%s : tensor<8xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %r = arith.{function} %a, %o : f32
            linalg.yield %r : f32
          }} -> tensor<8xf32>
          return %y : tensor<8xf32>
        }}"
    )
}

/// Returns a function that returns `%y`, which `body` defines.
fn build_function(arguments: &str, result: &str, body: &str) -> String {
    format!("func.func @f({arguments}) -> {result} {{ {body} return %y : {result} }}")
}

fn import_faults() -> Vec<ImportFault> {
    let square_arguments = "%x: tensor<64x64xf16>, %y0: tensor<64x64xf16>";
    let fault = |kind, misread, program| ImportFault { kind, misread, program };
    vec![
        fault(
            "width dropped",
            "i8=>i16",
            build_elementwise_function(
                "%i = arith.index_cast %column : index to i32
                 %c = arith.constant 2 : i32
                 %m = arith.muli %i, %c : i32
                 %t = arith.trunci %m : i32 to i8
                 %n = arith.sitofp %t : i8 to f32
                 %r = arith.addf %a, %n : f32",
            )
            .replace("tensor<8x64xf32>", "tensor<2x96xf32>"),
        ),
        fault(
            "predicate exchanged",
            "cmpf ogt=>cmpf olt",
            build_elementwise_function("%c = arith.cmpf ogt, %a, %zero : f32\n %r = arith.select %c, %a, %zero : f32"),
        ),
        fault(
            "predicate of integers exchanged",
            "cmpi ult=>cmpi ule",
            build_elementwise_function("%c = arith.cmpi ult, %row, %column : index\n %r = arith.select %c, %a, %zero : f32"),
        ),
        fault(
            "offset lost",
            "[0, 32] [64, 32]=>[0, 0] [64, 32]",
            build_function(
                square_arguments,
                "tensor<64x32xf16>",
                "%y = tensor.extract_slice %x[0, 32] [64, 32] [1, 1] : tensor<64x64xf16> to tensor<64x32xf16>",
            ),
        ),
        fault(
            "length of a slice",
            "[0, 0] [64, 32]=>[0, 16] [64, 32]",
            build_function(
                square_arguments,
                "tensor<64x64xf16>",
                "%s = tensor.extract_slice %x[0, 0] [64, 32] [1, 1] : tensor<64x64xf16> to tensor<64x32xf16>
                 %y = tensor.insert_slice %s into %y0[0, 0] [64, 32] [1, 1] : tensor<64x32xf16> into tensor<64x64xf16>",
            ),
        ),
        fault(
            "stride of a slice",
            "[64, 32] [1, 2]=>[64, 32] [1, 1]",
            build_function(
                square_arguments,
                "tensor<64x32xf16>",
                "%y = tensor.extract_slice %x[0, 0] [64, 32] [1, 2] : tensor<64x64xf16> to tensor<64x32xf16>",
            ),
        ),
        fault(
            "dimensions exchanged",
            "permutation = [1, 0]=>permutation = [0, 1]",
            build_function(
                "%x: tensor<64x64xf16>, %e: tensor<64x64xf16>",
                "tensor<64x64xf16>",
                "%y = linalg.transpose ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) permutation = [1, 0]",
            ),
        ),
        fault(
            "operands exchanged",
            "ins(%arg0, %arg1=>ins(%arg1, %arg0",
            build_function(
                square_arguments,
                "tensor<64x64xf16>",
                "%e = tensor.empty() : tensor<64x64xf16>
                 %y = linalg.sub ins(%x, %y0 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>",
            ),
        ),
        fault(
            "constant changed",
            "2.500000e+00=>-2.500000e+00",
            build_elementwise_function("%k = arith.constant 2.5 : f32\n %r = arith.mulf %a, %k : f32"),
        ),
        fault(
            "axis of a reduction",
            "dimensions = [1]=>dimensions = [0]",
            build_function(
                "%x: tensor<64x64xf32>, %e: tensor<64xf32>",
                "tensor<64xf32>",
                "%zero = arith.constant 0.0 : f32
                 %s = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
                 %y = linalg.reduce ins(%x : tensor<64x64xf32>) outs(%s : tensor<64xf32>) dimensions = [1]
                   (%a: f32, %o: f32) { %r = arith.addf %a, %o : f32 linalg.yield %r : f32 }",
            ),
        ),
        fault("neutral element", "-1.000000e+01=>1.000000e+01", build_reduction_function("maximumf", "-10.0")),
        fault("function of a reduction", "maximumf=>minimumf", build_reduction_function("maximumf", "0.0")),
        fault("rounding dropped", "math.roundeven=>math.absf", build_elementwise_function("%k = math.absf %a : f32\n %r = math.roundeven %k : f32")),
        fault("nearest for towards zero", "math.trunc=>math.floor", build_elementwise_function("%r = math.trunc %a : f32")),
        fault(
            "a row for a column",
            "linalg.index 0=>linalg.index 1",
            build_elementwise_function(
                "%i = arith.index_cast %row : index to i32
                 %n = arith.sitofp %i : i32 to f32
                 %r = arith.addf %a, %n : f32",
            ),
        ),
    ]
}

fn compile(program: &str, dir: &Path, misread: Option<&str>) -> Output {
    let input = dir.join("program.mlir");
    fs::write(&input, program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command.arg(&input).arg("-o").arg(dir.join("out"));
    misread.into_iter().for_each(|misread| _ = command.env("SPYRE_MISREAD_IMPORT", misread));
    command.output().unwrap()
}

/// Checks that the program validates without the fault and fails with it. Returns a message otherwise.
fn check_fault(ImportFault { kind, misread, program }: &ImportFault) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let (without_fault, out) = (compile(program, dir.path(), None), dir.path().join("out"));
    let stdout = String::from_utf8_lossy(&without_fault.stdout);
    if !without_fault.status.success()
        || !stdout.contains("validated: the files and the program as written (MLIR's JIT) agree in f64")
    {
        return Some(format!("{kind}: without a fault: {stdout}{}", String::from_utf8_lossy(&without_fault.stderr)));
    }
    fs::remove_dir_all(&out).unwrap();
    let with_fault = compile(program, dir.path(), Some(misread));
    let stderr = String::from_utf8_lossy(&with_fault.stderr);
    let expected_parts =
        ["than the program as written, which is a compiler bug: ", "please report it with the program, at https://"];
    let is_detected = with_fault.status.code() == Some(2) && expected_parts.iter().all(|part| stderr.contains(part));
    // The directory contains the input only: no output and no temporary files.
    let num_files = fs::read_dir(dir.path()).unwrap().count();
    (!is_detected || out.exists() || num_files != 1)
        .then(|| format!("{kind}: {:?}, {num_files} files: {stderr}", with_fault.status.code()))
}

#[test]
fn finds_every_import_fault_by_default() {
    let faults = import_faults();
    let kinds: std::collections::BTreeSet<&str> = faults.iter().map(|fault| fault.kind).collect();
    assert!(kinds.len() >= 10 && kinds.len() == faults.len());
    let failures: Vec<String> = faults.par_iter().filter_map(check_fault).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
