// RUN: spyre-opt --spyre-flatten-hints="bind=W=4" %s | FileCheck %s

// A number of slices may be a name, which must be bound.
// CHECK-LABEL: func.func @named_slices(
// CHECK:         spyre.pointwise exp({{.+}}) {work_div = [#spyre.work_hint<0, rows = 4>, #spyre.work_hint<1, columns = 1>]}
func.func @named_slices(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %scope = spyre.hint work_div(rows = W, columns = 1) {
    %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %exp : tensor<8x64xf16>
  }
  return %scope : tensor<8x64xf16>
}
