// RUN: rm -rf %t && mkdir %t && spyre-compile %s -o %t/out > %t.log
// RUN: not spyre-run %t/nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not spyre-run %t/out --input y=%s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not spyre-run %t/out --input arg0 2>&1 | FileCheck %s --check-prefix=SPELLING
// RUN: not spyre-run %t/out --input arg0=%s 2>&1 | FileCheck %s --check-prefix=NPY
// RUN: not spyre-run %t/out --inputs %s 2>&1 | FileCheck %s --check-prefix=ARCHIVE
// RUN: not spyre-run %t/out --max-steps 100 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not spyre-run %t/out --check %s.missing 2>&1 | FileCheck %s --check-prefix=CHECK-FILE
// RUN: not spyre-run %t/out --check %S/spyre-run.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not spyre-run %t/out --check %s --tolerance 0 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: not spyre-run %t/out --check %s --tolerance nan 2>&1 | FileCheck %s --check-prefix=FINITE
// RUN: not spyre-run %t/out --check %s --tolerance inf 2>&1 | FileCheck %s --check-prefix=FINITE
// RUN: not spyre-run %t/out --draw tie 2>&1 | FileCheck %s --check-prefix=DRAW
// RUN: not spyre-run %t/out --count --check %s 2>&1 | FileCheck %s --check-prefix=COUNT

// The device function is the wrong one: the numbers show it.
// RUN: sed -i 's/"tanh"/"sigmoid"/' %t/out/bundle_0/sdsc_0.json
// RUN: not spyre-run %t/out --check %s 2>&1 | FileCheck %s --check-prefix=DIFFERS

// RUN: rm %t/out/bundle_0/sdsc_0.json
// RUN: not spyre-run %t/out 2>&1 | FileCheck %s --check-prefix=FILE

// NOTHING: spyre-run: error{{.*}}: {{.*}}nothing
// NAME: spyre-run: error{{.*}}--input: expected an argument of the program, found 'y'
// SPELLING: spyre-run: error{{.*}}--input: expected NAME=FILE.npy, found 'arg0'
// NPY: spyre-run: error{{.*}}: {{.*}}spyre-run-invalid.mlir
// ARCHIVE: spyre-run: error{{.*}}--inputs: expected a .npz or .safetensors file, found '{{.*}}test/tools/spyre-run-invalid.mlir'; save arrays with numpy.savez, or give --input NAME=FILE.npy
// STEPS: spyre-run: error{{.*}}: {{.*}}100
// CHECK-FILE: spyre-run: error{{.*}}: {{.*}}.missing
// OTHER: spyre-run: error{{.*}}: {{.*}}argument
// TOLERANCE: spyre-run: error{{.*}}'result0' differs from the reference by {{.*}}, tolerance 0.00e0: element [{{.*}}] is {{.*}}, the reference
// FINITE: error{{.*}}invalid value '{{nan|inf}}' for '--tolerance <R>': expected a finite number that is not negative
// DRAW: error{{.*}}invalid value 'tie' for '--draw <KIND>': expected one of 'random', 'ties', 'extreme', 'infinite'
// DIFFERS: spyre-run: error{{.*}}'result0' differs from the reference: element [{{.*}}] is {{.*}} without rounding, the reference
// COUNT: error{{.*}}the argument '--count' cannot be used with '--check <FILE.mlir>'
// FILE: spyre-run: error{{.*}}: {{.*}}sdsc_0.json
func.func @tanh(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %y = linalg.tanh ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
