//===- SdscBundleTypes.td - the argument of a kernel -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSCBUNDLE_TYPES_TD
#define SDSCBUNDLE_TYPES_TD

include "SdscBundleDialect.td"
include "mlir/IR/AttrTypeBase.td"

def SdscBundle_InputArgType : TypeDef<SdscBundle_Dialect, "InputArg"> {
  let mnemonic = "input_arg";
  let summary = "Argument that the runtime passes to the kernel";
  let description = [{
    Is the base address of a tensor, or a symbolic size, which is a multiple of `granularity` and at most `max_value`.

    Constraints:
    * (input_arg_c1) the value is an index;
    * (input_arg_c2) `granularity` and `max_value` are both present or both absent.

    Example: `!sdscbundle.input_arg<index, granularity=64, max_value=1024>`
  }];
  let parameters = (ins "::mlir::Type":$value, "int64_t":$granularity, "int64_t":$maxValue);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // SDSCBUNDLE_TYPES_TD
