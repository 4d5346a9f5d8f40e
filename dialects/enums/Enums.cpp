//===- Enums.cpp - properties of device formats ---------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Enums.h"
#include "mlir/IR/BuiltinTypes.h"

#include "Enums.cpp.inc"

namespace {
/// Row numbers of Formats.def, which the assertions below compare with the numbers of the enum.
enum class FormatRow : uint32_t {
#define SPYRE_FORMAT(variant, name, bytes, description) variant,
#include "Formats.def"
};
#define SPYRE_FORMAT(variant, name, bytes, description)                                                                \
  static_assert(static_cast<uint32_t>(FormatRow::variant) == static_cast<uint32_t>(machine::Format::variant),          \
                "Enums.td has another order");
#include "Formats.def"
} // namespace

#define SPYRE_STICK_BYTES(bytes) const int64_t machine::stickBytes = bytes;
#include "Formats.def"

int64_t machine::getElementBytes(Format format) {
  // The switch has no default, so the compiler warns about a format without a row.
  switch (format) {
#define SPYRE_FORMAT(variant, name, bytes, description)                                                                                       \
  case Format::variant:                                                                                                                       \
    return bytes;
#include "Formats.def"
  }
  llvm_unreachable("a format is one of the enum's");
}
