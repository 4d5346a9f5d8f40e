//===- Foreign.h - errors about unsupported dialects ------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_FOREIGN_H
#define SPYRE_FOREIGN_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>

namespace spyre {

/// Diagnostic handler that, during its lifetime, suppresses the errors of MLIR's parser about unregistered dialects,
/// because they mention options that our tools lack. Its destructor reports the dialect, and the tools that lower it.
class ForeignDialectHandler {
public:
  ForeignDialectHandler(llvm::MemoryBufferRef text, mlir::MLIRContext *context);
  ~ForeignDialectHandler();

private:
  /// Returns whether `diagnostic` is about an unregistered dialect, and stores the first one.
  bool handleDiagnostic(mlir::Diagnostic &diagnostic);

  llvm::MemoryBufferRef text;
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::optional<std::pair<mlir::Location, std::string>> firstError;
};

} // namespace spyre

#endif // SPYRE_FOREIGN_H
