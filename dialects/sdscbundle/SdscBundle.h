//===- SdscBundle.h - C++ classes of the sdscbundle dialect ---------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SDSCBUNDLE_H
#define SPYRE_SDSCBUNDLE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "SdscBundleDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "SdscBundleTypes.h.inc"

#define GET_OP_CLASSES
#include "SdscBundleOps.h.inc"

#endif // SPYRE_SDSCBUNDLE_H
