//===- Rounding.h - roundings of a module's own formats in f64 ------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_ROUNDING_H
#define SPYRE_BRIDGE_ROUNDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"

namespace spyre {
/// A value and the format that its program rounds it to.
struct RoundedValue {
  mlir::Value value;
  const llvm::fltSemantics *format;
};

/// Returns the values of a module that are rounded. Of named `linalg` ops only the results are.
llvm::SmallVector<RoundedValue> findRoundedValues(mlir::Operation *module);

/// Rounds values, which have the type f64 by now.
void roundValues(llvm::ArrayRef<RoundedValue> values);
} // namespace spyre

#endif
