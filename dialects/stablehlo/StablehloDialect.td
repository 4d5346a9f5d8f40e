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
  let summary = "StableHLO ops that remain in a JAX module after its lowering to linalg";
  let description = [{
    StableHLO's passes to linalg do not lower control flow, sorts and scatters. This dialect has these ops with the
    original syntax, so that modules from JAX can be parsed. `spyre-lower-stablehlo` lowers them to `scf` and
    `tm_tensor`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // STABLEHLO_DIALECT_TD
