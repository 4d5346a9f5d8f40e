//===- StablehloDialect.td - the stablehlo dialect ---------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef STABLEHLO_DIALECT_TD
#define STABLEHLO_DIALECT_TD

include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::stablehlo";
  let summary = "What JAX leaves in a program of linalg on tensors";
  let description = [{
    The passes to linalg that StableHLO has leave control flow, sorting and writes to places that are known at run time as they are. Here are
    these ops in the same syntax, so that what JAX exports is read as it is. `spyre-lower-stablehlo` makes ops of `scf` and `tm_tensor` of them.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // STABLEHLO_DIALECT_TD
