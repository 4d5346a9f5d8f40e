// Ops read parts of values that are in LX: halves of the sticks of each row, which lie behind each other on a core; rows from an odd one on
// of all columns, with a gap behind each; one row; and a part of a part. A core has of a part what it has of the whole.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/all > %t.log && spyre-translate --check-bundle %t/all && spyre-run %t/all --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: spyre-compile %s -o %t/odd --cores 7 > %t.log && spyre-run %t/odd --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/one --cores 1 > %t.log && spyre-run %t/one --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: spyre-compile %s -o %t/little --lx-bytes 4096 > %t.log && spyre-run %t/little --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --addresses baked > %t.log && spyre-run %t/baked --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/whole --lx-planner first-fit > %t.log && spyre-run %t/whole --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,WHOLE

// One core has all of each value, so that the arguments are read once and the results are written: 98,304 and 26,880 bytes. Of the part of a
// part, which 14 cores read, no other core has what it needs.
// ONE: bundle_0: 6 executes; HBM 98304 B read, 26880 B written
// ALL: bundle_0: 6 executes; HBM 100096 B read, 92416 B written
// WHOLE: bundle_0: 6 executes; HBM 215808 B read, 190720 B written
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @parts(%x: tensor<64x256xf16>, %y: tensor<2x64x256xf16>) -> (tensor<64x128xf16>, tensor<17x256xf16>, tensor<2x7x64xf16>) {
  %of_x = tensor.empty() : tensor<64x256xf16>
  %exp = linalg.exp ins(%x : tensor<64x256xf16>) outs(%of_x : tensor<64x256xf16>) -> tensor<64x256xf16>
  %left = tensor.extract_slice %exp[0, 0] [64, 128] [1, 1] : tensor<64x256xf16> to tensor<64x128xf16>
  %right = tensor.extract_slice %exp[0, 128] [64, 128] [1, 1] : tensor<64x256xf16> to tensor<64x128xf16>
  %half = tensor.empty() : tensor<64x128xf16>
  %halves = linalg.mul ins(%left, %right : tensor<64x128xf16>, tensor<64x128xf16>) outs(%half : tensor<64x128xf16>) -> tensor<64x128xf16>

  %of_y = tensor.empty() : tensor<2x64x256xf16>
  %power = linalg.exp ins(%y : tensor<2x64x256xf16>) outs(%of_y : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %upper = tensor.extract_slice %power[0, 3, 0] [1, 17, 256] [1, 1, 1] : tensor<2x64x256xf16> to tensor<17x256xf16>
  %lower = tensor.extract_slice %power[1, 40, 0] [1, 17, 256] [1, 1, 1] : tensor<2x64x256xf16> to tensor<17x256xf16>
  %some = tensor.empty() : tensor<17x256xf16>
  %rows = linalg.sub ins(%upper, %lower : tensor<17x256xf16>, tensor<17x256xf16>) outs(%some : tensor<17x256xf16>) -> tensor<17x256xf16>

  %negated = linalg.negf ins(%power : tensor<2x64x256xf16>) outs(%of_y : tensor<2x64x256xf16>) -> tensor<2x64x256xf16>
  %middle = tensor.extract_slice %negated[0, 20, 64] [2, 20, 128] [1, 1, 1] : tensor<2x64x256xf16> to tensor<2x20x128xf16>
  %inner = tensor.extract_slice %middle[0, 5, 64] [2, 7, 64] [1, 1, 1] : tensor<2x20x128xf16> to tensor<2x7x64xf16>
  %few = tensor.empty() : tensor<2x7x64xf16>
  %parts = linalg.exp ins(%inner : tensor<2x7x64xf16>) outs(%few : tensor<2x7x64xf16>) -> tensor<2x7x64xf16>
  return %halves, %rows, %parts : tensor<64x128xf16>, tensor<17x256xf16>, tensor<2x7x64xf16>
}
