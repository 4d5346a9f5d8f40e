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

/// Fails, with an error in `context` on the file, if the buffer is bytecode of a newer MLIR than the one that we link. The codes
/// of attributes and the properties of ops differ between MLIRs and bytecode does not say how, so the parser would stop at some code
/// that it does not know, or read something else than was written.
mlir::LogicalResult refuseNewerBytecode(llvm::MemoryBufferRef buffer, mlir::MLIRContext *context);

} // namespace spyre

#endif // SPYRE_BYTECODE_H
