//===- Rounding.h - rounding f64 values to narrower formats ---------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_ROUNDING_H
#define SPYRE_BRIDGE_ROUNDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"

namespace spyre {
/// Value with the format to which the program rounds it.
struct RoundedValue {
  mlir::Value value;
  const llvm::fltSemantics *format;
};

/// Returns the values of a module that the program rounds. Values in the body of a reduction are not rounded.
llvm::SmallVector<RoundedValue> findRoundedValues(mlir::Operation *module);

/// Inserts ops that round values, whose types are already f64.
void roundValues(llvm::ArrayRef<RoundedValue> values);
} // namespace spyre

#endif
