//===- SpyreInterfaces.td - what all compute ops have in common -*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_INTERFACES_TD
#define SPYRE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Spyre_ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::spyre";
  let description = [{
    A device function with its iteration space: output dimensions first, reduction dimensions last (the order of the
    SDSC labels). Every stage sees an op through this interface, so that a family is handled in one place.

    Constraints:
    * (compute_c1) `work` and `min_work` have one entry per iteration dimension, and no entry exceeds the size;
    * (compute_c2) `dims` has one entry per iteration dimension, each a string: its name, several joined with `*` (the
      outer one first), or nothing.
  }];
  let methods = [
    InterfaceMethod<"Size of every iteration dimension.", "::llvm::SmallVector<int64_t>", "getIterationSpace">,
    InterfaceMethod<"How many of the last iteration dimensions are reduced.", "unsigned", "getNumReductionDims">,
    InterfaceMethod<[{
      For each operand that the op reads, then the result: a map from iteration point to element. A broadcast dimension
      maps to 0, and so does the dimension of a gather's table that the index chooses along.
    }], "::llvm::SmallVector<::mlir::AffineMap>", "getAccessMaps">,
    InterfaceMethod<"How the device function uses the iteration space.", "::machine::Family", "getFamily">,
    InterfaceMethod<[{
      The name of the device function in the files, before "nonstick" is appended.
    }], "::llvm::StringRef", "getDeviceFunction">
  ];
  let verify = [{ return ::spyre::verifyComputeOp($_op); }];
}

#endif // SPYRE_INTERFACES_TD
