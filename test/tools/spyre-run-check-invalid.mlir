// --check runs an untrusted program, so only programs that compute on tensors and terminate are run.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/right.mlir -o %t/out > %t/log
// RUN: not spyre-run %t/out --check %t/endless.mlir 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not spyre-run %t/out --check %t/long.mlir 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not spyre-run %t/out --check %t/itself.mlir 2>&1 | FileCheck %s --check-prefix=ITSELF
// RUN: not spyre-run %t/out --check %t/system.mlir 2>&1 | FileCheck %s --check-prefix=SYSTEM
// RUN: not spyre-run %t/out --check %t/address.mlir 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: not spyre-run %t/out --check %t/large.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not spyre-run %t/out --check %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE

// ENDLESS: error{{.*}}the reference program ended by a signal
// LONG: long.mlir' takes {{[0-9]+}} steps at {{.*}}, more than the limit of 1099511627776
// ITSELF: itself.mlir' has a recursive function 'g' at {{.*}}, which may not end
// SYSTEM: system.mlir' calls 'exit' at {{.*}}, which has no body
// ADDRESS: address.mlir' has 'llvm.inttoptr' at {{.*}}; expected only functions of linalg on tensors
// LARGE: large.mlir' has tensors of 16{{[0-9]+}} bytes in f64, more than the limit of 17179869184
// OUTSIDE: error{{.*}}the reference program ended by a signal

//--- right.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %e = tensor.empty() : tensor<64x64xf16>
  %y = linalg.abs ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

//--- endless.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return %x : tensor<64x64xf16>
}

//--- long.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000 : index
  %y = scf.for %i = %c0 to %many step %c1 iter_args(%a = %x) -> tensor<64x64xf16> {
    %z = scf.for %j = %c0 to %many step %c1 iter_args(%b = %a) -> tensor<64x64xf16> {
      scf.yield %b : tensor<64x64xf16>
    }
    scf.yield %z : tensor<64x64xf16>
  }
  return %y : tensor<64x64xf16>
}

//--- itself.mlir
func.func private @g(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = func.call @g(%x) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = func.call @g(%x) : (tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

//--- system.mlir
func.func private @exit(i32)
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %c = arith.constant 3 : i32
  func.call @exit(%c) : (i32) -> ()
  return %x : tensor<64x64xf16>
}

//--- address.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %a = arith.constant 8 : i64
  %p = llvm.inttoptr %a : i64 to !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> i64
  return %x : tensor<64x64xf16>
}

//--- large.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %e = tensor.empty() : tensor<1000000x1000000xf16>
  %z = arith.constant 0.0 : f16
  %b = linalg.fill ins(%z : f16) outs(%e : tensor<1000000x1000000xf16>) -> tensor<1000000x1000000xf16>
  %y = tensor.extract_slice %b[0, 0] [64, 64] [1, 1] : tensor<1000000x1000000xf16> to tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}

//--- outside.mlir
func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %far = arith.constant 1000000000000 : index
  %v = tensor.extract %x[%far, %far] : tensor<64x64xf16>
  %e = tensor.empty() : tensor<64x64xf16>
  %y = linalg.fill ins(%v : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
