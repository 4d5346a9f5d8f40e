// Angles that a 16-bit program computes in f32 stay in f32, up to the rounding of their sine.
// RUN: spyre-opt --split-input-file --spyre-import-linalg --canonicalize --mlir-print-local-scope %s 2> %t.log | FileCheck %s
// RUN: spyre-opt --split-input-file --spyre-import-linalg=precision=device %s 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE-NOT: fp32todl16
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log

// The frequencies and the positions are arguments. Both halves of the concatenation have one sine.
// REMARK: remark: [SPY0234] the angles of sines and cosines are computed in f32; before they are rounded, the results take 32 KiB
// CHECK-LABEL: func.func @positions(
// CHECK-SAME:    [[P:%.+]]: tensor<4xi64> {spyre.range = array<i64: -131072, 131073>}, [[F:%.+]]: tensor<32xf32>)
// CHECK:         [[NUMBER:%.+]] = spyre.view [[P]] by affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> tensor<4x1xf32>
// CHECK:         [[ROW:%.+]] = spyre.view [[F]] by affine_map<(d0, d1) -> (d1)> : tensor<32xf32> -> tensor<1x32xf32>
// CHECK:         [[ANGLE:%.+]] = spyre.pointwise mul([[NUMBER]], [[ROW]]) : (tensor<4x1xf32>, tensor<1x32xf32>) -> tensor<4x32xf32>
// CHECK:         [[SINE:%.+]] = spyre.pointwise where3({{.*}}) : {{.*}} -> tensor<4x32x64xf32>
// CHECK-NEXT:    [[NARROW:%.+]] = spyre.pointwise fp32todl16([[SINE]]) : (tensor<4x32x64xf32>) -> tensor<4x32x64xf16>
// CHECK-NEXT:    [[FIRST:%.+]] = spyre.view [[NARROW]] by affine_map<(d0, d1) -> (d0, d1, 0)> : tensor<4x32x64xf16> -> tensor<4x32xf16>
// CHECK-NOT:     spyre.pointwise
// CHECK-COUNT-2: spyre.insert [[FIRST]]
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @positions(%p: tensor<4xi64>, %f: tensor<32xf32>) -> tensor<4x64xf16> {
  %narrow = tensor.empty() : tensor<4x32xf32>
  %wide = tensor.empty() : tensor<4x64xf16>
  %angle = linalg.generic {indexing_maps = [#column, #row, #both], iterator_types = ["parallel", "parallel"]} ins(%p, %f : tensor<4xi64>, tensor<32xf32>) outs(%narrow : tensor<4x32xf32>) {
  ^bb0(%position: i64, %frequency: f32, %out: f32):
    %number = arith.sitofp %position : i64 to f32
    %product = arith.mulf %number, %frequency : f32
    linalg.yield %product : f32
  } -> tensor<4x32xf32>
  %all = tensor.concat dim(1) %angle, %angle : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  %sine = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%all : tensor<4x64xf32>) outs(%wide : tensor<4x64xf16>) {
  ^bb0(%x: f32, %out: f16):
    %s = math.sin %x : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x64xf16>
  return %sine : tensor<4x64xf16>
}

// -----

// A 16-bit argument that is also read in 16 bits is widened. A product of matrices of few terms is a sum of products.
// CHECK-LABEL: func.func @features(
// CHECK-SAME:    [[X:%.+]]: tensor<4x2xf16>, [[F:%.+]]: tensor<2x32xf32>)
// CHECK:         spyre.pointwise dl16tofp32({{.*}}) : (tensor<4x2x64xf16>) -> tensor<4x2x64xf32>
// CHECK-NOT:     spyre.matmul
// CHECK:         spyre.pointwise mul({{.*}}) : (tensor<4x1xf32>, tensor<1x32xf32>) -> tensor<4x32xf32>
// CHECK:         spyre.pointwise mul({{.*}}) : (tensor<4x1xf32>, tensor<1x32xf32>) -> tensor<4x32xf32>
// CHECK:         spyre.pointwise fp32todl16
#both = affine_map<(i, j) -> (i, j)>
func.func @features(%x: tensor<4x2xf16>, %f: tensor<2x32xf32>) -> (tensor<4x32xf16>, tensor<4x2xf16>) {
  %zero = arith.constant 0.0 : f32
  %shape = tensor.empty() : tensor<4x2xf32>
  %wide = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x2xf16>) outs(%shape : tensor<4x2xf32>) {
  ^bb0(%in: f16, %out: f32):
    %e = arith.extf %in : f16 to f32
    linalg.yield %e : f32
  } -> tensor<4x2xf32>
  %empty = tensor.empty() : tensor<4x32xf32>
  %result = tensor.empty() : tensor<4x32xf16>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x32xf32>) -> tensor<4x32xf32>
  %angle = linalg.matmul ins(%wide, %f : tensor<4x2xf32>, tensor<2x32xf32>) outs(%start : tensor<4x32xf32>) -> tensor<4x32xf32>
  %sine = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%angle : tensor<4x32xf32>) outs(%result : tensor<4x32xf16>) {
  ^bb0(%in: f32, %out: f16):
    %s = math.cos %in : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x32xf16>
  %twice = arith.addf %x, %x : tensor<4x2xf16>
  return %sine, %twice : tensor<4x32xf16>, tensor<4x2xf16>
}

