// RUN: spyre-opt --spyre-make-kernels %s | FileCheck %s
// RUN: spyre-opt --spyre-make-kernels="knobs=twice.T=2,twice.U=16" %s | FileCheck %s --check-prefix=KNOBS

// Each call has a body of its own; what a kernel calls itself is a part of it.
// CHECK-LABEL: func.func @calls(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
// CHECK-NEXT:    [[Y:%.+]]:2 = spyre.kernel "twice"([[IN:%.+]] = [[X]] : tensor<64x128xf16>) knobs([#spyre.knob<T = 4 in pow2 1 to 8>, #spyre.knob<U = 8 in [8, 16]>]) {
// CHECK-NEXT:      [[SCOPE:%.+]] = spyre.hint tiles(rows = T) {
// CHECK-NEXT:        [[SUM:%.+]] = spyre.pointwise add([[IN]], [[IN]]) : tensor<64x128xf16>
// CHECK-NEXT:        spyre.yield [[SUM]] : tensor<64x128xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      [[CALLED:%.+]] = func.call @helper([[SCOPE]])
// CHECK-NEXT:      spyre.yield [[CALLED]], [[IN]] : tensor<64x128xf16>, tensor<64x128xf16>
// CHECK-NEXT:    } {input_dims = {{\[\[}}"rows", ""]]}
// CHECK-NEXT:    [[Z:%.+]]:2 = spyre.kernel "twice"({{%.+}} = [[Y]]#0 : tensor<64x128xf16>)
// CHECK:         return [[Z]]#0, [[Y]]#1

// KNOBS-LABEL: func.func @calls(
// KNOBS-COUNT-2: spyre.kernel "twice"({{.+}}) knobs([#spyre.knob<T = 2 in pow2 1 to 8>, #spyre.knob<U = 16 in [8, 16]>])
func.func @calls(%x: tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>) {
  %y:2 = call @twice(%x) : (tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>)
  %z:2 = call @twice(%y#0) : (tensor<64x128xf16>) -> (tensor<64x128xf16>, tensor<64x128xf16>)
  return %z#0, %y#1 : tensor<64x128xf16>, tensor<64x128xf16>
}

func.func private @twice(%x: tensor<64x128xf16> {spyre.dims = ["rows", ""]}) -> (tensor<64x128xf16>, tensor<64x128xf16>)
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>, #spyre.knob<U = 8 in [8, 16]>]} {
  %sum = spyre.hint tiles(rows = T) {
    %added = spyre.pointwise add(%x, %x) : tensor<64x128xf16>
    spyre.yield %added : tensor<64x128xf16>
  }
  %called = func.call @helper(%sum) : (tensor<64x128xf16>) -> tensor<64x128xf16>
  return %called, %x : tensor<64x128xf16>, tensor<64x128xf16>
}

func.func private @helper(%x: tensor<64x128xf16>) -> tensor<64x128xf16> attributes {spyre.kernel} {
  %exp = spyre.pointwise exp(%x) : tensor<64x128xf16>
  return %exp : tensor<64x128xf16>
}

// A kernel without names has none; names need not be in a kernel's own scopes.
// CHECK-LABEL: func.func private @without_names(
// CHECK:         spyre.kernel "helper"
// CHECK-NOT:     input_dims
func.func private @without_names(%x: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %y = call @helper(%x) : (tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}
