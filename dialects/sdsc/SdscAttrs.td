//===- SdscAttrs.td - iteration dimensions and tensors -----*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSC_ATTRS_TD
#define SDSC_ATTRS_TD

include "SdscDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"

class Sdsc_Attr<string attrName, string attrMnemonic> : AttrDef<Sdsc_Dialect, attrName> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sdsc_DimAttr : Sdsc_Attr<"Dim", "dim"> {
  let summary = "One iteration dimension: its size and into how many core slices it is cut";
  let description = [{
    A symbolic dimension names its `symbol`; `range` is then its maximum and `granularity` divides every value.

    Constraints:
    * (dim_c1) `range`, `split` and `granularity` are positive.

    Example: `#sdsc.dim<name = "c0", range = 512, split = 32>`
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "int64_t":$range,
    DefaultValuedParameter<"int64_t", "1">:$split,
    OptionalParameter<"::mlir::StringAttr">:$symbol,
    DefaultValuedParameter<"int64_t", "1">:$granularity
  );
}

def Sdsc_TensorAttr : Sdsc_Attr<"Tensor", "tensor"> {
  let summary = "One operand: format, device shape, device coordinates and memory";
  let description = [{
    `coordinates` takes a point of the iteration space to a device coordinate; a symbol of the map is the value that the
    index tensor of that position in `index_tensors` holds at the point. `memory` is `hbm` (at `offset_bytes` above
    kernel argument `argument`), `pool` (at `offset_bytes` in the bundle's pool) or `lx`. `advance` is the number of
    elements that the base moves with each enclosing loop, outermost first.

    Constraints:
    * (tensor_c1) `format` is a device format and `memory` is hbm, pool or lx;
    * (tensor_c2) hbm has an argument, pool and lx have none;
    * (tensor_c3) `coordinates` has one result per device dimension and one symbol per index tensor.

    Example:
    ```mlir
    #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64],
                 coordinates = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>,
                 memory = "hbm", argument = 0, advance = [32768, 1048576]>
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$format,
    "::mlir::DenseI64ArrayAttr":$device_size,
    "::mlir::AffineMapAttr":$coordinates,
    "::mlir::StringAttr":$memory,
    DefaultValuedParameter<"int64_t", "-1">:$argument,
    DefaultValuedParameter<"int64_t", "0">:$offset_bytes,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$advance,
    OptionalParameter<"::mlir::ArrayAttr">:$index_tensors,
    OptionalParameter<"::mlir::StringAttr">:$name
  );
}

def Sdsc_DimArrayAttr : TypedArrayAttrBase<Sdsc_DimAttr, "iteration dimensions">;
def Sdsc_TensorArrayAttr : TypedArrayAttrBase<Sdsc_TensorAttr, "tensors">;

#endif // SDSC_ATTRS_TD
