//===- Input.h - reading and checking of input files ------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_INPUT_H
#define SPYRE_INPUT_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/MemoryBuffer.h"

namespace spyre {

/// Maximum size in bytes of a file.
constexpr uint64_t maxInputBytes = uint64_t(1) << 33;

/// Maximum size in bytes of standard input or a pipe, which is read into memory completely.
constexpr uint64_t maxPipedBytes = uint64_t(1) << 30;

/// Maximum nesting depth of text: nested brackets, operators in one expression, nested aliases. MLIR's parser and
/// printer recurse at each level, so deeper text would overflow the stack (`STACK_BYTES` of `src/tool.rs`). Real
/// programs have at most a few tens of levels.
constexpr unsigned maxNesting = 2000;

/// Opens a file, a pipe, or standard input (`-`). Returns null and sets `message` for devices, directories and on
/// errors. Locations state `name` as the file, or the path if it is empty.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef path, std::string &message, llvm::StringRef name = {});

/// Reports an error in `context` and fails if MLIR's parser must not read the buffer: newer bytecode, a binary file, or
/// text that is nested too deeply.
mlir::LogicalResult checkInput(llvm::MemoryBufferRef buffer, mlir::MLIRContext *context);

/// Installs signal handlers that end the process with a message and exit code 1 (invalid input). MLIR's parser crashes
/// on some text that it has already rejected, and on damaged bytecode. While a module is parsed, no file has been
/// written. For tools only: a library does not install signal handlers.
void guardParser();

/// Restores the signal handlers: from this call on, a signal is a compiler bug.
void endParserGuard();

/// Installs the handlers of `guardParser` while the user's program runs in the JIT: its crashes are errors of the
/// program.
void guardReference();

/// Restores the signal handlers after `guardReference`.
void endReferenceGuard();

} // namespace spyre

#endif // SPYRE_INPUT_H
