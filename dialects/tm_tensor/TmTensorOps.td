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
  let summary = "Combine the elements along a dimension, one after the other";
  let description = [{
    The body combines what there is so far with the next element. With `inclusive(true)` an element of the first result is what there is
    with the element of its place; with `inclusive(false)` what there is before it, beginning with the second of `outs`. The second result
    is the last element of the first.

    Constraints:
    * (scan_c1) there is one input, and two `outs`: one as the input, and one without the dimension;
    * (scan_c2) the dimension is one of the input's;
    * (scan_c3) the results are as `outs`;
    * (scan_c4) the body takes two elements and gives one.

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
  let summary = "Write parts of a tensor at places that another tensor says";
  let description = [{
    `ins` are the parts and their places, `outs` what is written to. Each row of the places has an index for each dimension of
    `dimension_map`; the body says what an element becomes from that of the part and that which is there.

    Constraints:
    * (scatter_c1) there are two inputs and one of `outs`, and the result is as `outs`;
    * (scatter_c2) the body takes two elements and gives one.

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
    Several tensors are sorted together; the body says from two elements of each whether the first ones come before the others.

    Constraints:
    * (sort_c1) the dimension is one of every tensor's, and the results are as `outs`;
    * (sort_c2) the body takes two elements of each tensor and gives a truth value.

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
  let summary = "The first elements along a dimension, in order, and where they stand";
  let description = [{
    `ins` are the elements, and numbers that stand for their places if these are not 0, 1, 2, ...; `outs` what the first elements and their
    places replace: the number that every element comes before, and anything. The body says from two elements whether the first one comes
    before the other. Of equal elements the one that stood first comes first.

    Constraints:
    * (topk_c1) there are one or two inputs, of one shape, and two `outs`, which differ from it along the dimension alone and are no longer;
    * (topk_c2) the dimension is one of the input's, and the results are as `outs`;
    * (topk_c3) the body takes two elements of the first input and gives a truth value.

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
  let summary = "Scaled dot product attention";
  let description = [{
    `ins` are queries, keys and values, and a mask if there is one. The product of queries and keys is divided by the square root of the length
    of a query; a mask of numbers is added to it, one of truth values leaves out where it is false. The softmax of that along the keys
    is what the values are weighted by. A row that the mask leaves nothing of is 0.

    Constraints:
    * (attention_c1) there are three or four inputs and one of `outs`, with the same dimensions outside of the last two;
    * (attention_c2) queries are `MxK`, keys `NxK`, values `NxE`, the mask `MxN` and the result `MxE`;
    * (attention_c3) the result is as `outs`.

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
  let summary = "What a body gives";
  let description = [{
    Example: `tm_tensor.yield %next : f32`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ /* nothing to yield */ }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TM_TENSOR_OPS_TD
