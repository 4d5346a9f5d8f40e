//===- Stablehlo.td - all definitions of stablehlo ---------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef STABLEHLO_TD
#define STABLEHLO_TD

include "StablehloDialect.td"
include "StablehloOps.td"

#endif // STABLEHLO_TD
