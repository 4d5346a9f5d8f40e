//===- SpyrePass.td - base class of all passes -------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SPYREPASS_TD
#define SPYRE_SPYREPASS_TD

include "mlir/Pass/PassBase.td"

class Spyre_Pass<string argument> : Pass<argument, "::mlir::ModuleOp">;

#endif // SPYRE_SPYREPASS_TD
