// RUN: spyre-opt --spyre-form-kernels %s | FileCheck %s

// A softmax between two products is a group; elementwise ops that no group needs stay outside.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    [[Q:%.+]]: tensor<64x128xf16>, [[K:%.+]]: tensor<128x64xf16>, [[V:%.+]]: tensor<64x128xf16>)
// CHECK-NEXT:    [[SCALED:%.+]] = spyre.pointwise mul([[Q]], [[Q]])
// CHECK-NEXT:    [[SCORES:%.+]] = spyre.kernel "batchmatmul"({{%.+}} = [[SCALED]] : tensor<64x128xf16>, {{%.+}} = [[K]] : tensor<128x64xf16>) {
// CHECK-NEXT:      spyre.matmul
// CHECK:         [[WEIGHTS:%.+]] = spyre.kernel "realdiv"([[S:%.+]] = [[SCORES]] : tensor<64x64xf16>) {
// CHECK-NEXT:      spyre.reduce max([[S]])
// CHECK-NEXT:      spyre.pointwise sub([[S]],
// CHECK-NEXT:      spyre.pointwise exp
// CHECK-NEXT:      spyre.reduce sum
// CHECK-NEXT:      spyre.pointwise realdiv
// CHECK:         spyre.kernel "batchmatmul"({{%.+}} = [[WEIGHTS]] : tensor<64x64xf16>, {{%.+}} = [[V]] : tensor<64x128xf16>) {
func.func @attention(%q: tensor<64x128xf16>, %k: tensor<128x64xf16>, %v: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %scaled = spyre.pointwise mul(%q, %q) : tensor<64x128xf16>
  %scores = spyre.matmul(%scaled, %k) : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16>
  %max = spyre.reduce max(%scores) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
  %difference = spyre.pointwise sub(%scores, %max) : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x64xf16>
  %exp = spyre.pointwise exp(%difference) : tensor<64x64xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
  %weights = spyre.pointwise realdiv(%exp, %sum) : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x64xf16>
  %y = spyre.matmul(%weights, %v) : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  return %y : tensor<64x128xf16>
}

// A hint scope is a kernel; what it reads from outside are inputs, what it gives are results. Ops outside with hints are none.
// CHECK-LABEL: func.func @a_scope(
// CHECK-SAME:    [[X:%.+]]: tensor<64x128xf16> {spyre.dims = ["rows", ""]})
// CHECK-NEXT:    spyre.pointwise neg
// CHECK-NEXT:    [[Y:%.+]] = spyre.kernel "scope"([[IN:%.+]] = {{%.+}} : tensor<64x128xf16>) {
// CHECK-NEXT:      [[SCOPE:%.+]] = spyre.hint tiles(rows = 2) {
// CHECK-NEXT:        spyre.pointwise exp([[IN]])
// CHECK:           spyre.yield [[SCOPE]]
// CHECK-NOT:     spyre.kernel
func.func @a_scope(%x: tensor<64x128xf16> {spyre.dims = ["rows", ""]}) -> tensor<64x1xf16> {
  %neg = spyre.pointwise neg(%x) : tensor<64x128xf16>
  %y = spyre.hint tiles(rows = 2) {
    %exp = spyre.pointwise exp(%neg) : tensor<64x128xf16>
    spyre.yield %exp : tensor<64x128xf16>
  }
  %sum = spyre.reduce sum(%y) dims [1] {hints = [#spyre.tile_hint<0, rows = 2>]} : tensor<64x128xf16> -> tensor<64x1xf16>
  return %sum : tensor<64x1xf16>
}

// A group stands in front of what reads it, with the views that it needs.
// CHECK-LABEL: func.func @read_in_between(
// CHECK:         [[T:%.+]] = spyre.view
// CHECK-NEXT:    [[G:%.+]]:2 = spyre.kernel "sub"({{%.+}} = %{{.+}} : tensor<64x64xf16>, {{%.+}} = [[T]] : tensor<64x64xf16>) {
// CHECK:         spyre.kernel "batchmatmul"({{%.+}} = %{{.+}} : tensor<64x64xf16>, {{%.+}} = [[G]]#0 : tensor<64x1xf16>) {
func.func @read_in_between(%x: tensor<64x64xf16>) -> (tensor<64x1xf16>, tensor<64x64xf16>) {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<64x64xf16> -> tensor<64x1xf16>
  %p = spyre.matmul(%x, %sum) : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x1xf16>
  %t = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<64x64xf16> -> tensor<64x64xf16>
  %difference = spyre.pointwise sub(%t, %sum) : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x64xf16>
  return %p, %difference : tensor<64x1xf16>, tensor<64x64xf16>
}
