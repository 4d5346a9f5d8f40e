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
  let summary = "Ops of torch-mlir that have no equivalent in linalg";
  let description = [{
    torch-mlir exports cumulative sums, scatters, sorts and attention as ops of its own dialect, which is not part of
    MLIR. This dialect has these ops with the original syntax, so that modules from torch-mlir can be parsed.
    `docs/reference/supported-ops.md` describes their support.
  }];
}

#endif // TM_TENSOR_DIALECT_TD
