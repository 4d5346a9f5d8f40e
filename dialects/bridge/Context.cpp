//===- Context.cpp - compilation state of a context -----------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Bridge.h"
#include "mlir/CAPI/IR.h"

using namespace mlir;

spyre::SessionDialect::SessionDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<SessionDialect>()), state{wrap(context), {0}, {0}} {}

MLIR_DEFINE_EXPLICIT_TYPE_ID(spyre::SessionDialect)

const SpyreContextState *spyreContextGetState(MlirContext context) {
  return &unwrap(context)->getOrLoadDialect<spyre::SessionDialect>()->state;
}
