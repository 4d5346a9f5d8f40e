//===- PassRegistry.h - lock of MLIR's pass registry ------------*- C++ -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_PASSREGISTRY_H
#define SPYRE_BRIDGE_PASSREGISTRY_H

#include <mutex>
#include <shared_mutex>

namespace spyre {
/// Returns the lock of MLIR's pass registry, which is global to the process and has no lock of its own. Registration
/// locks it exclusively; parsing of pipelines shares it.
std::shared_mutex &getPassRegistryMutex();
} // namespace spyre

#endif // SPYRE_BRIDGE_PASSREGISTRY_H