// -----

// A tensor has one format on the device: the op that reads the frequencies in 16 bits converts them.
// CHECK-LABEL: func.func @read_in_two_formats(
// CHECK-SAME:    [[X:%.+]]: tensor<64xf16>, [[F:%.+]]: tensor<64xf32>)
// CHECK-DAG:     [[LANES:%.+]] = spyre.view [[F]] by affine_map<(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-DAG:     [[WHOLE:%.+]] = spyre.pointwise mul([[LANES]], {{.*}}) : {{.*}} -> tensor<64x64xf32>
// CHECK-DAG:     spyre.pointwise fp32todl16([[WHOLE]]) : (tensor<64x64xf32>) -> tensor<64x64xf16>
// CHECK-DAG:     spyre.pointwise mul([[F]], {{.*}}) : {{.*}} -> tensor<64xf32>
// CHECK:         return
func.func @read_in_two_formats(%x: tensor<64xf16>, %f: tensor<64xf32>) -> tensor<64xf16> {
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %angle = arith.mulf %f, %two : tensor<64xf32>
  %sine = math.sin %angle : tensor<64xf32>
  %sum = arith.addf %sine, %f : tensor<64xf32>
  %narrow = arith.truncf %sum : tensor<64xf32> to tensor<64xf16>
  %result = arith.addf %narrow, %x : tensor<64xf16>
  return %result : tensor<64xf16>
}

// -----

// So do ops that compute with positions. Positions that are also row indices are looked up, and are no numbers.
// CHECK-LABEL: func.func @positions_in_two_formats(
// CHECK-SAME:    [[P:%.+]]: tensor<64xi64> {spyre.range = array<i64: -1024, 1025>}
// CHECK-DAG:     spyre.view [[P]] by affine_map<(d0) -> (d0)> : tensor<64xi64> -> tensor<64xf32>
// CHECK-DAG:     spyre.pointwise fp32todl16
// CHECK-DAG:     spyre.pointwise greaterequal({{.*}}) : {{.*}}xf16
func.func @positions_in_two_formats(%p: tensor<64xi64>, %f: tensor<64xf32>) -> tensor<64xf16> {
  %three = arith.constant dense<3> : tensor<64xi64>
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %number = arith.sitofp %p : tensor<64xi64> to tensor<64xf32>
  %angle = arith.mulf %f, %number : tensor<64xf32>
  %sine = math.sin %angle : tensor<64xf32>
  %narrow = arith.truncf %sine : tensor<64xf32> to tensor<64xf16>
  %is_far = arith.cmpi sge, %p, %three : tensor<64xi64>
  %result = arith.select %is_far, %narrow, %zero : tensor<64xi1>, tensor<64xf16>
  return %result : tensor<64xf16>
}

// -----

// Sines of f16, of results of other ops, and of more than 262,144 angles are computed in 16 bits.
// CHECK-LABEL: func.func @in_sixteen_bits(
// CHECK-NOT:     fp32todl16
// CHECK:         return
func.func @in_sixteen_bits(%x: tensor<64xf16>, %f: tensor<1024x512xf32>) -> (tensor<64xf16>, tensor<64xf16>, tensor<1024x512xf16>) {
  %two = arith.constant dense<2.0> : tensor<64xf16>
  %twice = arith.mulf %x, %two : tensor<64xf16>
  %half = math.sin %twice : tensor<64xf16>
  %exp = math.exp %x : tensor<64xf16>
  %wide = arith.extf %exp : tensor<64xf16> to tensor<64xf32>
  %sum = arith.addf %wide, %wide : tensor<64xf32>
  %sine = math.sin %sum : tensor<64xf32>
  %computed = arith.truncf %sine : tensor<64xf32> to tensor<64xf16>
  %many = arith.addf %f, %f : tensor<1024x512xf32>
  %sines = math.cos %many : tensor<1024x512xf32>
  %large = arith.truncf %sines : tensor<1024x512xf32> to tensor<1024x512xf16>
  return %half, %computed, %large : tensor<64xf16>, tensor<64xf16>, tensor<1024x512xf16>
}
