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
/// MLIR has one list of passes in a process, and no lock on it: who adds to it holds this one alone, who reads a pipeline shares it.
std::shared_mutex &passRegistry();
} // namespace spyre

#endif // SPYRE_BRIDGE_PASSREGISTRY_H
