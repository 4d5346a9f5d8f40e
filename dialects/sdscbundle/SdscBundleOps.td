//===- SdscBundleOps.td - the ops of bundle.mlir -----------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSCBUNDLE_OPS_TD
#define SDSCBUNDLE_OPS_TD

include "SdscBundleTypes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class SdscBundle_Op<string mnemonic, list<Trait> traits = []> : Op<SdscBundle_Dialect, mnemonic, traits>;

def SdscBundle_DeviceMemAllocateOp : SdscBundle_Op<"device_mem_allocate"> {
  let summary = "Allocate HBM for the temporaries of the bundle";
  let description = [{
    Constraints:
    * (device_mem_allocate_c1) the number of bytes is positive.

    Example: `%pool = sdscbundle.device_mem_allocate 4096 bytes : index`
  }];
  let arguments = (ins I64Attr:$bytes);
  let results = (outs Index:$address);
  let assemblyFormat = "custom<Bytes>($bytes) `bytes` attr-dict `:` type($address)";
  let hasVerifier = 1;
}

def SdscBundle_InputArgExtractOp : SdscBundle_Op<"input_arg_extract", [Pure]> {
  let summary = "Read the value of a kernel argument";
  let description = [{
    Example:
    ```mlir
    %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
    ```
  }];
  let arguments = (ins SdscBundle_InputArgType:$argument);
  let results = (outs Index:$value);
  let assemblyFormat = "`value` `from` $argument attr-dict `:` qualified(type($argument)) `->` type($value)";
}

def SdscBundle_SdscExecuteOp : SdscBundle_Op<"sdsc_execute"> {
  let summary = "Execute one SDSC file on its cores";
  let description = [{
    Operand `k` is the value of symbol `symbol_ids[k]` in the file. A file may be executed several times. If a file has
    no symbols, its addresses are absolute, and the op has no `symbol_ids`.

    Constraints:
    * (sdsc_execute_c1) there is one symbol id per operand;
    * (sdsc_execute_c2) symbol ids are negative and unique.

    Example: `sdscbundle.sdsc_execute (%arg_0, %arg_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}`
  }];
  let arguments = (ins Variadic<Index>:$addresses, StrAttr:$sdsc_filename, OptionalAttr<I64ArrayAttr>:$symbol_ids);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // SDSCBUNDLE_OPS_TD
