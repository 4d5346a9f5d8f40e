// Attention on what attention gave: exponentials of what has exponentials in it, which loops correct. In the field they are compared by their law.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --dims 1=H:D:T --tiles T=4 --validate -o %t/twice > %t.log && FileCheck %s < %t.log
// RUN: spyre-run %t/twice --check %s | FileCheck %s --check-prefix=AGREES
// CHECK-COUNT-2: loop of 4 over 'T'
// CHECK-NOT: loop of
// CHECK: validated: {{.*}}; nested exponentials were compared only by exp(a + b) = exp(a) exp(b), because a loop corrects them
// AGREES: result0: correct
#hst = affine_map<(h, s, t) -> (h, s, t)>
#hs = affine_map<(h, s, t) -> (h, s)>
#st = affine_map<(h, s, t) -> (s, t)>
func.func @twice(%q: tensor<2x64x64xf16>, %k: tensor<2x64x256xf16>, %v: tensor<2x256x64xf16>, %mask: tensor<64x256xf16>) -> tensor<2x64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %minus_infinity = arith.constant 0xFC00 : f16
  %scores_empty = tensor.empty() : tensor<2x64x256xf16>
  %rows_empty = tensor.empty() : tensor<2x64xf16>
  %products_start = linalg.fill ins(%zero : f16) outs(%scores_empty : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %products = linalg.batch_matmul ins(%q, %k : tensor<2x64x64xf16>, tensor<2x64x256xf16>) outs(%products_start : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %scores = linalg.generic {indexing_maps = [#hst, #st, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%products, %mask : tensor<2x64x256xf16>, tensor<64x256xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %max_start = linalg.fill ins(%minus_infinity : f16) outs(%rows_empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<2x64x256xf16>) outs(%max_start : tensor<2x64xf16>) dimensions = [2]
  %exp = linalg.generic {indexing_maps = [#hst, #hs, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%scores, %max : tensor<2x64x256xf16>, tensor<2x64xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.subf %a, %b : f16
    %r = math.exp %d : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %sum_start = linalg.fill ins(%zero : f16) outs(%rows_empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<2x64x256xf16>) outs(%sum_start : tensor<2x64xf16>) dimensions = [2]
  %shares = linalg.generic {indexing_maps = [#hst, #hs, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%exp, %sum : tensor<2x64x256xf16>, tensor<2x64xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %y_empty = tensor.empty() : tensor<2x64x64xf16>
  %y_start = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  %y = linalg.batch_matmul ins(%shares, %v : tensor<2x64x256xf16>, tensor<2x256x64xf16>) outs(%y_start : tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  %products_start2 = linalg.fill ins(%zero : f16) outs(%scores_empty : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %products2 = linalg.batch_matmul ins(%y, %k : tensor<2x64x64xf16>, tensor<2x64x256xf16>) outs(%products_start2 : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %scores2 = linalg.generic {indexing_maps = [#hst, #st, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%products2, %mask : tensor<2x64x256xf16>, tensor<64x256xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.addf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %max_start2 = linalg.fill ins(%minus_infinity : f16) outs(%rows_empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  %max2 = linalg.reduce { arith.maximumf } ins(%scores2 : tensor<2x64x256xf16>) outs(%max_start2 : tensor<2x64xf16>) dimensions = [2]
  %exp2 = linalg.generic {indexing_maps = [#hst, #hs, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%scores2, %max2 : tensor<2x64x256xf16>, tensor<2x64xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %d = arith.subf %a, %b : f16
    %r = math.exp %d : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %sum_start2 = linalg.fill ins(%zero : f16) outs(%rows_empty : tensor<2x64xf16>) -> tensor<2x64xf16>
  %sum2 = linalg.reduce { arith.addf } ins(%exp2 : tensor<2x64x256xf16>) outs(%sum_start2 : tensor<2x64xf16>) dimensions = [2]
  %shares2 = linalg.generic {indexing_maps = [#hst, #hs, #hst], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%exp2, %sum2 : tensor<2x64x256xf16>, tensor<2x64xf16>) outs(%scores_empty : tensor<2x64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %r = arith.divf %a, %b : f16
    linalg.yield %r : f16
  } -> tensor<2x64x256xf16>
  %y_start2 = linalg.fill ins(%zero : f16) outs(%y_empty : tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
  %y2 = linalg.batch_matmul ins(%shares2, %v : tensor<2x64x256xf16>, tensor<2x256x64xf16>) outs(%y_start2 : tensor<2x64x64xf16>) -> tensor<2x64x64xf16>

  return %y2 : tensor<2x64x64xf16>
}
