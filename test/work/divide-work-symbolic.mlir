// RUN: spyre-opt --spyre-propagate-layouts --spyre-reduce-span --spyre-divide-work %s | FileCheck %s
// RUN: spyre-opt --spyre-propagate-layouts --spyre-reduce-span --spyre-divide-jointly %s | FileCheck %s --check-prefix=JOINT
// RUN: not spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-reduce-span --spyre-divide-work %S/Inputs/symbolic-hint.mlir 2>&1 | FileCheck %s --check-prefix=HINT

// CHECK: [[COLUMNS:#.+]] = #spyre.layout<[4, 1024, 64], [65536, 1, 1024]>

// A dimension of symbolic size stays whole, also where it is the longest; what follows from the argument is on the op.
// CHECK-LABEL: func.func @rows_of_symbolic_size(
// CHECK:         spyre.pointwise exp({{%.+}}) {spyre.symbolic = ["s0", ""], work = #spyre.work<[1, 4]>}
// JOINT-LABEL: func.func @rows_of_symbolic_size(
// JOINT:         spyre.pointwise exp({{%.+}}) {spyre.symbolic = ["s0", ""], work = #spyre.work<[1, 4]>}
func.func @rows_of_symbolic_size(%x: tensor<1024x256xf16> {spyre.symbolic = ["s0", ""]}) -> tensor<1024x256xf16> attributes {spyre.granularities = {s0 = 64}} {
  %exp = spyre.pointwise exp(%x) : tensor<1024x256xf16>
  return %exp : tensor<1024x256xf16>
}

// It lies in no stick, so the other dimension does, whatever the order of the program.
// CHECK-LABEL: func.func @columns_of_symbolic_size(
// CHECK-SAME:      tensor<256x1024xf16, [[COLUMNS]]>
// CHECK:         spyre.pointwise exp({{%.+}}) {spyre.symbolic = ["", "s0"], work = #spyre.work<[4, 1]>}
func.func @columns_of_symbolic_size(%x: tensor<256x1024xf16> {spyre.symbolic = ["", "s0"]}) -> tensor<256x1024xf16> attributes {spyre.granularities = {s0 = 64}} {
  %exp = spyre.pointwise exp(%x) : tensor<256x1024xf16>
  return %exp : tensor<256x1024xf16>
}

// HINT: error{{.*}}: {{.*}}cannot honor 'work_div'
