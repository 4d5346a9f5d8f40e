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

/// Suppresses the errors of MLIR's parser about unregistered dialects during its lifetime, because they mention options
/// that our tools lack. Its destructor reports the dialect, and the tools that lower it.
class ForeignDialects {
public:
  ForeignDialects(llvm::MemoryBufferRef text, mlir::MLIRContext *context);
  ~ForeignDialects();

private:
  bool take(mlir::Diagnostic &found);

  llvm::MemoryBufferRef text;
  std::optional<mlir::ScopedDiagnosticHandler> handler;
  std::optional<std::pair<mlir::Location, std::string>> taken;
};

} // namespace spyre

#endif // SPYRE_FOREIGN_H
