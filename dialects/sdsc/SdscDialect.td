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
  let summary = "Op specs with device coordinates and addresses: one op is one SDSC file";
  let description = [{
    The ops correspond to OpSpec and LoopSpec of torch-spyre. Tensors are not SSA values: an attribute of the op
    describes the memory of each operand, and its device coordinates as functions of the iteration dimensions.

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
    "::mlir::DictionaryAttr":$debug_handle,
    "::mlir::ArrayAttr":$loop_sizes,
    "::mlir::ArrayAttr":$loop_dims,
    "::mlir::ArrayAttr":$names,
    "::mlir::ArrayAttr":$lives
  );
  let useDefaultAttributePrinterParser = 1;
}

#endif // SDSC_DIALECT_TD
