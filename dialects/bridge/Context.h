//===- Context.h - compilation state of a context ---------------*- C++ -*-===//
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

/// State of this bridge for a context: `ContextState` of src/mlir/context.rs.
struct SpyreContextState {
  /// The context itself, stored here because Rust needs it at an address that is stable during the lifetime of the
  /// context.
  MlirContext context;
  /// Number of compiler bugs that were detected in the context.
  std::atomic<uint64_t> numBugs;
  /// Number of unfinished trial compilations in the context.
  std::atomic<uint64_t> numTrials;
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
