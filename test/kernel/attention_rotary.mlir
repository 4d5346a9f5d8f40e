// Rotary embedding of queries and keys in front of an attention: q * cos + turned q * sin. In tiles of keys it pays to turn the queries in the
// loop over heads, outside of the loop over keys, which reads them again; the keys are turned in front of the kernel.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate -o %t/out --knobs attention.K=4 | FileCheck %s
// RUN: spyre-compile %s --validate -o %t/separate --knobs attention.K=4 --kernels separate | FileCheck %s --check-prefix=SEPARATE
// RUN: spyre-run %t/out --check %s | FileCheck %s --check-prefix=NUMBERS
// By bytes all of it moves.
// RUN: spyre-compile %s -o %t/bytes --objective bytes | FileCheck %s --check-prefix=BYTES
// With 32 heads, which share sines and cosines, the program moves little more than it must.
// RUN: sed 's/<4x/<32x/g' %s > %t/heads.mlir
// RUN: spyre-compile %t/heads.mlir --validate -o %t/heads --knobs attention.K=2,attention.H=1 --objective bytes | FileCheck %s --check-prefix=HEADS

// CHECK:      kernel 'attention' with H = 2, K = 4: STAGE add, mul, mul; SEPARATE add [P-COST]
// CHECK-NEXT: with fusion {{[0-9.]+}} us and 1245952 bytes of HBM traffic, without {{[0-9.]+}} us and 1966848 bytes; 10 compilations
// CHECK:      validated: the files and the imported program agree
// SEPARATE:   HBM traffic 1.88 MiB
// SEPARATE:   validated: the files and the imported program agree
// NUMBERS:    correct
// BYTES:      kernel 'attention' with H = 2, K = 2: INLINE add, mul, mul; STAGE add, mul, mul
// BYTES:      HBM traffic 1.13 MiB (lower bound 832.0 KiB, 1.39 times)
// HEADS:      kernel 'attention' with H = 1, K = 2: INLINE add, mul, mul; STAGE add; SEPARATE mul [P-COST], mul [P-COST]
// HEADS:      HBM traffic 6.25 MiB (lower bound 6.06 MiB, 1.03 times)
// HEADS:      validated: the files and the imported program agree

func.func private @attention(%q: tensor<4x256x64xf16> {spyre.dims = ["heads", "queries", ""]},
                             %k: tensor<4x256x64xf16> {spyre.dims = ["heads", "keys", ""]},
                             %v: tensor<4x256x64xf16> {spyre.dims = ["heads", "keys", ""]}) -> tensor<4x256x64xf16>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<H = 2 in [1, 2, 4]>, #spyre.knob<K = 2 in [1, 2, 4], where "H * K <= 8">]} {
  %zero = arith.constant 0.0 : f16
  %y = spyre.hint tiles(heads = H, keys = K) {
    %turned_empty = tensor.empty() : tensor<4x64x256xf16>
    %turned = linalg.transpose ins(%k : tensor<4x256x64xf16>) outs(%turned_empty : tensor<4x64x256xf16>) permutation = [0, 2, 1]
    %scores_empty = tensor.empty() : tensor<4x256x256xf16>
    %scores_begin = linalg.fill ins(%zero : f16) outs(%scores_empty : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %scores = linalg.batch_matmul ins(%q, %turned : tensor<4x256x64xf16>, tensor<4x64x256xf16>)
      outs(%scores_begin : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %weights = linalg.softmax dimension(2) ins(%scores : tensor<4x256x256xf16>) outs(%scores_empty : tensor<4x256x256xf16>) -> tensor<4x256x256xf16>
    %out_empty = tensor.empty() : tensor<4x256x64xf16>
    %out_begin = linalg.fill ins(%zero : f16) outs(%out_empty : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %out = linalg.batch_matmul ins(%weights, %v : tensor<4x256x256xf16>, tensor<4x256x64xf16>)
      outs(%out_begin : tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    spyre.yield %out : tensor<4x256x64xf16>
  }
  return %y : tensor<4x256x64xf16>
}

#map = affine_map<(h, s, d) -> (h, s, d)>
#token = affine_map<(h, s, d) -> (s, d)>

func.func @main(%q: tensor<4x256x64xf16>, %q_turned: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %k_turned: tensor<4x256x64xf16>,
                %v: tensor<4x256x64xf16>, %cos: tensor<256x64xf16>, %sin: tensor<256x64xf16>) -> tensor<4x256x64xf16> {
  %empty = tensor.empty() : tensor<4x256x64xf16>
  %q_rotated = linalg.generic {indexing_maps = [#map, #map, #token, #token, #map], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%q, %q_turned, %cos, %sin : tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) outs(%empty : tensor<4x256x64xf16>) {
  ^bb0(%x: f16, %turned: f16, %c: f16, %s: f16, %out: f16):
    %straight = arith.mulf %x, %c : f16
    %across = arith.mulf %turned, %s : f16
    %sum = arith.addf %straight, %across : f16
    linalg.yield %sum : f16
  } -> tensor<4x256x64xf16>
  %k_rotated = linalg.generic {indexing_maps = [#map, #map, #token, #token, #map], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%k, %k_turned, %cos, %sin : tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) outs(%empty : tensor<4x256x64xf16>) {
  ^bb0(%x: f16, %turned: f16, %c: f16, %s: f16, %out: f16):
    %straight = arith.mulf %x, %c : f16
    %across = arith.mulf %turned, %s : f16
    %sum = arith.addf %straight, %across : f16
    linalg.yield %sum : f16
  } -> tensor<4x256x64xf16>
  %y = call @attention(%q_rotated, %k_rotated, %v) : (tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
  return %y : tensor<4x256x64xf16>
}
