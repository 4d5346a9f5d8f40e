//===- Enums.h - enums of all dialects ------------------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ENUMS_H
#define SPYRE_ENUMS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringSwitch.h"

#include "Enums.h.inc"

namespace machine {
/// Size of a stick, the unit of transfer, in bytes.
extern const int64_t stickBytes;

/// Returns the size of an element of `format` in bytes.
int64_t getElementBytes(Format format);
} // namespace machine

#endif // SPYRE_ENUMS_H
