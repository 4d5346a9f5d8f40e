//===- Sdsc.h - C++ classes of the sdsc dialect ---------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SDSC_H
#define SPYRE_SDSC_H

#include "Enums.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "SdscDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "SdscAttrs.h.inc"

#define GET_OP_CLASSES
#include "SdscOps.h.inc"

#endif // SPYRE_SDSC_H
