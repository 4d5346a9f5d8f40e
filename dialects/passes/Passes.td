//===- Passes.td - all passes, with options and docs -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// A pass is declared in one of these files and implemented in Rust, in the file that its description names.
// src/pipeline/steps.rs has the order of the passes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PASSES_TD
#define SPYRE_PASSES_TD

include "ProgramPasses.td"
include "KernelPasses.td"
include "PlanPasses.td"

#endif // SPYRE_PASSES_TD
