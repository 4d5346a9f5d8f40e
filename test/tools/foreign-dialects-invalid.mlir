// Dialects that producers leave in a file: what was found, where, and who lowers it; nothing of options that our tools do not have.
// RUN: rm -rf %t && split-file %s %t
// RUN: not spyre-compile %t/stablehlo.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=STABLEHLO
// RUN: not spyre-compile %t/mhlo.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=MHLO
// RUN: not spyre-compile %t/torch.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=TORCH
// RUN: not spyre-compile %t/onnx.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=ONNX
// RUN: not spyre-compile %t/memref.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=MEMREF
// RUN: not spyre-compile %t/type.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not spyre-compile %t/other.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: spyre-opt --allow-unregistered-dialect --emit-bytecode %t/mhlo.mlir -o %t/mhlo.mlirbc
// RUN: not spyre-compile %t/mhlo.mlirbc -o %t/out 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: not ls %t/out
// RUN: spyre-compile %t/seed.mlir -o %t/seed > %t/log && spyre-run %t/seed --check %t/seed.mlir | FileCheck %s --check-prefix=SEED
// RUN: not spyre-compile %t/drawn.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=DRAWN

// STABLEHLO-NOT: nregistered
// STABLEHLO: stablehlo.mlir:2:8: error{{.*}}'stablehlo.add' belongs to the unsupported dialect 'stablehlo'; expected linalg, tensor, arith, math or tosa ops; lower it with 'stablehlo-opt --chlo-legalize-to-stablehlo --stablehlo-legalize-to-linalg' (JAX, OpenXLA)
// MHLO-NOT: nregistered
// MHLO: mhlo.mlir:2:{{[0-9]+}}: error{{.*}}'mhlo.add' belongs to the unsupported dialect 'mhlo'; {{.*}} lower it with 'mlir-hlo-opt --hlo-legalize-to-stablehlo'
// TORCH: torch.mlir:2:{{[0-9]+}}: error{{.*}}'torch_c.to_i64' belongs to the unsupported dialect 'torch_c'; {{.*}} export with output_type="linalg-on-tensors", or lower it with 'torch-mlir-opt
// ONNX: onnx.mlir:2:{{[0-9]+}}: error{{.*}}'onnx.Relu' belongs to the unsupported dialect 'onnx'; {{.*}} import the model with 'torch-mlir-import-onnx'
// MEMREF: memref.mlir:2:{{[0-9]+}}: error{{.*}}'memref.alloc' belongs to the unsupported dialect 'memref'; {{.*}} export the program before tensors are lowered to memory
// TYPE-NOT: nregistered
// TYPE: type.mlir:1:{{[0-9]+}}: error{{.*}}'torch.vtensor' belongs to the unsupported dialect 'torch'; {{.*}} export with output_type="linalg-on-tensors"
// OTHER: other.mlir:2:{{[0-9]+}}: error{{.*}}'foo.bar' belongs to the unsupported dialect 'foo'; {{.*}} lower it to linalg on tensors before the export
// BYTECODE-NOT: nregistered
// BYTECODE: mhlo.mlirbc: error{{.*}}'mhlo' belongs to the unsupported dialect 'mhlo'; {{.*}} lower it with 'mlir-hlo-opt
// SEED: correct
// DRAWN: drawn.mlir:3:{{[0-9]+}}: error{{.*}}'ml_program.global_load' op belongs to an unsupported dialect

//--- stablehlo.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = stablehlo.add %x, %x : tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

//--- mhlo.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = "mhlo.add"(%x, %x) {note = "a.b"} : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

//--- torch.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = torch_c.to_i64 %x
  return %x : tensor<4x64xf16>
}

//--- onnx.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = "onnx.Relu"(%x) : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

//--- memref.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = memref.alloc() : memref<4xf16>
  return %x : tensor<4x64xf16>
}

//--- type.mlir
func.func @main(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  return %x : !torch.vtensor<[4,64],f16>
}

//--- other.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  foo.bar
  return %x : tensor<4x64xf16>
}

//--- seed.mlir
module attributes {mhlo.num_partitions = 1 : i32} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @main(%x: tensor<4x64xf16>) -> (tensor<4x64xf16> {jax.result_info = "result"}) {
    %y = math.tanh %x : tensor<4x64xf16>
    return %y : tensor<4x64xf16>
  }
}

//--- drawn.mlir
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @main(%x: tensor<4x64xf16>) -> (tensor<4x64xf16>, tensor<i64>) {
  %seed = ml_program.global_load @global_seed : tensor<i64>
  return %x, %seed : tensor<4x64xf16>, tensor<i64>
}
