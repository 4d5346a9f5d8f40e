//===- Misspelt.h - suggestions for misspelled op names ---------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_MISSPELT_H
#define SPYRE_MISSPELT_H

#include "mlir/IR/Diagnostics.h"

namespace spyre {

/// Diagnostic handler that, during its lifetime, adds a note with the nearest name to each error of MLIR's parser about
/// an unknown operation.
class OpNameSuggestionHandler {
public:
  explicit OpNameSuggestionHandler(mlir::MLIRContext *context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace spyre

#endif // SPYRE_MISSPELT_H
