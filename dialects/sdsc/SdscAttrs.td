//===- SdscAttrs.td - iteration dimensions and tensors -----*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSC_ATTRS_TD
#define SDSC_ATTRS_TD

include "Enums.td"
include "SdscDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"

class Sdsc_Attr<string attrName, string attrMnemonic> : AttrDef<Sdsc_Dialect, attrName> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sdsc_DimAttr : Sdsc_Attr<"Dim", "dim"> {
  let summary = "Describe one iteration dimension: size and core slices";
  let description = [{
    A symbolic dimension has a `symbol`; `range` is its maximum, and `granularity` divides every value.

    Core `c` computes slice `(c floordiv divisor) mod split`. Either all dimensions of an op have a `divisor`, or none
    has one (0), and the order of cores is that of the format.

    Constraints:
    * (dim_c1) `range`, `split` and `granularity` are positive, and `divisor` is not negative.

    Examples: `#sdsc.dim<name = "c0", range = 512, split = 32>`, `#sdsc.dim<name = "c0", range = 512, split = 4, divisor
    = 8>`
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "int64_t":$range,
    DefaultValuedParameter<"int64_t", "1">:$split,
    OptionalParameter<"::mlir::StringAttr">:$symbol,
    DefaultValuedParameter<"int64_t", "1">:$granularity,
    DefaultValuedParameter<"int64_t", "0">:$divisor
  );
}

def Sdsc_OwnerAttr : Sdsc_Attr<"Owner", "owner"> {
  let summary = "Assign slices of a tensor to cores along one iteration dimension";
  let description = [{
    Core `c` holds slice `(c floordiv divisor) mod slices` of iteration dimension `dim`. Only a shuffle, a copy between
    scratchpads, has owners. For all other ops the split of the op determines the slices.

    Constraints:
    * (owner_c1) `slices` is at least 2, `divisor` at least 1, `dim` not negative.

    Example: `#sdsc.owner<dim = 0, slices = 4, divisor = 1>`
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$slices, "int64_t":$divisor);
}

def Sdsc_ConstantAttr : Sdsc_Attr<"Constant", "constant"> {
  let summary = "Pass a named constant to a device function";
  let description = [{
    Constraints:
    * (constant_c1) the value is a 64-bit float.

    Example: `#sdsc.constant<name = "softplusBeta", value = 1.0 : f64>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::FloatAttr":$value);
}

def Sdsc_WindowAttr : Sdsc_Attr<"Window", "window"> {
  let summary = "Describe the window of a convolution or pooling";
  let description = [{
    `height` and `width` have kernel size, stride, padding and dilation, and optionally the padded size of the input,
    for depthwise convolutions.

    Constraints:
    * (window_c1) `height` and `width` have 4 or 5 entries.

    Example: `#sdsc.window<height = [3, 1, 0, 1], width = [3, 1, 0, 1]>`
  }];
  let parameters = (ins
    "::mlir::DenseI64ArrayAttr":$height,
    "::mlir::DenseI64ArrayAttr":$width,
    OptionalParameter<"::mlir::StringAttr">:$pad_type
  );
}

/// A keyword of an enum in quotes. `refusal` is the error for an unknown keyword.
class Sdsc_WordParameter<EnumInfo enumInfo, string refusal> : EnumParameter<enumInfo> {
  let parser = "parseWord<" # enumInfo.cppType # ">($_parser, " # enumInfo.cppNamespace # "::" # enumInfo.stringToSymbolFnName # ", \"" # refusal # "\")";
  let printer = "$_printer << '\"' << " # enumInfo.cppNamespace # "::" # enumInfo.symbolToStringFnName # "($_self) << '\"'";
}

def Sdsc_ArrangementParameter : Sdsc_WordParameter<Sdsc_Arrangement, "unknown arrangement"> {
  let defaultValue = "::sdsc::Arrangement::Standard";
}

def Sdsc_TensorAttr : Sdsc_Attr<"Tensor", "tensor"> {
  let summary = "Describe one operand: format, device shape, device coordinates and memory";
  let description = [{
    * `coordinates` maps a point of the iteration space to device coordinates. Symbol `k` of the map is the element of
      index tensor `index_tensors[k]` at the point.
    * `memory` is `hbm` (at `offset_bytes` after kernel argument `argument`), `pool` (at `offset_bytes` in the pool of
      the bundle) or `lx`.
    * `advance` is the number of elements by which the base moves per iteration of each enclosing loop, outermost first.
    * `arrangement` is the order of elements in a stick, if it is not the standard one.
    * `owners` assigns slices to cores, if this differs from the split of the op.

    Constraints:
    * (tensor_c1) `format` is a device format, `memory` is hbm, pool or lx, and `arrangement` one of those that the
      device has;
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
    Sdsc_WordParameter<Machine_Format, "unknown device format">:$format,
    "::mlir::DenseI64ArrayAttr":$device_size,
    "::mlir::AffineMapAttr":$coordinates,
    Sdsc_WordParameter<Machine_Memory, "a tensor is in 'hbm', 'pool' or 'lx', found">:$memory,
    DefaultValuedParameter<"int64_t", "-1">:$argument,
    DefaultValuedParameter<"int64_t", "0">:$offset_bytes,
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$advance,
    OptionalParameter<"::mlir::ArrayAttr">:$index_tensors,
    OptionalParameter<"::mlir::StringAttr">:$name,
    Sdsc_ArrangementParameter:$arrangement,
    OptionalParameter<"::mlir::ArrayAttr">:$owners
  );
}

def Sdsc_DimArrayAttr : TypedArrayAttrBase<Sdsc_DimAttr, "iteration dimensions">;
def Sdsc_ConstantArrayAttr : TypedArrayAttrBase<Sdsc_ConstantAttr, "named numbers">;
def Sdsc_TensorArrayAttr : TypedArrayAttrBase<Sdsc_TensorAttr, "tensors">;

#endif // SDSC_ATTRS_TD
