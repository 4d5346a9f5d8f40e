//===- Spyre.td - all definitions of the dialect spyre -----*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TD
#define SPYRE_TD

include "SpyreDialect.td"
include "SpyreAttrs.td"
include "SpyreInterfaces.td"
include "SpyreOps.td"

#endif // SPYRE_TD
