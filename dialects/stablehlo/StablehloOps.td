//===- StablehloOps.td - control flow, scatter, sort -------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef STABLEHLO_OPS_TD
#define STABLEHLO_OPS_TD

include "StablehloDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_ScatterNumbersAttr : AttrDef<Stablehlo_Dialect, "ScatterNumbers"> {
  let mnemonic = "scatter";
  let summary = "Which dimensions of places and parts are which of the tensor";
  let description = [{
    `update_window_dims` are the dimensions of a part that lie in the tensor; `inserted_window_dims` those of the tensor in which a part has size 1
    and no dimension; `input_batching_dims` those that go with the dimensions `scatter_indices_batching_dims` of the places;
    `scatter_dims_to_operand_dims` those that the numbers along dimension `index_vector_dim` of the places stand for. Lists without an
    element may be left out.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$updateWindowDims, ArrayRefParameter<"int64_t">:$insertedWindowDims,
                        ArrayRefParameter<"int64_t">:$inputBatchingDims, ArrayRefParameter<"int64_t">:$scatterIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits>;

def Stablehlo_ScatterOp : Stablehlo_Op<"scatter", [Pure, SameVariadicOperandSize]> {
  let summary = "Write parts of a tensor at places that another tensor says";
  let description = [{
    The region says what an element becomes from what is there and that of the part.

    Example:
    ```mlir
    %new = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%old: tensor<f16>, %row: tensor<f16>):
      stablehlo.return %row : tensor<f16>
    }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, AnyRankedTensor:$scatter_indices, Variadic<AnyRankedTensor>:$updates,
                       Stablehlo_ScatterNumbersAttr:$scatter_dimension_numbers, OptionalAttr<BoolAttr>:$indices_are_sorted,
                       OptionalAttr<BoolAttr>:$unique_indices);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$update_computation);
}

def Stablehlo_SortOp : Stablehlo_Op<"sort", [Pure]> {
  let summary = "Sort the elements along a dimension";
  let description = [{
    Several tensors are sorted together; the region says from two elements of each whether the first ones come before the others. A negative
    dimension counts from the last one.

    Example:
    ```mlir
    %sorted = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%one: tensor<i32>, %other: tensor<i32>):
      %before = arith.cmpi slt, %one, %other : tensor<i32>
      stablehlo.return %before : tensor<i1>
    }) : (tensor<4x64xi32>) -> tensor<4x64xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, OptionalAttr<I64Attr>:$dimension, OptionalAttr<BoolAttr>:$is_stable);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
}

def Stablehlo_WhileOp : Stablehlo_Op<"while", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Compute again as long as a condition holds";
  let description = [{
    Example:
    ```mlir
    %last = stablehlo.while(%i = %first) : tensor<i32>
    cond {
      %goes_on = arith.cmpi slt, %i, %end : tensor<i32>
      stablehlo.return %goes_on : tensor<i1>
    } do {
      %next = arith.addi %i, %one : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operand);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}

def Stablehlo_CaseOp : Stablehlo_Op<"case", [RecursiveMemoryEffects]> {
  let summary = "Compute one of several regions, by its number";
  let description = [{
    A number that no region has stands for the last one.

    Example:
    ```mlir
    %y = "stablehlo.case"(%which) ({
      stablehlo.return %a : tensor<4xf16>
    }, {
      stablehlo.return %b : tensor<4xf16>
    }) : (tensor<i32>) -> tensor<4xf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$index);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
}

def Stablehlo_IfOp : Stablehlo_Op<"if", [RecursiveMemoryEffects]> {
  let summary = "Compute one of two regions";
  let description = [{
    Example:
    ```mlir
    %y = "stablehlo.if"(%is_first) ({
      stablehlo.return %a : tensor<4xf16>
    }, {
      stablehlo.return %b : tensor<4xf16>
    }) : (tensor<i1>) -> tensor<4xf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$pred);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
}

def Stablehlo_ReturnOp : Stablehlo_Op<"return", [Pure, Terminator]> {
  let summary = "What a region gives";
  let description = [{
    Example: `stablehlo.return %next : tensor<f16>`
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // STABLEHLO_OPS_TD
