//===- SdscBundleDialect.td - the sdscbundle dialect -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSCBUNDLE_DIALECT_TD
#define SDSCBUNDLE_DIALECT_TD

include "mlir/IR/OpBase.td"

def SdscBundle_Dialect : Dialect {
  let name = "sdscbundle";
  let cppNamespace = "::sdscbundle";
  let summary = "Contents of bundle.mlir: addresses, loops and executes";
  let description = [{
    Has exactly the syntax of the SuperDSC-Bundle specification. A bundle of this compiler or of torch-spyre is parsed
    and printed unchanged.

    ```mlir
    func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
      %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
      sdscbundle.sdsc_execute (%arg_0) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
      return
    }
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = [];
}

#endif // SDSCBUNDLE_DIALECT_TD
