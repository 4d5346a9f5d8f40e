// 512 queries on 8192 keys where the scratchpads together have 1 MiB: the scores have 8. Tiles of queries would read all keys again for each;
// a loop over tiles of keys reads them once, and corrects what it has.
// RUN: spyre-compile %s --lx-bytes 32768 --compile-to tile > %t.mlir && FileCheck %s --input-file %t.mlir
// RUN: spyre-compile %s --lx-bytes 32768 -o %t | FileCheck %s --check-prefix=MOVED
// CHECK:     spyre.loop 16 {{.*}} carried({{%.+}} = {{.+}}, {{%.+}} = {{.+}}, {{%.+}} = {{.+}}) attributes {spyre.corrects} {
// CHECK-NOT: spyre.loop
// MOVED: tiling: ops 0-5 in 16 tiles of axis0
// MOVED: lower bound 2.12 MiB, 1.0
#st = affine_map<(s, t) -> (s, t)>
#s = affine_map<(s, t) -> (s)>
func.func @attention(%q: tensor<512x64xf16>, %k: tensor<64x8192xf16>, %v: tensor<8192x64xf16>) -> tensor<512x64xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %scores_empty = tensor.empty() : tensor<512x8192xf16>
  %rows_empty = tensor.empty() : tensor<512xf16>
  %scores_start = linalg.fill ins(%zero : f16) outs(%scores_empty : tensor<512x8192xf16>) -> tensor<512x8192xf16>
  %scores = linalg.matmul ins(%q, %k : tensor<512x64xf16>, tensor<64x8192xf16>) outs(%scores_start : tensor<512x8192xf16>) -> tensor<512x8192xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%rows_empty : tensor<512xf16>) -> tensor<512xf16>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<512x8192xf16>) outs(%max_start : tensor<512xf16>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#st, #s, #st], iterator_types = ["parallel", "parallel"]}
    ins(%scores, %max : tensor<512x8192xf16>, tensor<512xf16>) outs(%scores_empty : tensor<512x8192xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.subf %a, %b : f16
    %r = math.exp %d : f16
    linalg.yield %r : f16
  } -> tensor<512x8192xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%rows_empty : tensor<512xf16>) -> tensor<512xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<512x8192xf16>) outs(%sum_start : tensor<512xf16>) dimensions = [1]
  %shares = linalg.generic {indexing_maps = [#st, #s, #st], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<512x8192xf16>, tensor<512xf16>) outs(%scores_empty : tensor<512x8192xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<512x8192xf16>
  %y_empty = tensor.empty() : tensor<512x64xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<512x64xf16>) -> tensor<512x64xf16>
  %y = linalg.matmul ins(%shares, %v : tensor<512x8192xf16>, tensor<8192x64xf16>) outs(%y_start : tensor<512x64xf16>) -> tensor<512x64xf16>
  return %y : tensor<512x64xf16>
}
