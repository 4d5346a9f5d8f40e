//===- PassRegistry.h - who may look at MLIR's list of passes ---*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_PASSREGISTRY_H
#define SPYRE_BRIDGE_PASSREGISTRY_H

#include <mutex>
#include <shared_mutex>

namespace spyre {
/// Returns the lock of MLIR's process-wide list of passes, which has none of its own: exclusive for registration,
/// shared for parsing of pipelines.
std::shared_mutex &passRegistry();
} // namespace spyre

#endif // SPYRE_BRIDGE_PASSREGISTRY_H
