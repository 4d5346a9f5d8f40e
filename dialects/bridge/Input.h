//===- Input.h - which files are parsed -------------------------*- C++ -*-===//
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

/// The bytes of a file that is still parsed.
constexpr uint64_t maxInputBytes = uint64_t(1) << 33;

/// The bytes that are taken from standard input or from a pipe, all of which are kept in memory.
constexpr uint64_t maxPipedBytes = uint64_t(1) << 30;

/// How deep text may nest: brackets around brackets, operators behind operators of one expression, aliases within aliases. MLIR's parser
/// and printer call themselves at each level, so deeper text would exhaust the stack (`STACK_BYTES` of `src/tool.rs`). Real programs have
/// a few tens.
constexpr unsigned maxNesting = 2000;

/// Opens a file, a pipe, or with `-` standard input; null, with a message, for what has no end or cannot be read.
std::unique_ptr<llvm::MemoryBuffer> openInput(llvm::StringRef path, std::string &message);

/// Fails, with an error in `context`, if MLIR's parser must not see the buffer: newer bytecode, binary files, text that nests too deep.
mlir::LogicalResult checkInput(llvm::MemoryBufferRef buffer, mlir::MLIRContext *context);

/// For tools alone: a library has no signal handlers.
///
/// Ends the process with a message and exit code 1, the user's mistake, if MLIR's parser ends by a signal: it does on some text that it has
/// already complained about, and on damaged bytecode. Nothing has been written while a module is parsed.
void guardParser();

/// From here on a signal is a compiler bug, and shows as such.
void endParserGuard();

/// The same while a program of the user's runs as it is: what it does wrong is the user's mistake.
void guardReference();

void endReferenceGuard();

} // namespace spyre

#endif // SPYRE_INPUT_H
