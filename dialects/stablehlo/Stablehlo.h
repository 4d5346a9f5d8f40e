//===- Stablehlo.h - C++ classes of the stablehlo dialect -----------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_STABLEHLO_H
#define SPYRE_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "StablehloDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "StablehloAttrs.h.inc"

#define GET_OP_CLASSES
#include "StablehloOps.h.inc"

#endif // SPYRE_STABLEHLO_H
