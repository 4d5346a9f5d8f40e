//===- Misspelt.h - operations whose names are spelt wrong ------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_MISSPELT_H
#define SPYRE_MISSPELT_H

#include "mlir/IR/Diagnostics.h"

namespace spyre {

/// While it lives, what MLIR's parser says of an operation that no dialect has gets a note with the name that is nearest.
class MisspeltOperations {
public:
  explicit MisspeltOperations(mlir::MLIRContext *context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace spyre

#endif // SPYRE_MISSPELT_H
