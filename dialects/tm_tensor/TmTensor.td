//===- TmTensor.td - all definitions of tm_tensor ----------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef TM_TENSOR_TD
#define TM_TENSOR_TD

include "TmTensorDialect.td"
include "TmTensorOps.td"

#endif // TM_TENSOR_TD
