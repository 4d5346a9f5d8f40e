// Operations on whole tensors without linalg, and a concatenation as JAX writes it: branches over the index.
// RUN: rm -rf %t && spyre-compile %s -o %t > %t.log && spyre-run %t --check %s | FileCheck %s

// CHECK: result0: correct
func.func @branches(%x: tensor<8x64xf16>, %y: tensor<8x128xf16>) -> tensor<8x192xf16> {
  %c64 = arith.constant 64 : index
  %half = arith.constant dense<5.0e-01> : tensor<8x64xf16>
  %scaled = arith.mulf %x, %half : tensor<8x64xf16>
  %bounded = math.tanh %scaled : tensor<8x64xf16>
  %shape = tensor.empty() : tensor<8x192xf16>
  %both = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%shape : tensor<8x192xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_first = arith.cmpi ult, %j, %c64 : index
    %element = scf.if %is_first -> (f16) {
      %e = tensor.extract %bounded[%i, %j] : tensor<8x64xf16>
      scf.yield %e : f16
    } else {
      %k = arith.subi %j, %c64 : index
      %e = tensor.extract %y[%i, %k] : tensor<8x128xf16>
      %negative = arith.negf %e : f16
      scf.yield %negative : f16
    }
    linalg.yield %element : f16
  } -> tensor<8x192xf16>
  return %both : tensor<8x192xf16>
}
