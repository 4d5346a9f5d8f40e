//===- TmTensorDialect.td - the tm_tensor dialect ----------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef TM_TENSOR_DIALECT_TD
#define TM_TENSOR_DIALECT_TD

include "mlir/IR/OpBase.td"

def TmTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let cppNamespace = "::tm_tensor";
  let summary = "What torch-mlir leaves in a program of linalg on tensors";
  let description = [{
    torch-mlir writes cumulative sums, writes to places that are known at run time, sorting and attention as ops of a dialect of its own, which
    MLIR does not have. Here are these ops in the same syntax, so that what torch-mlir exports is read as it is; `docs/reference/supported-ops.md`
    says what becomes of each.
  }];
}

#endif // TM_TENSOR_DIALECT_TD
