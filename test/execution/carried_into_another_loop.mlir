// A loop carries the largest of each column in LX, and a second loop reads it in other slices: the copy between them stays in HBM, for what it copies is in LX.
//
// RUN: spyre-compile %s -o %t --lx-bytes 8192 --validate > %t.log && spyre-run %t --check %s | FileCheck %s
// CHECK: result0: correct
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m, 0)>
#column = affine_map<(m, n) -> (0, n)>
#scale = affine_map<(m, n) -> (n)>
func.func @normalized_twice(%x: tensor<1300x103xf16>, %scale: tensor<103xf16>) -> tensor<1300x103xf16> {
  %zero = arith.constant 0.0 : f16
  %lowest = arith.constant 0xFC00 : f16
  %empty = tensor.empty() : tensor<1300x103xf16>
  %empty_row = tensor.empty() : tensor<1300x1xf16>
  %empty_column = tensor.empty() : tensor<1x103xf16>
  %exp = math.exp %x : tensor<1300x103xf16>
  %no_sum = linalg.fill ins(%zero : f16) outs(%empty_row : tensor<1300x1xf16>) -> tensor<1300x1xf16>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%exp : tensor<1300x103xf16>) outs(%no_sum : tensor<1300x1xf16>) {
  ^bb0(%a: f16, %s: f16):
    %r = arith.addf %a, %s : f16
    linalg.yield %r : f16
  } -> tensor<1300x1xf16>
  %part = linalg.generic {indexing_maps = [#all, #row, #scale, #all], iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum, %scale : tensor<1300x103xf16>, tensor<1300x1xf16>, tensor<103xf16>) outs(%empty : tensor<1300x103xf16>) {
  ^bb0(%a: f16, %s: f16, %c: f16, %out: f16):
    %q = arith.divf %a, %s : f16
    %r = arith.mulf %q, %c : f16
    linalg.yield %r : f16
  } -> tensor<1300x103xf16>
  %no_max = linalg.fill ins(%lowest : f16) outs(%empty_column : tensor<1x103xf16>) -> tensor<1x103xf16>
  %max = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
    ins(%part : tensor<1300x103xf16>) outs(%no_max : tensor<1x103xf16>) {
  ^bb0(%a: f16, %m: f16):
    %r = arith.maximumf %a, %m : f16
    linalg.yield %r : f16
  } -> tensor<1x103xf16>
  %below = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
    ins(%part, %max : tensor<1300x103xf16>, tensor<1x103xf16>) outs(%empty : tensor<1300x103xf16>) {
  ^bb0(%a: f16, %m: f16, %out: f16):
    %r = arith.subf %a, %m : f16
    linalg.yield %r : f16
  } -> tensor<1300x103xf16>
  %result = math.exp %below : tensor<1300x103xf16>
  return %result : tensor<1300x103xf16>
}
