//===- SdscDialect.td - the sdsc dialect -------------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSC_DIALECT_TD
#define SDSC_DIALECT_TD

include "mlir/IR/OpBase.td"

def Sdsc_Dialect : Dialect {
  let name = "sdsc";
  let cppNamespace = "::sdsc";
  let summary = "What each core does, with addresses: one op is one SDSC file";
  let description = [{
    The level at which torch-spyre's front half can hand over (its OpSpec and LoopSpec). Tensors are no values here:
    every operand says where its memory is and how its device coordinates follow from the iteration dimensions.

    ```mlir
    sdsc.bundle @bundle_0(@arg0, @result0) {
      sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 512, split = 32>, #sdsc.dim<name = "c1", range = 1024>]
        ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64],
                          coordinates = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>, memory = "hbm", argument = 0>]
        outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64],
                           coordinates = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>, memory = "hbm", argument = 1>]
    }
    ```
  }];
  let discardableAttrs = (ins
    "::mlir::StringAttr":$addresses,
    "::mlir::IntegerAttr":$pool_bytes,
    "::mlir::ArrayAttr":$buffers,
    "::mlir::ArrayAttr":$counts,
    "::mlir::ArrayAttr":$counted_dims,
    "::mlir::ArrayAttr":$names,
    "::mlir::ArrayAttr":$lives
  );
  let useDefaultAttributePrinterParser = 1;
}

#endif // SDSC_DIALECT_TD
