//===- Bytecode.cpp - version check of bytecode files ---------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bytecode.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/bit.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

/// Returns the producer of the bytecode, such as "MLIR22.1.8"; empty if the file ends before it. The text follows the
/// magic number (four bytes) and the version of the format, and ends with a zero (mlir/docs/BytecodeFormat.md).
static StringRef readProducer(StringRef bytecode) {
  StringRef rest = bytecode.drop_front(4);
  if (rest.empty())
    return rest;
  // The count of trailing zero bits in the first byte is the number of further bytes.
  size_t numberLength = llvm::countr_zero(static_cast<uint8_t>(rest.front())) + 1;
  rest = rest.drop_front(std::min(numberLength, rest.size()));
  size_t end = rest.find('\0');
  return end == StringRef::npos ? StringRef() : rest.take_front(end);
}

LogicalResult spyre::rejectNewerBytecode(llvm::MemoryBufferRef buffer, MLIRContext *context) {
  if (!isBytecode(buffer))
    return success();
  StringRef producer = readProducer(buffer.getBuffer());
  StringRef version = producer;
  unsigned major;
  // Other producers, such as StableHLO, have version numbers of their own.
  if (!version.consume_front("MLIR") || version.consumeInteger(10, major) || major <= LLVM_VERSION_MAJOR)
    return success();
  return emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), 0, 0))
         << "[SPY0103] expected bytecode of MLIR " << LLVM_VERSION_MAJOR << " or older, found bytecode of '" << producer
         << "'; save the module as text in the tool that wrote it";
}
