// Indices are drawn from the rows of their tables. Those of a file are checked before anything runs, and what is read by them again.
// RUN: rm -rf %t && split-file %s %t && spyre-compile %t/numbers.mlir -o %t/numbers > %t/log && spyre-compile %t/gather.mlir -o %t/gather > %t/log
// RUN: spyre-run %t/gather --seed 1 && spyre-translate --check-bundle %t/gather | count 0

// RUN: spyre-translate --bundle-to-mlir %t/gather | FileCheck %s --check-prefix=BACK
// BACK: sdsc.buffer @arg1 input 1 {index_range = array<i64: 0, 8>}

// The numbers are below 16, the table has 8 rows.
// RUN: spyre-run %t/numbers --output-dir %t/results
// RUN: not spyre-run %t/gather --input arg1=%t/results/result0.npy 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: spyre-run: error{{.*}}'arg1': element [{{[0-2]}}, {{[0-9]+}}] is {{[0-9]+}}, which is not in the range 0..8 of the compiled program

// The simulator does not take the program's word for it.
// RUN: sed -i -e '/"index_range"/,/]/s/ 8$/ 16/' %t/gather/program.json
// RUN: not spyre-run %t/gather --input arg1=%t/results/result0.npy 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not spyre-run %t/gather --seed 1 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: spyre-run: error{{.*}}bundle_0/sdsc_0.json {{.*}}Tensor1: {{.*}}index {{[0-9]+}}

//--- numbers.mlir
func.func @numbers(%x: tensor<3x40xi32>) -> tensor<3x40xi32> {
  %y = spyre.copy %x : tensor<3x40xi32> -> tensor<3x40xi32>
  return %y : tensor<3x40xi32>
}

//--- gather.mlir
func.func @gather(%table: tensor<8x64xf16>, %index: tensor<3x40xi32>) -> tensor<3x40x64xf16> {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<8x64xf16>, tensor<3x40xi32>) -> tensor<3x40x64xf16>
  return %rows : tensor<3x40x64xf16>
}
