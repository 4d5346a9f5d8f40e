//===- Misspelt.h - operations whose names are spelt wrong ------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_MISSPELT_H
#define SPYRE_MISSPELT_H

#include "mlir/IR/Diagnostics.h"

namespace spyre {

/// Adds a note with the nearest name to each error of MLIR's parser about an unknown operation, during its lifetime.
class MisspeltOperations {
public:
  explicit MisspeltOperations(mlir::MLIRContext *context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace spyre

#endif // SPYRE_MISSPELT_H
