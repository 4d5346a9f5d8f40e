//===- Enums.cpp - formats as Formats.def has them ------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Enums.h"
#include "mlir/IR/BuiltinTypes.h"

#include "Enums.cpp.inc"

namespace {
/// The formats by their rows, so that the numbers of the rows can be compared with those of the enum.
enum class Row : uint32_t {
#define SPYRE_FORMAT(variant, name, bytes, description) variant,
#include "Formats.def"
};
#define SPYRE_FORMAT(variant, name, bytes, description)                                                                                       \
  static_assert(static_cast<uint32_t>(Row::variant) == static_cast<uint32_t>(machine::Format::variant), "Enums.td has another order");
#include "Formats.def"
} // namespace

#define SPYRE_STICK_BYTES(bytes) const int64_t machine::stickBytes = bytes;
#include "Formats.def"

int64_t machine::bytesOf(Format format) {
  // A format of the enum without a row is an error of the compiler: the switch has no default.
  switch (format) {
#define SPYRE_FORMAT(variant, name, bytes, description)                                                                                       \
  case Format::variant:                                                                                                                       \
    return bytes;
#include "Formats.def"
  }
  llvm_unreachable("a format is one of the enum's");
}
