//===- TmTensor.h - C++ classes of the tm_tensor dialect ------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TM_TENSOR_H
#define SPYRE_TM_TENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TmTensorDialect.h.inc"

#define GET_OP_CLASSES
#include "TmTensorOps.h.inc"

#endif // SPYRE_TM_TENSOR_H
