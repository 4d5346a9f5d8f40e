// Images of bytes from 0 to 255, which front ends write as signless integers; arith.uitofp or arith.extui make them unsigned.
// RUN: spyre-compile %s -o %t.bundle --validate > %t.log && spyre-run %t.bundle --seed 3 --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t.three --cores 3 --lx-planner none > %t.log && spyre-run %t.three --check %s | FileCheck %s

// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
// CHECK: result3: correct
#image = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channel = affine_map<(d0, d1, d2) -> (d0)>
func.func @image(%bytes: tensor<3x16x70xi8>, %mean: tensor<3xf16>) -> (tensor<3x16x70xf16>, tensor<3x16x70xf16>, tensor<3x16x70xf16>, tensor<6xf16>) {
  %e = tensor.empty() : tensor<3x16x70xf16>
  %scaled = linalg.generic {indexing_maps = [#image, #channel, #image], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bytes, %mean : tensor<3x16x70xi8>, tensor<3xf16>) outs(%e : tensor<3x16x70xf16>) {
  ^bb0(%byte: i8, %m: f16, %out: f16):
    %number = arith.uitofp %byte : i8 to f16
    %most = arith.constant 255.0 : f16
    %unit = arith.divf %number, %most : f16
    %r = arith.subf %unit, %m : f16
    linalg.yield %r : f16
  } -> tensor<3x16x70xf16>
  %wide = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bytes : tensor<3x16x70xi8>) outs(%e : tensor<3x16x70xf16>) {
  ^bb0(%byte: i8, %out: f16):
    %whole = arith.extui %byte : i8 to i32
    %zero = arith.constant 128 : i32
    %centred = arith.subi %whole, %zero : i32
    %r = arith.sitofp %centred : i32 to f16
    linalg.yield %r : f16
  } -> tensor<3x16x70xf16>
  // The bytes read as signed integers.
  %signed = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bytes : tensor<3x16x70xi8>) outs(%e : tensor<3x16x70xf16>) {
  ^bb0(%byte: i8, %out: f16):
    %r = arith.sitofp %byte : i8 to f16
    linalg.yield %r : f16
  } -> tensor<3x16x70xf16>
  %known = arith.constant dense<[0, 1, -1, -128, 127, -56]> : tensor<6xi8>
  %numbers = arith.uitofp %known : tensor<6xi8> to tensor<6xf16>
  return %scaled, %wide, %signed, %numbers : tensor<3x16x70xf16>, tensor<3x16x70xf16>, tensor<3x16x70xf16>, tensor<6xf16>
}
