// RUN: spyre-compile %s --compile-to tile --lx-bytes 256 --cores 1 | spyre-opt --mlir-print-local-scope | FileCheck %s

// An accumulator that has no room in LX and is read behind its loops begins where it is read, and is not copied there.
// CHECK-LABEL: func.func @product(
// CHECK:         [[LOOP:%.+]] = spyre.loop 2 "A"
// CHECK:           [[START:%.+]] = spyre.copy {{.*}} -> tensor<32x128xf16, #spyre.layout<[2, 64, 64], [64, 128, 1], of = [64, 128]>>
// CHECK:           [[SUM:%.+]] = spyre.loop 4 "K" {{.*}} carried({{.*}} = [[START]] :
// CHECK-NOT:       spyre.copy
// CHECK:           spyre.yield [[SUM]][0]
// CHECK:         spyre.pointwise exp([[LOOP]])
func.func @product(%x: tensor<64x256xf16> {spyre.dims = ["A", "K"]}, %w: tensor<256x128xf16> {spyre.dims = ["K", "N"]}) -> tensor<64x128xf16> {
  %p = spyre.hint tiles(A = 2, K = 4) {
    %s = spyre.matmul(%x, %w) : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
    spyre.yield %s : tensor<64x128xf16>
  }
  %e = spyre.pointwise exp(%p) : tensor<64x128xf16>
  return %e : tensor<64x128xf16>
}
