//===- SpyreInterfaces.td - interface of compute ops -------*- tablegen -*-===//
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
    Provides the device function of a compute op and its iteration space. Output dimensions come first and reduction
    dimensions last, in the order of their SDSC labels. All passes access compute ops through this interface.

    Constraints:
    * (compute_c1) the core splits `work` and `min_work` have one slice count per iteration dimension, and no count
      exceeds the size of its dimension;
    * (compute_c2) `dims` has one string per iteration dimension: the name of a named dimension, several names joined
      with `*` (outermost first) if the dimension merges them, or an empty string.
  }];
  let methods = [
    InterfaceMethod<"Returns the size of every iteration dimension.", "::llvm::SmallVector<int64_t>", "getIterationSpace">,
    InterfaceMethod<"Returns the number of reduction dimensions, which are the last ones.", "unsigned", "getNumReductionDims">,
    InterfaceMethod<[{
      Returns a map from iteration point to element for each operand that the op reads, then for the result. A broadcast
      dimension maps to 0, and so does the indexed dimension of a gather table.
    }], "::llvm::SmallVector<::mlir::AffineMap>", "getAccessMaps">,
    InterfaceMethod<"Returns how the device function uses the iteration space.", "::machine::Family", "getFamily">,
    InterfaceMethod<[{
      Returns the name of the device function in SDSC files, without the suffix "nonstick".
    }], "::llvm::StringRef", "getDeviceFunction">
  ];
  let verify = [{ return ::spyre::verifyComputeOp($_op); }];
}

#endif // SPYRE_INTERFACES_TD
