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
    A compute op is one device function on tensors. The passes write their decisions as attributes, each attribute by
    one pass. The device layout of a value is the encoding of its type.

    Arguments can name their dimensions, in storage order, with `spyre.dims`. The number of names may differ from the
    rank, and no name contains `*`. `spyre.dim_sizes` on the function has the sizes of the names:

    ```mlir
    func.func @f(%x: tensor<16384xf16> {spyre.dims = ["M", "K"]}) attributes {spyre.dim_sizes = {M = 64, K = 256}}
    ```

    Attributes of functions:

    | attribute | meaning |
    |---|---|
    | `spyre.dim_sizes = {M = 64}` | sizes of dimension names |
    | `spyre.symbols = {T = 8}` | maximum of a symbolic tile count: there are 8 tiles, and a launch executes the first of them |
    | `spyre.granularities = {s0 = 64}` | number that divides a symbolic size |
    | `spyre.kernel`, `spyre.knobs` | the function is a kernel; its tunable parameters |
    | `spyre.kernels` | kernels of the compiled function, with fused and rejected neighbors |
    | `spyre.tile_search`, `spyre.peeled` | results of the tile search and of peeling |

    Attributes of arguments and results:

    | attribute | meaning |
    |---|---|
    | `spyre.dims = ["M", "K"]` | dimension names of an argument |
    | `spyre.range = array<i64: 0, 4096>` | half-open range of integer elements; the import infers it, because device formats hold integers up to a limit |
    | `spyre.shape` | original shape, if it has more dimensions than a layout can have, or no elements |
    | `spyre.digits = 1024` | base of an integer result that exceeds the device format; the first dimension has the upper and the lower digit |
    | `spyre.symbolic = ["s0", ""]` | symbolic sizes of dimensions; the types have the maxima, which all passes plan for |

    Attributes of ops:

    | attribute | meaning |
    |---|---|
    | `spyre.symbolic` | symbolic size of each iteration dimension, derived from the arguments |
    | `spyre.for_layout` | the copy exists because its user cannot read the original layout |
    | `spyre.for_loop = "REASON"` | the copy exists because loop-carried or tiled values share a buffer |
    | `spyre.corrects` | the loop corrects its accumulators when a running value changes |
    | `spyre.times` | number of executions of an op that loops recompute (`recompute`) |

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
