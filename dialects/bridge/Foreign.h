//===- Foreign.h - what is said of dialects that are not read ---*- C++ -*-===//
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

/// While it lives, keeps what MLIR's parser says of a dialect that the context does not have, which speaks of options that a user has not, and
/// then says what was found and who lowers it.
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
