//===- Bytecode.h - which MLIR wrote a bytecode file ------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BYTECODE_H
#define SPYRE_BYTECODE_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace spyre {

/// Emits an error on the file and fails if the buffer is bytecode of a newer MLIR than the linked one. Codes of
/// attributes and properties of ops differ between versions of MLIR, and bytecode does not say how. The parser would
/// stop at an unknown code, or misread the file.
mlir::LogicalResult refuseNewerBytecode(llvm::MemoryBufferRef buffer, mlir::MLIRContext *context);

} // namespace spyre

#endif // SPYRE_BYTECODE_H
