//===- SdscBundle.td - all definitions of sdscbundle -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSCBUNDLE_TD
#define SDSCBUNDLE_TD

include "SdscBundleDialect.td"
include "SdscBundleTypes.td"
include "SdscBundleOps.td"

#endif // SDSCBUNDLE_TD
