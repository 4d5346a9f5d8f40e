//===- TmTensorOps.td - scan, scatter, sort, attention -----*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef TM_TENSOR_OPS_TD
#define TM_TENSOR_OPS_TD

include "TmTensorDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TmTensor_Op<string mnemonic, list<Trait> traits = []> : Op<TmTensor_Dialect, mnemonic, traits>;

def TmTensor_ScanOp : TmTensor_Op<"scan", [Pure, AttrSizedOperandSegments, SingleBlockImplicitTerminator<"::tm_tensor::YieldOp">]> {
  let summary = "Compute a cumulative reduction along a dimension";
  let description = [{
    The body combines the accumulator with the next element. With `inclusive(true)` an element of the first result
    includes the input element at its position. With `inclusive(false)` it includes only the elements before it; the
    second of `outs` is the initial value. The second result is the last element of the first result along the
    dimension.

    Constraints:
    * (scan_c1) there is one input, and two `outs`: one of the shape of the input, and one without the dimension;
    * (scan_c2) the input has the dimension;
    * (scan_c3) the results have the types of `outs`;
    * (scan_c4) the body takes two elements and returns one.

    Example:
    ```mlir
    %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<4x64xf32>) outs(%whole, %last : tensor<4x64xf32>, tensor<4xf32>) {
    ^bb0(%sum: f32, %element: f32):
      %next = arith.addf %sum, %element : f32
      tm_tensor.yield %next : f32
    } -> tensor<4x64xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension, BoolAttr:$inclusive);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `dimension` `(` custom<Number>($dimension) `)` `inclusive` `(` custom<Truth>($inclusive) `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def TmTensor_ScatterOp : TmTensor_Op<"scatter", [Pure, AttrSizedOperandSegments, SingleBlockImplicitTerminator<"::tm_tensor::YieldOp">]> {
  let summary = "Write updates at the positions that an index tensor selects";
  let description = [{
    `ins` are the updates and their indices; `outs` is the updated tensor. Each row of the indices has one index per
    entry of `dimension_map`. The body combines the element of the update with the current element.

    Constraints:
    * (scatter_c1) there are two `ins` and one `outs`, and the result has the type of `outs`;
    * (scatter_c2) the body takes two elements and returns one.

    Example:
    ```mlir
    %new = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true)
        ins(%rows, %places : tensor<3x1x64xf16>, tensor<3x1xi64>) outs(%cache : tensor<32x64xf16>) {
    ^bb0(%row: f16, %old: f16):
      tm_tensor.yield %row : f16
    } -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, DenseI64ArrayAttr:$dimension_map,
                       BoolAttr:$unique_indices);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `unique_indices` `(` custom<Truth>($unique_indices) `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def TmTensor_SortOp : TmTensor_Op<"sort", [Pure, SingleBlockImplicitTerminator<"::tm_tensor::YieldOp">]> {
  let summary = "Sort the elements along a dimension";
  let description = [{
    Sorts several tensors together. The body compares two elements of each tensor and returns whether the first ones
    precede the second ones.

    Constraints:
    * (sort_c1) all tensors have the dimension, and the results have the types of `outs`;
    * (sort_c2) the body takes two elements of each tensor and returns a boolean.

    Example:
    ```mlir
    %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<4x64xf16>, tensor<4x64xi64>) {
    ^bb0(%one: f16, %other: f16, %a: i64, %b: i64):
      %before = arith.cmpf oge, %one, %other : f16
      tm_tensor.yield %before : i1
    } -> tensor<4x64xf16>, tensor<4x64xi64>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `dimension` `(` custom<Number>($dimension) `)` `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def TmTensor_TopkOp : TmTensor_Op<"topk", [Pure, AttrSizedOperandSegments, SingleBlockImplicitTerminator<"::tm_tensor::YieldOp">]> {
  let summary = "Select the first elements along a dimension in sorted order, and their indices";
  let description = [{
    `ins` are the elements, and optionally their indices, if these are not 0, 1, 2, ... `outs` are the initial values of
    the results: a value that every element precedes, and any indices. The body returns whether its first argument
    precedes the second one. Equal elements keep their order.

    Constraints:
    * (topk_c1) there are one or two `ins` of the same shape, and two `outs`, which have this shape except for a size
      along the dimension that is not larger;
    * (topk_c2) the input has the dimension, and the results have the types of `outs`;
    * (topk_c3) the body takes two elements of the first input and returns a boolean.

    Example:
    ```mlir
    %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x64xf32>) outs(%lowest, %places : tensor<4x3xf32>, tensor<4x3xi64>) {
    ^bb0(%one: f32, %other: f32):
      %before = arith.cmpf ogt, %one, %other : f32
      tm_tensor.yield %before : i1
    } -> tensor<4x3xf32>, tensor<4x3xi64>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs, I64Attr:$dimension);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    attr-dict `dimension` `(` custom<Number>($dimension) `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def TmTensor_AttentionOp : TmTensor_Op<"attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "Compute scaled dot product attention";
  let description = [{
    `ins` are queries, keys, values and optionally a mask. The op computes `softmax(Q K^T / sqrt(d) + mask) V`, where
    `d` is the length of a query and the softmax is along the keys. A boolean mask excludes keys where it is false. A
    row whose keys are all excluded is 0.

    Constraints:
    * (attention_c1) there are three or four `ins` and one `outs`, with equal dimensions before the last two;
    * (attention_c2) queries are `MxK`, keys `NxK`, values `NxE`, the mask `MxN` and the result `MxE`;
    * (attention_c3) the result has the type of `outs`.

    Example:
    ```mlir
    %y = tm_tensor.attention ins(%q, %k, %v, %mask : tensor<4x8x64xf16>, tensor<4x9x64xf16>, tensor<4x9x64xf16>, tensor<4x8x9xi1>)
        outs(%shape : tensor<4x8x64xf16>) -> tensor<4x8x64xf16>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` `->` type($results)
  }];
  let hasVerifier = 1;
}

def TmTensor_YieldOp : TmTensor_Op<"yield", [Pure, Terminator]> {
  let summary = "Return values from a body";
  let description = [{
    Example: `tm_tensor.yield %next : f32`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TM_TENSOR_OPS_TD
