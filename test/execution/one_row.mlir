// One position of a larger buffer beside operands without a stick: the dimension of the position is one of the op, so that it is not
// taken for the one that is added for full sticks.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/add.mlir -o %t/out && spyre-run %t/out --check %t/add.mlir | FileCheck %s
// RUN: spyre-compile %t/insert.mlir -o %t/insert && spyre-run %t/insert | FileCheck %s --check-prefix=INSERT

// CHECK: result0: correct
// INSERT: f: 1 launch

//--- add.mlir
func.func @f(%x: tensor<1x1xf16>, %y: tensor<1x65xf16>) -> tensor<1x1xf16> {
  %s = tensor.extract_slice %y[0, 64] [1, 1] [1, 1] : tensor<1x65xf16> to tensor<1x1xf16>
  %e = tensor.empty() : tensor<1x1xf16>
  %r = linalg.add ins(%x, %s : tensor<1x1xf16>, tensor<1x1xf16>) outs(%e : tensor<1x1xf16>) -> tensor<1x1xf16>
  return %r : tensor<1x1xf16>
}

//--- insert.mlir
#s = #spyre.layout<[65, 1, 1, 64], [1, -1, -1, -1]>
#t = #spyre.layout<[64, 1, 64, 64], [1, -1, 64, -1]>
func.func @f(%x: tensor<64x64xf16, #t>) -> tensor<1x65xf16, #s> {
  %e = spyre.empty : tensor<1x65xf16, #s>
  %z = spyre.fill 0.5 : f16 -> tensor<1x1xf16>
  %row = spyre.view %x by affine_map<(d0, d1) -> (d0 + 7, d1)> : tensor<64x64xf16, #t> -> tensor<1x64xf16>
  %y = spyre.insert %row into %e at [0, 0] : tensor<1x64xf16> into tensor<1x65xf16, #s>
  %y2 = spyre.insert %z into %y at [0, 64] : tensor<1x1xf16> into tensor<1x65xf16, #s>
  return %y2 : tensor<1x65xf16, #s>
}
