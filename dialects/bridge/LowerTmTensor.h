//===- LowerTmTensor.h - lowering of tm_tensor ops --------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_LOWERTMTENSOR_H
#define SPYRE_BRIDGE_LOWERTMTENSOR_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace spyre {
/// Replaces a `tm_tensor` op by ops of scf, tensor, linalg, arith and math. Fails after an error, which has been
/// reported. Terminators are not changed.
mlir::LogicalResult lowerTmTensor(mlir::Operation *op);
} // namespace spyre

#endif // SPYRE_BRIDGE_LOWERTMTENSOR_H
