//===- SpyreDialect.td - the spyre dialect -----------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TD
#define SPYRE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Spyre_Dialect : Dialect {
  let name = "spyre";
  let cppNamespace = "::spyre";
  let summary = "Tensor programs for the IBM Spyre accelerator";
  let description = [{
    One compute op is one device function on whole tensors. What the compiler decides about an op is an attribute of
    it, written by exactly one pass; where the elements of a value live in device memory is its type's encoding.

    A user names the elements of an argument in storage order by `spyre.dims`, more or fewer names than dimensions, none of
    which has a `*`; `spyre.dim_sizes` on the function says how large the names are:

    ```mlir
    func.func @f(%x: tensor<16384xf16> {spyre.dims = ["M", "K"]}) attributes {spyre.dim_sizes = {M = 64, K = 256}}
    ```

    `spyre.range = array<i64: 0, 4096>` on an argument of integers says what its elements keep to, half-open. The import writes it, or
    narrows it, where ops compute with the integers: numbers of a device format hold integers up to a limit.

    `spyre.shape` of an argument or a result is the shape that the caller knows it by, where that has more dimensions than a layout
    holds: the program has its outermost dimensions as one. An argument without elements is one element, which nothing reads, and a
    result without elements is one element.

    `spyre.digits = 1024` of a result of integers is the base of its digits: the format of the device does not hold the integers, and the
    first dimension has the upper and the lower digit. The caller knows the result without that dimension.

    A number of tiles may be a name, such as `T` in `tiles(M = T)`. `spyre.symbols = {T = 8}` on the function says how large it can
    be at launch: the dimension is cut into 8 tiles, and a run does the first `T` of them.

    A dimension of an argument may have a size that is known at launch only: `spyre.symbolic = ["s0", ""]` on the argument names it, and
    `spyre.granularities = {s0 = 64}` on the function says what it is a multiple of. The sizes in types are the largest, and everything is
    planned for these. On a compute op `spyre.symbolic` has a name for each iteration dimension that walks along such a size; it follows from
    the arguments, and passes that ask for it write it anew.

    A `spyre.copy` that the program does not ask for says why it is there: `spyre.for_layout` (an op cannot read the tensor
    where it lies), or `spyre.for_loop` with the reason as text (what a loop makes is copied to where others read it). A
    `spyre.loop` that corrects what it carries when a running value changes has `spyre.corrects`. An op that loops compute
    anew in each turn, since a hint says `again`, has the number of times in `spyre.times`.

    A function with `spyre.kernel` is a kernel, whose calls become `spyre.kernel` ops; `spyre.knobs` are the numbers that it
    leaves open. What was fused into kernels, and what was not, is in `spyre.kernels` of the function that is compiled.

    ```
    linalg ──import──▶ spyre ops ──layout──▶ encodings ──tile──▶ spyre.loop ──work──▶ work ──lx──▶ place ──bundle──▶ sdsc
    ```

    ```mlir
    #rows = #spyre.layout<[16, 512, 64], [64, 1024, 1]>
    %max = spyre.reduce max(%x) dims [1] {work = #spyre.work<[32, 1]>, place = #spyre.place<lx, 0>}
      : tensor<512x1024xf16, #rows> -> tensor<512x1xf16, #spyre.layout<[1, 512, 64], [-1, 1, -1]>>
    ```
  }];
  let discardableAttrs = (ins
    "::mlir::ArrayAttr":$dims,
    "::mlir::DenseI64ArrayAttr":$range,
    "::mlir::DenseI64ArrayAttr":$shape,
    "::mlir::IntegerAttr":$digits,
    "::mlir::DictionaryAttr":$dim_sizes,
    "::mlir::DictionaryAttr":$symbols,
    "::mlir::ArrayAttr":$symbolic,
    "::mlir::DictionaryAttr":$granularities,
    "::mlir::DictionaryAttr":$target,
    "::mlir::StringAttr":$phase,
    "::mlir::IntegerAttr":$bundle,
    "::mlir::UnitAttr":$for_layout,
    "::mlir::StringAttr":$for_loop,
    "::mlir::UnitAttr":$corrects,
    "::mlir::DictionaryAttr":$tile_search,
    "::mlir::StringAttr":$plan,
    "::mlir::StringAttr":$proof,
    "::mlir::IntegerAttr":$number,
    "::mlir::UnitAttr":$kernel,
    "::mlir::ArrayAttr":$knobs,
    "::mlir::StringAttr":$kernels,
    "::mlir::StringAttr":$peeled,
    "::mlir::DenseI64ArrayAttr":$peel_trials,
    "::mlir::IntegerAttr":$times
  );
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // SPYRE_DIALECT_TD
