//===- Enums.h - what is one of a few words -------------------------------===//
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
/// Bytes of one stick, the unit of transfer.
extern const int64_t stickBytes;

/// Bytes of one element.
int64_t bytesOf(Format format);
} // namespace machine

#endif // SPYRE_ENUMS_H
