//===- Sdsc.td - all definitions of the dialect sdsc -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSC_TD
#define SDSC_TD

include "SdscDialect.td"
include "SdscAttrs.td"
include "SdscOps.td"

#endif // SDSC_TD
