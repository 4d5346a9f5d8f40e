// LX holds two of the tensors: one leaves LX and comes back, an argument comes twice, and a result is copied out and read on from LX. HBM
// moves no more bytes than with whole lives: the numbers are those of the simulator.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/all > %t.log && spyre-run %t/all --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: spyre-compile %s -o %t/two --lx-planner exact --lx-bytes 65536 > %t.log && spyre-run %t/two --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: spyre-compile %s -o %t/joint --lx-bytes 65536 > %t.log && spyre-run %t/joint --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/odd --cores 7 --lx-bytes 131072 > %t.log && spyre-run %t/odd --wipe-lx --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/baked --addresses baked --lx-bytes 65536 > %t.log && spyre-run %t/baked --check %s | FileCheck %s
// RUN: spyre-compile %s -o %t/whole --lx-planner first-fit --lx-bytes 65536 > %t.log && spyre-run %t/whole --wipe-lx --check %s | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: spyre-compile %s -o %t/none --lx-planner none > %t.log && spyre-run %t/none --check %s | FileCheck %s

// ALL: bundle_0: 14 executes; HBM 2097152 B read, 3145728 B written
// TWO: bundle_0: 15 executes; HBM 6291456 B read, 4194304 B written
// WHOLE: bundle_0: 12 executes; HBM 10485760 B read, 4194304 B written
// CHECK: result0: correct
// CHECK: result1: correct
// CHECK: result2: correct
func.func @stays(%x: tensor<512x1024xf16>, %y: tensor<512x1024xf16>) -> (tensor<512x1024xf16>, tensor<512x1024xf16>, tensor<512x1024xf16>) {
  %init = tensor.empty() : tensor<512x1024xf16>
  %a = linalg.sub ins(%x, %y : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %a1 = linalg.mul ins(%a, %x : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %a2 = linalg.add ins(%a, %a1 : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %b = linalg.negf ins(%y : tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %b1 = linalg.mul ins(%b, %b : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %b2 = linalg.add ins(%b, %b1 : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %b3 = linalg.sub ins(%b, %b2 : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %c = linalg.mul ins(%a, %b3 : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %c1 = linalg.add ins(%a, %c : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %d = linalg.mul ins(%x, %c1 : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  %d1 = linalg.add ins(%x, %d : tensor<512x1024xf16>, tensor<512x1024xf16>) outs(%init : tensor<512x1024xf16>) -> tensor<512x1024xf16>
  return %a2, %b2, %d1 : tensor<512x1024xf16>, tensor<512x1024xf16>, tensor<512x1024xf16>
}
