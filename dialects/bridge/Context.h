//===- Context.h - what we keep of a context --------------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_CONTEXT_H
#define SPYRE_BRIDGE_CONTEXT_H

#include "mlir-c/IR.h"
#include "mlir/IR/Dialect.h"
#include <atomic>
#include <cstdint>

/// `ContextState` of src/mlir/context.rs.
struct SpyreContextState {
  /// The context itself, at an address that stays as long as the context lives.
  MlirContext context;
  /// The compiler bugs that were found in it.
  std::atomic<uint64_t> bugs;
  /// The compilations in it that are only tried, and are not at their end.
  std::atomic<uint64_t> trials;
};

namespace spyre {
/// Dialect without ops for the state of a compilation: a context owns its dialects, so the state lives as long as the
/// context.
class SessionDialect final : public mlir::Dialect {
public:
  explicit SessionDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return llvm::StringLiteral("spyre_session"); }

  SpyreContextState state;
};
} // namespace spyre

MLIR_DECLARE_EXPLICIT_TYPE_ID(spyre::SessionDialect)

#endif // SPYRE_BRIDGE_CONTEXT_H
