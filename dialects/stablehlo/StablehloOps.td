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
  let summary = "Relate the dimensions of a scatter";
  let description = [{
    * `update_window_dims`: dimensions of the updates that are dimensions of the input;
    * `inserted_window_dims`: dimensions of the input that the updates lack; an update has size 1 along them;
    * `input_batching_dims`: dimensions of the input that correspond to `scatter_indices_batching_dims` of the indices;
    * `index_vector_dim`: dimension of the indices that holds the components of one index;
    * `scatter_dims_to_operand_dims`: for each of these components, the dimension of the input that it indexes.

    Empty lists may be omitted.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$updateWindowDims, ArrayRefParameter<"int64_t">:$insertedWindowDims,
                        ArrayRefParameter<"int64_t">:$inputBatchingDims, ArrayRefParameter<"int64_t">:$scatterIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

class Stablehlo_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits>;

def Stablehlo_ScatterOp : Stablehlo_Op<"scatter", [Pure, SameVariadicOperandSize, SingleBlockImplicitTerminator<"::stablehlo::ReturnOp">]> {
  let summary = "Write updates at the positions that an index tensor selects";
  let description = [{
    The region combines the current element of the input with the element of the update.

    Constraints:
    * (scatter_c1) there are as many updates as inputs, at least one, and the results have the types of the inputs;
    * (scatter_c2) the indices are integers;
    * (scatter_c3) the region takes an element of each input, then of each update, as tensors of rank 0, and returns one
      element of each input.

    Example:
    ```mlir
    %new = "stablehlo.scatter"(%x, %places, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%old: tensor<f16>, %row: tensor<f16>):
      stablehlo.return %row : tensor<f16>
    }) : (tensor<32x64xf16>, tensor<3x1xi32>, tensor<3x64xf16>) -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, AnyStaticShapeTensor:$scatter_indices, Variadic<AnyStaticShapeTensor>:$updates,
                       Stablehlo_ScatterNumbersAttr:$scatter_dimension_numbers, OptionalAttr<BoolAttr>:$indices_are_sorted,
                       OptionalAttr<BoolAttr>:$unique_indices);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}

def Stablehlo_SortOp : Stablehlo_Op<"sort", [Pure, SingleBlockImplicitTerminator<"::stablehlo::ReturnOp">]> {
  let summary = "Sort the elements along a dimension";
  let description = [{
    Sorts several tensors together. The region takes two elements of each tensor and returns true if the first elements
    precede the second elements. A negative dimension counts from the last dimension.

    Constraints:
    * (sort_c1) there is at least one input, all have the same shape, and the results have the types of the inputs;
    * (sort_c2) the dimension is at least `-rank` and less than `rank`, where `rank` is the rank of the inputs;
    * (sort_c3) the region takes two elements of each input, as tensors of rank 0, and returns a boolean.

    Example:
    ```mlir
    %sorted = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%one: tensor<i32>, %other: tensor<i32>):
      %before = arith.cmpi slt, %one, %other : tensor<i32>
      stablehlo.return %before : tensor<i1>
    }) : (tensor<4x64xi32>) -> tensor<4x64xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, OptionalAttr<I64Attr>:$dimension, OptionalAttr<BoolAttr>:$is_stable);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let hasVerifier = 1;
}

def Stablehlo_WhileOp : Stablehlo_Op<"while", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::stablehlo::ReturnOp">,
                                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Repeat a region while a condition holds";
  let description = [{
    Constraints:
    * (while_c1) the results and the arguments of both regions have the types of the operands;
    * (while_c2) the first region returns a boolean, the second one values of the types of the operands.

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
  let hasVerifier = 1;
}

def Stablehlo_CaseOp : Stablehlo_Op<"case", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::stablehlo::ReturnOp">]> {
  let summary = "Execute one of several regions, selected by number";
  let description = [{
    An index out of range selects the last region.

    Constraints:
    * (case_c1) the index is an i32 tensor of rank 0;
    * (case_c2) there is at least one region; regions have no arguments and return values of the types of the results.

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
  let hasVerifier = 1;
}

def Stablehlo_IfOp : Stablehlo_Op<"if", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::stablehlo::ReturnOp">]> {
  let summary = "Execute one of two regions";
  let description = [{
    Constraints:
    * (if_c1) the condition is a boolean tensor of rank 0;
    * (if_c2) the regions have no arguments and return values of the types of the results.

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
  let hasVerifier = 1;
}

def Stablehlo_ReturnOp : Stablehlo_Op<"return", [Pure, Terminator]> {
  let summary = "Return values from a region";
  let description = [{
    Example: `stablehlo.return %next : tensor<f16>`
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins), [{ /* no values */ }]>];
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // STABLEHLO_OPS_TD
