//===- Bytecode.h - version check of bytecode files -------------*- C++ -*-===//
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

/// Reports an error at the file and fails if the buffer is bytecode of a newer MLIR than the linked one. The encoding
/// of attributes and properties differs between versions of MLIR, but bytecode does not contain a version of this
/// encoding. The parser would stop at an unknown code, or misread the file.
mlir::LogicalResult rejectNewerBytecode(llvm::MemoryBufferRef buffer, mlir::MLIRContext *context);

} // namespace spyre

#endif // SPYRE_BYTECODE_H
