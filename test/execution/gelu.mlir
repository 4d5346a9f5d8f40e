// A gelu between two matmuls, as one device function and expanded to ops whose results are in LX. Rows and columns end inside a
// stick. Also with few cores, tiles, and a small LX.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/planned > %t.log && spyre-run %t/planned --wipe-lx --check %s --tolerance 3e-2 | FileCheck %s
// RUN: spyre-compile %s -o %t/exact --lx-planner exact > %t.log && spyre-run %t/exact --wipe-lx --check %s --tolerance 3e-2 | FileCheck %s
// RUN: spyre-compile %s -o %t/three --cores 3 > %t.log && spyre-run %t/three --check %s --tolerance 3e-2 | FileCheck %s
// RUN: spyre-compile %s -o %t/tiles --dims 0=M:K --tiles M=2 > %t.log && spyre-run %t/tiles --check %s --tolerance 3e-2 | FileCheck %s
// RUN: spyre-compile %s -o %t/small --lx-bytes 256 > %t.log && spyre-run %t/small --check %s --tolerance 3e-2 | FileCheck %s
// RUN: spyre-compile %s -o %t/none --lx-planner none > %t.log && spyre-run %t/none --check %s --tolerance 3e-2 | FileCheck %s

// The expansion of the function has its values in LX. If LX is too small, the function is not expanded.
// RUN: spyre-compile %s --compile-to lx | FileCheck %s --check-prefix=LX
// RUN: spyre-compile %s --lx-bytes 256 --compile-to lx | FileCheck %s --check-prefix=OWN
// RUN: spyre-compile %s --lx-planner none --compile-to lx | FileCheck %s --check-prefix=OWN

// CHECK: result0: correct
// LX-NOT: gelufwd
// LX: spyre.pointwise exp({{.*}}#spyre.place<lx,
// OWN: spyre.pointwise gelufwd(
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @mlp(%x: tensor<30x64xf16>, %up: tensor<64x200xf16>, %down: tensor<200x64xf16>) -> tensor<30x64xf16> {
  %zero = arith.constant 0.0 : f16
  %root = arith.constant 1.41421354 : f16
  %half = arith.constant 0.5 : f16
  %one = arith.constant 1.0 : f16
  %wide = tensor.empty() : tensor<30x200xf16>
  %narrow = tensor.empty() : tensor<30x64xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%wide : tensor<30x200xf16>) -> tensor<30x200xf16>
  %h = linalg.matmul ins(%x, %up : tensor<30x64xf16>, tensor<64x200xf16>) outs(%zeros : tensor<30x200xf16>) -> tensor<30x200xf16>
  %g = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<30x200xf16>) outs(%wide : tensor<30x200xf16>) {
  ^bb0(%in: f16, %out: f16):
    %q = arith.divf %in, %root : f16
    %e = math.erf %q : f16
    %s = arith.addf %e, %one : f16
    %p = arith.mulf %s, %half : f16
    %r = arith.mulf %in, %p : f16
    linalg.yield %r : f16
  } -> tensor<30x200xf16>
  %nothing = linalg.fill ins(%zero : f16) outs(%narrow : tensor<30x64xf16>) -> tensor<30x64xf16>
  %y = linalg.matmul ins(%g, %down : tensor<30x200xf16>, tensor<200x64xf16>) outs(%nothing : tensor<30x64xf16>) -> tensor<30x64xf16>
  return %y : tensor<30x64xf16>
}
