// Programs with constants against the same programs in linalg: scalars, rows, weights, choices, and constants as results.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/spyre.mlir -o %t/out > %t.log && spyre-run %t/out --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/one --cores 1 > %t.log && spyre-run %t/one --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-compile %t/spyre.mlir -o %t/unplanned --lx-planner none > %t.log && spyre-run %t/unplanned --check %t/linalg.mlir | FileCheck %s
// RUN: spyre-translate --check-bundle %t/out | count 0

// The files are deterministic, and do not depend on the name of the output.
// RUN: spyre-compile %t/spyre.mlir -o %t/again > %t.log && diff -r %t/out %t/again

// A bundle that is read back and written again has the same files.
// RUN: spyre-translate --bundle-to-mlir %t/out | spyre-translate --mlir-to-bundle - -o %t/written && diff -r %t/out %t/written

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
// CHECK: result4: correct
// CHECK: result5: correct

//--- spyre.mlir
func.func @constants(%x: tensor<64x256xf16>, %y: tensor<64x128xf32>, %z: tensor<3x70xf16>)
    -> (tensor<64x256xf16>, tensor<64x128xf32>, tensor<3x70xf16>, tensor<64x256xf16>, tensor<3x70xf16>, tensor<64x256xf16>) {
  // Scalars, in both formats.
  %tenth = spyre.constant dense<0.1> : tensor<1x1xf16>
  %scaled = spyre.pointwise mul(%x, %tenth) : (tensor<64x256xf16>, tensor<1x1xf16>) -> tensor<64x256xf16>
  %third = spyre.constant dense<0.333333343> : tensor<1x1xf32>
  %shifted = spyre.pointwise add(%y, %third) : (tensor<64x128xf32>, tensor<1x1xf32>) -> tensor<64x128xf32>
  // A row that ends in a stick and is broadcast, and a column.
  %row = spyre.constant dense_resource<row> : tensor<1x70xf16>
  %column = spyre.constant dense<[[1.0], [-2.0], [3.5]]> : tensor<3x1xf16>
  %biased = spyre.pointwise add(%z, %row) : (tensor<3x70xf16>, tensor<1x70xf16>) -> tensor<3x70xf16>
  %weighted = spyre.pointwise mul(%biased, %column) : (tensor<3x70xf16>, tensor<3x1xf16>) -> tensor<3x70xf16>
  // A fill that an op broadcasts, one that is returned, and a constant that is returned.
  %two = spyre.fill 2.0 : f16 -> tensor<64x256xf16>
  %sum = spyre.pointwise add(%x, %two) : tensor<64x256xf16>
  %ragged = spyre.constant dense<-1.5> : tensor<3x70xf16>
  %full = spyre.fill 0.1 : f16 -> tensor<64x256xf16>
  return %scaled, %shifted, %weighted, %sum, %ragged, %full
    : tensor<64x256xf16>, tensor<64x128xf32>, tensor<3x70xf16>, tensor<64x256xf16>, tensor<3x70xf16>, tensor<64x256xf16>
}

{-#
  dialect_resources: { builtin: { row: "0x0200000000C080BF00BF80BE00BE80BD00BD80BC00BC00BB00BA00B900B800B600B400B0000000300034003600380039003A003B003C803C003D803D003E803E003F803F004040408040C040004100C080BF00BF80BE00BE80BD00BD80BC00BC00BB00BA00B900B800B600B400B0000000300034003600380039003A003B003C803C003D803D003E803E003F803F0040" } }
#-}

//--- linalg.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (0, d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
func.func @constants(%x: tensor<64x256xf16>, %y: tensor<64x128xf32>, %z: tensor<3x70xf16>)
    -> (tensor<64x256xf16>, tensor<64x128xf32>, tensor<3x70xf16>, tensor<64x256xf16>, tensor<3x70xf16>, tensor<64x256xf16>) {
  %tenths = arith.constant dense<0.1> : tensor<64x256xf16>
  %thirds = arith.constant dense<0.333333343> : tensor<64x128xf32>
  %twos = arith.constant dense<2.0> : tensor<64x256xf16>
  %ragged = arith.constant dense<-1.5> : tensor<3x70xf16>
  %row = arith.constant dense_resource<row> : tensor<1x70xf16>
  %column = arith.constant dense<[[1.0], [-2.0], [3.5]]> : tensor<3x1xf16>
  %0 = tensor.empty() : tensor<64x256xf16>
  %1 = tensor.empty() : tensor<64x128xf32>
  %2 = tensor.empty() : tensor<3x70xf16>
  %scaled = linalg.mul ins(%x, %tenths : tensor<64x256xf16>, tensor<64x256xf16>) outs(%0 : tensor<64x256xf16>) -> tensor<64x256xf16>
  %shifted = linalg.add ins(%y, %thirds : tensor<64x128xf32>, tensor<64x128xf32>) outs(%1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %weighted = linalg.generic {indexing_maps = [#map, #row, #column, #map], iterator_types = ["parallel", "parallel"]}
    ins(%z, %row, %column : tensor<3x70xf16>, tensor<1x70xf16>, tensor<3x1xf16>) outs(%2 : tensor<3x70xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %out: f16):
    %biased = arith.addf %a, %b : f16
    %product = arith.mulf %biased, %c : f16
    linalg.yield %product : f16
  } -> tensor<3x70xf16>
  %sum = linalg.add ins(%x, %twos : tensor<64x256xf16>, tensor<64x256xf16>) outs(%0 : tensor<64x256xf16>) -> tensor<64x256xf16>
  return %scaled, %shifted, %weighted, %sum, %ragged, %tenths
    : tensor<64x256xf16>, tensor<64x128xf32>, tensor<3x70xf16>, tensor<64x256xf16>, tensor<3x70xf16>, tensor<64x256xf16>
}

{-#
  dialect_resources: { builtin: { row: "0x0200000000C080BF00BF80BE00BE80BD00BD80BC00BC00BB00BA00B900B800B600B400B0000000300034003600380039003A003B003C803C003D803D003E803E003F803F004040408040C040004100C080BF00BF80BE00BE80BD00BD80BC00BC00BB00BA00B900B800B600B400B0000000300034003600380039003A003B003C803C003D803D003E803E003F803F0040" } }
#-}
